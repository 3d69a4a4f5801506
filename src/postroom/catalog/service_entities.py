"""Entities in responses of services: the collections they have by their counts, and which of these are incomplete."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from postroom.model.types import ResourceType

Tree = dict[str, Any]
ResourceTypes = dict[str, dict[str, ResourceType]]
"""The Resource types of each Group type, as far as they have to be known to read entities."""

_COUNT = re.compile(r"([A-Za-z0-9_]+)[cC]ount\Z")
_URLS = ("url", "Url", "URL")


PARTS = ("endpoints", "messagegroups", "schemagroups", "definitionGroups", "schemaGroups")
"""Collections of groups that a document of some dialect may have elsewhere."""
_NESTED = frozenset({*PARTS, "messages", "schemas", "definitions", "versions"})


def collections_of(entity: Tree) -> Iterator[tuple[str, int, str]]:
    """The collections that an entity says it has, by a count and a URL: their names, counts and URLs."""
    for member, count in entity.items():
        found = _COUNT.match(member) if isinstance(count, int) else None
        url = next((entity[found[1] + end] for end in _URLS if found[1] + end in entity), None) if found else None
        if found and isinstance(url, str):
            yield found[1], count, url


def find_incomplete(entity: Tree) -> str:
    """The path of the first collection with fewer members than its count, in an entity or anything below."""
    counts = {name: count for name, count, _ in collections_of(entity)}
    for name, count in counts.items():
        shown = entity.get(name)
        if count != (len(shown) if isinstance(shown, dict) else 0):
            return name
    for name in {**counts, **dict.fromkeys(entity.keys() & _NESTED)}:
        shown = entity.get(name)
        for one, member in shown.items() if isinstance(shown, dict) else ():
            below = find_incomplete(member) if isinstance(member, dict) else ""
            if below:
                return f"{name}/{one}/{below}"
    return ""


def find_incomplete_part(document: Tree) -> str:
    """The first collection of which a document has only a URL or a part; its own attributes may look like counts."""
    for part in PARTS:
        if part not in document and any(part + end in document for end in _URLS):
            return part
    found = find_incomplete(document)
    return found if found.rpartition("/")[2] in _NESTED else ""


def has_stated_count(holder: Tree, name: str, found: Tree) -> bool:
    """Whether a collection has as many members as its holder says, if it says anything."""
    count = holder.get(name + "count")
    return not isinstance(count, int) or count == len(found)


def as_document(entity: Tree) -> Tree:
    """A registry, or anything in it, in the form in which it can be loaded, whatever view of it a service gave.

    Resources show the attributes of their default Versions, which `/export` leaves out; those that stand for another
    one show nothing but that, while a service shows what they stand for.
    """
    made = _resource(entity)
    for name, _, _ in collections_of(made):
        shown = made.get(name)
        if isinstance(shown, dict) and name != "versions":
            made = {**made, name: {one: as_document(v) if isinstance(v, dict) else v for one, v in shown.items()}}
    return made


def _resource(entity: Tree) -> Tree:
    versions, meta = entity.get("versions"), entity.get("meta")
    if not isinstance(meta, dict):
        return entity
    if meta.get("xref"):
        ids = {name: value for name, value in meta.items() if name.endswith("id") and name != "defaultversionid"}
        return {**{name: entity[name] for name in ids if name in entity}, "meta": {**ids, "xref": meta["xref"]}}
    default = versions.get(str(meta.get("defaultversionid"))) if isinstance(versions, dict) else None
    return {**default, **entity} if isinstance(default, dict) else entity


def resource_types(model: Any) -> ResourceTypes:
    """The Resource types in a model as a service shows it."""
    return {
        plural: {name: _resource_type(name, one) for name, one in _objects(group.get("resources"))}
        for plural, group in _objects(model.get("groups") if isinstance(model, dict) else None)
    }


def url_path(xid: str) -> str:
    """The path of an xid in a URL."""
    return quote(xid, safe="/:@!$&'()*+,;=~")


def _resource_type(plural: str, shown: Tree) -> ResourceType:
    typemap = shown.get("typemap")
    return ResourceType(
        plural=plural,
        singular=str(shown.get("singular") or plural),
        hasdocument=shown.get("hasdocument", True) is not False,
        typemap={str(k): str(v) for k, v in typemap.items()} if isinstance(typemap, dict) else {},
    )


def _objects(value: Any) -> Iterator[tuple[str, Tree]]:
    for name, one in value.items() if isinstance(value, dict) else ():
        if isinstance(one, dict):
            yield str(name), one

"""Which dialect a document is in: told by its shape, never by its `specversion` (C-31)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.name_tables import GROUP_TYPES
from postroom.documents.dialects.walk import groups, messages, objects

_SERVICE = ("definitionGroups", "schemaGroups", "definitionGroupsUrl", "schemaGroupsUrl", "endpointsUrl")
_CATALOG = ("messagecatalog", "messagedefinitions")
_SECTIONS = ("attributes", "publish", "applicationproperties", "applicationdata", "messageannotations")
_RC = ("envelope", "protocol", "envelopemetadata", "protocoloptions", "envelopeoptions", "dataschemauri", "dataschema")
_HALF = ("format", "binding", "metadata", "message", "schemaformat", "schemaurl")


def dialect_of(document: Tree) -> str:
    """The name of the dialect; empty when the document is in none."""
    if any(name in document for name in _SERVICE):
        return "0.5-service"
    if any(isinstance(document.get(name), dict | list) for name in _CATALOG) or _is_version(document):
        return "catalog"
    if not any(isinstance(document.get(kind), dict) for kind in GROUP_TYPES):
        return ""
    if any("definitions" in group or "definitionGroups" in group for _, _, group in groups(document)):
        return "0.5-service"
    said = _said(document)
    return _half(document, said) or _release(document, said)


def _is_version(document: Tree) -> bool:
    """One definition of a message catalog on its own."""
    return not any(kind in document for kind in GROUP_TYPES) and any(
        isinstance(document.get(name), dict) for name in _SECTIONS
    )


def _half(document: Tree, said: set[str]) -> str:
    if not said.isdisjoint(_RC):
        return ""
    if not said.isdisjoint(_HALF):
        return "0.5-message"
    return "0.5-message" if any("config" in one for one in objects(document, "endpoints").values()) else ""


def _said(document: Tree) -> set[str]:
    """The names of all members of messages and their versions."""
    names: set[str] = set()
    for _, _, message in messages(document):
        names.update(message)
        for version in objects(message, "versions").values() if "versions" in message else ():
            names.update(version)
    return names


def _release(document: Tree, said: set[str]) -> str:
    """Which text of 1.0: names that a later one gave up tell an older one; where all are equal, the stated version."""
    if "basemessageurl" in said:
        return "1.0-rc2"
    ages = set(_ages(document))
    if "1.0-rc2" in ages:
        return "2025-09" if "basemessage" in said else "1.0-rc2"
    if "1.0-rc3" in ages or "ancestor" in said:
        return "2026-05" if document.get("specversion") == "1.0-rc2" else "1.0-rc3"
    return "1.0-rc4"


def _ages(document: Tree) -> Iterator[str]:
    for kind, _, group in groups(document):
        if kind == "endpoints":
            yield _endpoint(group)
        for schema in objects(group, "schemas").values():
            meta = schema.get("meta")
            if isinstance(meta, dict) and "compatibilityauthority" in meta:
                yield "1.0-rc2"
            if any("ancestor" in one for one in (schema, *objects(schema, "versions").values())):
                yield "1.0-rc3"


def _endpoint(endpoint: Tree) -> str:
    if isinstance(endpoint.get("usage"), str):
        return "1.0-rc2"
    options = endpoint.get("protocoloptions")
    addresses: Any = options.get("endpoints") if isinstance(options, dict) else None
    listed = addresses if isinstance(addresses, list) else []
    return "1.0-rc3" if any(isinstance(one, dict) and "url" in one and "uri" not in one for one in listed) else ""

"""What the search index has of a Group or a Resource: words by where they stand, facets, and properties of schemas."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec

from postroom.registry.entities import Entity
from postroom.registry.rules import NO_PAYLOAD, Rules
from postroom.registry.search.words import indexed_words, without_nul

Part = Literal["title", "words", "description"]
MOST_TITLE_WORDS, MOST_WORDS, MOST_PROPERTY_WORDS = 64, 1000, 3000
LONGEST_TEXT = 5000
_DEEPEST = 12
_MOST_TEXTS = 1000
_UNSEARCHED = frozenset(
    {
        *("ancestorid", "defaultversionid", "defaultversionsticky", "readonly", "versionuri", "icon"),
        *("formatvalidated", "formatvalidatedreason", "compatibilityvalidated", "compatibilityvalidatedreason"),
        *("schemaids", "schemaguid", "schemaversion", "dataschema"),
    }
)
"""What the server notes, what is the same in most entities, and schemas, whose properties are searched instead."""
_LABELS = ("labels",)
_STRUCTURE = frozenset({"description", "name", "required", "specurl", "type", "value"})
"""Members that describe others: their names say nothing, while those of attributes, headers and labels are searched."""


class SearchEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A Group, or a Resource with its default Version, as it is indexed; its lines are made by `indexed_words`."""

    xid: str
    kind: str
    """The plural of its type: `messages`, `schemagroups`, …"""
    group: str
    """The xid of its Group, which for a Group is its own."""
    format: str
    envelope: str
    protocol: str
    schema: str
    """The xid of the schema that its payloads follow."""
    base: str
    """The xid of the message that it derives from."""
    title: str
    words: str
    description: str
    fields: str
    properties: tuple[tuple[str, str], ...] = ()


class FoundText(msgspec.Struct, frozen=True):
    """A text of an entity, the attribute that it is in, and the part of the index that it belongs to."""

    path: tuple[str, ...]
    text: str
    part: Part


def unit_of(xid: str) -> str:
    """The Group or Resource that an entity belongs to; empty for the Registry."""
    parts = xid.split("/", 5)
    return "/".join(parts[:5]) if len(parts) > 4 else xid if len(parts) == 3 else ""


def read_states(read: Callable[[str], Entity | None], unit: str) -> tuple[Entity, ...]:
    """What the entry of a Group or a Resource is made of: itself and its default Version; empty when there is none."""
    entity = read(unit)
    if entity is None:
        return ()
    version = read(f"{unit}/versions/{entity.attributes.get('defaultversionid', '')}") if unit.count("/") == 4 else None
    return (entity,) if version is None else (entity, version)


def texts_of(entity: Entity) -> list[FoundText]:
    """What is searched of a Group or a Version, beside its id."""
    found: list[FoundText] = []
    for name, value in entity.attributes.items():
        if name not in _UNSEARCHED:
            _add_texts(value, (name,), found)
    return found


def _add_texts(value: Any, path: tuple[str, ...], found: list[FoundText]) -> None:
    if isinstance(value, str):
        found.append(FoundText(path, value[:LONGEST_TEXT], _part(path)))
    elif isinstance(value, dict) and len(path) < _DEEPEST:
        for name, member in value.items():
            if (isinstance(member, dict) and name not in _STRUCTURE) or path == _LABELS:
                found.append(FoundText((*path, name), name, "words"))
            _add_texts(member, (*path, name), found)
    elif isinstance(value, list) and len(path) < _DEEPEST:
        for member in value:
            _add_texts(member, path, found)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        found.append(FoundText(path, str(value), "words"))


def _part(path: tuple[str, ...]) -> Part:
    if path[-1] == "description":
        return "description"
    return "title" if path == ("name",) else "words"


def make_entry(unit: str, states: tuple[Entity, ...], rules: Rules) -> SearchEntry:
    """The entry of a Group or a Resource; one that stands for another is found by its id only."""
    searched, steps = states[-1], unit.split("/")
    parts: dict[Part, list[str]] = {"title": [searched_id(unit)], "words": [], "description": []}
    for found in texts_of(searched)[:_MOST_TEXTS]:
        parts[found.part].append(found.text)
    payload = rules.payload(searched.attributes) if len(states) > 1 else NO_PAYLOAD
    properties = _properties(searched, payload.form, payload.document, rules)
    return SearchEntry(
        xid=unit,
        kind=steps[-2],
        group="/".join(steps[:3]),
        format=_stated(searched.attributes, "format", "dataschemaformat"),
        envelope=_stated(searched.attributes, "envelope"),
        protocol=_stated(searched.attributes, "protocol"),
        schema=without_nul(payload.schema),
        base=without_nul(payload.base),
        title=indexed_words(parts["title"], MOST_TITLE_WORDS),
        words=indexed_words(parts["words"], MOST_WORDS),
        description=indexed_words(parts["description"], MOST_WORDS),
        fields=indexed_words((path for path, _ in properties), MOST_PROPERTY_WORDS),
        properties=properties,
    )


def searched_id(unit: str) -> str:
    """The id of a Group or a Resource."""
    return unit.rpartition("/")[2]


def _properties(version: Entity, form: str, document: bytes, rules: Rules) -> tuple[tuple[str, str], ...]:
    if version.document is not None and not version.document.url:
        form, document = str(version.attributes.get("format") or ""), version.document.content
    found = rules.documents.properties(form, document) if form and document else ()
    return tuple((without_nul(path), without_nul(type_name)) for path, type_name in found)


def _stated(attributes: Mapping[str, Any], *names: str) -> str:
    for name in names:
        found = attributes.get(name)
        if isinstance(found, str):
            return without_nul(found[:LONGEST_TEXT])
    return ""

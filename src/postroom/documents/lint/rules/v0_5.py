"""Rules on documents of 0.5 as they are written: what is gone or put right once they are read in the names of 1.0."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import cache
from typing import Any

from postroom.documents.dialects.detect import dialect_of
from postroom.documents.dialects.references import is_local
from postroom.documents.lint.findings import Diagnostic
from postroom.documents.lint.members import section, text
from postroom.messages.definitions.catalog_tree import Tree, members
from postroom.model.json_pointers import pointer
from postroom.protocols.kafka import KAFKA
from postroom.protocols.protocol_table import canonical_protocol

_EVERY = (
    *("id", "name", "description", "docs", "documentation", "tags", "labels", "type", "origin", "self", "epoch"),
    *("version", "versionid", "createdBy", "createdOn", "modifiedBy", "modifiedOn", "createdat", "modifiedat"),
)
_NAMES: dict[str, tuple[str, ...]] = {
    "registry": (
        *("$schema", "specversion", "specVersion", "endpoints", "endpointsUrl", "definitionGroups", "schemaGroups"),
        *("definitionGroupsUrl", "schemaGroupsUrl", "messagegroups", "schemagroups", "model", *_EVERY),
    ),
    "groups": (*_EVERY, "format", "binding", "definitions", "messages", "definitionsUrl", "messagesurl", "deprecated"),
    "messages": (
        *(*_EVERY, "format", "binding", "metadata", "message", "schema", "schemaurl", "schemaformat", "schemaobject"),
        *("basemessageurl", "uri", "xref", "readonly", "isdefault", "versions", "authority"),
        *("defaultversionid", "defaultversionurl", "defaultversionsticky", "versionsurl", "versionscount"),
    ),
    "schemas": (*_EVERY, "format", "schema", "schemaurl", "schemaformat", "versions", "versionsUrl", "versionscount"),
    "endpoints": (
        *(*_EVERY, "usage", "config", "format", "definitions", "definitionGroups", "messages", "messagegroups"),
        *("deprecated", "channel"),
    ),
    "config": ("protocol", "endpoints", "options", "strict"),
}
_LIKE = 0.88
_SELECTED = ("format", "binding", "envelope", "protocol")
_GROUPS = ("definitionGroups", "messagegroups")
_SCHEMA_GROUPS = ("schemaGroups", "schemagroups")
_MESSAGES = ("definitions", "messages")


def misspelt(document: Tree) -> Iterator[Diagnostic]:
    """Members that 0.5 does not know and that look like one it knows."""
    if not dialect_of(document).startswith("0.5"):
        return
    for kind, steps, entity in _entities(document):
        for name in entity:
            meant = _meant(kind, name)
            if meant and meant not in entity:
                yield Diagnostic(pointer((*steps, name)), f"{name} is not read.", f"Did you mean {meant}?")


def selector_missing(document: Tree) -> Iterator[Diagnostic]:
    """Groups and messages of 0.5 say which format (or binding) they have; a borrowed message is said elsewhere."""
    service = dialect_of(document) == "0.5-service"
    if not service and dialect_of(document) != "0.5-message":
        return
    names = ("format",) if service else ("format", "binding")
    for kind, steps, entity in _entities(document):
        if kind not in ("groups", "messages") or any(name in entity for name in (*_SELECTED, "uri", "xref")):
            continue
        place, noun = pointer(steps), "message" if kind == "messages" else "group"
        sentence = f"the {noun} has no {' and no '.join(names)}, which 0.5 requires."
        yield Diagnostic(place, sentence, f"Add {' or '.join(names)}.")


def format_of_other_kind(document: Tree) -> Iterator[Diagnostic]:
    """In the 0.5 service the messages of a group have its format, be it an envelope or a protocol."""
    if dialect_of(document) != "0.5-service":
        return
    for kind in _GROUPS:
        for name, group in members(document, kind).items():
            given = text(group, "format")
            for inner in _MESSAGES:
                for one, message in members(group, inner).items():
                    own = text(message, "format")
                    if given and own and canonical_protocol(given) != canonical_protocol(own):
                        sentence = f"format is {own}, and that of the group is {given}."
                        remedy = "Put the message into a group of its own format."
                        yield Diagnostic(pointer((kind, name, inner, one, "format")), sentence, remedy)


def metadata_missing(document: Tree) -> Iterator[Diagnostic]:
    """A definition has metadata; one that states another format than its group has none to take."""
    if dialect_of(document) != "0.5-service":
        return
    for kind, steps, entity in _entities(document):
        if kind == "messages" and not any(name in entity for name in ("metadata", "definition", "uri")):
            place = pointer((*steps, "format") if "format" in entity else steps)
            yield Diagnostic(place, "the definition has no metadata, which 0.5 requires.", "Add metadata.")


def timestamp_not_read(document: Tree) -> Iterator[Diagnostic]:
    """The time of a Kafka record, which 1.0 has no option for: it is kept for documents of 0.5, and never compared."""
    for kind in (*_GROUPS, "endpoints"):
        for name, group in members(document, kind).items():
            for inner in _MESSAGES:
                for one, message in members(group, inner).items():
                    for area in _kafka_areas(group, message):
                        if "timestamp" in section(message, area):
                            sentence = "the timestamp of Kafka records is not looked at, and not made."
                            place = pointer((kind, name, inner, one, area, "timestamp"))
                            yield Diagnostic(place, sentence, "Leave it out: producers set it.")


def _kafka_areas(group: Tree, message: Tree) -> Iterator[str]:
    """The members of a message that have options of Kafka."""
    for selector, area in (("binding", "message"), ("format", "metadata")):
        if canonical_protocol(text(message, selector) or text(group, selector)) == KAFKA.name:
            yield area


def schema_within(document: Tree) -> Iterator[Diagnostic]:
    """A schema document that is not embedded is external; one schema does not stand for another."""
    if dialect_of(document) != "0.5-service":
        return
    for kind, steps, entity in _entities(document):
        versions = [(("versions", name), one) for name, one in members(entity, "versions").items()]
        for inner, one in [((), entity), *versions] if kind == "schemas" else ():
            if is_local(one.get("schemaurl")):
                sentence = "schemaurl leads into this registry, and the document has to be external to the registry."
                place = pointer((*steps, *inner, "schemaurl"))
                yield Diagnostic(place, sentence, "Embed the schema, or write its URL.")


def type_datetime(document: Tree) -> Iterator[Diagnostic]:
    """The type `datetime`, which examples have and no text defines."""
    for kind, steps, entity in _entities(document):
        for area in ("metadata", "message") if kind == "messages" else ():
            yield from _datetimes((*steps, area), entity.get(area))


def _datetimes(steps: tuple[str, ...], value: Any) -> Iterator[Diagnostic]:
    if not isinstance(value, dict):
        return
    if value.get("type") == "datetime":
        yield Diagnostic(pointer((*steps, "type")), "the type datetime is called timestamp.", "Write timestamp.")
    for name, below in value.items():
        yield from _datetimes((*steps, name), below)


def _entities(document: Tree) -> Iterator[tuple[str, tuple[str, ...], Tree]]:
    yield "registry", (), document
    for kind in (*_GROUPS, "endpoints"):
        for name, group in members(document, kind).items():
            yield "endpoints" if kind == "endpoints" else "groups", (kind, name), group
            if kind == "endpoints":
                yield "config", (kind, name, "config"), section(group, "config")
            for inner in _MESSAGES:
                for one, message in members(group, inner).items():
                    yield "messages", (kind, name, inner, one), message
    for kind in _SCHEMA_GROUPS:
        for name, group in members(document, kind).items():
            for one, schema in members(group, "schemas").items():
                yield "schemas", (kind, name, "schemas", one), schema


@cache
def _meant(kind: str, name: str) -> str:
    known = _NAMES[kind]
    if name in known or name.lower().endswith(("url", "count")):
        return ""
    lower = {one.lower(): one for one in known}
    close = difflib.get_close_matches(name.lower(), lower, n=1, cutoff=_LIKE)
    return lower[close[0]] if close else ""

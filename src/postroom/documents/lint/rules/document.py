"""Rules on the document itself: shapes, ids and names of members."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import cache
from typing import Any

from postroom.documents.lint.findings import Diagnostic
from postroom.documents.lint.members import section
from postroom.documents.lint.subjects import COLLECTIONS, LintedDocument
from postroom.messages.definitions.catalog_tree import Tree
from postroom.messages.definitions.constraints import shorten
from postroom.model.json_pointers import pointer
from postroom.model.names import ENTITY_ID_RULE, is_entity_id
from postroom.model.shipped_models import load_model
from postroom.model.types import Model
from postroom.protocols.cloudevents import ENVELOPE
from postroom.protocols.protocol_table import wire_named

SINGULAR = {
    "messagegroups": "messagegroup",
    "schemagroups": "schemagroup",
    "endpoints": "endpoint",
    "messages": "message",
    "schemas": "schema",
}
OBJECTS = ("envelopemetadata", "envelopeoptions", "protocoloptions", "meta")
# Names of members in older texts and of near misses that are not read, with the present ones.
OTHER_NAMES = {
    "messages": {
        "dataschemaurl": "dataschemauri",
        "schemaurl": "dataschemauri",
        "schemauri": "dataschemauri",
        "schema": "dataschema",
        "schemaformat": "dataschemaformat",
        "metadata": "envelopemetadata",
        "format": "envelope",
        "binding": "protocol",
        "protocolmetadata": "protocoloptions",
        "bindingoptions": "protocoloptions",
        "envelopeattributes": "envelopemetadata",
    },
    "endpoints": {"format": "envelope", "config": "protocoloptions", "definitiongroups": "messagegroups"},
    "messagegroups": {"format": "envelope", "binding": "protocol", "definitions": "messages"},
    "schemas": {},
    "schemagroups": {},
}
OTHER_COLLECTIONS = {
    "definitiongroups": "messagegroups",
    "messagegroup": "messagegroups",
    "schemagroup": "schemagroups",
    "endpoint": "endpoints",
}
READ_ANYWAY = frozenset(
    (kind, name)
    for kind in SINGULAR
    for name in ("basemessageuri", "basemessageurl", "ancestor", "defaultversionid", "latestversionid")
) | {("schemas", "schemauri")}
# Names of older texts that files are read with, whatever release they are in (C-31).
OLDER_NAMES = frozenset(
    ("dataschemaurl", "schemaurl", "schemauri", "schema", "schemaformat", "metadata", "format", "binding", "config")
) | {"definitions"}


@cache
def messaging_model() -> Model:
    """The model that we ship."""
    return load_model("messaging")


def not_an_object(document: LintedDocument) -> Iterator[Diagnostic]:
    """Collections and what they hold are objects."""
    for kind, inner in COLLECTIONS.items():
        if kind in document.tree and not isinstance(document.tree[kind], dict):
            yield _shape((kind,))
        for name, group in section(document.tree, kind).items():
            if not isinstance(group, dict):
                yield _shape((kind, name))
                continue
            if inner in group and not isinstance(group[inner], dict):
                yield _shape((kind, name, inner))
            for one, resource in section(group, inner).items():
                if not isinstance(resource, dict):
                    yield _shape((kind, name, inner, one))
                    continue
                yield from _inner_shapes((kind, name, inner, one), resource)


def _inner_shapes(steps: tuple[str, ...], resource: Tree) -> Iterator[Diagnostic]:
    for member in (*OBJECTS, "versions"):
        if resource.get(member) is not None and not isinstance(resource[member], dict):
            yield _shape((*steps, member))
    for name, version in section(resource, "versions").items():
        if not isinstance(version, dict):
            yield _shape((*steps, "versions", name))
            continue
        for member in OBJECTS:
            if version.get(member) is not None and not isinstance(version[member], dict):
                yield _shape((*steps, "versions", name, member))


def _shape(steps: tuple[str, ...]) -> Diagnostic:
    return Diagnostic(pointer(steps), f"{steps[-1]} must be an object.", "Correct its shape; nothing in it is used.")


def id_other_than_key(document: LintedDocument) -> Iterator[Diagnostic]:
    """The id that an entity states is the key it stands under."""
    for steps, entity in document.entities:
        name = SINGULAR[steps[-2]] + "id"
        stated = entity.get(name)
        if isinstance(stated, str) and stated != steps[-1]:
            sentence = f"{name} is {stated!r}, and it stands under {steps[-1]!r}."
            yield Diagnostic(pointer((*steps, name)), sentence, "Make both the same.")


def id_malformed(document: LintedDocument) -> Iterator[Diagnostic]:
    """Ids are made of a few characters, so that they can stand in URLs and name tables."""
    for steps, entity in document.entities:
        yield from _malformed(steps[-1], steps)
        if len(steps) == 4:
            yield from _malformed(entity.get("versionid", "1"), (*steps, "versionid"))
            for name in section(entity, "versions"):
                yield from _malformed(name, (*steps, "versions", name))


def _malformed(entity_id: Any, steps: tuple[str, ...]) -> Iterator[Diagnostic]:
    if isinstance(entity_id, str) and not is_entity_id(entity_id):
        sentence = f"{shorten(entity_id)!r} is no id, and a registry refuses it."
        yield Diagnostic(pointer(steps), sentence, f"An id is {ENTITY_ID_RULE}.")


def ids_collide(document: LintedDocument) -> Iterator[Diagnostic]:
    """Ids that differ in case only cannot be stored side by side."""
    seen: dict[tuple[str, ...], str] = {}
    for steps, _ in document.entities:
        known = seen.setdefault((*steps[:-1], steps[-1].lower()), steps[-1])
        if known != steps[-1]:
            sentence = f"{steps[-1]!r} and {known!r} differ in case only, and ids do not."
            yield Diagnostic(pointer(steps), sentence, "Rename one of them.")


def member_misspelt(document: LintedDocument) -> Iterator[Diagnostic]:
    """Members that nobody reads and that look like one that is read."""
    for name in document.tree:
        meant = OTHER_COLLECTIONS.get(name.lower()) or _wrong_case(name, tuple(COLLECTIONS))
        if meant:
            yield Diagnostic(pointer((name,)), f"{name} is not read.", f"Did you mean {meant}?")
    for steps, entity in document.entities:
        kind = steps[-2]
        read = _read_by(kind)
        for name in [one for one in entity if one not in read]:
            meant = _meant(kind, name)
            if name == "format" and meant:
                meant = _selector(entity[name])
            if meant and meant not in entity:
                yield _other_name(pointer((*steps, name)), name, meant)


def _other_name(place: str, name: str, meant: str) -> Diagnostic:
    if name in OLDER_NAMES:
        sentence = f"{name} is what older texts call {meant}; in a registry it is an extension that nobody reads."
        return Diagnostic(place, sentence, f"Write {meant}.")
    return Diagnostic(place, f"{name} is not read.", f"Did you mean {meant}?")


def default_version_misplaced(document: LintedDocument) -> Iterator[Diagnostic]:
    """The id of the default Version stands in meta."""
    for steps, entity in document.entities:
        for name in ("defaultversionid", "latestversionid") if len(steps) == 4 else ():
            if name in entity:
                yield Diagnostic(pointer((*steps, name)), f"{name} belongs into meta.", "Write meta.defaultversionid.")


def _selector(value: Any) -> str:
    """What 0.5 called format: the envelope or the protocol. Anything else is another format."""
    if not isinstance(value, str):
        return ""
    if value.lower() == ENVELOPE.lower():
        return "envelope"
    return "protocol" if wire_named(value).options else ""


@cache
def _meant(kind: str, name: str) -> str:
    known = _members_of(kind)
    if (kind, name) in READ_ANYWAY or (name in known and name not in OTHER_NAMES[kind]):
        return ""
    listed = OTHER_NAMES[kind].get(name.lower())
    if listed:
        return listed
    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.88)
    return close[0] if close else ""


@cache
def _read_by(kind: str) -> frozenset[str]:
    """The members that are read, so that nobody meant another one."""
    return frozenset(name for name in _members_of(kind) if not _meant(kind, name))


@cache
def _members_of(kind: str) -> tuple[str, ...]:
    groups = messaging_model().groups
    if kind in groups:
        return (*groups[kind].attributes, COLLECTIONS[kind], "protocoloptions", "envelopeoptions")
    resource = groups["messagegroups" if kind == "messages" else "schemagroups"].resources[kind]
    return (*resource.attributes, *resource.resourceattributes, *OBJECTS)


def _wrong_case(name: str, known: tuple[str, ...]) -> str:
    return name.lower() if name not in known and name.lower() in known else ""

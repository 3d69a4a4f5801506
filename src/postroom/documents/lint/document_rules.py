"""Rules on the document itself: shapes, ids, names of members, values that the model does not allow."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from functools import cache
from typing import Any

from postroom.documents.lint.findings import Remark
from postroom.documents.lint.members import section, text
from postroom.documents.lint.subjects import Document, Message
from postroom.messages.rules import read_endpoint, read_message
from postroom.messages.tree import Tree, members
from postroom.model.conform import Violation, conform
from postroom.model.pointers import pointer
from postroom.model.shipped import load_model
from postroom.model.types import Attributes, Model
from postroom.protocols.table import canonical_protocol, wire_named

COLLECTIONS = {"messagegroups": "messages", "schemagroups": "schemas", "endpoints": "messages"}
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
        "contenttype": "datacontenttype",
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
READ_ANYWAY = frozenset({"basemessageuri", "basemessageurl"})


@cache
def _model() -> Model:
    return load_model("messaging")


def not_an_object(document: Document) -> Iterator[Remark]:
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


def _inner_shapes(steps: tuple[str, ...], resource: Tree) -> Iterator[Remark]:
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


def _shape(steps: tuple[str, ...]) -> Remark:
    return Remark(pointer(steps), f"{steps[-1]} must be an object.", "Correct its shape; nothing in it is used.")


def id_other_than_key(document: Document) -> Iterator[Remark]:
    """The id that an entity states is the key it stands under."""
    for steps, entity in _entities(document):
        name = SINGULAR[steps[-2]] + "id"
        stated = entity.get(name)
        if isinstance(stated, str) and stated != steps[-1]:
            sentence = f"{name} is {stated!r}, and it stands under {steps[-1]!r}."
            yield Remark(pointer((*steps, name)), sentence, "Make both the same.")


def ids_collide(document: Document) -> Iterator[Remark]:
    """Ids that differ in case only cannot be stored side by side."""
    seen: dict[tuple[str, ...], str] = {}
    for steps, _ in _entities(document):
        known = seen.setdefault((*steps[:-1], steps[-1].lower()), steps[-1])
        if known != steps[-1]:
            sentence = f"{steps[-1]!r} and {known!r} differ in case only, and ids do not."
            yield Remark(pointer(steps), sentence, "Rename one of them.")


def member_misspelt(document: Document) -> Iterator[Remark]:
    """Members that nobody reads and that look like one that is read."""
    for name in document.tree:
        meant = OTHER_COLLECTIONS.get(name.lower()) or _wrong_case(name, tuple(COLLECTIONS))
        if meant:
            yield Remark(pointer((name,)), f"{name} is not read.", f"Did you mean {meant}?")
    for steps, entity in _entities(document):
        kind = steps[-2]
        for name, value in entity.items():
            meant = _meant(kind, name)
            if meant == "envelope" and isinstance(value, str) and wire_named(value).options:
                meant = "protocol"
            if meant and meant not in entity:
                yield Remark(pointer((*steps, name)), f"{name} is not read.", f"Did you mean {meant}?")


def default_version_misplaced(document: Document) -> Iterator[Remark]:
    """The id of the default Version stands in meta."""
    for steps, entity in _entities(document):
        for name in ("defaultversionid", "latestversionid") if len(steps) == 4 else ():
            if name in entity:
                yield Remark(pointer((*steps, name)), f"{name} belongs into meta.", "Write meta.defaultversionid.")


@cache
def _meant(kind: str, name: str) -> str:
    known = _members_of(kind)
    if name in (*READ_ANYWAY, "defaultversionid", "latestversionid") or (
        name in known and name not in OTHER_NAMES[kind]
    ):
        return ""
    listed = OTHER_NAMES[kind].get(name.lower())
    if listed:
        return listed
    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.88)
    return close[0] if close else ""


@cache
def _members_of(kind: str) -> tuple[str, ...]:
    groups = _model().groups
    if kind in groups:
        return (*groups[kind].attributes, COLLECTIONS[kind], "protocoloptions", "envelopeoptions")
    resource = groups["messagegroups" if kind == "messages" else "schemagroups"].resources[kind]
    return (*resource.attributes, *resource.resourceattributes, *OBJECTS)


def _wrong_case(name: str, known: tuple[str, ...]) -> str:
    return name.lower() if name not in known and name.lower() in known else ""


def base_name_variant(message: Message) -> Iterator[Remark]:
    """The base reference is called basemessage."""
    for name in sorted(READ_ANYWAY):
        if name in message.own:
            yield Remark(message.at(name), f"{name} is another name of basemessage.", "Write basemessage.")


def attributes_in_options(message: Message) -> Iterator[Remark]:
    """The attributes of an envelope stand in envelopemetadata."""
    options = section(message.own, "envelopeoptions")
    if options and not section(message.own, "envelopemetadata") and all(isinstance(v, dict) for v in options.values()):
        sentence = "the attributes of the envelope stand in envelopeoptions."
        yield Remark(message.at("envelopeoptions"), sentence, "Move them to envelopemetadata.")


def attributes_nested(message: Message) -> Iterator[Remark]:
    """The attributes of an envelope stand directly in envelopemetadata."""
    metadata = section(message.own, "envelopemetadata")
    inner = metadata.get("attributes")
    if (
        set(metadata) == {"attributes"}
        and isinstance(inner, dict)
        and inner
        and all(isinstance(value, dict) for value in inner.values())
    ):
        sentence = "the attributes of the envelope are nested under `attributes`."
        yield Remark(message.at("envelopemetadata", "attributes"), sentence, "Move them one level up.")


def value_refused(document: Document) -> Iterator[Remark]:
    """Values that the model of messages, schemas and endpoints does not allow."""
    model = _model()
    messages = model.groups["messagegroups"].resources["messages"]
    for message in document.messages:
        if message.borrowed:
            continue
        body, _ = read_message(messages, message.own)
        selected = {name: text(message.effective, name) for name in ("envelope", "protocol")}
        selected["protocol"] = canonical_protocol(selected["protocol"])
        chosen = {name: value for name, value in selected.items() if value}
        for violation in _checked(model, messages.attributes, {**body, **chosen}):
            yield _refused(message.at(*violation.path), violation)
    for steps, entity in _entities(document):
        if steps[-2] == "messages":
            continue
        kind = model.groups.get(steps[-2])
        attributes = kind.attributes if kind else model.groups["schemagroups"].resources["schemas"].attributes
        body = read_endpoint(kind, entity)[0] if kind and steps[-2] == "endpoints" else entity
        for violation in _checked(model, attributes, body):
            yield _refused(pointer((*steps, *violation.path)), violation)
        for violation in _meta_violations(model, section(entity, "meta")) if steps[-2] == "schemas" else ():
            yield _refused(pointer((*steps, "meta", *violation.path)), violation)


def _meta_violations(model: Model, meta: Tree) -> Iterator[Violation]:
    given = {name: value for name, value in meta.items() if value != "none"}  # C-51
    yield from _checked(model, model.groups["schemagroups"].resources["schemas"].metaattributes, given)


def _checked(model: Model, attributes: Attributes, body: Tree) -> Iterator[Violation]:
    known = {name: value for name, value in body.items() if name in attributes or name in OBJECTS}
    for violation in conform(model, attributes, known)[1]:
        # What is missing a server fills in, or a rule of its own says; types have a rule for older names.
        if violation.kind == "missing" or _said_elsewhere(violation, body):
            continue
        yield violation


def _said_elsewhere(violation: Violation, body: Tree) -> bool:
    path = violation.path
    if path[0] in COLLECTIONS.values() or (len(path) == 1 and path[0] in (*OBJECTS, "versions")):
        return True
    if path[0] == "envelopemetadata" and len(path) == 2:
        return True
    if path[0] == "protocoloptions" and not (
        len(path) > 3 and path[-1] in ("type", "required", "description", "specurl")
    ):
        # Shapes and names of options are the concern of the rules on options; endpoints have theirs.
        return "usage" not in body
    value: Any = body
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return path[-1] == "type" and isinstance(value, str) and value.lower() in ("datetime", "var")


def _refused(place: str, violation: Violation) -> Remark:
    return Remark(place, f"{violation.path[-1]} {violation.detail}.", "Correct the value.")


def _entities(document: Document) -> Iterator[tuple[tuple[str, ...], Tree]]:
    for kind, inner in COLLECTIONS.items():
        for name, group in members(document.tree, kind).items():
            yield (kind, name), group
            for one, resource in members(group, inner).items():
                yield (kind, name, inner, one), resource

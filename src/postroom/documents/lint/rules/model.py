"""Rules of the model: values that messages, schemas and endpoints cannot have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from postroom.documents.dialects.endpoints import present_spelling
from postroom.documents.lint.findings import Diagnostic
from postroom.documents.lint.members import section, text
from postroom.documents.lint.rules.document import OBJECTS, messaging_model
from postroom.documents.lint.subjects import COLLECTIONS, LintedDocument
from postroom.documents.lint.written_properties import TYPE_VARIANTS
from postroom.messages.definitions.catalog_tree import Tree
from postroom.messages.definitions.registry_rules import read_endpoint, read_message
from postroom.model.conform import AttributeViolation, conform
from postroom.model.json_pointers import pointer
from postroom.model.types import Attributes, Model
from postroom.protocols.protocol_table import canonical_protocol


def value_refused(document: LintedDocument) -> Iterator[Diagnostic]:
    """Values that the model of messages, schemas and endpoints does not allow."""
    model = messaging_model()
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
    for steps, entity in document.entities:
        if steps[-2] == "messages":
            continue
        kind = model.groups.get(steps[-2])
        attributes = kind.attributes if kind else model.groups["schemagroups"].resources["schemas"].attributes
        body = read_endpoint(kind, entity)[0] if kind and steps[-2] == "endpoints" else entity
        for violation in _checked(model, attributes, body):
            yield _refused(pointer((*steps, *violation.path)), violation)
        for violation in _meta_violations(model, section(entity, "meta")) if steps[-2] == "schemas" else ():
            yield _refused(pointer((*steps, "meta", *violation.path)), violation)


def registry_value_refused(document: LintedDocument) -> Iterator[Diagnostic]:
    """Values of the registry itself that its model does not allow; a catalog is loaded without them."""
    model = messaging_model()
    own = {name: value for name, value in document.tree.items() if name not in (*COLLECTIONS, "capabilities")}
    for violation in _checked(model, model.attributes, own):
        yield _refused(pointer(violation.path), violation)


def _meta_violations(model: Model, meta: Tree) -> Iterator[AttributeViolation]:
    given = {name: value for name, value in meta.items() if value != "none"}  # C-51
    yield from _checked(model, model.groups["schemagroups"].resources["schemas"].metaattributes, given)


def _checked(model: Model, attributes: Attributes, body: Tree) -> Iterator[AttributeViolation]:
    known = {name: value for name, value in body.items() if name in attributes or name in OBJECTS}
    for violation in conform(model, attributes, known)[1]:
        # What is missing a server fills in, or a rule of its own says; types have a rule for older names.
        if violation.type == "missing" or _said_elsewhere(violation, body):
            continue
        yield violation


def _said_elsewhere(violation: AttributeViolation, body: Tree) -> bool:
    path = violation.path
    if path[0] in COLLECTIONS.values() or (len(path) == 1 and path[0] in (*OBJECTS, "versions")):
        return True
    if path[0] == "envelopemetadata" and len(path) == 2:
        return True
    if path[0] == "protocoloptions" and len(path) == 2 and _is_old_option(body, str(path[1])):
        return True
    if path[0] == "protocoloptions" and not (
        len(path) > 3 and path[-1] in ("type", "required", "description", "specurl")
    ):
        # Shapes and names of options are the concern of the rules on options; endpoints have theirs.
        return "usage" not in body
    value: Any = body
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return path[-1] == "type" and isinstance(value, str) and value.lower() in TYPE_VARIANTS


def _is_old_option(endpoint: Tree, name: str) -> bool:
    return "usage" in endpoint and present_spelling(endpoint.get("protocol"), name) != name


def _refused(place: str, violation: AttributeViolation) -> Diagnostic:
    return Diagnostic(place, f"{violation.path[-1]} {violation.detail}.", "Correct the value.")

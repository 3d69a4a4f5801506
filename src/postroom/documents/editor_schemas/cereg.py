"""The JSON Schema of `.cereg` files (Registry Service 0.5): the same model in the words of that dialect."""

from __future__ import annotations

from typing import Any

from postroom.documents.dialects.name_tables import (
    ENDPOINT_OPTIONS,
    OLD_MESSAGE_ATTRIBUTES,
    OLD_PROPERTY_TYPES,
    RC4_ENDPOINT_OPTIONS,
    SERVICE_ATTRIBUTES,
)
from postroom.documents.dialects.name_tables import SERVICE_SCHEMA as IDENTIFIER
from postroom.documents.editor_schemas.attributes import Schema, ignoring_case, map_of, object_schema
from postroom.documents.editor_schemas.xreg import DRAFT
from postroom.model.types import Attributes, Model
from postroom.protocols.cloudevents import ENVELOPE
from postroom.protocols.protocol import Option
from postroom.protocols.protocol_table import wire_named

_ATTRIBUTES = {ours: theirs for theirs, ours in SERVICE_ATTRIBUTES.items()}
_OPTIONS = {ours: theirs for theirs, ours in ENDPOINT_OPTIONS.items()}
_COMMON = ("name", "description", "documentation", "labels", "createdat", "modifiedat")
_FORMATS = ("CloudEvents/1.0", "HTTP/1.1", "HTTP/2", "HTTP/3", "AMQP/1.0", "MQTT/3.1.1", "MQTT/5.0", "Kafka/0.11")
_PROTOCOLS = ("HTTP", "AMQP/1.0", "MQTT/3.1.1", "MQTT/5.0", "KAFKA", "NATS")
_TYPES = (
    *("boolean", "string", "symbol", "binary", "timestamp", "duration", "uritemplate", "uri", "urireference"),
    *("number", "integer"),
)
_TEXT: Schema = {"type": "string"}
_PROPERTY: Schema = {"$ref": "#/definitions/property"}
_VALUE: Schema = {"anyOf": [_PROPERTY, {"type": ["string", "number", "boolean"]}]}


def cereg_schema(model: Model) -> Schema:
    """The schema of documents of the 0.5 service with message definitions, schemas and endpoints."""
    messages = model.groups["messagegroups"]
    common = _renamed(messages.attributes)
    collections = {
        "endpoints": map_of({"$ref": "#/definitions/endpoint"}),
        "definitionGroups": map_of({"$ref": "#/definitions/definitionGroup"}),
        "schemaGroups": map_of({"$ref": "#/definitions/schemaGroup"}),
    }
    return {
        "$schema": DRAFT,
        "$id": IDENTIFIER,
        "title": "CloudEvents registry document",
        "type": "object",
        "properties": {
            "$schema": {"const": IDENTIFIER},
            "specversion": _TEXT,
            **common,
            **collections,
            **{name + "Url": _TEXT for name in collections},
        },
        "definitions": {
            "property": _property(),
            "definition": _definition(model, common),
            "definitionGroup": _object(common, format=_format(), definitions=_definitions()),
            "schemaGroup": _object(common, schemas=map_of({"$ref": "#/definitions/schema"})),
            "schema": _object(common, format=_TEXT, versions=map_of({"$ref": "#/definitions/schemaversion"})),
            "schemaversion": _object(common, format=_TEXT, schema={}, schemaurl=_TEXT),
            "endpoint": _endpoint(model, common),
        },
    }


def _renamed(attributes: Attributes) -> dict[str, Schema]:
    """What all entities have, under the names of 0.5."""
    known = object_schema({name: attributes[name] for name in _COMMON})["properties"]
    named = {_ATTRIBUTES.get(name, name): schema for name, schema in known.items()}
    version: Schema = {"type": ["integer", "string"]}
    return {"id": _TEXT, "version": version, "createdBy": _TEXT, "modifiedBy": _TEXT, **named}


def _object(common: dict[str, Schema], **members: Schema) -> Schema:
    return {"type": "object", "properties": {**common, **members}}


def _definitions() -> Schema:
    return map_of({"$ref": "#/definitions/definition"})


def _format() -> Schema:
    return {"anyOf": [{"enum": list(_FORMATS)}, {"type": "string", "pattern": "^[^/]+(/.+)?$"}]}


def _property() -> Schema:
    types = sorted({*(OLD_PROPERTY_TYPES.get(kind, kind) for kind in _TYPES), *OLD_PROPERTY_TYPES.values()})
    return {
        "type": "object",
        "properties": {
            "value": {},
            "type": {"enum": types, "default": "string"},
            "required": {"type": "boolean", "default": False},
            "description": _TEXT,
            "specurl": _TEXT,
        },
    }


def _definition(model: Model, common: dict[str, Schema]) -> Schema:
    kind = model.groups["messagegroups"].resources["messages"]
    payload = object_schema({name: kind.attributes[name] for name in OLD_MESSAGE_ATTRIBUTES})["properties"]
    named = {theirs: payload[ours] for ours, theirs in OLD_MESSAGE_ATTRIBUTES.items() if ours != "basemessage"}
    members = {"format": _format(), "uri": _TEXT, "metadata": {"type": "object"}, **named}
    events = kind.attributes["envelope"].ifvalues[ENVELOPE].siblingattributes["envelopemetadata"].attributes
    attributes: Schema = {
        "type": "object",
        "properties": {name: _PROPERTY for name in events if name != "*"},
        "additionalProperties": _PROPERTY,
    }
    conditions = [_when([ENVELOPE], {"type": "object", "properties": {"attributes": attributes}})]
    for protocol in _PROTOCOLS[:-1]:
        wire = wire_named(protocol)
        spellings = sorted({protocol, *wire.spellings, *(one for one in _FORMATS if wire_named(one) is wire)})
        options = {option.name.replace("_", "-"): _option(option) for option in wire.options}
        conditions.append(_when(spellings, {"type": "object", "properties": options}))
    return {**_object(common, **members), "allOf": conditions}


def _when(formats: list[str], metadata: Schema) -> Schema:
    chosen = {"properties": {"format": {"pattern": ignoring_case(formats)}}, "required": ["format"]}
    return {"if": chosen, "then": {"properties": {"metadata": metadata}}}


def _option(option: Option) -> Schema:
    if option.shape == "section":
        known = dict.fromkeys(option.members, _PROPERTY)
        return {"type": "object", "properties": known, "additionalProperties": _PROPERTY}
    if option.shape == "value":
        return _VALUE
    return {"type": "object"} if option.name == "query" else {"type": ["array", "object"]}


def _endpoint(model: Model, common: dict[str, Schema]) -> Schema:
    kind = model.groups["endpoints"]
    options: dict[str, Schema] = {}
    for clause in kind.attributes["protocol"].ifvalues.values():
        chosen = clause.siblingattributes["protocoloptions"].attributes
        for name, schema in object_schema(chosen)["properties"].items():
            if name not in (*RC4_ENDPOINT_OPTIONS, "endpoints", "authorization", "deployed"):
                options[_OPTIONS.get(name, name)] = schema
    config: dict[str, Any] = {
        "protocol": {"anyOf": [{"enum": list(_PROTOCOLS)}, _TEXT]},
        "endpoints": {"type": "array", "items": _TEXT},
        "options": {"type": "object", "properties": options},
        "strict": {"type": "boolean", "default": False},
    }
    return _object(
        common,
        usage={"enum": ["subscriber", "consumer", "producer"]},
        origin=_TEXT,
        channel=_TEXT,
        deprecated={"type": "object"},
        format=_format(),
        definitions=_definitions(),
        definitionGroups={"type": "array", "items": _TEXT},
        config={"type": "object", "properties": config, "required": ["protocol"]},
    )

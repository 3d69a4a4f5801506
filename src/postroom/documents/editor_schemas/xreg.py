"""The JSON Schema of `.xreg.json` and `.xreg.yaml` files: any model, as a document of it is written."""

from __future__ import annotations

from typing import Any

from postroom.documents.editor_schemas.attributes import Schema, map_of, object_schema
from postroom.model.types import GroupType, Model, ResourceType

DRAFT = "http://json-schema.org/draft-07/schema#"

# What readers take as well, whatever the model says: names and forms of older texts (C-01, C-32, C-38).
_BASE: Schema = {"type": "string", "description": "An older name of basemessage."}
_ALSO: dict[str, dict[str, Schema]] = {
    "message": {"basemessageuri": _BASE, "basemessageurl": _BASE},
    "schema": {"defaultversionid": {"type": "string"}},
}
_USAGE = ["subscriber", "consumer", "producer"]
_REPLACED: dict[str, dict[str, Schema]] = {
    "endpoint": {
        "usage": {
            "description": "What clients do here.",
            "anyOf": [{"type": "array", "items": {"enum": _USAGE}, "minItems": 1}, {"enum": _USAGE}],
        },
        "deprecated": {"type": "object"},
    },
}


def xreg_schema(model: Model) -> Schema:
    """The schema of documents with the groups of a model."""
    definitions: dict[str, Any] = {}
    collections = {}
    for plural, group in model.groups.items():
        _define_group(group, definitions)
        collections[plural] = map_of(_reference(group.singular))
    registry = object_schema(model.attributes, collections)
    registry["properties"] |= {"$schema": {"type": "string"}, "specversion": {"type": "string"}}
    return {
        "$schema": DRAFT,
        "title": "xRegistry document",
        **registry,
        "additionalProperties": True,
        "definitions": definitions,
    }


def _define_group(group: GroupType, definitions: dict[str, Any]) -> None:
    collections = {}
    for plural, resource in group.resources.items():
        _define_resource(resource, definitions)
        collections[plural] = map_of(_reference(resource.singular))
    replaced = {**collections, **_REPLACED.get(group.singular, {})}
    definitions[group.singular] = object_schema(group.attributes, replaced)


def _define_resource(resource: ResourceType, definitions: dict[str, Any]) -> None:
    name = resource.singular
    also = _ALSO.get(name, {})
    document: dict[str, Schema] = {name: {}} if resource.hasdocument else {}
    version = object_schema(resource.attributes, {**also, **document})
    version.pop("required", None)  # a Version may inherit what the Resource says, and the other way round
    own = object_schema(resource.resourceattributes)["properties"]
    collected = {"versions": map_of(_reference(name + "version")), "meta": _reference(name + "meta")}
    definitions[name + "version"] = version
    definitions[name + "meta"] = {**object_schema(resource.metaattributes), "additionalProperties": True}
    definitions[name] = {**version, "properties": {**version["properties"], **own, **collected}}


def _reference(name: str) -> Schema:
    return {"$ref": f"#/definitions/{name}"}

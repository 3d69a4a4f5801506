"""`/openapi.json`: the API as it is at present, by the model and the capabilities in force (OpenAPI 3.1)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from postroom.documents.editor_schemas.attributes import Schema, attribute_schema, map_of
from postroom.http.operations.service_operations import CONFIGURATION, SERVICES, ServiceOperation
from postroom.http.xregistry.entities import METHODS
from postroom.model.types import Attributes, GroupType, Model, ResourceType
from postroom.registry.configuration.capabilities import Capabilities
from postroom.registry.paths import DETAILS
from postroom.version import VERSION

Tree = dict[str, Any]

ENTITY_TAG, CONFIGURATION_TAG, SERVICE_TAG = "entities", "registry", "services"
READ_FLAGS = ("binary", "collections", "doc", "filter", "inline", "sort")
WRITE_FLAGS = ("ignore", "setdefaultversionid")
FLAG_TEXTS = {
    "binary": "Show documents in base64",
    "collections": "Show nested collections only",
    "doc": "Show the document view, which can be loaded again",
    "epoch": "Delete only what has this epoch",
    "filter": "Show only what fits an expression; several in one are joined by AND, several flags by OR",
    "ignore": "What of the body is not looked at",
    "inline": "Show nested collections in place; `*` shows all",
    "setdefaultversionid": "The Version that becomes the default",
    "sort": "Sort a collection by an attribute, `=desc` for the other way round",
    "specversion": "Answer in an older version of xRegistry",
}
_VERBS = {"GET": "Read", "PUT": "Create or replace", "PATCH": "Change", "POST": "Add to", "DELETE": "Delete"}
_VARIABLE = re.compile(r"\{([^}]+)\}")
_JSON = "application/json"
_COLLECTIONS = ("groups", "resources", "versions")
_PROBLEM: Schema = {
    "type": "object",
    "description": "Why a request was refused (RFC 9457).",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "instance": {"type": "string"},
        "subject": {"type": "string"},
        "args": {"type": "object"},
    },
    "required": ["type", "title", "status"],
}
_SECURITY: Tree = {
    "key": {"type": "http", "scheme": "bearer", "description": "An API key, or a token of the OpenID provider"},
    "basic": {"type": "http", "scheme": "basic", "description": "The id of an API key and its secret"},
}


def openapi_document(model: Model, capabilities: Capabilities, base: str, *, is_guarded: bool) -> Tree:
    """The description of a registry at a URL; where it is guarded, requests need credentials."""
    paths: Tree = {}
    for path, kind, name, nouns in _entity_paths(model):
        paths[path] = _entity_item(path, kind, name, nouns, capabilities)
    for operations, tag in ((CONFIGURATION, CONFIGURATION_TAG), (SERVICES, SERVICE_TAG)):
        for one in operations:
            if _is_offered(one, capabilities):
                path = _service_path(one.path, model)
                paths.setdefault(path, _parameters(path))[one.method.lower()] = _service_operation(one, path, tag)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Postroom",
            "version": VERSION,
            "summary": "An xRegistry 1.0-rc4 service, with the model that is in force now.",
        },
        "servers": [{"url": base}],
        **({"security": [{name: []} for name in _SECURITY]} if is_guarded else {}),
        "tags": [{"name": name} for name in (ENTITY_TAG, CONFIGURATION_TAG, SERVICE_TAG)],
        "paths": paths,
        "components": {
            "schemas": _schemas(model),
            "responses": {
                "Problem": {
                    "description": "Refused: a problem document says why.",
                    "content": {_JSON: {"schema": _reference("Problem")}},
                }
            },
            **({"securitySchemes": _SECURITY} if is_guarded else {}),
        },
    }


def _entity_paths(model: Model) -> Iterator[tuple[str, str, str, tuple[str, str]]]:
    """Each path with its kind, the schema of its entity, and what it and its members are called."""
    yield "/", "registry", "registry", ("the registry", "")
    for plural, group in model.groups.items():
        entity = f"/{plural}/{{{group.singular}id}}"
        yield f"/{plural}", "groups", group.singular, (f"all {plural}", plural)
        yield entity, "group", group.singular, (f"one of the {plural}", "")
        for name, resource in group.resources.items():
            yield from _resource_paths(f"{entity}/{name}", resource, f"{group.singular}.{resource.singular}")


def _resource_paths(path: str, resource: ResourceType, schema: str) -> Iterator[tuple[str, str, str, tuple[str, str]]]:
    plural, entity = resource.plural, f"{path}/{{{resource.singular}id}}"
    version = f"{entity}/versions/{{versionid}}"
    one, other = f"one of the {plural}", f"a Version of one of the {plural}"
    yield path, "resources", schema, (f"all {plural}", plural)
    yield f"{entity}/versions", "versions", f"{schema}.version", (f"all Versions of {one}", "versions")
    yield f"{entity}/meta", "meta", f"{schema}.meta", (f"what concerns all Versions of {one}", "")
    if resource.hasdocument:
        yield entity, "resource", "", (f"the document of {one}", "")
        yield version, "version", "", (f"the document of {other}", "")
        entity, version = entity + DETAILS, version + DETAILS
    yield entity, "resource", schema, (one, "")
    yield version, "version", f"{schema}.version", (other, "")


def _entity_item(path: str, kind: str, schema: str, nouns: tuple[str, str], capabilities: Capabilities) -> Tree:
    item = _parameters(path)
    for method in METHODS[kind]:
        if method == "GET" or capabilities.mutable("entities"):
            item[method.lower()] = _entity_operation(method, path, kind, schema, nouns[0], capabilities)
    return item


def _entity_operation(method: str, path: str, kind: str, schema: str, noun: str, capabilities: Capabilities) -> Tree:
    """An operation on entities; one without a schema is on documents, of whatever media type."""
    is_collection = kind in _COLLECTIONS
    shown = _content(map_of(_reference(schema)) if is_collection else _reference(schema)) if schema else {"*/*": {}}
    if method == "POST" and not is_collection:
        shown = {"*/*": {}}  # a map of collections, or a Version
    made: Tree = {
        "operationId": _operation_id(method, path),
        "summary": f"{_VERBS[method]} {noun}",
        "tags": [ENTITY_TAG],
        "responses": {"default": {"$ref": "#/components/responses/Problem"}},
    }
    if flags := _flags(method, capabilities):
        made["parameters"] = flags
    if method == "DELETE":
        made["responses"]["204"] = {"description": "It is gone."}
        if is_collection:
            made["requestBody"] = {"description": "What to delete; absent: everything.", "content": {_JSON: {}}}
        return made
    made["responses"]["200"] = {"description": "What is there.", "content": shown}
    if method != "GET":
        made["requestBody"] = {"content": shown}
        made["responses"]["201"] = {"description": "It was created.", "content": shown}
    if not schema:
        made["responses"]["204"] = {"description": "There is no document."}
        made["responses"]["303"] = {"description": "The document is elsewhere."}
    return made


def _flags(method: str, capabilities: Capabilities) -> list[Tree]:
    wanted = {"GET": READ_FLAGS, "DELETE": ("epoch",)}.get(method, WRITE_FLAGS)
    return [_query(name, FLAG_TEXTS[name]) for name in (*wanted, "specversion") if name in capabilities.flags]


def _query(name: str, description: str = "") -> Tree:
    made: Tree = {"name": name, "in": "query", "schema": {"type": "string"}, "allowEmptyValue": True}
    return {**made, "description": description} if description else made


def _parameters(path: str) -> Tree:
    names = _VARIABLE.findall(path)
    shown = [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]
    return {"parameters": shown} if shown else {}


def _operation_id(method: str, path: str) -> str:
    words = re.sub(r"[^a-z0-9]+", "_", _VARIABLE.sub(r"\1", path).lower()).strip("_")
    mark = "__" if path.startswith("/-/") else "_"
    return f"{method.lower()}{mark}{words or 'registry'}"


def _is_offered(operation: ServiceOperation, capabilities: Capabilities) -> bool:
    kind = operation.path.removeprefix("/")
    if operation not in CONFIGURATION or kind.startswith("."):
        return True
    return kind in capabilities.available and (operation.method == "GET" or capabilities.mutable(kind))


def _service_path(path: str, model: Model) -> str:
    """Where a service is: under `/-/` where the model has something of its name."""
    first = path[1:].partition("/")[0]
    return f"/-{path}" if first in model.groups or first in model.attributes else path


def _service_operation(operation: ServiceOperation, path: str, tag: str) -> Tree:
    made: Tree = {
        "operationId": _operation_id(operation.method, path),
        "summary": operation.summary,
        "tags": [tag],
        "responses": {
            "2XX": {"description": "Done.", **({"content": {operation.content: {}}} if operation.content else {})},
            "default": {"$ref": "#/components/responses/Problem"},
        },
    }
    if operation.query:
        made["parameters"] = [_query(name) for name in operation.query]
    if operation.takes_body:
        made["requestBody"] = {"content": {_JSON: {}}}
    return made


def _schemas(model: Model) -> Tree:
    groups = {plural: map_of(_reference(group.singular)) for plural, group in model.groups.items()}
    schemas = {"Problem": _PROBLEM, "registry": _entity(model.attributes, "The registry", groups)}
    for group in model.groups.values():
        schemas |= _group_schemas(group)
    return schemas


def _group_schemas(group: GroupType) -> Tree:
    schemas, collections = {}, {}
    for plural, resource in group.resources.items():
        name = f"{group.singular}.{resource.singular}"
        collections[plural] = map_of(_reference(name))
        document: Tree = {resource.singular: {}, f"{resource.singular}base64": {"type": "string"}}
        own = document if resource.hasdocument else {}
        beside = {"meta": _reference(f"{name}.meta"), "versions": map_of(_reference(f"{name}.version"))}
        attributes = {**resource.attributes, **resource.resourceattributes}
        schemas[name] = _entity(attributes, resource.description, {**own, **beside})
        schemas[f"{name}.version"] = _entity(resource.attributes, f"A Version of a {resource.singular}", own)
        schemas[f"{name}.meta"] = _entity(
            resource.metaattributes, f"What concerns all Versions of a {resource.singular}"
        )
    schemas[group.singular] = _entity(group.attributes, group.description, collections)
    return schemas


def _entity(attributes: Attributes, description: str, more: Tree | None = None) -> Schema:
    """An entity as it is sent and answered. What has to be there depends on the request, so nothing is required."""
    known = {name: _relaxed(attribute_schema(one)) for name, one in attributes.items() if name != "*"}
    for name, one in attributes.items():
        if one.readonly and name in known:
            known[name]["readOnly"] = True
    schema: Schema = {"type": "object", "properties": {**known, **(more or {})}}
    return {"description": description, **schema} if description else schema


def _relaxed(schema: Any) -> Any:
    """A schema that takes null, by which a PATCH deletes, and whatever conditions of the model add."""
    if not isinstance(schema, dict):
        return schema
    made = {key: value for key, value in schema.items() if key not in ("required", "allOf")}
    if made.get("additionalProperties") is False:
        del made["additionalProperties"]
    for key in ("additionalProperties", "items"):
        if key in made:
            made[key] = _relaxed(made[key])
    if "properties" in made:
        made["properties"] = {name: _relaxed(one) for name, one in made["properties"].items()}
    if "anyOf" in made:
        made["anyOf"] = [*map(_relaxed, made["anyOf"]), {"type": "null"}]
    elif "enum" in made:
        made["enum"] = [*made["enum"], None]
    elif "type" in made:
        made["type"] = [made["type"], "null"]
    return made


def _content(schema: Schema) -> Tree:
    return {_JSON: {"schema": schema}}


def _reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}

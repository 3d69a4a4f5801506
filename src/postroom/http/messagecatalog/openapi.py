"""An OpenAPI document of the message catalog. The one that its text names is not published, so this is ours."""

from __future__ import annotations

from typing import Any

from postroom import __version__
from postroom.http.messagecatalog.attribute_headers import PREFIX, RequestAttributes
from postroom.http.messagecatalog.groups import MEMBERS

Tree = dict[str, Any]

LOOKUP = "/messagedefinition"
PATHS = {
    "catalog": "/",
    "group": "/{group}",
    "definitions": "/{group}/messagedefinitions",
    "definition": "/{group}/messagedefinitions/{definition}",
    "versions": "/{group}/messagedefinitions/{definition}/versions",
    "version": "/{group}/messagedefinitions/{definition}/versions/{version}",
}
"""The paths below the URL of the catalog, by what is there."""
_STRING: Tree = {"type": "string"}
_TIME: Tree = {"type": "string", "format": "date-time"}
_URI: Tree = {"type": "string", "format": "uri"}
_PARAMETERS: Tree = {
    "group": {**_STRING, "maxLength": 128},
    "definition": {**_STRING, "maxLength": 128},
    "version": {"type": "integer", "minimum": 1},
}
_VERSION: Tree = {
    "id": {"type": "string", "format": "uri-reference"},
    "version": {"type": "integer", "minimum": 1},
    "format": _STRING,
    "description": _STRING,
    "authority": _URI,
    "uri": _URI,
    "createdtimeutc": _TIME,
}
_GROUP: Tree = {name: _TIME if name.endswith("timeutc") else _STRING for name in MEMBERS}
_LIST_OF_IDS = {"type": "array", "items": _STRING}
_ANY_DOCUMENT: Tree = {"content": {"*/*": {}}}


def openapi_document(base: str) -> Tree:
    """The API of the catalog at a URL."""
    paths: Tree = {}
    for (kind, method), operation in _OPERATIONS.items():
        paths.setdefault(PATHS[kind], _parameters(PATHS[kind]))[method.lower()] = operation
    uri = {"name": "uri", "in": "query", "required": True, "schema": _URI}
    paths[LOOKUP] = {"parameters": [uri], "get": _operation("getMessageDefinitionVersionByURI", 200, _DOCUMENT)}
    return {
        "openapi": "3.1.0",
        "info": {"title": "CNCF Message and Event Catalog API", "version": __version__},
        "servers": [{"url": base}],
        "paths": paths,
        "components": {
            "schemas": {
                "Group": {"type": "object", "properties": _GROUP, "required": ["format"]},
                "Version": {"type": "object", "properties": _VERSION, "required": ["version", "format"]},
                "Problem": {"type": "object", "properties": {"type": _URI, "title": _STRING, "detail": _STRING}},
            }
        },
    }


def _parameters(path: str) -> Tree:
    named = [name for name in _PARAMETERS if f"{{{name}}}" in path]
    given = [{"name": name, "in": "path", "required": True, "schema": _PARAMETERS[name]} for name in named]
    return {"parameters": given} if given else {}


def _operation(name: str, status: int, answer: Tree, **more: Any) -> Tree:
    problem = {"description": "A problem", "content": {"application/problem+json": {"schema": _reference("Problem")}}}
    return {"operationId": name, **more, "responses": {str(status): answer, "default": problem}}


def _reference(name: str) -> Tree:
    return {"$ref": f"#/components/schemas/{name}"}


def _json(description: str, schema: Tree) -> Tree:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


_DOCUMENT: Tree = {
    "description": "The document, with its attributes as headers",
    "headers": {PREFIX + name.title(): {"schema": schema} for name, schema in _VERSION.items()},
    **_ANY_DOCUMENT,
}
_GIVEN = [
    {"name": name, "in": where, "schema": _VERSION[attribute]}
    for attribute in RequestAttributes.__struct_fields__
    for name, where in ((attribute, "query"), (PREFIX + attribute.title(), "header"))
]
_GROUP_ANSWER = _json("The attributes of the group", _reference("Group"))
_GROUP_BODY: Tree = {"required": True, "content": {"application/json": {"schema": _reference("Group")}}}
_ADDED = _json("The attributes of the new version", _reference("Version"))
_GONE: Tree = {"description": "It is deleted"}
_OPERATIONS: dict[tuple[str, str], Tree] = {
    ("catalog", "GET"): _operation("listGroups", 200, _json("Ids of groups", _LIST_OF_IDS)),
    ("group", "GET"): _operation("getGroup", 200, _GROUP_ANSWER),
    ("group", "PUT"): _operation("putGroup", 201, _GROUP_ANSWER, requestBody=_GROUP_BODY),
    ("group", "DELETE"): _operation("deleteGroup", 204, _GONE),
    ("definitions", "GET"): _operation("listMessageDefinitions", 200, _json("Ids of definitions", _LIST_OF_IDS)),
    ("definitions", "DELETE"): _operation("deleteMessageDefinitions", 204, _GONE),
    ("definition", "GET"): _operation("getMessageDefinition", 200, _DOCUMENT),
    ("definition", "POST"): _operation(
        "postMessageDefinitionVersion", 201, _ADDED, parameters=_GIVEN, requestBody={"required": True, **_ANY_DOCUMENT}
    ),
    ("definition", "DELETE"): _operation("deleteMessageDefinition", 204, _GONE),
    ("versions", "GET"): _operation(
        "listMessageDefinitionVersions", 200, _json("Numbers", {"type": "array", "items": _VERSION["version"]})
    ),
    ("version", "GET"): _operation("getMessageDefinitionVersion", 200, _DOCUMENT),
}

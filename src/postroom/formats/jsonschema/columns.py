"""JSON Schema to columns. Total: what has no single type becomes JSON text."""

from __future__ import annotations

from typing import Any

from postroom.formats.columns import (
    BOOLEAN,
    DOUBLE,
    INT64,
    JSON_TEXT,
    STRING,
    ColumnType,
    Field,
    ListOf,
    MapOf,
    StructOf,
)
from postroom.formats.naming import column_names

_SCALARS = {"string": STRING, "integer": INT64, "number": DOUBLE, "boolean": BOOLEAN}
_DEEPEST = 32


def columns(document: Any) -> ColumnType:
    """The column type of values that fit the schema."""
    return _columns(document, document, ())


def _columns(schema: Any, root: Any, path: tuple[str, ...]) -> ColumnType:
    if not isinstance(schema, dict) or len(path) > _DEEPEST:
        return JSON_TEXT
    if "$ref" in schema:
        reference = schema["$ref"]
        target = follow(root, reference)
        # A type inside itself has no end as columns.
        return JSON_TEXT if target is None or reference in path else _columns(target, root, (*path, reference))
    if any(name in schema for name in ("oneOf", "anyOf", "allOf", "if")):
        return _combined(schema, root, path)
    kinds = _kinds(schema)
    if len(kinds) != 1:
        return JSON_TEXT
    if kinds[0] == "object":
        return _object(schema, root, path)
    if kinds[0] == "array":
        items = schema.get("items")
        return ListOf(_columns(items, root, (*path, "[]"))) if isinstance(items, dict) else JSON_TEXT
    return _SCALARS.get(kinds[0], JSON_TEXT)


def _combined(schema: dict[str, Any], root: Any, path: tuple[str, ...]) -> ColumnType:
    choices = schema.get("oneOf") or schema.get("anyOf")
    if isinstance(choices, list) and not any(name in schema for name in ("properties", "allOf", "if")):
        real = [choice for choice in choices if choice != {"type": "null"}]
        found = {_columns(choice, root, (*path, "|")) for choice in real}
        return found.pop() if len(found) == 1 else JSON_TEXT
    if _kinds(schema) == ["object"]:
        # The members the schema itself names are columns, whatever the alternatives add.
        return _object(schema, root, path)
    return JSON_TEXT


def _kinds(schema: dict[str, Any]) -> list[str]:
    stated = schema.get("type")
    if isinstance(stated, str):
        return [stated]
    if isinstance(stated, list):
        return [kind for kind in stated if kind != "null"]
    if isinstance(schema.get("properties"), dict):
        return ["object"]
    values = schema["enum"] if isinstance(schema.get("enum"), list) else [schema["const"]] if "const" in schema else []
    return ["string"] if values and all(isinstance(value, str) or value is None for value in values) else []


def _object(schema: dict[str, Any], root: Any, path: tuple[str, ...]) -> ColumnType:
    properties = schema.get("properties")
    if isinstance(properties, dict) and properties:
        fields = [
            Field(column, name, _columns(member, root, (*path, name)), _description(member))
            for column, (name, member) in zip(column_names(properties), properties.items(), strict=True)
        ]
        return StructOf(tuple(fields))
    extra = schema.get("additionalProperties")
    return MapOf(_columns(extra, root, (*path, "{}"))) if isinstance(extra, dict) and extra else JSON_TEXT


def _description(member: Any) -> str:
    found = member.get("description") if isinstance(member, dict) else None
    return found if isinstance(found, str) else ""


def follow(root: Any, reference: Any) -> Any:
    """What a reference inside the document points to; None when it leads nowhere."""
    if not isinstance(reference, str) or not reference.startswith("#"):
        return None
    found = root
    for step in reference[1:].strip("/").split("/") if reference not in ("#", "#/") else []:
        key = step.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, dict) or key not in found:
            return None
        found = found[key]
    return found

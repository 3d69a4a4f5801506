"""Which keywords of JSON Schema hold schemas, and whether those judge the same value or a part of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

SAME_ONE = ("not", "if", "then", "else")
SAME_LIST = ("allOf", "anyOf", "oneOf")
SAME_MAP = ("dependentSchemas", "dependencies")
PART_ONE = (
    "items",
    "additionalItems",
    "contains",
    "unevaluatedItems",
    "additionalProperties",
    "unevaluatedProperties",
    "propertyNames",
)
PART_LIST = ("items", "prefixItems")
PART_MAP = ("properties", "patternProperties")


def same_value(schema: dict[str, Any]) -> Iterator[Any]:
    """The subschemas that judge the same value as the schema itself, references apart."""
    return _subschemas(schema, SAME_ONE, SAME_LIST, SAME_MAP)


def parts(schema: dict[str, Any]) -> Iterator[Any]:
    """The subschemas that judge members and items of the value."""
    return _subschemas(schema, PART_ONE, PART_LIST, PART_MAP)


def _subschemas(
    schema: dict[str, Any], single: tuple[str, ...], lists: tuple[str, ...], maps: tuple[str, ...]
) -> Iterator[Any]:
    for name in single:
        if isinstance(schema.get(name), dict):
            yield schema[name]
    for name in lists:
        if isinstance(schema.get(name), list):
            yield from (item for item in schema[name] if isinstance(item, dict))
    for name in maps:
        if isinstance(schema.get(name), dict):
            yield from (item for item in schema[name].values() if isinstance(item, dict))

"""Scalar types for typed decoders: plain values as msgspec types, exactly or not at all."""

from __future__ import annotations

import math
from typing import Annotated, Any, Union

import msgspec

from postroom.formats.column_types import JSON_TEXT, ColumnType
from postroom.formats.jsonschema.drafts import JsonSchemaDraft

TYPE_NAMES = ("string", "integer", "number", "boolean", "object", "array")
UNSUPPORTED_ARRAY_KEYWORDS = (
    "prefixItems",
    "additionalItems",
    "contains",
    "minContains",
    "maxContains",
    "uniqueItems",
    "unevaluatedItems",
)
UNSUPPORTED_OBJECT_KEYWORDS = (
    "patternProperties",
    "propertyNames",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
)
# Apply to values of every type, as no msgspec type expresses.
UNSUPPORTED_KEYWORDS = {
    *("$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"),
    *("enum", "const", "pattern", "format", "contentEncoding", "contentMediaType", "contentSchema"),
}
_ASSERTIONS = {
    *UNSUPPORTED_KEYWORDS,
    *UNSUPPORTED_ARRAY_KEYWORDS,
    *UNSUPPORTED_OBJECT_KEYWORDS,
    *("type", "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength"),
    *("items", "maxItems", "minItems", "maxProperties", "minProperties", "required", "properties"),
    "additionalProperties",
}
# Annotations in newer drafts; jsonschema-rs asserts contents in older ones.
_ANNOTATIONS = {"format"}
_NEWER_ANNOTATIONS = {"format", "contentEncoding", "contentMediaType", "contentSchema"}
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_EXACT = 2**53
_LONGEST = 2**31


class Inexpressible(Exception):
    """A schema that no msgspec type stands for exactly."""


def assertions(schema: dict[str, Any], draft: JsonSchemaDraft) -> set[str]:
    """The keywords of a schema that constrain values, where `format` is not asserted."""
    return (_ASSERTIONS & schema.keys()) - (_ANNOTATIONS if draft.ignores_siblings else _NEWER_ANNOTATIONS)


def with_plain_types(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema whose alternatives are nothing but different types, with those as its `type`."""
    for keyword in ("oneOf", "anyOf"):
        choices = schema.get(keyword)
        if isinstance(choices, list) and "type" not in schema and all(map(_only_type, choices)):
            type_names = [choice["type"] for choice in choices]
            if len(set(type_names)) == len(type_names) and not {"integer", "number"} <= set(type_names):
                return {**{name: value for name, value in schema.items() if name != keyword}, "type": type_names}
    return schema


def _only_type(choice: Any) -> bool:
    return isinstance(choice, dict) and choice.keys() == {"type"} and choice["type"] in (*TYPE_NAMES, "null")


def scalar(type_name: str, schema: dict[str, Any], draft: JsonSchemaDraft, column: ColumnType) -> Any:
    """The type of strings, numbers and booleans that fit."""
    if type_name == "string":
        return sized(str, schema, "Length")
    if type_name == "boolean":
        return bool
    if type_name == "integer":
        return _integer(schema, column)
    if type_name != "number" or "multipleOf" in schema:
        raise Inexpressible
    real = _real(schema)
    # In JSON text 1 must not become 1.0.
    return Union[_integer(schema, column), real] if column == JSON_TEXT else real  # noqa: UP007 - made at run time


def sized(base_type: Any, schema: dict[str, Any], noun: str) -> Any:
    """A type with the limits that `minItems`, `maxLength` … set."""
    limits: dict[str, Any] = {}
    for keyword, name in (("min" + noun, "min_length"), ("max" + noun, "max_length")):
        if keyword in schema:
            limits[name] = _whole(schema[keyword])
            if not 0 <= limits[name] < _LONGEST:
                raise Inexpressible
    return Annotated[base_type, msgspec.Meta(**limits)] if limits else base_type


def literals(values: list[Any], stated: Any) -> list[Any]:
    """The values of an `enum` that `type` allows, where all are strings, integers of 64 bits, or null."""
    type_names = [stated] if isinstance(stated, str) else stated
    names = {str: {"string"}, int: {"integer", "number"}, type(None): {"null"}}
    for value in values:
        if type(value) not in names or (isinstance(value, int) and not _LOWEST <= value <= _HIGHEST):
            raise Inexpressible
    kept = [value for value in values if type_names is None or names[type(value)] & set(type_names)]
    if not kept:
        raise Inexpressible
    return kept


def _integer(schema: dict[str, Any], column: ColumnType) -> Any:
    lows, highs = _bounds(schema)
    low = max((math.floor(bound) + 1 if exclusive else math.ceil(bound) for bound, exclusive in lows), default=_LOWEST)
    high = min(
        (math.ceil(bound) - 1 if exclusive else math.floor(bound) for bound, exclusive in highs), default=_HIGHEST
    )
    limits: dict[str, Any] = {"ge": max(low, _LOWEST), "le": min(high, _HIGHEST)}
    if limits["ge"] > limits["le"]:
        raise Inexpressible
    if "multipleOf" in schema:
        limits["multiple_of"] = _whole(schema["multipleOf"])
        if not 0 < limits["multiple_of"] <= _HIGHEST:
            raise Inexpressible
    return Annotated[int, msgspec.Meta(**limits)]


def _real(schema: dict[str, Any]) -> Any:
    lows, highs = _bounds(schema)
    if len(lows) > 1 or len(highs) > 1:
        raise Inexpressible
    limits: dict[str, Any] = {"gt" if exclusive else "ge": float(bound) for bound, exclusive in lows}
    limits |= {"lt" if exclusive else "le": float(bound) for bound, exclusive in highs}
    # Beyond 2**53 an integer may be rounded onto its bound.
    if any(abs(bound) >= _EXACT for bound in limits.values()):
        raise Inexpressible
    return Annotated[float, msgspec.Meta(**limits)] if limits else float


def _bounds(schema: dict[str, Any]) -> tuple[list[tuple[float, bool]], list[tuple[float, bool]]]:
    """Lower and upper bounds, each with whether it is excluded itself."""
    found: tuple[list[tuple[float, bool]], list[tuple[float, bool]]] = ([], [])
    for bounds, name in zip(found, ("inimum", "aximum"), strict=True):
        plain, exclusive = schema.get("m" + name), schema.get("exclusiveM" + name)
        for bound in (plain, exclusive):
            if bound is not None and not isinstance(bound, int | float):
                raise Inexpressible
        # Draft 4 writes a boolean beside the bound, later drafts a bound of its own.
        if plain is not None:
            bounds.append((plain, exclusive is True))
        if exclusive is not None and not isinstance(exclusive, bool):
            bounds.append((exclusive, True))
    return found


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or value != int(value):
        raise Inexpressible
    return int(value)

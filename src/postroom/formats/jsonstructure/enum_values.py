"""The values that `enum` and `const` list."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.jsonstructure.validation.primitives import REFUSED, reader


def canonical(value: Any) -> Any:
    """A hashable stand-in that is equal for equal JSON values, where true is not 1 and 1.0 is."""
    value_type = type(value)
    if value_type is str:
        return value
    if value_type is int or (value_type is float and value.is_integer()):
        return (0, int(value))
    if value_type is float or value_type is bool or value is None:
        return (1, value_type, value)
    return (2, _canonical_json(value))


def _canonical_json(value: Any) -> bytes:
    return msgspec.json.encode(_with_integers(value), order="deterministic")


def _with_integers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_with_integers(item) for item in value]
    if isinstance(value, dict):
        return {key: _with_integers(item) for key, item in value.items()}
    return value


def check_values(
    schema: dict[str, Any], type_name: str | None, rules: dict[str, Any], at: str, *, fitting: bool = False
) -> list[Any] | None:
    """The values a schema lists, None when it lists none; SchemaRefused when they are not of its type.

    With `fitting`, as in a union, only the values that are of its type; None when no value is.
    """
    values = _listed(schema, at)
    if values is None or type_name is None:
        return values
    # Digits behind the point do not make an enumerated value another type.
    read = reader(type_name, rules)[0]
    kept = [value for value in values if read(value) is not REFUSED]
    if fitting:
        return kept or None
    for number, value in enumerate(values):
        if read(value) is REFUSED:
            value_at = f"{at}/enum/{number}" if "enum" in schema else f"{at}/const"
            raise SchemaRefused(f"{str(value)[:80]!r} is no value of the type {type_name}.", place=value_at)
    return kept


def _listed(schema: dict[str, Any], at: str) -> list[Any] | None:
    values = None
    if "enum" in schema:
        values = schema["enum"]
        if not isinstance(values, list) or not values:
            raise SchemaRefused("enum is a list of at least one value.", place=f"{at}/enum")
        if len({canonical(value) for value in values}) < len(values):
            raise SchemaRefused("the values of enum are not unique.", place=f"{at}/enum")
    if "const" in schema:
        constant = canonical(schema["const"])
        values = [schema["const"]] if values is None else [one for one in values if canonical(one) == constant]
    return values

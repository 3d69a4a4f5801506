"""Default values of fields: JSON values that must fit the field's type."""

from __future__ import annotations

import math
from typing import Any

from postroom.errors import SchemaRefused
from postroom.formats.avro import types
from postroom.formats.avro.logical_types import logical_decoder

_INTEGERS = {"int": range(-(2**31), 2**31), "long": range(-(2**63), 2**63)}
_NOT_FINITE = ("NaN", "Infinity", "-Infinity")


def fits(default: Any, schema: types.AvroType, any_branch: bool) -> bool:
    """Whether a default is one that the type allows.

    Up to Avro 1.11 the default of a union is of its first type, since 1.12 of any of them.
    """
    return _DefaultChecker(any_branch).fits(default, schema)


def default_value(default: Any, schema: types.AvroType, budget: list[int]) -> Any:
    """The value that a default stands for, with the defaults of the records in it.

    Each part of it is taken off the budget; SchemaRefused when that is spent.
    """
    budget[0] -= 1
    if budget[0] < 0:
        raise SchemaRefused("the defaults that are to be filled in are too many for the bytes of a record.")
    if isinstance(schema, types.UnionType):
        return default_value(default, next(b for b in schema.branches if fits(default, b, any_branch=True)), budget)
    if isinstance(schema, types.ArrayType):
        return [default_value(item, schema.items, budget) for item in default]
    if isinstance(schema, types.MapType):
        return {name: default_value(item, schema.values, budget) for name, item in default.items()}
    if isinstance(schema, types.RecordType):
        return {
            field.name: default_value(default.get(field.name, field.default), field.type, budget)
            for field in schema.fields
        }
    if isinstance(schema, types.EnumType):
        return default
    plain = _plain(default, schema.type_name)
    return plain if schema.logical is None else logical_decoder(schema.logical, schema.type_name)(plain)


def _plain(default: Any, type_name: str) -> Any:
    if type_name in ("bytes", "fixed"):
        return default.encode("latin-1")
    return float(default) if type_name in ("float", "double") else default


class _DefaultChecker:
    def __init__(self, any_branch: bool) -> None:
        self._any_branch = any_branch
        # Each part of the default is judged once by each type, or unions in unions would take exponential time.
        self._known: dict[tuple[int, int], bool] = {}

    def fits(self, default: Any, schema: types.AvroType) -> bool:
        if not isinstance(default, dict | list):
            return self._fits(default, schema)
        key = (id(default), id(schema))
        if key not in self._known:
            self._known[key] = self._fits(default, schema)
        return self._known[key]

    def _fits(self, default: Any, schema: types.AvroType) -> bool:
        if isinstance(schema, types.UnionType):
            branches = schema.branches if self._any_branch else schema.branches[:1]
            return any(self.fits(default, branch) for branch in branches)
        if isinstance(schema, types.ArrayType):
            return isinstance(default, list) and all(self.fits(item, schema.items) for item in default)
        if isinstance(schema, types.MapType):
            return isinstance(default, dict) and all(self.fits(item, schema.values) for item in default.values())
        if isinstance(schema, types.RecordType):
            return isinstance(default, dict) and all(self._fits_member(default, member) for member in schema.fields)
        if isinstance(schema, types.EnumType):
            return isinstance(default, str) and default in schema.numbers
        if isinstance(schema, types.FixedType):
            return _is_bytes(default) and len(default) == schema.size
        return _fits_primitive(default, schema.type_name)

    def _fits_member(self, default: dict[str, Any], member: types.RecordField) -> bool:
        if member.name in default:
            return self.fits(default[member.name], member.type)
        return member.default is not types.NO_DEFAULT


def _fits_primitive(default: Any, type_name: str) -> bool:
    if type_name == "null":
        return default is None
    if type_name == "boolean":
        return isinstance(default, bool)
    if type_name == "string":
        return isinstance(default, str)
    if type_name == "bytes":
        return _is_bytes(default)
    if type_name in _INTEGERS:
        return isinstance(default, int) and not isinstance(default, bool) and default in _INTEGERS[type_name]
    if isinstance(default, str):
        return default in _NOT_FINITE
    return isinstance(default, int | float) and not isinstance(default, bool) and not _is_infinite(default)


def _is_infinite(number: float) -> bool:
    return isinstance(number, float) and not math.isfinite(number)


def _is_bytes(default: Any) -> bool:
    """Whether a value is text whose characters are bytes: U+0000 to U+00FF."""
    return isinstance(default, str) and all(ord(character) < 256 for character in default)

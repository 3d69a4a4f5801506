"""Default values of fields: JSON values that must fit the field's type."""

from __future__ import annotations

import math
from typing import Any

from postroom.errors import SchemaRefused
from postroom.formats.avro.logical_types import meaning
from postroom.formats.avro.types import NO_DEFAULT, Array, AvroType, Enum, Field, Fixed, Map, Record, Union

_INTEGERS = {"int": range(-(2**31), 2**31), "long": range(-(2**63), 2**63)}
_NOT_FINITE = ("NaN", "Infinity", "-Infinity")


def fits(default: Any, kind: AvroType, any_branch: bool) -> bool:
    """Whether a default is one that the type allows.

    Up to Avro 1.11 the default of a union is of its first type, since 1.12 of any of them.
    """
    return _Judge(any_branch).fits(default, kind)


def value_of(default: Any, kind: AvroType, budget: list[int]) -> Any:
    """The value that a default stands for, with the defaults of the records in it.

    Each part of it is taken off the budget; SchemaRefused when that is spent.
    """
    budget[0] -= 1
    if budget[0] < 0:
        raise SchemaRefused("the defaults that are to be filled in are too many for the bytes of a record.")
    if isinstance(kind, Union):
        return value_of(default, next(b for b in kind.branches if fits(default, b, any_branch=True)), budget)
    if isinstance(kind, Array):
        return [value_of(item, kind.items, budget) for item in default]
    if isinstance(kind, Map):
        return {name: value_of(item, kind.values, budget) for name, item in default.items()}
    if isinstance(kind, Record):
        return {
            field.name: value_of(default.get(field.name, field.default), field.type, budget) for field in kind.fields
        }
    if isinstance(kind, Enum):
        return default
    plain = _plain(default, kind.kind)
    return plain if kind.logical is None else meaning(kind.logical, kind.kind)(plain)


def _plain(default: Any, kind: str) -> Any:
    if kind in ("bytes", "fixed"):
        return default.encode("latin-1")
    return float(default) if kind in ("float", "double") else default


class _Judge:
    def __init__(self, any_branch: bool) -> None:
        self._any_branch = any_branch
        # Each part of the default is judged once by each type, or unions in unions would take exponential time.
        self._known: dict[tuple[int, int], bool] = {}

    def fits(self, default: Any, kind: AvroType) -> bool:
        if not isinstance(default, dict | list):
            return self._fits(default, kind)
        key = (id(default), id(kind))
        if key not in self._known:
            self._known[key] = self._fits(default, kind)
        return self._known[key]

    def _fits(self, default: Any, kind: AvroType) -> bool:
        if isinstance(kind, Union):
            branches = kind.branches if self._any_branch else kind.branches[:1]
            return any(self.fits(default, branch) for branch in branches)
        if isinstance(kind, Array):
            return isinstance(default, list) and all(self.fits(item, kind.items) for item in default)
        if isinstance(kind, Map):
            return isinstance(default, dict) and all(self.fits(item, kind.values) for item in default.values())
        if isinstance(kind, Record):
            return isinstance(default, dict) and all(self._fits_member(default, member) for member in kind.fields)
        if isinstance(kind, Enum):
            return isinstance(default, str) and default in kind.numbers
        if isinstance(kind, Fixed):
            return _is_bytes(default) and len(default) == kind.size
        return _fits_primitive(default, kind.kind)

    def _fits_member(self, default: dict[str, Any], member: Field) -> bool:
        if member.name in default:
            return self.fits(default[member.name], member.type)
        return member.default is not NO_DEFAULT


def _fits_primitive(default: Any, kind: str) -> bool:
    if kind == "null":
        return default is None
    if kind == "boolean":
        return isinstance(default, bool)
    if kind == "string":
        return isinstance(default, str)
    if kind == "bytes":
        return _is_bytes(default)
    if kind in _INTEGERS:
        return isinstance(default, int) and not isinstance(default, bool) and default in _INTEGERS[kind]
    if isinstance(default, str):
        return default in _NOT_FINITE
    return isinstance(default, int | float) and not isinstance(default, bool) and not _is_infinite(default)


def _is_infinite(number: float) -> bool:
    return isinstance(number, float) and not math.isfinite(number)


def _is_bytes(default: Any) -> bool:
    """Whether a value is text whose characters are bytes: U+0000 to U+00FF."""
    return isinstance(default, str) and all(ord(character) < 256 for character in default)

"""Fills columns: turns decoded payloads into the form of their columns.

Values are what JSON has, and `bytes`, `Decimal`, `date` and `datetime` where a format has such types.

A column type is compiled once into a function that fills it; the functions are called millions of times.
"""

from __future__ import annotations

import datetime
import decimal
import math
from collections.abc import Callable
from functools import singledispatch
from typing import Any

import msgspec

from postroom.formats.column_types import ColumnType, Decimal, JsonText, ListOf, MapOf, Scalar, StructOf, TimeText

_INT64 = range(-(2**63), 2**63)

Filler = Callable[[Any], Any]


class ColumnMismatch(Exception):
    """A value that its column cannot hold; the message becomes a dead letter with this reason."""

    def __init__(self, expected: str, found: Any, at: str = "") -> None:
        super().__init__(f"{at}: expected {expected}, found {found}")
        self.at = at
        self.expected = expected
        self.found = str(found)[:200]

    def below(self, step: str | int) -> ColumnMismatch:
        """This mismatch at a step (a member or an index) of a container."""
        return ColumnMismatch(self.expected, self.found, f"/{step}{self.at}")


def finish_items(finish: Filler) -> Filler:
    """The function that finishes the items of a list, but for null."""
    return lambda items: [None if item is None else finish(item) for item in items]


def finish_values(finish: Filler) -> Filler:
    """The function that finishes the values of a map, but for null."""
    return lambda members: {name: None if item is None else finish(item) for name, item in members.items()}


def filler(column: ColumnType) -> Filler:
    """The function that fills a column with values: structs keyed by column name, free-form parts as JSON text."""
    fill = _filler(column)
    return lambda value: None if value is None else fill(value)


@singledispatch
def _filler(column: Any) -> Filler:
    raise TypeError(f"no filler for {column!r}")


@_filler.register
def _(column: Scalar) -> Filler:
    return _SCALARS[column.name]


@_filler.register
def _(column: TimeText) -> Filler:
    return _SCALARS["string"]


@_filler.register
def _(column: Decimal) -> Filler:
    expected = f"a number of at most {column.precision} digits, {column.scale} of them behind the point"
    context = decimal.Context(prec=column.precision, traps=[decimal.Inexact, decimal.InvalidOperation])
    step = decimal.Decimal(1).scaleb(-column.scale)

    def fill_decimal(value: Any) -> decimal.Decimal:
        if isinstance(value, bool) or not isinstance(value, int | float | str | decimal.Decimal):
            raise ColumnMismatch(expected, value)
        try:
            # By its text: 0.1 means a tenth, not the nearest binary fraction.
            number = value if isinstance(value, decimal.Decimal) else decimal.Decimal(str(value))
            return number.quantize(step, context=context)
        except decimal.DecimalException:
            raise ColumnMismatch(expected, value) from None

    return fill_decimal


@_filler.register
def _(column: JsonText) -> Filler:
    return json_text


def json_text(value: Any) -> str:
    """A value as JSON; NaN and infinities become strings, since msgspec would write null for them."""
    text = msgspec.json.encode(value)
    return msgspec.json.encode(_finite(value)).decode() if b"null" in text else text.decode()


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {name: _finite(member) for name, member in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list) else value


@_filler.register
def _(column: ListOf) -> Filler:
    fill = filler(column.item)

    def fill_list(value: Any) -> list[Any]:
        _require(value, list, "a list")
        try:
            return [fill(item) for item in value]
        except ColumnMismatch:
            raise _located(fill, enumerate(value)) from None

    return fill_list


@_filler.register
def _(column: MapOf) -> Filler:
    fill = filler(column.value)

    def fill_map(value: Any) -> dict[str, Any]:
        _require(value, dict, "an object")
        try:
            return {key: fill(item) for key, item in value.items()}
        except ColumnMismatch:
            raise _located(fill, value.items()) from None

    return fill_map


@_filler.register
def _(column: StructOf) -> Filler:
    members = [(field.name, field.source, _filler(field.type)) for field in column.fields]

    def fill_struct(value: Any) -> dict[str, Any]:
        _require(value, dict, "an object")
        filled = {}
        for name, source, fill in members:
            member = value.get(source)
            if member is None:  # absent or null: an empty column either way
                continue
            try:
                filled[name] = fill(member)
            except ColumnMismatch as mismatch:
                raise mismatch.below(source) from None
        return filled

    return fill_struct


def _require(value: Any, expected: type, name: str) -> None:
    if not isinstance(value, expected):
        raise ColumnMismatch(name, value)


def _located(fill: Filler, items: Any) -> ColumnMismatch:
    """The first mismatch among items, with the step that leads to it."""
    for step, item in items:
        try:
            fill(item)
        except ColumnMismatch as mismatch:
            return mismatch.below(step)
    raise AssertionError("a filler that failed once did not fail again")


def _integer(value: Any) -> int:
    # 1.0 is an integer in JSON Schema.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value not in _INT64:
        raise ColumnMismatch("an integer of 64 bits", value)
    return value


def _number(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ColumnMismatch("a number", value)
    try:
        return float(value)
    except OverflowError:
        raise ColumnMismatch("a double", value) from None


def _exactly(expected: type, name: str) -> Filler:
    def check(value: Any) -> Any:
        _require(value, expected, name)
        return value

    return check


def _date(value: Any) -> datetime.date:
    if isinstance(value, str):
        try:
            return datetime.date.fromisoformat(value)
        except ValueError:
            raise ColumnMismatch("a date of the years 1 to 9999", value) from None
    if not isinstance(value, datetime.date) or isinstance(value, datetime.datetime):
        raise ColumnMismatch("a date of the years 1 to 9999", value)
    return value


def _timestamp(value: Any) -> datetime.datetime:
    if not isinstance(value, datetime.datetime):
        raise ColumnMismatch("a point in time of the years 1 to 9999", value)
    return value if value.tzinfo is not None else value.replace(tzinfo=datetime.UTC)


_SCALARS: dict[str, Filler] = {
    "int64": _integer,
    "double": _number,
    "boolean": _exactly(bool, "a boolean"),
    "string": _exactly(str, "text"),
    "binary": _exactly(bytes, "bytes"),
    "date": _date,
    "timestamp": _timestamp,
}

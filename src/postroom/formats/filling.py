"""Filling columns: a decoded payload in the shape its columns ask for."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import msgspec

from postroom.formats.columns import ColumnType, JsonText, ListOf, MapOf, Scalar, StructOf

_INT64 = range(-(2**63), 2**63)


class ColumnMismatch(Exception):
    """A value its column cannot hold; never lost, the message becomes a dead letter with this reason."""

    def __init__(self, at: str, expected: str, found: Any) -> None:
        super().__init__(f"{at}: expected {expected}, found {found}")
        self.at = at
        self.expected = expected
        self.found = str(found)[:200]


def fill(column: ColumnType, value: Any, at: str = "") -> Any:
    """The value as the column takes it: structs keyed by column name, free-form parts as JSON text."""
    return None if value is None else _fill(column, value, at)


@singledispatch
def _fill(column: Any, value: Any, at: str) -> Any:
    raise ColumnMismatch(at, type(column).__name__, value)


@_fill.register
def _(column: Scalar, value: Any, at: str) -> Any:
    return _SCALARS[column.name](value, at)


@_fill.register
def _(column: JsonText, value: Any, at: str) -> str:
    return msgspec.json.encode(value).decode()


@_fill.register
def _(column: ListOf, value: Any, at: str) -> list[Any]:
    if not isinstance(value, list):
        raise ColumnMismatch(at, "a list", value)
    return [fill(column.item, item, f"{at}/{position}") for position, item in enumerate(value)]


@_fill.register
def _(column: MapOf, value: Any, at: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ColumnMismatch(at, "an object", value)
    return {key: fill(column.value, item, f"{at}/{key}") for key, item in value.items()}


@_fill.register
def _(column: StructOf, value: Any, at: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ColumnMismatch(at, "an object", value)
    return {f.name: fill(f.type, value.get(f.source), f"{at}/{f.source}") for f in column.fields}


def _integer(value: Any, at: str) -> int:
    # 1.0 is an integer in JSON Schema.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value not in _INT64:
        raise ColumnMismatch(at, "an integer of 64 bits", value)
    return value


def _number(value: Any, at: str) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ColumnMismatch(at, "a number", value)
    try:
        return float(value)
    except OverflowError:
        raise ColumnMismatch(at, "a double", value) from None


def _exactly(kind: type, name: str) -> Callable[[Any, str], Any]:
    def check(value: Any, at: str) -> Any:
        if not isinstance(value, kind):
            raise ColumnMismatch(at, name, value)
        return value

    return check


_SCALARS: dict[str, Callable[[Any, str], Any]] = {
    "int64": _integer,
    "double": _number,
    "boolean": _exactly(bool, "a boolean"),
    "string": _exactly(str, "text"),
    "binary": _exactly(bytes, "bytes"),
}

"""Avro types to columns. Total: what has no single type becomes JSON text."""

from __future__ import annotations

from collections.abc import Callable

from postroom.formats.avro.logical_types import WIDEST_DECIMAL
from postroom.formats.avro.types import Array, AvroType, Enum, Fixed, Logical, Map, Primitive, Record, Union, nullable
from postroom.formats.column_types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT64,
    JSON_TEXT,
    STRING,
    TIMESTAMP,
    ColumnType,
    Decimal,
    Field,
    ListOf,
    MapOf,
    StructOf,
)
from postroom.formats.naming import column_names

# A member of the outermost record that has more columns than this is kept as JSON text.
_MOST_COLUMNS = 5_000

_SCALARS: dict[str, ColumnType] = {
    "boolean": BOOLEAN,
    "int": INT64,
    "long": INT64,
    "float": DOUBLE,
    "double": DOUBLE,
    "bytes": BINARY,
    "fixed": BINARY,
    "string": STRING,
}
_LOGICAL: dict[str, ColumnType] = {"date": DATE, "timestamp-millis": TIMESTAMP, "timestamp-micros": TIMESTAMP}


def columns(kind: AvroType) -> ColumnType:
    """The column type of values of a type."""
    if isinstance(kind, Record) and kind.fields:
        return _struct(kind, lambda inner: _bounded(inner, frozenset((id(kind),))))
    return _bounded(kind, frozenset())


class _TooMany(Exception):
    pass


def _bounded(kind: AvroType, around: frozenset[int]) -> ColumnType:
    """The column of a type, or JSON text where it would be too many: types that mention each other multiply."""
    try:
        return _Builder().column(kind, around)
    except _TooMany:
        return JSON_TEXT


class _Builder:
    def __init__(self) -> None:
        self._left = _MOST_COLUMNS

    def column(self, kind: AvroType, around: frozenset[int]) -> ColumnType:
        """The column of a type inside the records that lie around it."""
        self._left -= 1
        if self._left < 0:
            raise _TooMany
        if isinstance(kind, Record):
            # A type inside itself has no end as columns, and tables have no struct without members.
            if id(kind) in around or not kind.fields:
                return JSON_TEXT
            inside = around | {id(kind)}
            return _struct(kind, lambda inner: self.column(inner, inside))
        if isinstance(kind, Array):
            return ListOf(self.column(kind.items, around))
        if isinstance(kind, Map):
            return MapOf(self.column(kind.values, around))
        if isinstance(kind, Union):
            only = nullable(kind)
            return JSON_TEXT if only is None else self.column(only, around)
        if isinstance(kind, Enum):
            return STRING
        return _scalar(kind)


def _struct(kind: Record, column: Callable[[AvroType], ColumnType]) -> ColumnType:
    names = column_names(field.name for field in kind.fields)
    members = zip(names, kind.fields, strict=True)
    return StructOf(tuple(Field(name, field.name, column(field.type), field.doc) for name, field in members))


def _scalar(kind: Primitive | Fixed) -> ColumnType:
    if kind.logical is None:
        return _SCALARS.get(kind.kind, JSON_TEXT)
    return _logical(kind.logical)


def _logical(logical: Logical) -> ColumnType:
    if logical.name == "decimal" and logical.precision <= WIDEST_DECIMAL:
        return Decimal(logical.precision, logical.scale)
    return _LOGICAL.get(logical.name, STRING)

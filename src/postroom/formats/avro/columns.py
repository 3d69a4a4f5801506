"""Avro types to columns. Total: what has no single type becomes JSON text."""

from __future__ import annotations

from collections.abc import Callable

from postroom.formats.avro.logical_types import WIDEST_DECIMAL
from postroom.formats.avro.types import (
    ArrayType,
    AvroType,
    EnumType,
    FixedType,
    LogicalType,
    MapType,
    PrimitiveType,
    RecordType,
    UnionType,
    nullable,
)
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


def columns(schema: AvroType) -> ColumnType:
    """The column type of values of a type."""
    if isinstance(schema, RecordType) and schema.fields:
        return _struct(schema, lambda inner: _bounded(inner, frozenset((id(schema),))))
    return _bounded(schema, frozenset())


class _TooMany(Exception):
    pass


def _bounded(schema: AvroType, around: frozenset[int]) -> ColumnType:
    """The column of a type, or JSON text where it would be too many: types that mention each other multiply."""
    try:
        return _Builder().column(schema, around)
    except _TooMany:
        return JSON_TEXT


class _Builder:
    def __init__(self) -> None:
        self._left = _MOST_COLUMNS

    def column(self, schema: AvroType, around: frozenset[int]) -> ColumnType:
        """The column of a type inside the records that lie around it."""
        self._left -= 1
        if self._left < 0:
            raise _TooMany
        if isinstance(schema, RecordType):
            # A type inside itself has no end as columns, and tables have no struct without members.
            if id(schema) in around or not schema.fields:
                return JSON_TEXT
            inside = around | {id(schema)}
            return _struct(schema, lambda inner: self.column(inner, inside))
        if isinstance(schema, ArrayType):
            return ListOf(self.column(schema.items, around))
        if isinstance(schema, MapType):
            return MapOf(self.column(schema.values, around))
        if isinstance(schema, UnionType):
            only = nullable(schema)
            return JSON_TEXT if only is None else self.column(only, around)
        if isinstance(schema, EnumType):
            return STRING
        return _scalar(schema)


def _struct(schema: RecordType, column: Callable[[AvroType], ColumnType]) -> ColumnType:
    names = column_names(field.name for field in schema.fields)
    members = zip(names, schema.fields, strict=True)
    return StructOf(tuple(Field(name, field.name, column(field.type), field.doc) for name, field in members))


def _scalar(schema: PrimitiveType | FixedType) -> ColumnType:
    if schema.logical is None:
        return _SCALARS.get(schema.type_name, JSON_TEXT)
    return _logical(schema.logical)


def _logical(logical: LogicalType) -> ColumnType:
    if logical.name == "decimal" and logical.precision <= WIDEST_DECIMAL:
        return Decimal(logical.precision, logical.scale)
    return _LOGICAL.get(logical.name, STRING)

"""Avro types to columns. Total: what has no single type becomes JSON text."""

from __future__ import annotations

from collections.abc import Callable

from postroom.formats import column_types
from postroom.formats.avro import types
from postroom.formats.avro.logical_types import WIDEST_DECIMAL
from postroom.formats.column_types import ColumnType
from postroom.formats.naming import column_names

# A member of the outermost record that has more columns than this is kept as JSON text.
_MOST_COLUMNS = 5_000

_SCALARS: dict[str, ColumnType] = {
    "boolean": column_types.BOOLEAN,
    "int": column_types.INT64,
    "long": column_types.INT64,
    "float": column_types.DOUBLE,
    "double": column_types.DOUBLE,
    "bytes": column_types.BINARY,
    "fixed": column_types.BINARY,
    "string": column_types.STRING,
}
_LOGICAL: dict[str, ColumnType] = {
    "date": column_types.DATE,
    "timestamp-millis": column_types.TIMESTAMP,
    "timestamp-micros": column_types.TIMESTAMP,
    "timestamp-nanos": column_types.TIMESTAMP_TEXT,
    "duration": column_types.DURATION_TEXT,
}


def columns(schema: types.AvroType) -> ColumnType:
    """The column type of values of a type."""
    if isinstance(schema, types.RecordType) and schema.fields:
        return _struct(schema, lambda inner: _bounded(inner, frozenset((id(schema),))))
    return _bounded(schema, frozenset())


class _TooMany(Exception):
    pass


def _bounded(schema: types.AvroType, around: frozenset[int]) -> ColumnType:
    """The column of a type, or JSON text where it would be too many: types that mention each other multiply."""
    try:
        return _Builder().column(schema, around)
    except _TooMany:
        return column_types.JSON_TEXT


class _Builder:
    def __init__(self) -> None:
        self._left = _MOST_COLUMNS

    def column(self, schema: types.AvroType, around: frozenset[int]) -> ColumnType:
        """The column of a type inside the records that lie around it."""
        self._left -= 1
        if self._left < 0:
            raise _TooMany
        if isinstance(schema, types.RecordType):
            # A type inside itself has no end as columns, and tables have no struct without members.
            if id(schema) in around or not schema.fields:
                return column_types.JSON_TEXT
            inside = around | {id(schema)}
            return _struct(schema, lambda inner: self.column(inner, inside))
        if isinstance(schema, types.ArrayType):
            return column_types.ListOf(self.column(schema.items, around))
        if isinstance(schema, types.MapType):
            return column_types.MapOf(self.column(schema.values, around))
        if isinstance(schema, types.UnionType):
            only = types.nullable(schema)
            return column_types.JSON_TEXT if only is None else self.column(only, around)
        if isinstance(schema, types.EnumType):
            return column_types.STRING
        return _scalar(schema)


def _struct(schema: types.RecordType, column: Callable[[types.AvroType], ColumnType]) -> ColumnType:
    names = column_names(field.name for field in schema.fields)
    members = zip(names, schema.fields, strict=True)
    return column_types.StructOf(
        tuple(column_types.Field(name, field.name, column(field.type), field.doc) for name, field in members)
    )


def _scalar(schema: types.PrimitiveType | types.FixedType) -> ColumnType:
    if schema.logical is None:
        return _SCALARS.get(schema.type_name, column_types.JSON_TEXT)
    return _logical(schema.logical)


def _logical(logical: types.LogicalType) -> ColumnType:
    if logical.name == "decimal" and logical.precision <= WIDEST_DECIMAL:
        return column_types.Decimal(logical.precision, logical.scale)
    return _LOGICAL.get(logical.name, column_types.STRING)

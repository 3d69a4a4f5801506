"""Column types that need no Arrow, which the plain install lacks; only `pipeline` turns them into Arrow types."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


class Scalar(msgspec.Struct, frozen=True, tag="scalar"):
    """A plain value. `name` is one of boolean, int64, double, string, binary, date, timestamp."""

    name: str


class Decimal(msgspec.Struct, frozen=True, tag="decimal"):
    """A decimal number with fixed precision and scale."""

    precision: int
    scale: int


class TimeText(msgspec.Struct, frozen=True, tag="time"):
    """A time that payloads have as text. `name` is one of timestamp, date, duration.

    Columns are filled with the text; the table makes a value of it, in microseconds, where that loses nothing.
    """

    name: str


class JsonText(msgspec.Struct, frozen=True, tag="json"):
    """A value without one type (a union, a free-form part), kept as its JSON text."""


class ListOf(msgspec.Struct, frozen=True, tag="list"):
    """A list of values of one type."""

    item: ColumnType


class MapOf(msgspec.Struct, frozen=True, tag="map"):
    """A map from strings to values of one type."""

    value: ColumnType


class Field(msgspec.Struct, frozen=True):
    """A member of a struct: `source` is the member's name in the payload, `name` the column's."""

    name: str
    source: str
    type: ColumnType
    description: str = ""


class StructOf(msgspec.Struct, frozen=True, tag="struct"):
    """Named members; every column is nullable."""

    fields: tuple[Field, ...]


ColumnType = Scalar | Decimal | TimeText | JsonText | ListOf | MapOf | StructOf

BOOLEAN = Scalar("boolean")
INT64 = Scalar("int64")
DOUBLE = Scalar("double")
STRING = Scalar("string")
BINARY = Scalar("binary")
DATE = Scalar("date")
TIMESTAMP = Scalar("timestamp")
TIMESTAMP_TEXT = TimeText("timestamp")
DATE_TEXT = TimeText("date")
DURATION_TEXT = TimeText("duration")
JSON_TEXT = JsonText()


def as_text(column: ColumnType) -> ColumnType:
    """A column type in which times that payloads have as text are text."""
    match column:
        case TimeText():
            return STRING
        case ListOf():
            return ListOf(as_text(column.item))
        case MapOf():
            return MapOf(as_text(column.value))
        case StructOf():
            return StructOf(tuple(msgspec.structs.replace(field, type=as_text(field.type)) for field in column.fields))
    return column


def type_name(column: ColumnType) -> str:
    """The readable name of a column type."""
    match column:
        case Scalar():
            return column.name
        case Decimal():
            return f"decimal({column.precision}, {column.scale})"
        case TimeText():
            return "duration in microseconds" if column == DURATION_TEXT else column.name
        case JsonText():
            return "JSON text"
        case ListOf():
            return f"list of {type_name(column.item)}"
        case MapOf():
            return f"map of {type_name(column.value)}"
        case StructOf():
            return "struct"


def flattened(name: str, column: ColumnType, description: str = "") -> Iterator[tuple[str, ColumnType, str]]:
    """A column and everything inside of it: path, type and description; `[]` steps into a list, `{}` into a map."""
    yield name, column, description
    if isinstance(column, StructOf):
        for field in column.fields:
            yield from flattened(f"{name}.{field.name}", field.type, field.description)
    elif isinstance(column, ListOf) and isinstance(column.item, StructOf | ListOf | MapOf):
        yield from flattened(f"{name}[]", column.item)
    elif isinstance(column, MapOf) and isinstance(column.value, StructOf | ListOf | MapOf):
        yield from flattened(f"{name}{{}}", column.value)

"""Our column types and Python values as Arrow types and arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from postroom.formats.column_types import (
    DURATION_TEXT,
    ColumnType,
    Decimal,
    JsonText,
    ListOf,
    MapOf,
    Scalar,
    StructOf,
    TimeText,
)
from postroom.pipeline.worker.table_layout import Column

_SCALARS = {
    "boolean": pa.bool_(),
    "int64": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
}

_TIMES = {"timestamp": _SCALARS["timestamp"], "date": _SCALARS["date"], "duration": pa.int64()}

# What pa.array() raises for a value that its column cannot hold.
MISFITS = (pa.ArrowException, ValueError, TypeError, OverflowError)


@functools.singledispatch
def arrow_type(column: ColumnType) -> pa.DataType:
    """The Arrow type of a column type."""
    raise TypeError(f"no Arrow type for {column!r}")


@arrow_type.register
def _(column: Scalar) -> pa.DataType:
    return _SCALARS[column.name]


@arrow_type.register
def _(column: Decimal) -> pa.DataType:
    return pa.decimal128(column.precision, column.scale)


@arrow_type.register
def _(column: TimeText) -> pa.DataType:
    return _TIMES[column.name]


@arrow_type.register
def _(column: JsonText) -> pa.DataType:
    return pa.string()


@arrow_type.register
def _(column: ListOf) -> pa.DataType:
    return pa.list_(arrow_type(column.item))


@arrow_type.register
def _(column: MapOf) -> pa.DataType:
    return pa.map_(pa.string(), arrow_type(column.value))


@arrow_type.register
def _(column: StructOf) -> pa.DataType:
    return pa.struct([_field(field.name, field.type, field.description) for field in column.fields])


def arrow_schema(columns: Iterable[Column]) -> pa.Schema:
    """The Arrow schema of a table; descriptions become column comments."""
    return pa.schema([_field(column.name, column.type, column.description) for column in columns])


def _field(name: str, column_type: ColumnType, description: str) -> pa.Field:
    if column_type == DURATION_TEXT:
        description = f"{description} (microseconds)".strip()
    return pa.field(name, arrow_type(column_type), metadata={"comment": description} if description else None)


def arrow_column(values: Sequence[Any], data_type: pa.DataType) -> pa.Array:
    """One column of Python values; raises one of MISFITS when a value does not fit."""
    return pa.array(values, type=data_type, size=len(values))


def numbers(first: int, count: int) -> pa.Array:
    """So many numbers from the first on."""
    return pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.int64()), count), start=first - 1)


def property_reader(column: ColumnType) -> Callable[[Any], Any]:
    """How an attribute or option becomes a value of its column; the reader raises ValueError when it cannot."""
    return _READERS.get(column.name, text_of) if isinstance(column, Scalar) else text_of


def text_of(value: Any) -> str:
    """A property as text; what is neither text nor a plain value is shown as JSON."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if value not in ("true", "false"):
        raise ValueError(f"{value!r} is not a boolean")
    return bool(value == "true")


def _integer(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(text_of(value))


def _number(value: Any) -> float:
    return float(text_of(value))


def _timestamp(value: Any) -> datetime:
    moment = value if isinstance(value, datetime) else datetime.fromisoformat(text_of(value).upper())
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


_READERS: dict[str, Callable[[Any], Any]] = {
    "boolean": _boolean,
    "int64": _integer,
    "double": _number,
    "timestamp": _timestamp,
    "string": text_of,
}

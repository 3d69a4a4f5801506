"""The least and the greatest values of columns in a file, by which readers skip files that have nothing for them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

# What people look for by range; bounds of the other columns would hardly ever spare a file.
SOUGHT = frozenset({"ce_time", "_sent_at", "_position", "_landed_at", "_dead_at", "_kept_at"})

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ColumnBound(msgspec.Struct, frozen=True, array_like=True):
    """How many rows have no value, and the least and the greatest value of the others, as Delta writes them."""

    nulls: int
    least: int | str | None = None
    greatest: int | str | None = None


# By column. Of a file either all columns of SOUGHT that it has are there or, where one cannot be told, none.
Bounds = dict[str, ColumnBound]


def bounds_of(table: pa.Table) -> Bounds:
    """The bounds of the columns of a table."""
    try:
        return {name: _bound(table.column(name)) for name in table.schema.names if name in SOUGHT}
    except OverflowError:  # a time before the year 1
        return {}


def merge_bounds(parts: Iterable[Bounds]) -> Bounds:
    """The bounds of tables that are one file; all have the same columns."""
    known = list(parts)
    if not all(known):
        return {}
    return {name: _merged([part[name] for part in known]) for name in (known[0] if known else ())}


def _bound(column: pa.ChunkedArray) -> ColumnBound:
    if column.null_count == len(column):
        return ColumnBound(column.null_count)
    found = pc.min_max(column)
    if pa.types.is_timestamp(column.type):
        least, greatest = _moment(found["min"].value, 0), _moment(found["max"].value, 999)
        return ColumnBound(column.null_count, least, greatest)
    return ColumnBound(column.null_count, found["min"].as_py(), found["max"].as_py())


def _moment(microseconds: int, more: int) -> str:
    """A time in milliseconds, as Delta has them: not later, or with 999 more not earlier."""
    milliseconds = (microseconds + more) // 1000
    moment = _EPOCH + timedelta(milliseconds=milliseconds)
    return f"{moment.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def _merged(bounds: list[ColumnBound]) -> ColumnBound:
    # Times of one form are in order as texts, too.
    least: list[Any] = [bound.least for bound in bounds if bound.least is not None]
    greatest: list[Any] = [bound.greatest for bound in bounds if bound.greatest is not None]
    return ColumnBound(sum(bound.nulls for bound in bounds), min(least, default=None), max(greatest, default=None))

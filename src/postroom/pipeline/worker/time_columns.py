"""Typed times: columns that were filled with text become points in time, dates and durations.

Both judges fill columns with text, so that what is exact is decided here, once for both. Text that is no exact time
leaves a null and goes to the members without a column.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from postroom.formats.column_types import ColumnType, ListOf, MapOf, StructOf, TimeText
from postroom.formats.time_text import READERS, has_times, inexact_times
from postroom.formats.undeclared_members import add_members
from postroom.pipeline.worker.arrow import arrow_type

_TIMESTAMP = r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?(Z|[+-]\d{2}:\d{2})$"
_DATE = r"^\d{4}-\d{2}-\d{2}$"
_has_times = functools.lru_cache(maxsize=4096)(has_times)


def typed_times(column: ColumnType, filled: pa.Array) -> tuple[pa.Array, dict[int, Any]]:
    """A column with its times as values, and the texts that are no exact times, by row and member."""
    if not _has_times(column):
        return filled, {}
    typed, misfits = _typed(column, filled)
    if misfits is None:
        return typed, {}
    rows = pc.indices_nonzero(misfits)
    texts = filled.take(rows).to_pylist()
    return typed, {
        row: inexact_times(column, text) for row, text in zip(rows.to_pylist(), texts, strict=True) if text is not None
    }


def with_inexact_times(undeclared: dict[int, str], inexact: dict[int, Any]) -> dict[int, str]:
    """Members without a column, and texts of times that their columns cannot hold, as JSON by row."""
    if not inexact:
        return undeclared
    merged = {row: add_members(undeclared.get(row, "").encode(), found).decode() for row, found in inexact.items()}
    return undeclared | merged


def _typed(column: ColumnType, filled: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    """A filled array with its times as values, and a mask of the rows with a text that is no exact time, if any is."""
    if not _has_times(column):
        return filled, None
    if isinstance(column, TimeText):
        return _LEAVES[column.name](filled)
    if isinstance(column, StructOf):
        # flatten() makes the members of a struct that is null null; without it they are whatever lies there.
        members = [_typed(field.type, one) for field, one in zip(column.fields, filled.flatten(), strict=True)]
        fields = list(arrow_type(column))
        array = pa.StructArray.from_arrays([member for member, _ in members], fields=fields, mask=filled.is_null())
        masks = [mask for _, mask in members if mask is not None]
        return array, functools.reduce(pc.or_, masks) if masks else None
    if isinstance(column, MapOf):
        values, misfits = _typed(column.value, filled.items)
        array = pa.MapArray.from_arrays(filled.offsets, filled.keys, values, arrow_type(column), mask=filled.is_null())
        return array, _rows_of(filled, misfits)
    values, misfits = _typed(_item(column), filled.values)
    array = pa.ListArray.from_arrays(filled.offsets, values, arrow_type(column), mask=filled.is_null())
    return array, _rows_of(filled, misfits)


def _item(column: ColumnType) -> ColumnType:
    if not isinstance(column, ListOf):
        raise TypeError(f"{column!r} has times and no items")
    return column.item


def _rows_of(lists: pa.Array, misfits: pa.Array | None) -> pa.Array | None:
    """The rows whose list or map has one of the items of a mask."""
    if misfits is None:
        return None
    plain = pa.ListArray.from_arrays(lists.offsets, misfits, mask=lists.is_null())
    rows = pc.unique(pc.list_parent_indices(plain).filter(misfits))
    return pc.is_in(pa.array(range(len(lists)), rows.type), rows)


def _quick(
    pattern: str, data_type: pa.DataType, first: Any, last: Any, read: Callable[[str], Any]
) -> Callable[[pa.Array], tuple[pa.Array, pa.Array | None]]:
    """Convert by column where all texts have the usual form and none lies beyond the years that everybody reads."""
    lowest, highest = pa.scalar(first, data_type), pa.scalar(last, data_type)

    def convert(texts: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        if texts.null_count == len(texts):
            return pa.nulls(len(texts), data_type), None
        if pc.all(pc.match_substring_regex(texts, pattern)).as_py():
            try:
                values = texts.cast(data_type)
            except pa.ArrowInvalid:  # 30 February, or a leap second
                return _one_by_one(texts, data_type, read)
            found = pc.min_max(values)
            if found["min"].value >= lowest.value and found["max"].value <= highest.value:
                return values, None
        return _one_by_one(texts, data_type, read)

    return convert


def _one_by_one(
    texts: pa.Array, data_type: pa.DataType, read: Callable[[str], Any]
) -> tuple[pa.Array, pa.Array | None]:
    encoded = texts.dictionary_encode()
    meanings = pa.array([read(text) for text in encoded.dictionary.to_pylist()], data_type)
    values = meanings.take(encoded.indices)
    misfits = pc.and_(values.is_null(), texts.is_valid())
    return values, misfits if pc.any(misfits).as_py() else None


def _durations(texts: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    return _one_by_one(texts, pa.int64(), READERS["duration"])


_LEAVES: dict[str, Callable[[pa.Array], tuple[pa.Array, pa.Array | None]]] = {
    "timestamp": _quick(
        _TIMESTAMP,
        pa.timestamp("us", tz="UTC"),
        datetime.min.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
        READERS["timestamp"],
    ),
    "date": _quick(_DATE, pa.date32(), date.min, date.max, READERS["date"]),
    "duration": _durations,
}

"""Record files in Parquet: cut by row groups, read on a worker, positions are the numbers of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from postroom.errors import DocumentBroken
from postroom.pipeline.sources.dataframe import holds_records, record_columns
from postroom.pipeline.worker.arrow import numbers

if TYPE_CHECKING:
    from postroom.pipeline.storage.object_store import ObjectStorage

ROWS_AT_ONCE = 20_000
BYTES_AT_ONCE = 64 * 1024 * 1024


def is_parquet(path: str | Path) -> bool:
    """Whether a file is Parquet, by its name."""
    return str(path).lower().endswith(".parquet")


class RowGroup(NamedTuple):
    """Rows of a file that lie together, and their bytes before they were compressed."""

    number: int
    first: int
    rows: int
    size: int


def row_groups(path: str, store: ObjectStorage | None = None) -> list[RowGroup]:
    """The row groups of a file; refuses one that holds no records."""
    with _opened(path, store) as file:
        names = set(file.schema_arrow.names)
        if not holds_records(names):
            raise DocumentBroken(
                f"this Parquet file holds no records: its columns are {', '.join(sorted(names))}.",
                place=path,
                remedy="It needs `protocol`, `metadata` and `payload`, the columns of Kafka, or `value`.",
            )
        groups = [file.metadata.row_group(number) for number in range(file.metadata.num_row_groups)]
    starts = accumulate((group.num_rows for group in groups), initial=0)
    found = [RowGroup(n, next(starts), group.num_rows, group.total_byte_size) for n, group in enumerate(groups)]
    return [group for group in found if group.rows]


def read_rows(path: str, start: int, length: int, store: ObjectStorage | None = None) -> Iterator[pa.RecordBatch]:
    """The record columns of the row groups that begin in a range of rows, with their source and positions."""
    groups = [group for group in row_groups(path, store) if start <= group.first < start + length]
    wanted = [group.number for group in groups]
    with _opened(path, store) as file:
        columns = record_columns(set(file.schema_arrow.names))
        position = start
        try:
            rows = _rows_at_once(groups)
            # One thread: the other cores have tasks of their own.
            for batch in file.iter_batches(rows, row_groups=wanted, columns=list(columns), use_threads=False):
                yield _placed(batch, path, position)
                position += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise _broken(path, error) from None


def _rows_at_once(groups: list[RowGroup]) -> int:
    """As many rows as fit into memory well, going by the heaviest ones."""
    each = max((group.size // group.rows for group in groups), default=0)
    return max(1, min(ROWS_AT_ONCE, BYTES_AT_ONCE // max(each, 1)))


def _placed(batch: pa.RecordBatch, path: str, position: int) -> pa.RecordBatch:
    count = batch.num_rows
    source = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), count), [path])
    places = {"source": source, "position": numbers(position, count)}
    columns = places | {name: batch.column(name) for name in batch.schema.names}
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _opened(path: str, store: ObjectStorage | None) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path if store is None else pa.PythonFile(store.reader_of(path), mode="r"))
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, error) from None


def _broken(path: str, error: Exception) -> DocumentBroken:
    return DocumentBroken(f"this Parquet file is damaged: {str(error).partition(chr(10))[0]}", place=path)

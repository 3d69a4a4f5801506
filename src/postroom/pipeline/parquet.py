"""Record files in Parquet: cut by row groups, read on a worker, positions are the numbers of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from postroom.errors import DocumentBroken
from postroom.pipeline.columns import holds_records, record_columns

ROWS_AT_ONCE = 20_000


def is_parquet(path: str | Path) -> bool:
    """Whether a file is Parquet, by its name."""
    return str(path).lower().endswith(".parquet")


def row_groups(path: str) -> list[tuple[int, int]]:
    """First row and number of rows of each row group; refuses a file that holds no records."""
    with _opened(path) as file:
        names = set(file.schema_arrow.names)
        if not holds_records(names):
            raise DocumentBroken(
                f"this Parquet file holds no records: its columns are {', '.join(sorted(names))}.",
                place=path,
                remedy="It needs `protocol`, `metadata` and `payload`, the columns of Kafka, or `value`.",
            )
        sizes = [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]
    starts = [0, *accumulate(sizes)]
    return [(start, size) for start, size in zip(starts, sizes, strict=False) if size]


def read_rows(path: str, start: int, length: int) -> Iterator[pa.RecordBatch]:
    """The record columns of the row groups that begin in a range of rows, with their source and positions."""
    wanted = [number for number, (first, _) in enumerate(row_groups(path)) if start <= first < start + length]
    with _opened(path) as file:
        columns = record_columns(set(file.schema_arrow.names))
        position = start
        try:
            for batch in file.iter_batches(ROWS_AT_ONCE, row_groups=wanted, columns=list(columns)):
                yield _placed(batch, path, position)
                position += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise _broken(path, error) from None


def _placed(batch: pa.RecordBatch, path: str, position: int) -> pa.RecordBatch:
    count = batch.num_rows
    places = {"source": pa.array([path] * count), "position": pa.array(range(position, position + count), pa.int64())}
    columns = places | {name: batch.column(name) for name in batch.schema.names}
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _opened(path: str) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError) as error:
        raise _broken(path, error) from None


def _broken(path: str, error: Exception) -> DocumentBroken:
    return DocumentBroken(f"this Parquet file is damaged: {str(error).partition(chr(10))[0]}", place=path)

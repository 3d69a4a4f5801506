"""Parquet files of tables, as cheap to write as many small ones have to be."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from postroom.pipeline.storage.interface import Storage
from postroom.pipeline.worker.column_bounds import SOUGHT, Bounds, bounds_of, merge_bounds

# Files that are on their way to an object store at the same time, for each task.
UPLOADS = 8

# A small file costs more to set up than to pack: snappy needs no context of its own per page.
SMALL_ROWS = 10_000
DENSE: dict[str, Any] = {"compression": "zstd", "compression_level": 1}

# Columns of one or a few values; in others a dictionary costs more than it saves.
REPEATED = frozenset(
    {
        *("ce_specversion", "ce_type", "ce_datacontenttype", "ce_dataschema"),
        *("_definition", "_definition_version", "_schema_version", "_landed_at", "_source", "_batch", "_catalog"),
        *("_protocol", "_channel", "_extra"),
        *("outcome", "message", "_dead_at", "_kept_at"),
    }
)


class Written(NamedTuple):
    """A file: its size, the number of its rows by its footer, which is what readers believe, and bounds of columns."""

    size: int
    rows: int
    bounds: Bounds


def write_parquet(table: pa.Table, storage: Storage, path: str) -> Written:
    """Write a table."""
    if table.num_rows >= SMALL_ROWS and storage.folder is not None:
        with pa.OSFile(str(storage.folder / path), "wb") as file:
            rows = _pack(table, file, **DENSE)
            return Written(file.tell(), rows, bounds_of(table))
    packed, rows = packed_parquet(table)
    if storage.folder is not None:
        (storage.folder / path).write_bytes(packed)
    else:
        storage.write(path, packed)
    return Written(packed.size, rows, bounds_of(table))


class ParquetFiles:
    """The files of a task. Object stores take their time for each, so that they get several at once meanwhile."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._pool = ThreadPoolExecutor(UPLOADS) if storage.folder is None else None
        self._waiting: deque[Future[None]] = deque()

    def write(self, table: pa.Table, path: str) -> Written:
        """Write a table, or begin to."""
        if self._pool is None:
            return write_parquet(table, self._storage, path)
        packed, rows = packed_parquet(table)
        self._waiting.append(self._pool.submit(self._storage.write, path, packed))
        while len(self._waiting) > UPLOADS:  # each holds its bytes in memory
            self._waiting.popleft().result()
        return Written(packed.size, rows, bounds_of(table))

    def finish(self) -> None:
        """Wait for all files, and raise what went wrong with one of them."""
        while self._waiting:
            self._waiting.popleft().result()
        self.stop()

    def stop(self) -> None:
        """Begin nothing more, and wait for what is under way."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def packed_parquet(table: pa.Table) -> tuple[pa.Buffer, int]:
    """A table as the bytes of a file, and the number of its rows.

    Small pieces cost more to write one by one than to gather (measured: a fifth of the whole).
    """
    gathered = pa.BufferOutputStream()
    rows = _pack(table, gathered, **(DENSE if table.num_rows >= SMALL_ROWS else {"compression": "snappy"}))
    return gathered.getvalue(), rows


def _pack(table: pa.Table, sink: pa.NativeFile, **compression: Any) -> int:
    footers: list[pq.FileMetaData] = []
    pq.write_table(table, sink, metadata_collector=footers, **_options(table.schema), **compression)
    return int(footers[0].num_rows)


def write_pieces(
    pieces: Iterable[pa.Table], schema: pa.Schema, storage: Storage, path: str, *, sorted_by: str = ""
) -> Written:
    """Write the rows of many tables as one file, of which a piece at a time is in memory.

    The file also says of each piece what the least and greatest values of the column `sorted_by` are.
    """
    bounds: list[Bounds] = []
    footers: list[pq.FileMetaData] = []
    options = _options(schema)
    options["write_statistics"] += [sorted_by] if sorted_by else []
    with (
        storage.output(path) as file,
        pq.ParquetWriter(file, schema, metadata_collector=footers, **DENSE, **options) as writer,
    ):
        for piece in pieces:
            writer.write_table(piece)
            bounds.append(bounds_of(piece))
        writer.close()
        size = file.tell()
    return Written(int(size), int(footers[0].num_rows), merge_bounds(bounds))


def _options(schema: pa.Schema) -> dict[str, Any]:
    return {
        "use_dictionary": [name for name in schema.names if name in REPEATED],
        "write_statistics": [name for name in schema.names if name in SOUGHT],
        "store_schema": False,
    }

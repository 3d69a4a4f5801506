"""Parquet files of tables, as cheap to write as many small ones have to be."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

# A small file costs more to set up than to pack: snappy needs no context of its own per page.
SMALL_ROWS = 10_000

# Columns of one or a few values; in others a dictionary costs more than it saves.
REPEATED = frozenset(
    {
        *("ce_specversion", "ce_type", "ce_datacontenttype", "ce_dataschema"),
        *("_definition", "_definition_version", "_schema_version", "_landed_at", "_source", "_batch", "_catalog"),
        *("_protocol", "_channel", "_extra"),
        *("outcome", "message", "_dead_at"),
    }
)
# What people look for by range; Parquet's statistics of the other columns would hardly ever spare a file.
SOUGHT = frozenset({"ce_time", "_sent_at", "_position", "_landed_at", "_dead_at"})


def write_parquet(table: pa.Table, path: Path) -> tuple[int, int]:
    """Write a table; the size of the file, and the number of its rows by its footer, which is what readers believe."""
    if table.num_rows >= SMALL_ROWS:
        with pa.OSFile(str(path), "wb") as file:
            rows = _pack(table, file, compression="zstd", compression_level=1)
            return file.tell(), rows
    # Small pieces cost more to write one by one than to gather (measured: a fifth of the whole).
    gathered = pa.BufferOutputStream()
    rows = _pack(table, gathered, compression="snappy")
    packed = gathered.getvalue()
    path.write_bytes(packed)
    return packed.size, rows


def _pack(table: pa.Table, sink: pa.NativeFile, **compression: Any) -> int:
    footers: list[pq.FileMetaData] = []
    pq.write_table(table, sink, metadata_collector=footers, **_options(table.schema), **compression)
    return int(footers[0].num_rows)


def write_pieces(pieces: Iterable[pa.Table], schema: pa.Schema, path: Path) -> tuple[int, int]:
    """Write the rows of many tables as one file, of which a piece at a time is in memory; its size and its rows."""
    footers: list[pq.FileMetaData] = []
    options = _options(schema)
    with (
        pa.OSFile(str(path), "wb") as file,
        pq.ParquetWriter(
            file, schema, metadata_collector=footers, compression="zstd", compression_level=1, **options
        ) as writer,
    ):
        for piece in pieces:
            writer.write_table(piece)
    return path.stat().st_size, int(footers[0].num_rows)


def _options(schema: pa.Schema) -> dict[str, Any]:
    return {
        "use_dictionary": [name for name in schema.names if name in REPEATED],
        "write_statistics": [name for name in schema.names if name in SOUGHT],
        "store_schema": False,
    }

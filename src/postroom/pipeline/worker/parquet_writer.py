"""Parquet files of tables, as cheap to write as many small ones have to be."""

from __future__ import annotations

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
    names = table.schema.names
    footers: list[pq.FileMetaData] = []
    pq.write_table(
        table,
        sink,
        use_dictionary=[name for name in names if name in REPEATED],
        write_statistics=[name for name in names if name in SOUGHT],
        store_schema=False,
        metadata_collector=footers,
        **compression,
    )
    return int(footers[0].num_rows)

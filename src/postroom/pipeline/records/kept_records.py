"""Read the records that a lake keeps: as Arrow tables, or one after the other as lines of JSON.

A landed row and its record have the same `_record_id`; messages that came together in one record have it with their
number behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from postroom.pipeline.lake.file_exchange import files_of
from postroom.pipeline.lake.lake import Lake, Place, TableLocation, open_lake
from postroom.pipeline.lake.struct_columns import align_table
from postroom.pipeline.lake.table_cache import open_table
from postroom.pipeline.sources.dataframe import record_lines
from postroom.pipeline.sources.record_ids import NUMBERED
from postroom.pipeline.worker.arrow import arrow_schema
from postroom.pipeline.worker.table_layout import RECORD_COLUMNS, RECORDS

SCHEMA = arrow_schema(RECORD_COLUMNS)


class KeptRecord(msgspec.Struct, frozen=True):
    """A record as a line of JSON (one of Kafka's columns is made into one), and where it came from."""

    id: str
    line: bytes
    source: str
    position: int
    batch: str


def kept_records(
    lake: Place, message: str = "", *, storage_options: Mapping[str, str] | None = None
) -> Iterator[KeptRecord]:
    """The records that a lake keeps, oldest file first; of one message (an xid), or all."""
    lake = open_lake(lake, storage_options)
    ids = _ids_of(lake, message) if message else None
    for table in record_tables(lake, ids):
        for part, lines in _lines(table):
            columns = (part.column(name).to_pylist() for name in ("_record_id", "_source", "_position", "_batch"))
            for identity, source, position, batch, line in zip(*columns, lines, strict=True):
                yield KeptRecord(identity, line, source, position, batch)


def record_tables(lake: Lake, ids: pa.Array | None = None) -> Iterator[pa.Table]:
    """The rows of `_records` with all its columns, a row group at a time: those with the given ids, or all."""
    if not lake.has(RECORDS):
        return
    for file in files_of(lake.table(RECORDS)):
        parquet = pq.ParquetFile(lake.storage.input(f"{RECORDS}/{file.path}"))
        for group in range(parquet.num_row_groups):
            mask = None
            if ids is not None:
                mask = pc.is_in(parquet.read_row_group(group, ["_record_id"]).column(0), ids)
                if not pc.any(mask).as_py():
                    continue
            table = parquet.read_row_group(group)
            yield align_table(table if mask is None else table.filter(mask), SCHEMA)


def kafka_batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Those rows of `_records` that came in the columns of Kafka, as a worker reads such columns."""
    for batch in table.filter(pc.is_valid(table.column("kafka"))).to_batches():
        kafka = batch.column("kafka")
        columns = dict(zip((field.name for field in kafka.type), kafka.flatten(), strict=True))
        yield pa.RecordBatch.from_pydict(_origins(batch) | columns)


def line_batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """Those rows of `_records` that came as lines, as a worker reads lines."""
    for batch in table.filter(pc.is_valid(table.column("record"))).to_batches():
        yield pa.RecordBatch.from_pydict(_origins(batch) | {"value": batch.column("record")})


def record_ids(messages: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """The ids of the records in which messages came, as `record_of` says it of one."""
    return pc.replace_substring_regex(messages, NUMBERED, r"\1")


def tables_of(lake: Lake, message: str) -> Iterator[TableLocation]:
    """The tables of landed messages of one definition, known by its xid."""
    return (place for place in lake.tables() if open_table(lake, place.folder).metadata().name == message)


def _ids_of(lake: Lake, message: str) -> pa.Array:
    """The ids of the records in which the messages of one definition came."""
    found: list[pa.Array] = []
    for place in tables_of(lake, message):
        for file in files_of(lake.table(place.folder)):
            parquet = pq.ParquetFile(lake.storage.input(f"{place.folder}/{file.path}"))
            found += record_ids(parquet.read(["_record_id"]).column(0)).chunks
    return pc.unique(pa.chunked_array(found, pa.string()))


def _lines(table: pa.Table) -> Iterator[tuple[pa.Table, list[bytes]]]:
    """Rows of `_records` and their lines, those of each form together."""
    for form, batches in (("record", line_batches), ("kafka", kafka_batches)):
        part = table.filter(pc.is_valid(table.column(form)))
        yield part, [line for batch in batches(part) for line in record_lines(batch)]


def _origins(batch: pa.RecordBatch) -> dict[str, pa.Array]:
    names = {"source": "_source", "position": "_position", "record_id": "_record_id"}
    return {name: batch.column(column) for name, column in names.items()}

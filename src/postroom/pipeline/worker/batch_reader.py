"""Read the Arrow batches of a Spark task into batches that a worker can hold.

They have these columns:
- path, start, length: ranges of files, which the worker reads itself;
- source, position and value: lines of JSON;
- source, position and the columns of Kafka's connector (topic, partition, offset, key, value, headers): read as they
  are, and only what is not plain becomes a line of JSON;
- source, position, protocol, metadata, payload: the columns of a record, which become lines of JSON.
Of the last three each may have a column record_id; without it, source and position make the ids.
Parquet files hold the columns of one of the last three, without source and position.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import pyarrow as pa

from postroom.errors import DocumentBroken
from postroom.pipeline.sources.parquet import is_parquet, read_rows
from postroom.pipeline.worker.batch import WorkerBatch
from postroom.pipeline.worker.jsonl import LineBatch, LineChunk, line_chunk, read_lines
from postroom.pipeline.worker.kafka_columns import KafkaBatch, is_kafka

if TYPE_CHECKING:
    from postroom.pipeline.storage.object_store import ObjectStorage


def read_batches(
    batches: Iterable[pa.RecordBatch], rows: int, size: int, store: ObjectStorage | None = None
) -> Iterator[WorkerBatch]:
    """The records of Arrow batches, at most so many rows and about so many bytes at a time.

    Ranges are of files on this machine, or in a store.
    """
    chunks: list[LineChunk] = []
    columns: list[pa.RecordBatch] = []
    held_rows = held_bytes = 0
    for part in _cut(_parts(batches, store), rows):
        if isinstance(part, LineChunk):
            chunks.append(part)
            held_rows += len(part.records)
            held_bytes += sum(map(len, part.records))
        else:
            columns.append(part)
            held_rows += part.num_rows
            held_bytes += part.nbytes // 2  # columns are read where they lie, lines are taken apart
        if held_rows >= rows or held_bytes >= size:
            yield from _filled(chunks, columns)
            held_rows = held_bytes = 0
    yield from _filled(chunks, columns)


def _filled(chunks: list[LineChunk], columns: list[pa.RecordBatch]) -> Iterator[WorkerBatch]:
    """The records held; none is held here any more while a worker is busy with them."""
    if chunks:
        held_chunks = chunks.copy()
        chunks.clear()
        yield LineBatch(held_chunks)
    if columns:
        held_columns = columns.copy()
        columns.clear()
        yield KafkaBatch(held_columns)


def _cut(parts: Iterable[LineChunk | pa.RecordBatch], rows: int) -> Iterator[LineChunk | pa.RecordBatch]:
    """Pieces of at most so many rows."""
    for part in parts:
        if isinstance(part, LineChunk):
            yield from (part.slice(start, start + rows) for start in range(0, len(part.records), rows))
        else:
            yield from (part.slice(start, rows) for start in range(0, part.num_rows, rows))


def _parts(batches: Iterable[pa.RecordBatch], store: ObjectStorage | None) -> Iterator[LineChunk | pa.RecordBatch]:
    for batch in batches:
        if "length" not in batch.schema.names:
            yield batch if is_kafka(batch.schema) else line_chunk(batch)
            continue
        for row in batch.select(["path", "start", "length"]).to_pylist():
            read = _read_parquet if is_parquet(row["path"]) else read_lines
            yield from read(row["path"], row["start"], row["length"], store)


def _read_parquet(
    path: str, start: int, length: int, store: ObjectStorage | None
) -> Iterator[LineChunk | pa.RecordBatch]:
    try:
        yield from _parts(read_rows(path, start, length, store), store)
    except DocumentBroken as error:
        yield LineChunk([path], [start], [str(error).encode()])

"""Hauls: as many records as a worker holds at a time, with where each came from.

`write_batch` takes Arrow batches with these columns:
- path, start, length: ranges of files, which the worker reads itself;
- source, position and value: lines of JSON;
- source, position and the columns of Kafka's connector (topic, partition, offset, key, value, headers): taken as they
  are, and only what is not plain becomes a line of JSON;
- source, position, protocol, metadata, payload: the columns of a record, which become lines of JSON.
Of the last three each may have a column record_id; without it, source and position make the ids.
Parquet files hold the columns of one of the last three, without source and position.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import ClassVar, Protocol, TypeVar

import pyarrow as pa

from postroom.errors import DocumentBroken
from postroom.messages.engine import Engine
from postroom.messages.matching.outcome import Sorted
from postroom.pipeline.sources.parquet import is_parquet, read_rows
from postroom.pipeline.worker.batch_slices import AT_ONCE, Parts, shifted
from postroom.pipeline.worker.jsonl import Chunk, chunks_of, range_chunks
from postroom.pipeline.worker.kafka_columns import KafkaRows, is_kafka

Part = TypeVar("Part")


class Haul(Protocol):
    """Records in memory, and where each came from."""

    @property
    def sources(self) -> list[str]:
        """The files or streams."""
        ...

    @property
    def positions(self) -> list[int]:
        """The places there."""
        ...

    @property
    def ids(self) -> list[str] | None:
        """The ids of the records, where they came with some."""
        ...

    @property
    def carried(self) -> Mapping[str, pa.Array]:
        """What came with the records of a pile that has no list of it, by column of a table."""
        ...

    def piles(self, engine: Engine) -> Parts:
        """The records that the express lane may take, by definition, and the rows of the others; in parts."""
        ...

    def sort_exactly(self, engine: Engine, rows: list[int]) -> Iterator[tuple[bytes, list[Sorted]]]:
        """Sort records without the express lane, rows in order, each with its line of JSON: the exact bytes, if it came
        as such."""
        ...


class Lines:
    """A haul of lines."""

    carried: ClassVar[Mapping[str, pa.Array]] = {}

    def __init__(self, chunks: list[Chunk]) -> None:
        self.sources = [source for chunk in chunks for source in chunk.sources]
        self.positions = [position for chunk in chunks for position in chunk.positions]
        self.ids = _ids(chunks)
        self._records = [record for chunk in chunks for record in chunk.records]

    def piles(self, engine: Engine) -> Parts:
        """The records that the express lane may take, by definition, and the rows of the others; in parts."""
        for start in range(0, len(self._records), AT_ONCE):
            yield from shifted(engine.group_lines(self._records[start : start + AT_ONCE]), start)

    def sort_exactly(self, engine: Engine, rows: list[int]) -> Iterator[tuple[bytes, list[Sorted]]]:
        """Sort records without the express lane, each with its exact bytes."""
        for row in rows:
            line = self._records[row]
            yield line, engine.sort_exactly(line)


def _ids(chunks: list[Chunk]) -> list[str] | None:
    """Chunks of one task come from one frame: either all of them have ids, or none has."""
    given = [chunk.ids for chunk in chunks if chunk.ids is not None]
    return [record for ids in given for record in ids] if given else None


def hauls_of(batches: Iterable[pa.RecordBatch], rows: int, size: int) -> Iterator[Haul]:
    """The records of Arrow batches, at most so many rows and about so many bytes at a time."""
    chunks: list[Chunk] = []
    columns: list[pa.RecordBatch] = []
    held_rows = held_bytes = 0
    for part in _parts(batches, rows):
        if isinstance(part, Chunk):
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


def _filled(chunks: list[Chunk], columns: list[pa.RecordBatch]) -> Iterator[Haul]:
    """The records held; none is held here any more while a worker is busy with them."""
    if chunks:
        yield Lines(_taken(chunks))
    if columns:
        yield KafkaRows(_taken(columns))


def _taken(parts: list[Part]) -> list[Part]:
    taken = parts.copy()
    parts.clear()
    return taken


def _parts(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[Chunk | pa.RecordBatch]:
    """Pieces of at most so many rows."""
    for part in _all_parts(batches):
        if isinstance(part, Chunk):
            for start in range(0, len(part.records), rows):
                yield _cut(part, start, start + rows)
        else:
            for start in range(0, part.num_rows, rows):
                yield part.slice(start, rows)


def _cut(chunk: Chunk, start: int, end: int) -> Chunk:
    ids = chunk.ids[start:end] if chunk.ids is not None else None
    return Chunk(chunk.sources[start:end], chunk.positions[start:end], chunk.records[start:end], ids)


def _all_parts(batches: Iterable[pa.RecordBatch]) -> Iterator[Chunk | pa.RecordBatch]:
    for batch in batches:
        if "length" not in batch.schema.names:
            yield from [batch] if is_kafka(batch.schema) else chunks_of(batch)
            continue
        for row in batch.select(["path", "start", "length"]).to_pylist():
            path, start, length = row["path"], row["start"], row["length"]
            if is_parquet(path):
                yield from _rows_of_parquet(path, start, length)
            else:
                yield from range_chunks(path, start, length)


def _rows_of_parquet(path: str, start: int, length: int) -> Iterator[Chunk | pa.RecordBatch]:
    try:
        yield from _all_parts(read_rows(path, start, length))
    except DocumentBroken as error:
        yield Chunk([path], [start], [str(error).encode()])

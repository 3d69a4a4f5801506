"""Lines of record files on a worker: a byte range of a file gives the lines that begin in it.

A line is known by its file and the byte at which it begins, which does not depend on how the file was cut into ranges.
In a packed file the byte counts in the unpacked content; in a Parquet file it is the number of the row.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import IO, NamedTuple

import pyarrow as pa

from postroom.errors import DocumentBroken
from postroom.pipeline.sources.compression import damage_of, open_records
from postroom.pipeline.sources.dataframe import record_lines
from postroom.pipeline.sources.parquet import is_parquet, read_rows

CHUNK = 4 * 1024 * 1024


class Chunk(NamedTuple):
    """Many records by column, each without its line end; without ids, source and position make them."""

    sources: list[str]
    positions: list[int]
    records: list[bytes]
    ids: list[str] | None = None


def chunks_of(batch: pa.RecordBatch) -> Iterator[Chunk]:
    """The records of a batch: rows of file ranges (path, start, length), or rows that are records."""
    if "length" not in batch.schema.names:
        sources, positions = batch.column("source").to_pylist(), batch.column("position").to_pylist()
        ids = batch.column("record_id").to_pylist() if "record_id" in batch.schema.names else None
        yield Chunk(sources, positions, record_lines(batch), ids)
        return
    for row in batch.select(["path", "start", "length"]).to_pylist():
        path, start, length = row["path"], row["start"], row["length"]
        yield from parquet_chunks(path, start, length) if is_parquet(path) else range_chunks(path, start, length)


def range_chunks(path: str, start: int, length: int) -> Iterator[Chunk]:
    """The lines that begin in a range of bytes, in chunks; blank lines hold nothing and are passed over."""
    with open_records(path) as file:
        position = _first_line(file, start)
        while position < start + length:
            data = file.read(min(CHUNK, start + length - position))
            if not data:
                break
            if not data.endswith(b"\n"):
                data += file.readline()
            yield _chunk(path, position, data)
            position += len(data)
        damage = damage_of(file)
    if damage:
        # What came before is good and lands; the rest is one dead letter that says why.
        yield Chunk([path], [position], [f"the rest of this file is damaged: {damage}".encode()])


def _chunk(path: str, position: int, data: bytes) -> Chunk:
    records = data.split(b"\n")
    if not records[-1]:  # a line end at the end ends a line and begins none
        records.pop()
    positions = list(accumulate([len(record) + 1 for record in records], initial=position))
    positions.pop()
    if any(map(bytes.isspace, records)) or b"" in records:
        kept = [(at, record) for at, record in zip(positions, records, strict=True) if record and not record.isspace()]
        positions, records = [at for at, _ in kept], [record for _, record in kept]
    return Chunk([path] * len(records), positions, records)


def _first_line(file: IO[bytes], start: int) -> int:
    if start == 0:
        return 0
    file.seek(start - 1)
    return start - 1 + len(file.readline())


def parquet_chunks(path: str, start: int, length: int) -> Iterator[Chunk]:
    """The records of a Parquet file's rows."""
    try:
        for batch in read_rows(path, start, length):
            yield from chunks_of(batch)
    except DocumentBroken as error:
        yield Chunk([path], [start], [str(error).encode()])

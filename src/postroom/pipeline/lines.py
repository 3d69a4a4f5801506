"""Lines of record files on a worker: a byte range of a file gives the lines that begin in it.

A line is known by its file and the byte at which it begins, which does not depend on how the file was cut into ranges.
In a packed file the byte counts in the unpacked content; in a Parquet file it is the number of the row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import IO, NamedTuple

import pyarrow as pa

from postroom.errors import DocumentBroken
from postroom.pipeline.columns import record_lines
from postroom.pipeline.packing import damage_of, open_records
from postroom.pipeline.parquet import is_parquet, read_rows

CHUNK = 4 * 1024 * 1024


class Line(NamedTuple):
    """One record as it came: where from, at which position, and its exact bytes without the line end."""

    source: str
    position: int
    record: bytes


def lines_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Line]:
    """The records of Arrow batches: rows of file ranges (path, start, length), or rows that are records (value)."""
    for batch in batches:
        yield from _range_lines(batch) if "length" in batch.schema.names else _value_lines(batch)


def record_id(source_digest: str, position: int, index: int, several: bool) -> str:
    """The name of a message: digest of its source, position, and its place in a batch of several."""
    return f"{source_digest}-{position}-{index}" if several else f"{source_digest}-{position}"


def digest_of(source: str) -> str:
    """A source's part of the record ids."""
    return hashlib.sha256(source.encode()).hexdigest()[:16]


def read_range(path: str, start: int, length: int) -> Iterator[Line]:
    """The lines that begin in a range of bytes; blank lines hold nothing and are passed over."""
    position = start
    with open_records(path) as file:
        for line in _read(file, path, start, start + length):
            position = line.position + len(line.record) + 1
            yield line
        damage = damage_of(file)
    if damage:
        # What came before is good and lands; the rest is one dead letter that says why.
        yield Line(path, position, f"the rest of this file is damaged: {damage}".encode())


def _read(file: IO[bytes], path: str, start: int, end: int) -> Iterator[Line]:
    position = _first_line(file, start)
    while position < end:
        data = file.read(min(CHUNK, end - position))
        if not data:
            return
        if not data.endswith(b"\n"):
            data += file.readline()
        for record in data.split(b"\n"):
            if record and not record.isspace():
                yield Line(path, position, record)
            position += len(record) + 1
        # A chunk ends with its line end (split then gives one empty piece too many) or with the file.
        position -= 1


def _first_line(file: IO[bytes], start: int) -> int:
    if start == 0:
        return 0
    file.seek(start - 1)
    return start - 1 + len(file.readline())


def _range_lines(batch: pa.RecordBatch) -> Iterator[Line]:
    for row in batch.select(["path", "start", "length"]).to_pylist():
        if is_parquet(row["path"]):
            yield from _parquet_lines(row["path"], row["start"], row["length"])
        else:
            yield from read_range(row["path"], row["start"], row["length"])


def _parquet_lines(path: str, start: int, length: int) -> Iterator[Line]:
    try:
        yield from lines_of(read_rows(path, start, length))
    except DocumentBroken as error:
        yield Line(path, start, str(error).encode())


def _value_lines(batch: pa.RecordBatch) -> Iterator[Line]:
    places = (batch.column(name).to_pylist() for name in ("source", "position"))
    for source, position, record in zip(*places, record_lines(batch), strict=True):
        yield Line(source, position, record)

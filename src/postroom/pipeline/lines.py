"""Lines of record files on a worker: a byte range of a file gives the lines that begin in it.

A line is known by its file and the byte at which it begins, which does not depend on how the file was cut into ranges.
In a gzip file the byte counts in the unpacked content.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterable, Iterator
from typing import IO, Any, NamedTuple

import pyarrow as pa

from postroom.errors import DocumentBroken

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
    try:
        with _open(path) as file:
            yield from _read(file, path, start, start + length)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DocumentBroken(f"this gzip file is damaged: {error}.", place=path) from None


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


def _open(path: str) -> IO[bytes]:
    if path.endswith(".gz"):
        return io.BufferedReader(gzip.open(path, "rb"))
    return open(path, "rb")  # noqa: PTH123  (the caller's `with` closes it)


def _range_lines(batch: pa.RecordBatch) -> Iterator[Line]:
    for row in batch.select(["path", "start", "length"]).to_pylist():
        yield from read_range(row["path"], row["start"], row["length"])


def _value_lines(batch: pa.RecordBatch) -> Iterator[Line]:
    columns: list[list[Any]] = [batch.column(name).to_pylist() for name in ("source", "position", "value")]
    for source, position, value in zip(*columns, strict=True):
        yield Line(source, position, value.encode() if isinstance(value, str) else bytes(value or b""))

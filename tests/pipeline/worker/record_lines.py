"""Records of a worker one by one, as tests compare them; the product reads them in chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pyarrow as pa

from postroom.pipeline.worker.jsonl import chunks_of, range_chunks


class Line(NamedTuple):
    """One record: where it is from, at which position, and its bytes without the line end."""

    source: str
    position: int
    record: bytes


def lines_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Line]:
    """The records of Arrow batches."""
    for batch in batches:
        for chunk in chunks_of(batch):
            yield from map(Line, *chunk[:3])


def read_range(path: str, start: int, length: int) -> Iterator[Line]:
    """The lines that begin in a range of bytes."""
    for chunk in range_chunks(path, start, length):
        yield from map(Line, *chunk[:3])

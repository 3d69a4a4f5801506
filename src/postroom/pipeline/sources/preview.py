"""What a run would read, without reading more of it than a sample."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa

from postroom.pipeline.sources.file_ranges import WHOLE_FILE
from postroom.pipeline.worker.batch import WorkerBatch
from postroom.pipeline.worker.batch_reader import read_batches

if TYPE_CHECKING:
    from postroom.pipeline.storage.object_store import ObjectStorage

# A batch in memory, as a task of Spark's has it; a sample of everything is judged in pieces of this size.
ROWS, BYTES = 100_000, 64 * 1024 * 1024


class Part(msgspec.Struct, frozen=True):
    """A file with its bytes, or a partition of a topic with the offsets from the next to the last and one more."""

    name: str
    bytes: int = 0
    first: int | None = None
    end: int | None = None


class Preview(msgspec.Struct, frozen=True):
    """The parts of a source that a run would read, and a sample of the records in them.

    `cut` names parts that have more records than the sample has of them, once that was read.
    """

    parts: list[Part]
    sample: Iterator[WorkerBatch]
    cut: list[str]


def preview_files(files: Sequence[tuple[str, int]], most: int, store: ObjectStorage | None = None) -> Preview:
    """A preview of files with their sizes: as many records from each, from its beginning."""
    each = -(-most // max(len(files), 1)) if most else 0
    parts = [Part(path, bytes=size) for path, size in files]
    cut: list[str] = []
    return Preview(parts, _first_of_files(files, each, store, cut), cut)


def _first_of_files(
    files: Sequence[tuple[str, int]], each: int, store: ObjectStorage | None, cut: list[str]
) -> Iterator[WorkerBatch]:
    for path, size in files:
        whole = [{"path": path, "start": 0, "length": max(size, 1) if _is_plain(path) else WHOLE_FILE}]
        batches = read_batches([pa.RecordBatch.from_pylist(whole)], each or ROWS, BYTES, store)
        yield from itertools.islice(batches, 1 if each else None)
        if next(batches, None) is not None:
            cut.append(path)


def _is_plain(path: str) -> bool:
    from postroom.pipeline.sources.compression import is_packed
    from postroom.pipeline.sources.parquet import is_parquet

    return not (is_packed(path) or is_parquet(path))

"""Lines of JSON on a worker: a byte range of a file gives the lines that begin in it.

A line is known by its file and the byte at which it begins, which does not depend on how the file was cut into ranges.
In a compressed file the byte counts in the content; in a Parquet file it is the number of the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import IO, TYPE_CHECKING, ClassVar, NamedTuple

import pyarrow as pa

from postroom.pipeline.sources.compression import damage_of, open_records
from postroom.pipeline.sources.dataframe import record_lines
from postroom.pipeline.worker.batch import SLICE_ROWS

if TYPE_CHECKING:
    from postroom.pipeline.storage.object_store import ObjectStorage

CHUNK = 4 * 1024 * 1024


class LineChunk(NamedTuple):
    """Records by column, their exact bytes without the line ends; without ids, source and position make them."""

    sources: list[str]
    positions: list[int]
    records: list[bytes]
    ids: list[str] | None = None

    def slice(self, start: int, end: int) -> LineChunk:
        """The records of some rows."""
        ids = self.ids[start:end] if self.ids is not None else None
        return LineChunk(self.sources[start:end], self.positions[start:end], self.records[start:end], ids)


class LineBatch:
    """A batch of lines."""

    transport: ClassVar[Mapping[str, pa.Array]] = {}

    def __init__(self, chunks: list[LineChunk]) -> None:
        self.sources = [source for chunk in chunks for source in chunk.sources]
        self.positions = [position for chunk in chunks for position in chunk.positions]
        # Chunks of one task come from one frame: either all of them have ids, or none has.
        given = [chunk.ids for chunk in chunks if chunk.ids is not None]
        self.ids = [record for ids in given for record in ids] if given else None
        self._records = [record for chunk in chunks for record in chunk.records]

    def exact(self, rows: pa.Array | None) -> dict[str, pa.Array]:
        """The lines of some rows, or of all."""
        records = self._records if rows is None else [self._records[row] for row in rows.to_pylist()]
        return {"record": pa.array(records, pa.binary())}

    def slices(self) -> Iterator[tuple[int, list[bytes]]]:
        """The lines that are judged together, and the first row of each."""
        for start in range(0, len(self._records), SLICE_ROWS):
            yield start, self._records[start : start + SLICE_ROWS]


def line_chunk(batch: pa.RecordBatch) -> LineChunk:
    """The records of rows that hold one each, as lines of JSON."""
    sources, positions = batch.column("source").to_pylist(), batch.column("position").to_pylist()
    ids = batch.column("record_id").to_pylist() if "record_id" in batch.schema.names else None
    return LineChunk(sources, positions, record_lines(batch), ids)


def read_lines(path: str, start: int, length: int, store: ObjectStorage | None = None) -> Iterator[LineChunk]:
    """The lines that begin in a range of bytes; blank lines hold nothing and are passed over."""
    with open_records(path, store) as file:
        position = _first_line(file, start)
        while position < start + length:
            data = file.read(min(CHUNK, start + length - position))
            if not data:
                break
            if not data.endswith(b"\n"):
                data += file.readline()
            yield _split(path, position, data)
            position += len(data)
        damage = damage_of(file)
    if damage:
        # What came before is good and lands; the rest is one dead letter that says why.
        yield LineChunk([path], [position], [f"the rest of this file is damaged: {damage}".encode()])


def _split(path: str, position: int, data: bytes) -> LineChunk:
    records = data.split(b"\n")
    if not records[-1]:  # a line end at the end ends a line and begins none
        records.pop()
    positions = list(accumulate([len(record) + 1 for record in records], initial=position))
    positions.pop()
    if any(map(bytes.isspace, records)) or b"" in records:
        kept = [(at, record) for at, record in zip(positions, records, strict=True) if record and not record.isspace()]
        positions, records = [at for at, _ in kept], [record for _, record in kept]
    return LineChunk([path] * len(records), positions, records)


def _first_line(file: IO[bytes], start: int) -> int:
    if start == 0:
        return 0
    file.seek(start - 1)
    return start - 1 + len(file.readline())

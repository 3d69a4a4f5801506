"""What a Spark task does: records in, one Parquet file per table out.

This runs in Spark's Python workers and therefore loads nothing of the server; an import contract holds it to that.
"""

from __future__ import annotations

import functools
import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from postroom.messages.definition import CompiledCatalog
from postroom.messages.engine import Engine
from postroom.messages.outcome import Sorted
from postroom.pipeline.job import Job
from postroom.pipeline.layout import DEAD_LETTERS, Layout, layout_of
from postroom.pipeline.lines import Line, lines_of
from postroom.pipeline.rows import Row, dead_letters_table, landed_table

# Fewer, larger flushes cost less (DESIGN); these bound the memory of a worker whatever the input.
FLUSH_ROWS = 200_000
FLUSH_BYTES = 64 * 1024 * 1024


class WrittenFile(msgspec.Struct, frozen=True):
    """One Parquet file of one table; `path` is relative to the table."""

    folder: str
    xid: str
    version: str
    path: str
    size: int
    rows: int


class Written(msgspec.Struct, frozen=True):
    """What a task hands to the driver: its files, their schemas by folder, and the numbers for the balance."""

    read: int
    dead: dict[str, int]
    files: list[WrittenFile]
    schemas: dict[str, bytes]


def write_batch(job: Job, batches: Iterable[pa.RecordBatch]) -> Written:
    """Sort the records of a task and write what became of them."""
    engine, layouts = open_engine(job.lake, job.catalog, job.nulls, job.max_record_mb)
    tables = Tables(job, engine, layouts)
    with _no_garbage_collection():
        for line in lines_of(batches):
            tables.add(line, engine.sort_line(line.record))
        tables.flush()
    return Written(tables.read, tables.dead, tables.files, tables.schemas)


@functools.lru_cache(maxsize=2)
def open_engine(lake: str, catalog: str, nulls: str, max_record_mb: int) -> tuple[Engine, dict[str, Layout]]:
    """The engine of a catalog kept in the lake, and the tables of its definitions; a worker serves many tasks."""
    compiled = CompiledCatalog.decode((Path(lake) / "_catalogs" / catalog).read_bytes())
    engine = Engine(compiled, nulls=nulls, max_record_mb=max_record_mb)
    return engine, {}


class Tables:
    """Rows on their way into files, by table."""

    def __init__(self, job: Job, engine: Engine, layouts: dict[str, Layout]) -> None:
        self.read = 0
        self.dead: dict[str, int] = {}
        self.files: list[WrittenFile] = []
        self.schemas: dict[str, bytes] = {}
        self._job = job
        self._engine = engine
        self._layouts = layouts
        self._versions = {d.xid: d.version for d in engine.definitions}
        self._landed: dict[str, list[Row]] = {}
        self._letters: list[Row] = []
        self._rows = 0
        self._bytes = 0

    def add(self, line: Line, messages: list[Sorted]) -> None:
        """Take in the messages of one record."""
        several = len(messages) > 1
        for index, message in enumerate(messages):
            row = Row(line, index, several, message)
            if message.match.outcome == "landed" and message.definition is not None:
                self._landed.setdefault(message.definition.xid, []).append(row)
            else:
                self._letters.append(row)
        self.read += len(messages)
        self._rows += len(messages)
        self._bytes += len(line.record)
        if self._rows >= FLUSH_ROWS or self._bytes >= FLUSH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write all rows at hand, one file per table."""
        for xid, rows in self._landed.items():
            layout = self._layout(rows[0].sorted)
            table, misfits = landed_table(self._job, layout, rows)
            self._letters.extend(misfits)
            if table.num_rows:
                self._write(layout.folder, xid, self._versions[xid], table)
        if self._letters:
            self._write(DEAD_LETTERS, DEAD_LETTERS, "1", dead_letters_table(self._job, self._versions, self._letters))
            for row in self._letters:
                outcome = row.sorted.match.outcome
                self.dead[outcome] = self.dead.get(outcome, 0) + 1
        self._landed, self._letters, self._rows, self._bytes = {}, [], 0, 0

    def _layout(self, message: Sorted) -> Layout:
        definition = message.definition
        assert definition is not None  # noqa: S101  (only landed rows come here)
        if definition.xid not in self._layouts:
            self._layouts[definition.xid] = layout_of(definition, self._engine.data_column(definition))
        return self._layouts[definition.xid]

    def _write(self, folder: str, xid: str, version: str, table: pa.Table) -> None:
        target = Path(self._job.lake) / folder
        target.mkdir(parents=True, exist_ok=True)
        path = target / f"part-{self._job.batch_name}-{uuid4().hex}.parquet"
        pq.write_table(table, path, compression="zstd", compression_level=1)
        # The footer is what readers will believe, so that is what the balance counts.
        rows = pq.read_metadata(path).num_rows
        self.files.append(WrittenFile(folder, xid, version, path.name, path.stat().st_size, rows))
        self.schemas[folder] = table.schema.serialize().to_pybytes()


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    # Millions of small live objects and hardly a cycle: the collector only walks them again and again.
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()

"""What a Spark task does: records in, one Parquet file per table out.

This runs in Spark's Python workers and therefore loads nothing of the server; an import contract holds it to that.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from postroom.formats.column_types import as_text
from postroom.messages.definitions.definition import CompiledCatalog
from postroom.messages.engine import Engine
from postroom.messages.gc_pause import no_garbage_collection
from postroom.messages.matching.columnar import LandedEvents
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.lake import CATALOGS
from postroom.pipeline.storage.folder import FolderStorage
from postroom.pipeline.storage.interface import Storage
from postroom.pipeline.worker.batch import WorkerBatch
from postroom.pipeline.worker.batch_reader import read_batches
from postroom.pipeline.worker.column_bounds import Bounds
from postroom.pipeline.worker.dead_letter_table import dead_letter_table
from postroom.pipeline.worker.parquet_writer import ParquetFiles
from postroom.pipeline.worker.record_origins import JudgedMessage, RecordOrigins, record_table
from postroom.pipeline.worker.table_builder import landed_table, landed_tables
from postroom.pipeline.worker.table_layout import DEAD_LETTERS, RECORDS, SELDOM, Layout, layout_of, table_folder

if TYPE_CHECKING:
    from postroom.pipeline.storage.object_store import ObjectStorage

# Fewer, larger flushes cost less (DESIGN); these bound the memory of a worker whatever the input. The bytes are a bit
# more than the most that a task gets (`ranges`), or its last few lines would be files of their own in all tables.
FLUSH_ROWS = 600_000
FLUSH_BYTES = 192 * 1024 * 1024

# Layouts by xid, with and without typed times.
Layouts = dict[tuple[str, bool], Layout]
# The tables of definitions, by xid.
LandedTables = dict[str, list[pa.Table]]


class WrittenFile(msgspec.Struct, frozen=True):
    """One Parquet file of one table; `path` is relative to the table."""

    folder: str
    xid: str
    version: str
    path: str
    size: int
    rows: int
    bounds: Bounds = {}


class TaskResult(msgspec.Struct, frozen=True):
    """What a task hands to the driver: its files, their schemas by folder, and the numbers for the balance."""

    read: int
    dead: dict[str, int]
    files: list[WrittenFile]
    schemas: dict[str, bytes]


def write_batch(
    job: Job,
    batches: Iterable[pa.RecordBatch],
    storage: Storage | None = None,
    files: ObjectStorage | None = None,
) -> TaskResult:
    """Sort the records of a task and write what became of them; `batch_reader` says which columns they have.

    `storage` is that of the lake, `files` that of record files which are not on this machine.
    """
    storage = storage or FolderStorage(Path(job.lake))
    engine, layouts = open_engine(storage, job.catalog, job.nulls, job.max_record_mb, job.keep_undeclared)
    tables = Tables(job, engine, layouts, storage)
    try:
        with no_garbage_collection():
            for batch in read_batches(batches, FLUSH_ROWS, FLUSH_BYTES, files):
                tables.add(batch)
                del batch  # before the next one is read
        tables.finish()
    except BaseException:
        tables.remove()
        raise
    return TaskResult(tables.read, tables.dead, tables.files, tables.schemas)


def _without_empty(table: pa.Table) -> pa.Table:
    """A table without columns that are seldom used and have nothing in it: what a file does not have is null."""
    names, count = table.schema.names, table.num_rows
    empty = {name for name in SELDOM.intersection(names) if table.column(name).null_count == count}
    return table.select([index for index, name in enumerate(names) if name not in empty]) if empty else table


@functools.lru_cache(maxsize=2)
def open_engine(
    lake: Storage, catalog: str, nulls: str, max_record_mb: int, keep_undeclared: bool = False
) -> tuple[Engine, Layouts]:
    """The engine of a catalog kept in the lake, and the tables of its definitions; a worker serves many tasks."""
    compiled = CompiledCatalog.decode(lake.read(f"{CATALOGS}/{catalog}"))
    return make_engine(compiled, nulls, max_record_mb, keep_undeclared), {}


def make_engine(catalog: CompiledCatalog, nulls: str, max_record_mb: int, keep_undeclared: bool) -> Engine:
    """The engine that sorts by a catalog."""
    return Engine(
        catalog, nulls=nulls, max_record_mb=max_record_mb, keep_transport=True, keep_undeclared=keep_undeclared
    )


class Tables:
    """What becomes of records: files of tables, one per table and batch."""

    def __init__(self, job: Job, engine: Engine, layouts: Layouts, storage: Storage) -> None:
        self.read = 0
        self.dead: dict[str, int] = {}
        self.files: list[WrittenFile] = []
        self.schemas: dict[str, bytes] = {}
        self._job = job
        self._storage = storage
        self._writer = ParquetFiles(storage)
        self._engine = engine
        self._layouts = layouts
        self._versions = {d.xid: d.version for d in engine.definitions}
        self._definitions = {d.xid: d for d in engine.definitions}
        # The rows of the present batch that something landed of.
        self._kept: list[list[int]] = []

    def add(self, batch: WorkerBatch) -> None:
        """Sort a batch and write it, one file per table."""
        origins = RecordOrigins(batch, self._job.cluster)
        landed: LandedTables = {}
        judged: list[JudgedMessage] = []
        self._kept = []
        for start, records in batch.slices():
            for row, line, results in self._engine.judge(records, partial(self._land, origins, landed, start)):
                self.read += len(results)
                judged += (
                    JudgedMessage(start + row, line, number, len(results) > 1, result)
                    for number, result in enumerate(results)
                )
        dead = self._land_judged(origins, landed, judged)
        self._write_landed(landed)
        self._write_dead_letters(origins, dead)
        self._write_records(batch, origins)

    def finish(self) -> None:
        """Wait until all files are where they belong."""
        self._writer.finish()

    def remove(self) -> None:
        """Take back what was written: nobody will ever commit the files of a task that failed."""
        self._writer.stop()
        self._storage.delete(f"{file.folder}/{file.path}" for file in self.files)

    def _land(self, origins: RecordOrigins, landed: LandedTables, start: int, events: LandedEvents) -> None:
        """Land events that were judged by column; raises one of MISFITS when a column cannot hold a value."""
        xid = events.definition.xid
        rows = [start + row for row in events.rows] if start else events.rows
        table = landed_table(self._job, self._layout(xid), events, origins.columns(rows))
        landed.setdefault(xid, []).append(table)
        self._kept.append(rows)
        self.read += len(rows)

    def _land_judged(
        self, origins: RecordOrigins, landed: LandedTables, messages: list[JudgedMessage]
    ) -> list[JudgedMessage]:
        """Land messages that were judged one by one; those that do not land come back as dead letters."""
        fitting: dict[str, list[JudgedMessage]] = {}
        dead: list[JudgedMessage] = []
        for message in messages:
            result = message.sorted
            if result.match.outcome == "landed" and result.definition is not None:
                fitting.setdefault(result.definition.xid, []).append(message)
            else:
                dead.append(message)
        for xid, some in fitting.items():
            tables, misfits = landed_tables(self._job, self._layout(xid), origins, some)
            dead += misfits
            misfitting = {(message.row, message.number) for message in misfits}
            self._kept.append([one.row for one in some if (one.row, one.number) not in misfitting])
            landed.setdefault(xid, []).extend(tables)
        return dead

    def _write_landed(self, landed: LandedTables) -> None:
        for xid, tables in landed.items():
            if tables:
                table = tables[0] if len(tables) == 1 else pa.concat_tables(tables)
                self._write(self._layout(xid).folder, xid, self._versions[xid], table)

    def _write_dead_letters(self, origins: RecordOrigins, messages: list[JudgedMessage]) -> None:
        if not messages:
            return
        table = dead_letter_table(self._job, self._versions, origins, messages)
        self._write(DEAD_LETTERS, DEAD_LETTERS, "1", table)
        for message in messages:
            outcome = message.sorted.match.outcome
            self.dead[outcome] = self.dead.get(outcome, 0) + 1

    def _write_records(self, batch: WorkerBatch, origins: RecordOrigins) -> None:
        """Keep the records of what landed, each once, also where it held several messages."""
        if self._job.keep_records and any(self._kept):
            rows = pc.unique(pa.array(itertools.chain.from_iterable(self._kept), pa.int64())).sort()
            self._write(RECORDS, RECORDS, "1", record_table(self._job, batch, origins, rows))

    def _layout(self, xid: str) -> Layout:
        is_typed = self._job.has_typed_times(table_folder(xid))
        if (xid, is_typed) not in self._layouts:
            definition = self._definitions[xid]
            data = self._engine.data_column(definition)
            self._layouts[xid, is_typed] = layout_of(definition, data if is_typed else as_text(data))
        return self._layouts[xid, is_typed]

    def _write(self, folder: str, xid: str, version: str, table: pa.Table) -> None:
        if folder not in self.schemas:
            if self._storage.folder is not None:
                (self._storage.folder / folder).mkdir(parents=True, exist_ok=True)
            self.schemas[folder] = table.schema.serialize().to_pybytes()
        name = f"part-{self._job.batch_name}-{uuid4().hex}.parquet"
        try:
            written = self._writer.write(_without_empty(table), f"{folder}/{name}")
        except BaseException:
            self._storage.delete([f"{folder}/{name}"])
            raise
        self.files.append(WrittenFile(folder, xid, version, name, *written))

"""Backfill: members of landed payloads that were declared later, from the rescue column into columns of their own.

Files with such rows are exchanged for others, in one commit per table, by a manifest like that of any batch: a process
that dies leaves either nothing or a manifest that the next one finishes. A member that was lifted is no longer rescued,
so that it is lifted once, however often this runs.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake import Schema

from postroom.catalog.catalog import Catalog
from postroom.errors import MessageUnknown
from postroom.formats.backfill_members import Lifter
from postroom.formats.column_types import StructOf, as_text
from postroom.messages.definitions.definition import CompiledCatalog, Definition
from postroom.messages.engine import Engine
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.file_exchange import exchange_files, files_of, retry_exchange
from postroom.pipeline.lake.lake import Lake, Place, open_lake
from postroom.pipeline.lake.ledger import LedgerEntry, read_ledger
from postroom.pipeline.lake.manifest import AddedFile, SchemaChange, TableCommit, check_balance
from postroom.pipeline.lake.schema_evolution import Incompatible, new_columns
from postroom.pipeline.lake.struct_columns import align, merge_types
from postroom.pipeline.lake.table_cache import open_table
from postroom.pipeline.lake.table_properties import CATALOG, properties_of
from postroom.pipeline.lake.text_tables import text_tables
from postroom.pipeline.worker.arrow import arrow_schema
from postroom.pipeline.worker.parquet_writer import write_parquet
from postroom.pipeline.worker.table_layout import Layout, layout_of

SOURCE = "rescued members"
RESCUED = "_rescued"


class TableBackfill(msgspec.Struct, frozen=True):
    """What came of one table: rows that changed, members that were lifted, members that their columns cannot hold.

    `why` says why a table cannot get the columns at all.
    """

    folder: str
    message: str
    rows: int = 0
    members: int = 0
    misfits: int = 0
    why: str = ""


class Backfill(msgspec.Struct, frozen=True):
    """What came of all tables that have rescued members with columns; `entry` is there when the lake was changed."""

    tables: tuple[TableBackfill, ...]
    entry: LedgerEntry | None = None


def backfill(
    lake: Place,
    catalog: Catalog | CompiledCatalog | None = None,
    *,
    message: str = "",
    dry_run: bool = False,
    storage_options: Mapping[str, str] | None = None,
) -> Backfill:
    """Lift rescued members of payloads into the columns that a catalog declares for them by now.

    Without a catalog each table follows the one that its message was sorted by last. `message` (an xid) takes only the
    tables of one definition. `dry_run` changes nothing and tells what would be lifted.
    """
    target = open_lake(lake, storage_options)
    compiled = catalog.compiled if isinstance(catalog, Catalog) else catalog
    if dry_run:
        tables = [_Table(target, *known) for known in _tables(target, compiled, message)]
        return _backfill(tables, None)

    def attempt(run: str) -> Backfill:
        tables = [_Table(target, *known, run=run) for known in _tables(target, compiled, message)]
        changed = [table for table in tables if table.commit is not None]
        return _backfill(tables, _commit(target, run, changed))

    return retry_exchange(target, "backfill", attempt)


def _backfill(tables: list[_Table], entry: LedgerEntry | None) -> Backfill:
    return Backfill(tuple(table.report for table in tables if table.report is not None), entry)


def _tables(
    lake: Lake, catalog: CompiledCatalog | None, message: str
) -> Iterator[tuple[str, Definition, Layout, Lifter, CompiledCatalog]]:
    """The tables of landed messages with the columns that they should have."""
    catalogs = _Catalogs(lake, catalog)
    with_text = text_tables(lake)
    is_known = False
    for location in lake.tables():
        xid = open_table(lake, location.folder).metadata().name or ""
        if message and xid != message:
            continue
        found = catalogs.find(xid, is_text=location.folder.partition("@")[0] in with_text)
        is_known = True
        if found is not None:
            yield location.folder, *found
    if message and not is_known:
        raise MessageUnknown(
            "there is no table of this message.", place=message, remedy="`postroom tables` lists them."
        )


class _Catalogs:
    """The catalogs that tell which columns tables should have."""

    def __init__(self, lake: Lake, catalog: CompiledCatalog | None) -> None:
        self._lake = lake
        self._given = catalog
        self._opened: dict[str, tuple[CompiledCatalog, Engine]] = {}

    def find(self, xid: str, *, is_text: bool) -> tuple[Definition, Layout, Lifter, CompiledCatalog] | None:
        """The definition, its columns, what lifts members into them, and the catalog that says so."""
        for digest in self._newest_first:
            catalog, engine = self._open(digest)
            definition = next((known for known in engine.definitions if known.xid == xid), None)
            if definition is not None:
                column, schema = engine.data_column(definition), engine.schema(definition)
                column = as_text(column) if is_text else column
                read = getattr(schema, "read_member", None)
                return definition, layout_of(definition, column), Lifter(column, read), catalog
        return None

    @functools.cached_property
    def _newest_first(self) -> list[str]:
        if self._given is not None:
            return [""]
        return list(dict.fromkeys(entry.catalog for entry in reversed(read_ledger(self._lake))))

    def _open(self, digest: str) -> tuple[CompiledCatalog, Engine]:
        if digest not in self._opened:
            catalog = self._given or self._lake.catalog(digest)
            self._opened[digest] = catalog, Engine(catalog)
        return self._opened[digest]


class _Table:
    """One table and what is lifted in it. With a run, files are written; `commit` is what a manifest says of them."""

    def __init__(
        self,
        lake: Lake,
        folder: str,
        definition: Definition,
        layout: Layout,
        lifter: Lifter,
        catalog: CompiledCatalog,
        run: str = "",
    ) -> None:
        self.folder = folder
        self.paths: list[str] = []
        self.report: TableBackfill | None = None
        self.commit: TableCommit | None = None
        self._lake = lake
        self._definition = definition
        self._schema = arrow_schema(layout.columns)
        self._lifter = lifter
        self._rows = self._members = self._misfits = 0
        is_struct = any(isinstance(column.type, StructOf) for column in layout.columns if column.origin == "data")
        files = list(self._concerned()) if is_struct else []
        if files:
            self._lift(files, _job(lake, run, catalog) if run else None)

    def _concerned(self) -> Iterator[AddedFile]:
        """The files with rows that have something rescued which has a column now."""
        for file in files_of(self._lake.table(self.folder)):
            parquet = self._opened(file)
            if RESCUED in parquet.schema_arrow.names:
                texts = pc.unique(parquet.read([RESCUED]).column(0)).to_pylist()
                if any(text is not None and self._lifter.concerns(text) for text in texts):
                    yield file

    def _lift(self, files: list[AddedFile], job: Job | None) -> None:
        """Lift in one file after the other, so that only one is held in memory."""
        why = ""
        removed: list[AddedFile] = []
        added: list[AddedFile] = []
        try:
            present = self._lake.table(self.folder).schema().to_json()
            _, self.paths = new_columns(present, Schema.from_arrow(self._schema).to_json())
        except Incompatible as difference:
            why, files = str(difference), []
        for file in files:
            changed = self._lifted(self._opened(file).read())
            if changed is not None and job is not None:
                removed.append(file)
                added.append(self._written(job, file, changed))
        counts = (self._rows, self._members, self._misfits)
        self.report = TableBackfill(self.folder, self._definition.xid, *counts, why)
        if added and job is not None:
            self.commit = TableCommit(
                self.folder,
                Schema.from_arrow(self._schema).to_json(),
                tuple(added),
                self._definition.xid,
                self._definition.version,
                self._definition.description,
                removed=tuple(removed),
                partition=added[0].partition,
                properties=properties_of(self._definition, job),
            )

    def _written(self, job: Job, old: AddedFile, table: pa.Table) -> AddedFile:
        path = PurePosixPath(old.path).with_name(f"part-{job.batch_name}-{uuid4().hex}.parquet")
        size, rows, bounds = write_parquet(table, self._lake.storage, f"{self.folder}/{path}")
        check_balance(job, old.rows, {self._definition.xid: rows}, {})
        return AddedFile(str(path), size, rows, old.partition, bounds)

    def _opened(self, file: AddedFile) -> pq.ParquetFile:
        return pq.ParquetFile(self._lake.storage.input(f"{self.folder}/{file.path}"))

    def _lifted(self, table: pa.Table) -> pa.Table | None:
        """The rows of a file after lifting; None where nothing can be lifted."""
        data_type = merge_types(table.schema.field("data").type, self._schema.field("data").type)
        data = align(table.column("data").combine_chunks(), data_type)
        rescued: list[str | None] = table.column(RESCUED).to_pylist()
        rows = [row for row, text in enumerate(rescued) if text is not None and self._lifter.concerns(text)]
        indexes = list(range(len(rescued)))
        values: list[Any] = []
        for row, value in zip(rows, data.take(pa.array(rows, pa.int64())).to_pylist(), strict=True):
            found = self._lifter.lift(rescued[row] or "", value)
            self._misfits += found.misfits
            if found.members:
                self._members += found.members
                indexes[row] = len(rescued) + len(values)
                values.append(found.data)
                rescued[row] = found.remaining
        if not values:
            return None
        self._rows += len(values)
        merged = pa.concat_arrays([data, pa.array(values, data_type)]).take(pa.array(indexes, pa.int64()))
        table = table.set_column(table.schema.get_field_index("data"), pa.field("data", data_type), merged)
        texts = pa.array(rescued, pa.string())
        return table.set_column(table.schema.get_field_index(RESCUED), table.schema.field(RESCUED), texts)


def _job(lake: Lake, run: str, catalog: CompiledCatalog) -> Job:
    return Job(lake.url, lake.keep_catalog(catalog), "strict", run, 0, datetime.now(UTC))


def _commit(lake: Lake, run: str, tables: list[_Table]) -> LedgerEntry | None:
    commits = tuple(table.commit for table in tables if table.commit is not None)
    if not commits:
        return None
    changes = (SchemaChange(table.folder, "columns_added", ", ".join(table.paths)) for table in tables if table.paths)
    return exchange_files(
        lake,
        run,
        commits,
        kind="backfill",
        source=SOURCE,
        catalog=commits[0].properties[CATALOG],
        changes=tuple(changes),
    )

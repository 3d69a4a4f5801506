"""Reprocess: rows of one message that landed by an earlier catalog, judged anew by today's from their exact records.

Rows that today's catalog sees otherwise leave their files: they get other columns, land in the table of another
message, or become dead letters. Files are exchanged by one manifest, so that a process that dies leaves all as it was,
or a manifest that the next one finishes.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from postroom.catalog.catalog import Catalog
from postroom.errors import MessageUnknown
from postroom.messages.definitions.definition import CompiledCatalog
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.commit_plan import plan_manifest
from postroom.pipeline.lake.file_exchange import (
    commit_exchange,
    exchange_of,
    files_of,
    retry_exchange,
    write_remaining,
)
from postroom.pipeline.lake.lake import Lake, Place, create_lake, open_lake
from postroom.pipeline.lake.ledger import LedgerEntry
from postroom.pipeline.lake.manifest import AddedFile, Manifest, TableCommit
from postroom.pipeline.lake.struct_columns import align_table, merge_schemas
from postroom.pipeline.lake.text_tables import begin_text_tables
from postroom.pipeline.records.kept_records import SCHEMA, record_ids, record_tables, tables_of
from postroom.pipeline.records.rejudge import (
    NewRows,
    RejudgedRows,
    brought_together,
    check_all,
    dead_by_outcome,
    rejudge,
)
from postroom.pipeline.worker.parquet_writer import write_parquet
from postroom.pipeline.worker.sort_task import TaskResult, WrittenFile
from postroom.pipeline.worker.table_layout import BESIDE
from postroom.settings import Settings

SOURCE = "kept records"
KIND = "reprocess"
# Rows that are judged together; their records are looked up in all of `_records`.
MOST_ROWS = 200_000
MOST_BYTES = 64 * 2**20


class Reprocess(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the rows of a message.

    `unchanged` are the same by today's catalog, `changed` have other values in their columns, `moved` landed in tables
    of other messages, `dead` did not land. Rows `without_record` stay as they are. `entry` is there when the lake was
    changed.
    """

    rows: int
    unchanged: int
    changed: int
    moved: dict[str, int]
    dead: dict[str, int]
    without_record: int
    entry: LedgerEntry | None = None


def reprocess(
    lake: Place,
    catalog: Catalog | CompiledCatalog,
    *,
    message: str,
    dry_run: bool = False,
    nulls: str = "",
    storage_options: Mapping[str, str] | None = None,
) -> Reprocess:
    """Judge the rows of one message (an xid) anew by a catalog, from the records that the lake kept of them.

    `dry_run` changes nothing in the lake and tells what would become of the rows.
    """
    target = open_lake(lake, storage_options)
    compiled = catalog.compiled if isinstance(catalog, Catalog) else catalog
    settings = catalog.settings if isinstance(catalog, Catalog) else Settings()
    settings = msgspec.structs.replace(settings, nulls=nulls or settings.nulls)
    if not any(True for _ in tables_of(target, message)):
        raise MessageUnknown(
            "there is no table of this message.", place=message, remedy="`postroom tables` lists them."
        )

    def attempt(run: str) -> Reprocess:
        changes = _Changes(target, message, _job(target, compiled, settings, run), dry_run=dry_run)
        changes.collect(compiled)
        return changes.report(None if dry_run or changes.is_empty else commit_exchange(target, changes.plan))

    return attempt("dry-run") if dry_run else retry_exchange(target, KIND, attempt)


def _job(lake: Lake, catalog: CompiledCatalog, settings: Settings, run: str) -> Job:
    return Job(
        lake.url,
        catalog.digest,
        settings.nulls,
        run,
        0,
        datetime.now(UTC),
        settings.max_record_mb,
        keep_undeclared=settings.keep_undeclared,
        times=settings.times,
        text_tables=begin_text_tables(lake),
    )


class _Changes:
    """All that is to be exchanged; the new files are written as it is collected, unless it is only to be told."""

    def __init__(self, lake: Lake, message: str, job: Job, *, dry_run: bool) -> None:
        self._lake = lake
        self._message = message
        self._job = job
        self._dry_run = dry_run
        self._written: list[WrittenFile] = []
        self._schemas: dict[str, bytes] = {}
        self._dead: Counter[str] = Counter()
        self._landed: Counter[str] = Counter()
        self._exchanges: list[TableCommit] = []
        self._rows = self._leaving = self._unchanged = self._without_record = 0

    @property
    def is_empty(self) -> bool:
        """Whether all rows stay as they are."""
        return not self._leaving

    def collect(self, catalog: CompiledCatalog) -> None:
        """Judge all rows, group by group, each with the files that hold it."""
        if not self._dry_run:
            self._lake.keep_catalog(catalog)
        with tempfile.TemporaryDirectory(prefix="postroom-reprocess-") as folder:
            scratch = create_lake(Path(folder) / "lake")
            scratch.keep_catalog(catalog)
            for place in tables_of(self._lake, self._message):
                table = self._lake.table(place.folder)
                removed: list[AddedFile] = []
                added: list[AddedFile] = []
                for files in _groups(files_of(table)):
                    gone, stay = self._judge(scratch, place.folder, files)
                    removed += gone
                    added += stay
                if removed:
                    self._exchanges.append(exchange_of(table, place.folder, removed, added))

    def report(self, entry: LedgerEntry | None) -> Reprocess:
        """What became of the rows, or would."""
        moved = {xid: count for xid, count in sorted(self._landed.items()) if xid != self._message}
        return Reprocess(
            rows=self._rows,
            unchanged=self._unchanged,
            changed=self._landed[self._message],
            moved=moved,
            dead=dict(self._dead),
            without_record=self._without_record,
            entry=entry,
        )

    def plan(self) -> Manifest:
        """The manifest: what comes in as in any batch, and what leaves; its numbers are what tables gain or lose."""
        came = sum(file.rows for file in self._written)
        written = TaskResult(came, dict(self._dead), self._written, self._schemas)
        manifest = plan_manifest(self._lake, self._job, SOURCE, [written])
        planned = {commit.folder: commit for commit in manifest.tables}
        for exchange in self._exchanges:
            commit = planned.get(exchange.folder)
            planned[exchange.folder] = exchange if commit is None else _merged(commit, exchange)
        landed = Counter(manifest.landed)
        landed[self._message] -= self._leaving
        return msgspec.structs.replace(
            manifest,
            read=0,
            landed=dict(landed),
            tables=tuple(planned.values()),
            source=f"{SOURCE} of {self._message}",
            kind=KIND,
        )

    def _judge(self, scratch: Lake, folder: str, files: list[AddedFile]) -> tuple[list[AddedFile], list[AddedFile]]:
        """Judge the rows of some files; the files that go, and those with what stays of them."""
        tables = [pq.ParquetFile(self._lake.storage.input(f"{folder}/{file.path}")).read() for file in files]
        schema = merge_schemas(table.schema for table in tables)
        rows = pa.concat_tables(align_table(table, schema) for table in tables)
        ids = pc.unique(record_ids(rows.column("_record_id")))
        records = pa.concat_tables([SCHEMA.empty_table(), *record_tables(self._lake, ids)])
        judgement = rejudge(self._job, scratch, rows, records, self._message)
        check_all(self._job, judgement)
        self._count(rows.num_rows, judgement)
        if self._dry_run:
            return [], []
        for part in brought_together(judgement.new):
            self._write(part)
        gone: list[AddedFile] = []
        stay: list[AddedFile] = []
        first = 0
        for file, table in zip(files, tables, strict=True):
            is_left = [number not in judgement.leaving for number in range(first, first + table.num_rows)]
            first += table.num_rows
            if not all(is_left):
                gone.append(file)
                left = table.filter(pa.array(is_left, pa.bool_()))
                stay += write_remaining(self._lake, self._job.run, folder, file, left)
        return gone, stay

    def _count(self, rows: int, judgement: RejudgedRows) -> None:
        self._rows += rows
        self._leaving += len(judgement.leaving)
        self._unchanged += judgement.unchanged
        self._without_record += judgement.without_record
        self._dead.update(dead_by_outcome(judgement.new))
        for part in judgement.new:
            if part.folder not in BESIDE:
                self._landed[part.xid] += part.rows.num_rows

    def _write(self, part: NewRows) -> None:
        name = f"part-{self._job.batch_name}-{uuid4().hex}.parquet"
        if self._lake.storage.folder is not None:
            self._lake.path(part.folder).mkdir(parents=True, exist_ok=True)
        written = write_parquet(part.rows, self._lake.storage, f"{part.folder}/{name}")
        self._written.append(WrittenFile(part.folder, part.xid, part.version, name, *written))
        self._schemas[part.folder] = part.schema


def _groups(files: Iterable[AddedFile]) -> Iterator[list[AddedFile]]:
    """Files whose rows are held in memory together."""
    group: list[AddedFile] = []
    for file in files:
        rows, size = sum(each.rows for each in group), sum(each.size for each in group)
        if group and (rows + file.rows > MOST_ROWS or size + file.size > MOST_BYTES):
            yield group
            group = []
        group.append(file)
    if group:
        yield group


def _merged(commit: TableCommit, exchange: TableCommit) -> TableCommit:
    """One commit for a table: it takes a batch in once only."""
    return msgspec.structs.replace(
        commit, files=commit.files + exchange.files, removed=commit.removed + exchange.removed
    )

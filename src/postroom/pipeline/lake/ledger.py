"""The ledger: one row per batch that is completely in the lake, with the numbers that must add up."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake
from deltalake.exceptions import DeltaError

from postroom.errors import LakeRefused
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.manifest import Manifest, SchemaChange
from postroom.pipeline.lake.table_cache import find_table, has_batch, planned_table
from postroom.pipeline.storage.errors import storage_error, telling_errors
from postroom.pipeline.worker.table_layout import LEDGER

log = logging.getLogger(__name__)

_COUNTS = pa.map_(pa.string(), pa.int64())
_MOMENT = pa.timestamp("us", tz="UTC")
_CHANGE = pa.struct([("table", pa.string()), ("kind", pa.string()), ("detail", pa.string())])

SCHEMA = pa.schema(
    [
        ("run", pa.string()),
        ("batch", pa.int64()),
        ("source", pa.string()),
        ("catalog", pa.string()),
        ("read", pa.int64()),
        ("landed", _COUNTS),
        ("dead", _COUNTS),
        ("changes", pa.list_(_CHANGE)),
        ("started", _MOMENT),
        ("committed", _MOMENT),
        ("kind", pa.string()),
        ("replayed", pa.int64()),
        ("files", pa.int64()),
        ("bytes", pa.int64()),
    ]
)


# How often an entry is tried again because of others.
MOST_TRIES = 10
# Opening a hundred small files takes about as long as a commit.
TIDY_EVERY = 100


class LedgerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one batch: messages read, landed per message definition, dead per outcome.

    The entry of a replay counts the letters that it took up again under `replayed`; they were read by another batch.
    `files` and `bytes` are those of the Parquet files that the batch added; 0 in entries of earlier versions.
    """

    run: str
    batch: int
    source: str
    catalog: str
    read: int
    landed: dict[str, int]
    dead: dict[str, int]
    changes: tuple[SchemaChange, ...]
    started: datetime
    committed: datetime
    kind: str = "sort"
    replayed: int = 0
    files: int = 0
    bytes: int = 0


def record_batch(lake: Lake, manifest: Manifest, *, is_new: bool = False) -> LedgerEntry:
    """Enter a batch whose tables are all committed; a batch is entered once, however often this is called.

    Of a batch that `is_new` the caller knows that it was not in the ledger when that was opened last.
    """
    for attempt in range(MOST_TRIES):
        table = _last_seen(lake) if is_new and not attempt else _ledger(lake, is_shared=False)
        if table is not None and not (is_new and not attempt) and has_batch(table, manifest.run, manifest.batch):
            found = find_entry(lake, manifest.run, manifest.batch, table)
            if found:
                return found
        entry = _entry(manifest)
        _check(lake, entry)
        if _is_entered(lake, table, entry):
            _tidy(lake)
            return entry
    raise LakeRefused("others write to the ledger all the time.", place=lake.url, remedy="Run it again.")


def _entry(manifest: Manifest) -> LedgerEntry:
    files = [file for table in manifest.tables for file in table.files]
    return LedgerEntry(
        run=manifest.run,
        batch=manifest.batch,
        source=manifest.source,
        catalog=manifest.catalog,
        read=manifest.read,
        landed=manifest.landed,
        dead=manifest.dead,
        changes=manifest.changes,
        started=manifest.started,
        committed=datetime.now(UTC),
        kind=manifest.kind,
        replayed=manifest.replayed,
        files=len(files),
        bytes=sum(file.size for file in files),
    )


def _is_entered(lake: Lake, table: DeltaTable | None, entry: LedgerEntry) -> bool:
    """Try to write an entry; False when somebody else wrote to the ledger of an object store since it was looked at.

    Locks end with time there, so that it may have been this very batch.
    """
    url, options = lake.storage.delta(LEDGER)
    rows = pa.Table.from_pylist([_row(entry)], schema=SCHEMA)
    properties = commit_properties(entry.run, entry.batch)
    is_remote = lake.storage.folder is None
    with telling_errors(f"{lake.url}/{LEDGER}", DeltaError):
        try:
            if is_remote and table is None:
                # Two who made it with their entries in it would both succeed, one after the other.
                DeltaTable.create(url, SCHEMA, mode="ignore", storage_options=options)
                return False
            place = table if is_remote and table is not None else url
            write_deltalake(place, rows, mode="append", schema_mode="merge", commit_properties=properties)
        except DeltaError as error:
            if not is_remote or storage_error(error, lake.url) is not None:
                raise
            return False
    return True


def _tidy(lake: Lake) -> None:
    """Make one file of many from time to time: a stream adds a row, and with it a file, every few seconds."""
    table = _ledger(lake)
    if table is not None and table.version() % TIDY_EVERY == TIDY_EVERY - 1:
        try:
            table.optimize.compact()
        except DeltaError as error:  # the entry is written; the next time will do
            log.warning("the ledger could not be tidied up: %s", error)


def find_entry(lake: Lake, run: str, batch: int, ledger: DeltaTable | None = None) -> LedgerEntry | None:
    """The entry of a batch, or None when it is not in the lake completely; in an opened ledger, or in that of now."""
    found = (entry for entry in _entries(lake, (run, batch), ledger) if entry.run == run and entry.batch == batch)
    return next(found, None)


def read_ledger(lake: Lake) -> list[LedgerEntry]:
    """All entries, oldest first."""
    return sorted(_entries(lake), key=lambda entry: (entry.committed, entry.batch))


def _entries(
    lake: Lake, wanted: tuple[str, int] | None = None, ledger: DeltaTable | None = None
) -> Iterator[LedgerEntry]:
    table = ledger or _ledger(lake)
    if table is None:
        return
    # Not through the table itself: Arrow then calls Python from its own threads, and at times one of them is still at
    # it when the interpreter ends, which aborts the process.
    for data in lake.storage.map(lambda path: lake.storage.read(f"{LEDGER}/{path}"), _files(table, wanted)):
        rows = pq.ParquetFile(pa.BufferReader(data)).read(use_threads=False)
        for row in rows.to_pylist(maps_as_pydicts="strict"):
            # A ledger that an earlier version began has no values in the newer columns.
            yield msgspec.convert({name: value for name, value in row.items() if value is not None}, LedgerEntry)


def _files(table: DeltaTable, wanted: tuple[str, int] | None) -> list[str]:
    """The files of the ledger, or those that can have a batch by their statistics: a long one is not read through."""
    actions = pa.table(table.get_add_actions(flatten=True))
    paths: list[str] = actions.column("path").to_pylist()
    names = ("min.run", "max.run", "min.batch", "max.batch")
    if wanted is None or not set(names) <= set(actions.column_names):
        return paths
    limits = zip(*(actions.column(name).to_pylist() for name in names), strict=True)
    return [path for path, limit in zip(paths, limits, strict=True) if _may_have(*limit, *wanted)]


def _may_have(*values: Any) -> bool:
    first_run, last_run, first_batch, last_batch, run, batch = values
    if None in values:
        return True
    return bool(first_run <= run <= last_run and first_batch <= batch <= last_batch)


def _check(lake: Lake, entry: LedgerEntry) -> None:
    """The last look before a batch counts as done; its manifest stays, so that nothing is lost by stopping here."""
    if entry.read != sum(entry.landed.values()) + sum(entry.dead.values()):
        raise LakeRefused(
            f"batch {entry.run}-{entry.batch} read {entry.read:,} messages, but {sum(entry.landed.values()):,} landed "
            f"and {sum(entry.dead.values()):,} are dead; it was not entered in the ledger.",
            place=lake.url,
            remedy="Its manifest was changed after it was written: keep the folder _manifests and report this.",
        )


def _ledger(lake: Lake, *, is_shared: bool = True) -> DeltaTable | None:
    """The ledger as it is now; one that is not shared stays so, whatever others do in this process."""
    if lake.storage.folder is None and is_shared:
        return find_table(lake, LEDGER)  # to open one there takes many requests
    return lake.table(LEDGER) if lake.has(LEDGER) else None


def _last_seen(lake: Lake) -> DeltaTable | None:
    if lake.storage.folder is not None or not lake.has(LEDGER):
        return _ledger(lake)
    return planned_table(lake, LEDGER)


def commit_properties(run: str, batch: int) -> CommitProperties:
    """What marks a commit as that of a batch of a run."""
    return CommitProperties(app_transactions=[Transaction(app_id=run, version=batch)])


def _row(entry: LedgerEntry) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.structs.asdict(entry)
    return row | {"changes": [msgspec.structs.asdict(change) for change in entry.changes]}

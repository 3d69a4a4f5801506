"""The ledger: one row per batch that is completely in the lake, with the numbers that must add up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

from postroom.errors import LakeRefused
from postroom.pipeline.lake import Lake
from postroom.pipeline.layout import LEDGER
from postroom.pipeline.manifest import Change, Manifest

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
    ]
)


class LedgerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one batch: messages read, landed per message definition, dead per outcome.

    The entry of a replay counts the letters that it took up again under `replayed`; they were read by another batch.
    """

    run: str
    batch: int
    source: str
    catalog: str
    read: int
    landed: dict[str, int]
    dead: dict[str, int]
    changes: tuple[Change, ...]
    started: datetime
    committed: datetime
    kind: str = "sort"
    replayed: int = 0


def record_batch(lake: Lake, manifest: Manifest) -> LedgerEntry:
    """Enter a batch whose tables are all committed; a batch is entered once, however often this is called."""
    path = str(lake.path(LEDGER))
    if is_committed(path, manifest.run, manifest.batch):
        found = find_entry(lake, manifest.run, manifest.batch)
        if found:
            return found
    entry = LedgerEntry(
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
    )
    _check(lake, entry)
    rows = pa.Table.from_pylist([_row(entry)], schema=SCHEMA)
    properties = commit_properties(manifest.run, manifest.batch)
    write_deltalake(path, rows, mode="append", schema_mode="merge", commit_properties=properties)
    return entry


def find_entry(lake: Lake, run: str, batch: int) -> LedgerEntry | None:
    """The entry of a batch, or None when it is not completely in the lake."""
    # The statistics of the files tell which of them can have it: a long ledger is not read as a whole.
    return next(iter(_entries(lake, [("run", "=", run), ("batch", "=", batch)])), None)


def read_ledger(lake: Lake) -> list[LedgerEntry]:
    """All entries, oldest first."""
    return sorted(_entries(lake), key=lambda entry: (entry.committed, entry.batch))


def _entries(lake: Lake, filters: list[tuple[str, str, Any]] | None = None) -> list[LedgerEntry]:
    if not lake.has(LEDGER):
        return []
    rows = DeltaTable(lake.path(LEDGER)).to_pyarrow_table(filters=filters).to_pylist(maps_as_pydicts="strict")
    # A ledger that an earlier version began has no values in the newer columns.
    return [msgspec.convert({k: v for k, v in row.items() if v is not None}, LedgerEntry) for row in rows]


def _check(lake: Lake, entry: LedgerEntry) -> None:
    """The last look before a batch counts as done; its manifest stays, so that nothing is lost by stopping here."""
    if entry.read != sum(entry.landed.values()) + sum(entry.dead.values()):
        raise LakeRefused(
            f"batch {entry.run}-{entry.batch} read {entry.read:,} messages, but {sum(entry.landed.values()):,} landed "
            f"and {sum(entry.dead.values()):,} are dead; it was not entered in the ledger.",
            place=str(lake.root),
            remedy="Its manifest was changed after it was written: keep the folder _manifests and report this.",
        )


def is_committed(table: str, run: str, batch: int) -> bool:
    """Whether a table has taken in a batch of a run already."""
    if not DeltaTable.is_deltatable(table):
        return False
    version = DeltaTable(table).transaction_version(run)
    return version is not None and version >= batch


def commit_properties(run: str, batch: int) -> CommitProperties:
    """What marks a commit as that of a batch of a run."""
    return CommitProperties(app_transactions=[Transaction(app_id=run, version=batch)])


def _row(entry: LedgerEntry) -> dict[str, Any]:
    row: dict[str, Any] = msgspec.structs.asdict(entry)
    return row | {"changes": [msgspec.structs.asdict(change) for change in entry.changes]}

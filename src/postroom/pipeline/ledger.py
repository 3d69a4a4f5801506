"""The ledger: one row per batch that is completely in the lake, with the numbers that must add up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pyarrow as pa
from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake

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
    ]
)


class LedgerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one batch: messages read, landed per message definition, dead per outcome."""

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
    )
    rows = pa.Table.from_pylist([_row(entry)], schema=SCHEMA)
    write_deltalake(path, rows, mode="append", commit_properties=commit_properties(manifest.run, manifest.batch))
    return entry


def find_entry(lake: Lake, run: str, batch: int) -> LedgerEntry | None:
    """The entry of a batch, or None when it is not completely in the lake."""
    return next((entry for entry in read_ledger(lake) if entry.run == run and entry.batch == batch), None)


def read_ledger(lake: Lake) -> list[LedgerEntry]:
    """All entries, oldest first."""
    if not lake.has(LEDGER):
        return []
    rows = DeltaTable(lake.path(LEDGER)).to_pyarrow_table().to_pylist(maps_as_pydicts="strict")
    entries = [msgspec.convert(row, LedgerEntry) for row in rows]
    return sorted(entries, key=lambda entry: (entry.committed, entry.batch))


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

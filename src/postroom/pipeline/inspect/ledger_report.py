"""The ledger as people ask for it: the balance, what each source brought and how fast, and the newest batches."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

import msgspec

from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.ledger import LedgerEntry, read_ledger
from postroom.pipeline.lake.manifest import unfinished
from postroom.pipeline.lake.reconciliation import balance_of
from postroom.pipeline.monitoring.stream_status import StreamStatus, read_streams

RATE_OVER = timedelta(minutes=5)


class SourceReport(msgspec.Struct, frozen=True):
    """What one source brought; `rate` is messages a second over the minutes before its newest batch."""

    source: str
    read: int
    landed: int
    dead: int
    batches: int
    first: datetime
    last: datetime
    rate: float


class BatchReport(msgspec.Struct, frozen=True):
    """One batch, and how many seconds it took."""

    batch: str
    kind: str
    source: str
    read: int
    landed: int
    dead: int
    replayed: int
    changes: int
    committed: datetime
    seconds: float


class LedgerReport(msgspec.Struct, frozen=True):
    """The ledger of a lake: what was read, where it is now, and how it came there.

    `in_flight` counts commits that are not in the ledger yet; `streams` are those that said something in the last day.
    """

    read: int
    landed: int
    dead: int
    holds: bool
    in_flight: int
    batch_count: int
    streams: list[StreamStatus]
    sources: list[SourceReport]
    batches: list[BatchReport]


def report_ledger(lake: Lake, last: int) -> LedgerReport:
    """The ledger of a lake with its newest batches, the newest first."""
    entries = read_ledger(lake)
    balance = balance_of(entries)
    return LedgerReport(
        balance.read,
        balance.landed,
        balance.dead,
        balance.holds,
        len(unfinished(lake)),
        len(entries),
        read_streams(lake),
        sources_of(entries),
        [_batch(entry) for entry in entries[::-1][:last]],
    )


def sources_of(entries: Iterable[LedgerEntry]) -> list[SourceReport]:
    """What was sorted from each source, the one that was at work last first."""
    by_source: dict[str, list[LedgerEntry]] = {}
    for entry in entries:
        if entry.kind == "sort":
            by_source.setdefault(entry.source, []).append(entry)
    return sorted((_source(name, several) for name, several in by_source.items()), key=lambda one: one.last)[::-1]


def _source(name: str, entries: list[LedgerEntry]) -> SourceReport:
    last = entries[-1].committed
    return SourceReport(
        name,
        sum(entry.read for entry in entries),
        sum(sum(entry.landed.values()) for entry in entries),
        sum(sum(entry.dead.values()) for entry in entries),
        len(entries),
        entries[0].committed,
        last,
        _rate([entry for entry in entries if entry.committed >= last - RATE_OVER]),
    )


def _rate(entries: list[LedgerEntry]) -> float:
    """Messages a second from the start of the first of some batches to the end of the last."""
    seconds = (entries[-1].committed - min(entry.started for entry in entries)).total_seconds()
    return sum(entry.read for entry in entries) / max(seconds, 0.001)


def _batch(entry: LedgerEntry) -> BatchReport:
    return BatchReport(
        f"{entry.run}-{entry.batch}",
        entry.kind,
        entry.source,
        entry.read,
        sum(entry.landed.values()),
        sum(entry.dead.values()),
        entry.replayed,
        len(entry.changes),
        entry.committed,
        round((entry.committed - entry.started).total_seconds(), 3),
    )

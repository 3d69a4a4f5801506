"""A line of the log for each batch, for runs that nobody watches on a terminal."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from postroom.pipeline.sources.lag import sized
from postroom.pipeline.summary import by_kind, counted

if TYPE_CHECKING:
    from postroom.pipeline.lake.ledger import LedgerEntry
    from postroom.pipeline.sources.lag import Lags

log = logging.getLogger(__name__)


class BatchLog:
    """Writes what became of each batch to the log: as a sentence, and as fields of a JSON line."""

    def __init__(self) -> None:
        self._lags: Lags = {}

    def report(self, batch: LedgerEntry) -> None:
        """Write the line of a batch."""
        if batch.kind != "sort":
            log.info("tidied: %s (%s) in place of smaller ones", counted(batch.files, "file"), sized(batch.bytes))
            return
        seconds = (batch.committed - batch.started).total_seconds()
        landed, dead = sum(batch.landed.values()), sum(batch.dead.values())
        letters = f"{dead:,} dead ({by_kind(batch.dead)})" if dead else "none dead"
        behind = ", ".join(f"{part} {lag}" for part, lag in self._lags.items() if lag)
        log.info(
            "batch %d of %s: %s read, %s landed, %s, in %.1f s; %s (%s) written%s",
            batch.batch,
            batch.source,
            f"{batch.read:,}",
            f"{landed:,}",
            letters,
            seconds,
            counted(batch.files, "file"),
            sized(batch.bytes),
            f"; {behind}" if behind else "",
            extra={
                "fields": {
                    "run": batch.run,
                    "batch": batch.batch,
                    "source": batch.source,
                    "read": batch.read,
                    "landed": landed,
                    "dead": batch.dead,
                    "seconds": round(seconds, 3),
                    "files": batch.files,
                    "bytes": batch.bytes,
                    "changes": len(batch.changes),
                }
            },
        )

    def behind(self, lags: Lags) -> None:
        """Keep what is still to do, for the next line."""
        self._lags = {**self._lags, **lags}

    def away(self, source: str, is_away: bool) -> None:
        """The log has lines about that already."""


@contextmanager
def showing_batches(*, shown: bool) -> Iterator[None]:
    """Let these lines through for as long as this lasts, also where the log has only warnings otherwise."""
    before = log.level
    if shown:
        log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.setLevel(before)

"""Who wants to know how a run goes on, and how several are told at once."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import msgspec

if TYPE_CHECKING:
    from postroom.pipeline.lake.ledger import LedgerEntry
    from postroom.pipeline.sources.lag import Lags


class Watcher(Protocol):
    """Somebody who wants to know how a run goes on; called from threads of Spark's and of our own."""

    def report(self, batch: LedgerEntry) -> None:
        """A batch is in the lake."""

    def behind(self, lags: Lags) -> None:
        """This much of the sources is still to do."""

    def away(self, source: str, is_away: bool) -> None:
        """A source went away, or came back."""


class Watchers(msgspec.Struct, frozen=True):
    """Several watchers as one; each is told by one thread at a time."""

    watchers: Sequence[Watcher]
    lock: Lock = msgspec.field(default_factory=Lock)

    def report(self, batch: LedgerEntry) -> None:
        """Tell all of them of a batch."""
        with self.lock:
            for watcher in self.watchers:
                watcher.report(batch)

    def behind(self, lags: Lags) -> None:
        """Tell all of them what is still to do."""
        with self.lock:
            for watcher in self.watchers:
                watcher.behind(lags)

    def away(self, source: str, is_away: bool) -> None:
        """Tell all of them that a source went away, or came back."""
        with self.lock:
            for watcher in self.watchers:
                watcher.away(source, is_away)

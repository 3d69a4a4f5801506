"""What a stream that goes on says of itself in its lake, for those who look into the lake: how fast, how far behind."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import msgspec

from postroom.errors import PostroomError

if TYPE_CHECKING:
    from postroom.pipeline.lake.lake import Lake
    from postroom.pipeline.lake.ledger import LedgerEntry
    from postroom.pipeline.sources.lag import Lags

log = logging.getLogger(__name__)

STREAMS = "_streams"
EVERY = timedelta(seconds=5)
"""How often a stream says what is still to do; what became of a batch it says at once."""
FORGOTTEN = timedelta(days=1)


class StreamStatus(msgspec.Struct, frozen=True):
    """What one stream said last: since when it runs, messages a second in its last batch, what is still to do."""

    sources: list[str]
    started: datetime
    at: datetime
    read: int = 0
    landed: int = 0
    dead: int = 0
    rate: float = 0.0
    behind: dict[str, str] = {}
    away: list[str] = []


class StreamStatusFile:
    """A watcher that keeps the status of a stream in a file of the lake, until the stream ends."""

    def __init__(
        self, lake: Lake, sources: list[str], clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._lake = lake
        self._clock = clock
        self._path = f"{STREAMS}/{uuid4().hex}.json"
        self._status = StreamStatus(sources, clock(), clock())
        self._written: datetime | None = None

    def report(self, batch: LedgerEntry) -> None:
        """Take in a batch that is in the lake."""
        now, before, self._written = self._clock(), self._status, None
        self._put(
            read=before.read + batch.read,
            landed=before.landed + sum(batch.landed.values()),
            dead=before.dead + sum(batch.dead.values()),
            rate=batch.read / max((batch.committed - batch.started).total_seconds(), 0.001),
            at=now,
        )

    def behind(self, lags: Lags) -> None:
        """Take in what is still to do."""
        self._put(behind={part: str(lag) for part, lag in lags.items() if lag}, at=self._clock())

    def away(self, source: str, is_away: bool) -> None:
        """Take in that a source went away, or came back."""
        self._written = None
        others = [one for one in self._status.away if one != source]
        self._put(away=[*others, source] if is_away else others, at=self._clock())

    def end(self) -> None:
        """Say nothing any more, because the stream has ended."""
        try:
            self._lake.storage.delete([self._path])
        except (OSError, PostroomError) as error:
            log.warning("the status of this stream cannot be removed from the lake: %s", error)

    def _put(self, **changed: object) -> None:
        self._status = msgspec.structs.replace(self._status, **changed)
        if self._written is not None and self._status.at - self._written < EVERY:
            return
        self._written = self._status.at
        try:
            self._lake.storage.write(self._path, msgspec.json.encode(self._status))
        except (OSError, PostroomError) as error:  # the stream itself goes on
            log.warning("the status of this stream cannot be written into the lake: %s", error)


def read_streams(lake: Lake, now: datetime | None = None) -> list[StreamStatus]:
    """What streams say of themselves, the newest word first; those that said nothing for a day are gone."""
    found: list[StreamStatus] = []
    for name in lake.storage.names(STREAMS):
        try:
            found.append(msgspec.json.decode(lake.storage.read(f"{STREAMS}/{name}"), type=StreamStatus))
        except (OSError, msgspec.MsgspecError):  # it has just ended, or is being written
            continue
    oldest = (now or datetime.now(UTC)) - FORGOTTEN
    return sorted((one for one in found if one.at > oldest), key=lambda one: one.at, reverse=True)

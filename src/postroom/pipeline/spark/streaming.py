"""Running a stream: Spark hands out batches, the sorter takes them, until all is read or somebody says stop."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from postroom.errors import ServiceUnreachable
from postroom.pipeline.batch_sorter import Sorter
from postroom.pipeline.monitoring.outage import Outage
from postroom.pipeline.monitoring.watcher import Watcher
from postroom.pipeline.sources.lag import Reached
from postroom.pipeline.sources.source import Source
from postroom.pipeline.spark.batch_progress import ticking
from postroom.pipeline.spark.errors import error_from_spark

if TYPE_CHECKING:
    from types import FrameType

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

LOOK_S = 0.2
# A batch that is on its way when somebody says stop has so long to end well; a restart would do it again.
GRACE_S = 30.0
# How long a source that went away is waited for when nobody follows it, and between two tries.
OUTAGE_TIMEOUT_S = 60.0
RETRY_S = 3.0
# How often somebody looks whether a source answers that nothing came from.
LOOK_FOR_OUTAGE_S = 5.0


def run_stream(
    spark: SparkSession,
    source: Source,
    sorter: Sorter,
    checkpoint: Path,
    *,
    every: float | None = None,
    stop: Event | None = None,
    watcher: Watcher | None = None,
) -> None:
    """Sort what is there and return; with `every`, go on and look again after so many seconds, until `stop` is set."""
    stopping = stop or Event()
    outage = Outage(source.name, partial(watcher.away, source.name) if watcher is not None else None)
    stream = _Stream(spark, source, sorter, checkpoint, every, stopping, watcher)
    tries = int(OUTAGE_TIMEOUT_S / RETRY_S)
    with ticking(_OutageWatch(source, sorter, outage), LOOK_FOR_OUTAGE_S):
        while not stopping.is_set():
            sorted_before = sorter.batches
            try:
                stream.run()
            except _StreamBroken as broken:
                tries = tries - 1 if sorter.batches == sorted_before else int(OUTAGE_TIMEOUT_S / RETRY_S)
                if every is None and tries <= 0:
                    raise ServiceUnreachable(f"the source is away: {broken}", place=source.name) from None
                outage.begin(str(broken))
                stopping.wait(RETRY_S)
            else:
                return


class _StreamBroken(Exception):
    """A stream ended because its source is away."""


class _OutageWatch:
    """Looks whether a source answers, since Spark waits for minutes before it says that one does not."""

    def __init__(self, source: Source, sorter: Sorter, outage: Outage) -> None:
        self._source = source
        self._sorter = sorter
        self._outage = outage
        self._batches = sorter.batches

    def __call__(self) -> None:
        """Look, unless a batch since the last time shows that all is well."""
        if self._sorter.batches != self._batches:
            self._batches = self._sorter.batches
            self._outage.end()
        elif self._source.answers():
            self._outage.end()
        else:
            self._outage.begin("it does not answer.")


@dataclass(frozen=True)
class _Stream:
    """What is sorted, by whom, how long, and who watches."""

    spark: SparkSession
    source: Source
    sorter: Sorter
    checkpoint: Path
    every: float | None
    stop: Event
    watcher: Watcher | None

    def run(self) -> None:
        """Run until all is sorted, somebody says stop, or the source goes away."""
        from pyspark.errors import PySparkException

        every = self.every
        trigger: dict[str, Any] = {"availableNow": True} if every is None else {"processingTime": f"{every} seconds"}
        self.sorter.error = None
        try:
            writer = self.source.stream(self.spark).writeStream.foreachBatch(self.sorter).trigger(**trigger)
            query = writer.option("checkpointLocation", str(self.checkpoint)).start()
            with ticking(partial(self._tell, self.watcher, query) if self.watcher is not None else None):
                self._wait(query)
        except PySparkException as error:
            if self.sorter.error is not None:
                raise self.sorter.error from error
            reported = str(error)
            if self.source.is_outage(reported):
                raise _StreamBroken(error_from_spark(reported).sentence) from error
            raise error_from_spark(reported, self.source.name) from error

    def _wait(self, query: StreamingQuery) -> None:
        while not query.awaitTermination(LOOK_S):  # type: ignore[arg-type]  # Spark takes parts of a second
            if self.stop.is_set():
                left = GRACE_S
                while self.sorter.progress.busy and left > 0 and query.isActive:
                    Event().wait(LOOK_S)
                    left -= LOOK_S
                query.stop()
                return

    def _tell(self, watcher: Watcher, query: StreamingQuery) -> None:
        """Tell a watcher what is still to do."""
        end = latest = ""
        if progress := query.lastProgress:
            (reached,) = progress["sources"]
            end, latest = reached["endOffset"] or "", reached["latestOffset"] or ""
        watcher.behind(self.source.lag(Reached(end, latest, self.checkpoint, self.sorter.progress.share)))


@contextmanager
def stop_on_signals() -> Iterator[Event]:
    """An event that Ctrl-C or SIGTERM sets; a second one ends the process at once."""
    stop = Event()

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

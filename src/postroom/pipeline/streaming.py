"""Running a stream: Spark hands out batches, the sorter takes them, until all is read or somebody says stop."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from postroom.errors import ServiceUnreachable
from postroom.pipeline.batches import Sorter
from postroom.pipeline.sources import Source
from postroom.pipeline.spark_errors import told_by_spark

if TYPE_CHECKING:
    from types import FrameType

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

log = logging.getLogger(__name__)

LOOK_S = 0.2
# A batch that is on its way when somebody says stop has so long to end well; a restart would do it again.
GRACE_S = 30.0
# How long a source that went away is waited for when nobody follows it, and between two tries.
PATIENCE_S = 60.0
PAUSE_S = 3.0


def run_stream(
    spark: SparkSession,
    source: Source,
    sorter: Sorter,
    checkpoint: Path,
    *,
    every: float | None = None,
    stop: Event | None = None,
) -> None:
    """Sort what is there and return; with `every`, go on and look again after so many seconds, until `stop` is set."""
    stopping = stop or Event()
    tries = int(PATIENCE_S / PAUSE_S)
    while not stopping.is_set():
        sorted_before = len(sorter.entries)
        try:
            _run_query(spark, source, sorter, checkpoint, every, stopping)
        except _Outage as outage:
            tries = tries - 1 if len(sorter.entries) == sorted_before else int(PATIENCE_S / PAUSE_S)
            if every is None and tries <= 0:
                raise ServiceUnreachable(f"the source is away: {outage}", place=source.name) from None
            log.warning("%s is away; trying again in %.0f s", source.name, PAUSE_S)
            stopping.wait(PAUSE_S)
        else:
            return


class _Outage(Exception):
    """The source is away."""


def _run_query(
    spark: SparkSession, source: Source, sorter: Sorter, checkpoint: Path, every: float | None, stop: Event
) -> None:
    from pyspark.errors import PySparkException

    trigger: dict[str, Any] = {"availableNow": True} if every is None else {"processingTime": f"{every} seconds"}
    sorter.error = None
    try:
        writer = source.stream(spark).writeStream.foreachBatch(sorter).trigger(**trigger)
        query = writer.option("checkpointLocation", str(checkpoint)).start()
        _wait(query, source, sorter, stop)
    except PySparkException as error:
        if sorter.error is not None:
            raise sorter.error from error
        told = str(error)
        if source.is_outage(told):
            raise _Outage(told_by_spark(told).sentence) from error
        raise told_by_spark(told, source.name) from error


def _wait(query: StreamingQuery, source: Source, sorter: Sorter, stop: Event) -> None:
    while not query.awaitTermination(LOOK_S):  # type: ignore[arg-type]  # Spark takes parts of a second
        if progress := query.lastProgress:
            (reached,) = progress["sources"]
            sorter.lag = source.lag(reached["endOffset"] or "", reached["latestOffset"] or "")
        if stop.is_set():
            left = GRACE_S
            while sorter.busy and left > 0 and query.isActive:
                Event().wait(LOOK_S)
                left -= LOOK_S
            query.stop()
            return


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

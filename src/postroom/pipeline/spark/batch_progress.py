"""The batch that is being sorted now, and how much of it Spark has done."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

from postroom.pipeline.spark.worker_calls import is_connect

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

TICK_S = 1.0


class BatchProgress:
    """How much of the present batch is done; may be asked from any thread."""

    def __init__(self) -> None:
        self.busy = False
        self._asked: tuple[SparkContext, str] | None = None

    @contextmanager
    def at_batch(self) -> Iterator[None]:
        """A batch is at work for as long as this lasts."""
        self.busy = True
        try:
            yield
        finally:
            self.busy = False
            self._asked = None

    @contextmanager
    def on_spark(self, spark: SparkSession, batch: str) -> Iterator[None]:
        """Spark does the tasks of the batch for as long as this lasts; Spark Connect does not say how many are done."""
        if is_connect(spark):
            yield
            return
        context = spark.sparkContext
        # Not a group of jobs: a stream has one already, by which it is stopped.
        tag = f"postroom-{batch}"
        context.addJobTag(tag)
        self._asked = context, tag
        try:
            yield
        finally:
            context.removeJobTag(tag)

    @property
    def share(self) -> float:
        """How much of the batch is done, between 0 and 1; all of it when none is at work."""
        if not self.busy:
            return 1.0
        asked = self._asked
        return _share(*asked) if asked is not None else 0.0


def _share(context: SparkContext, tag: str) -> float:
    # Python's own tracker does not know tags.
    jobs: Any = context._jsc.sc().statusTracker().getJobIdsForTag(tag)
    tracker = context.statusTracker()
    started = [info for job in jobs if (info := tracker.getJobInfo(job)) is not None]
    stages = [tracker.getStageInfo(stage) for info in started for stage in info.stageIds]
    tasks = sum(stage.numTasks for stage in stages if stage is not None)
    return sum(stage.numCompletedTasks for stage in stages if stage is not None) / tasks if tasks else 0.0


@contextmanager
def ticking(tick: Callable[[], None] | None, every: float = TICK_S) -> Iterator[None]:
    """Call something at once and then again and again, in a thread, for as long as this lasts."""
    if tick is None:
        yield
        return
    done = Event()
    thread = Thread(target=_tick, args=(tick, done, every), name="postroom-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _tick(tick: Callable[[], None], done: Event, every: float) -> None:
    while True:
        try:
            tick()
        except Exception:
            # Spark or a folder is going away: who waits for the batch hears of it.
            log.debug("nobody knows how far the run is", exc_info=True)
        if done.wait(every):
            return

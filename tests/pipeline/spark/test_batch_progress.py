from __future__ import annotations

import time
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from postroom.pipeline.spark.batch_progress import BatchProgress, ticking


def test_without_a_batch_all_is_done() -> None:
    work = BatchProgress()
    assert work.share == 1.0
    with work.at_batch():
        assert (work.busy, work.share) == (True, 0.0)
    assert (work.busy, work.share) == (False, 1.0)


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_tasks_that_are_done_are_a_share(spark: Any, tmp_path: Path) -> None:
    work, gate = BatchProgress(), tmp_path / "gate"

    def wait(number: int) -> int:
        while number and not gate.exists():
            time.sleep(0.05)
        return number

    def run() -> None:
        with work.at_batch(), work.on_spark(spark, "run1-0"):
            spark.sparkContext.parallelize([0, 1], 2).map(wait).collect()

    thread = Thread(target=run)
    thread.start()
    try:
        for _ in range(1200):
            if work.share == 0.5:
                break
            time.sleep(0.1)
        assert work.share == 0.5
    finally:
        gate.touch()
        thread.join(120)
    assert work.share == 1.0


def test_what_ticks_goes_on_when_it_fails_once() -> None:
    ticks, third = [0], Event()

    def tick() -> None:
        ticks[0] += 1
        if ticks[0] == 1:
            raise OSError("the folder is away")
        if ticks[0] == 3:
            third.set()

    with ticking(tick, every=0.001):
        assert third.wait(60)


def test_nothing_ticks_for_nobody() -> None:
    with ticking(None):
        pass

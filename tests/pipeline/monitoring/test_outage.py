from __future__ import annotations

import logging

import pytest

from postroom.pipeline.monitoring.outage import Outage


def test_an_outage_is_said_once_and_so_is_its_end(caplog: pytest.LogCaptureFixture) -> None:
    told: list[bool] = []
    times = iter([10.0, 52.4, 100.0])
    outage = Outage("kafka://one:9092/orders", told.append, clock=lambda: next(times))
    logger = logging.getLogger("postroom")
    before, logger.propagate = logger.propagate, True
    try:
        outage.end()
        outage.begin("it does not answer.")
        outage.begin("it still does not.")
        outage.end()
        outage.end()
        outage.begin("again.")
    finally:
        logger.propagate = before
    assert [record.message for record in caplog.records] == [
        "kafka://one:9092/orders is away, and waited for: it does not answer.",
        "kafka://one:9092/orders is back after 42 s",
        "kafka://one:9092/orders is away, and waited for: again.",
    ]
    assert told == [True, False, True]

"""A stream says in its lake how it goes, from time to time, until it ends."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from postroom.pipeline.inspect.ledger_report import report_ledger
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.monitoring.stream_status import EVERY, FORGOTTEN, StreamStatusFile, read_streams
from postroom.pipeline.sources.lag import Lag

SOURCE = "kafka://broker/fleet"


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = datetime(2026, 5, 4, 10, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def test_a_stream_says_how_fast_it_is_and_how_far_behind(sorted_lake: Lake) -> None:
    clock = Clock()
    (batch,) = read_ledger(sorted_lake)
    status = StreamStatusFile(sorted_lake, [SOURCE], clock)
    assert read_streams(sorted_lake, clock.now) == []
    status.behind({"fleet": Lag(records=1200), "shop": Lag()})
    clock.now += EVERY
    status.report(batch)
    (found,) = read_streams(sorted_lake, clock.now)
    assert (found.sources, found.behind, found.read) == ([SOURCE], {"fleet": "1,200 behind"}, batch.read)
    assert (found.landed + found.dead, found.at) == (batch.read, clock.now)
    assert found.rate > 0
    clock.now += EVERY
    status.away(SOURCE, True)
    assert read_streams(sorted_lake, clock.now)[0].away == [SOURCE]
    status.end()
    assert read_streams(sorted_lake, clock.now) == []


def test_it_does_so_from_time_to_time(lake: Lake) -> None:
    clock = Clock()
    status = StreamStatusFile(lake, [SOURCE], clock)
    status.behind({"fleet": Lag(records=2)})
    clock.now += timedelta(seconds=1)
    status.behind({"fleet": Lag(records=1)})
    assert read_streams(lake, clock.now)[0].behind == {"fleet": "2 behind"}
    clock.now += EVERY
    status.behind({})
    assert read_streams(lake, clock.now)[0].behind == {}


def test_who_said_nothing_for_a_day_is_forgotten_and_the_others_are_in_the_report(sorted_lake: Lake) -> None:
    old, new = Clock(), Clock()
    old.now, new.now = datetime.now(UTC) - FORGOTTEN - EVERY, datetime.now(UTC)
    for clock in (old, new):
        StreamStatusFile(sorted_lake, [SOURCE], clock).behind({})
    (stream,) = report_ledger(sorted_lake, 1).streams
    assert stream.started == new.now


def test_a_status_that_cannot_be_kept_harms_nobody(lake: Lake) -> None:
    (lake.root / "_streams").touch()
    status = StreamStatusFile(lake, [SOURCE])
    status.behind({})
    status.end()

from __future__ import annotations

import io
from datetime import UTC, datetime

import pytest

from postroom.pipeline.lake.ledger import LedgerEntry
from postroom.pipeline.monitoring.progress import Progress
from postroom.pipeline.sources.lag import Lag


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def entry(batch: int, landed: int, dead: int) -> LedgerEntry:
    now = datetime.now(UTC)
    return LedgerEntry(
        run="run1",
        batch=batch,
        source="inbox",
        catalog="c",
        read=landed + dead,
        landed={"/messagegroups/fleet/messages/vehicle.position": landed},
        dead={"invalid": dead},
        changes=(),
        started=now,
        committed=now,
    )


def test_a_terminal_sees_rate_counts_and_lag() -> None:
    terminal, times = Terminal(), iter([0.0, 2.0, 4.0])
    with Progress(terminal, clock=lambda: next(times)) as progress:
        progress.report(entry(0, 1800, 200))
        progress.behind({"orders[0]": Lag(records=1200), "inbox": Lag(), "in": Lag(files=3, bytes=1_250_000)})
        progress.report(entry(1, 3000, 0))
    shown = terminal.getvalue()
    assert "5,000 read, 4,800 landed, 200 dead, 1,500/s" in shown
    assert "orders[0] 1,200 behind, in 3 files (1.2 MB) to do" in shown
    assert "inbox" not in shown


def test_the_start_of_spark_does_not_slow_the_first_batch() -> None:
    terminal, times = Terminal(), iter([0.0, 10.0, 12.0])
    with Progress(terminal, clock=lambda: next(times)) as progress:
        progress.behind({"inbox": Lag(files=1)})
        progress.behind({"inbox": Lag(files=1)})
        progress.report(entry(0, 2000, 0))
    assert "1,000/s" in terminal.getvalue()


def test_before_the_first_batch_there_is_only_what_is_to_do() -> None:
    terminal = Terminal()
    with Progress(terminal) as progress:
        progress.behind({"inbox": Lag(files=3, bytes=1_250_000)})
    assert "sorting the first batch" in terminal.getvalue()
    assert "inbox 3 files (1.2 MB) to do" in terminal.getvalue()


def test_a_source_that_is_away_is_shown_until_it_is_back() -> None:
    terminal = Terminal()
    with Progress(terminal) as progress:
        progress.away("kafka://one:9092/orders", True)
        assert "kafka://one:9092/orders is away" in progress._line()
        progress.away("kafka://one:9092/orders", False)
        assert "away" not in progress._line()


@pytest.mark.parametrize(("stream", "quiet"), [(io.StringIO(), False), (Terminal(), True)])
def test_a_pipe_and_who_asked_for_quiet_see_nothing(stream: io.StringIO, quiet: bool) -> None:
    with Progress(stream, quiet=quiet) as progress:
        progress.say("reading")
        progress.report(entry(0, 3, 1))
        progress.behind({"inbox": Lag(files=1)})
    assert stream.getvalue() == ""
    assert (progress.read, progress.landed, progress.dead, progress.batches) == (4, 3, 1, 1)

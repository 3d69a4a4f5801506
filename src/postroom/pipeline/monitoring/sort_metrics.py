"""The metrics of a `sort` that follows its sources: each of them as data, and what counts them."""

from __future__ import annotations

import logging
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from threading import Lock
from typing import TYPE_CHECKING

from postroom.prometheus_text import LabelValues, MetricFamily, joined, render_histogram, render_values
from postroom.version import VERSION

if TYPE_CHECKING:
    from postroom.pipeline.lake.ledger import LedgerEntry
    from postroom.pipeline.sources.lag import Lags

READ = MetricFamily(
    name="postroom_sort_messages_read_total", type="counter", help="Messages read, by source.", labels=("source",)
)
LANDED = MetricFamily(
    name="postroom_sort_messages_landed_total",
    type="counter",
    help="Rows landed, by message definition.",
    labels=("message",),
)
DEAD = MetricFamily(
    name="postroom_sort_messages_dead_total",
    type="counter",
    help="Messages that did not land, by outcome.",
    labels=("outcome",),
)
BATCHES = MetricFamily(
    name="postroom_sort_batches_total",
    type="counter",
    help="Batches by kind: sort, and tidy where --tidy-every is given.",
    labels=("kind",),
)
BATCH_SECONDS = MetricFamily(
    name="postroom_sort_batch_duration_seconds",
    type="histogram",
    help="Time of a batch from its plan to its entry in the ledger.",
    labels=("source",),
    buckets=(0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800),
)
LAST_BATCH = MetricFamily(
    name="postroom_sort_last_batch_timestamp_seconds",
    type="gauge",
    help="When the last batch of a source was entered in the ledger (Unix time).",
    labels=("source",),
)
FILES = MetricFamily(
    name="postroom_sort_files_written_total", type="counter", help="Parquet files that batches added to tables."
)
BYTES = MetricFamily(name="postroom_sort_bytes_written_total", type="counter", help="Bytes of these files.")
TABLE_CHANGES = MetricFamily(
    name="postroom_sort_table_changes_total",
    type="counter",
    help="Changes of tables, by kind: created, columns_added, replaced.",
    labels=("change",),
)
LAG_RECORDS = MetricFamily(
    name="postroom_sort_lag_records",
    type="gauge",
    help="Records that wait in a topic of Kafka, as of its last batch; 0 for folders.",
    labels=("part",),
)
LAG_FILES = MetricFamily(
    name="postroom_sort_lag_files", type="gauge", help="Files that wait in a folder; 0 for topics.", labels=("part",)
)
LAG_BYTES = MetricFamily(name="postroom_sort_lag_bytes", type="gauge", help="Bytes of these files.", labels=("part",))
SOURCE_UP = MetricFamily(
    name="postroom_sort_source_up", type="gauge", help="0 while a source is away, else 1.", labels=("source",)
)
LOG_MESSAGES = MetricFamily(
    name="postroom_sort_log_messages_total",
    type="counter",
    help="Lines of the log that are warnings or errors: a catalog that does not open, a source that is away.",
    labels=("level",),
)
START_TIME = MetricFamily(
    name="process_start_time_seconds", type="gauge", help="When the process began to follow (Unix time)."
)
BUILD = MetricFamily(
    name="postroom_build_info", type="gauge", help="1, with the version as a label.", labels=("version",)
)
FAMILIES = (
    READ, LANDED, DEAD, BATCHES, BATCH_SECONDS, LAST_BATCH, FILES, BYTES, TABLE_CHANGES, LAG_RECORDS, LAG_FILES,
    LAG_BYTES, SOURCE_UP, LOG_MESSAGES, START_TIME, BUILD,
)  # fmt: skip

# Zero from the beginning, so that the first one is an increase.
OUTCOMES = ("invalid", "ambiguous", "unmatched", "malformed")
LEVELS = ("warning", "error")


class SortMetrics(logging.Handler):
    """Counts batches, what is still to do, and the warnings of the log; asked from any thread."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._counts: dict[MetricFamily, Counter[LabelValues]] = {
            family: Counter() for family in FAMILIES if family.type == "counter"
        }
        self._counts[DEAD].update({(outcome,): 0 for outcome in OUTCOMES})
        self._counts[LOG_MESSAGES].update({(level,): 0 for level in LEVELS})
        self._counts[FILES][()] = self._counts[BYTES][()] = 0
        self._seconds: dict[LabelValues, list[float]] = {}
        self._gauges: dict[MetricFamily, dict[LabelValues, float]] = {
            family: {} for family in FAMILIES if family.type == "gauge"
        }
        self._gauges[BUILD][(VERSION,)] = 1
        self._gauges[START_TIME][()] = time.time()
        self._own = Lock()

    def report(self, batch: LedgerEntry) -> None:
        """Count a batch."""
        source = (batch.source,)
        if batch.kind != "sort":
            with self._own:
                self._counts[BATCHES][(batch.kind,)] += 1
            return
        seconds = (batch.committed - batch.started).total_seconds()
        with self._own:
            self._counts[BATCHES][(batch.kind,)] += 1
            self._counts[READ][source] += batch.read
            self._counts[LANDED].update({(message,): rows for message, rows in batch.landed.items()})
            self._counts[DEAD].update({(outcome,): letters for outcome, letters in batch.dead.items()})
            self._counts[FILES][()] += batch.files
            self._counts[BYTES][()] += batch.bytes
            self._counts[TABLE_CHANGES].update((change.kind,) for change in batch.changes)
            row = self._seconds.setdefault(source, [0.0] * (len(BATCH_SECONDS.buckets) + 2))
            row[bisect_left(BATCH_SECONDS.buckets, seconds)] += 1
            row[-1] += seconds
            self._gauges[SOURCE_UP].setdefault(source, 1)
            self._gauges[LAST_BATCH][source] = batch.committed.timestamp()

    def behind(self, lags: Lags) -> None:
        """Take in what is still to do."""
        with self._own:
            for part, lag in lags.items():
                self._gauges[LAG_RECORDS][(part,)] = lag.records
                self._gauges[LAG_FILES][(part,)] = lag.files
                self._gauges[LAG_BYTES][(part,)] = lag.bytes

    def away(self, source: str, is_away: bool) -> None:
        """Take in that a source went away, or came back."""
        with self._own:
            self._gauges[SOURCE_UP][(source,)] = 0 if is_away else 1

    def emit(self, record: logging.LogRecord) -> None:
        """Count a line of the log."""
        level = "error" if record.levelno >= logging.ERROR else "warning"
        with self._own:
            self._counts[LOG_MESSAGES][(level,)] += 1

    def text(self) -> str:
        """All metrics, as a scraper reads them."""
        with self._own:
            return joined(self._lines())

    def _lines(self) -> Iterator[str]:
        for family in FAMILIES:
            if family.type == "histogram":
                yield from render_histogram(family, self._seconds)
            else:
                yield from render_values(family, self._counts.get(family) or self._gauges.get(family) or {})

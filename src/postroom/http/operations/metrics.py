"""What a process of the service measures while it answers, and what all processes on one socket measured together."""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from postroom.http.operations import metric_table as table
from postroom.prometheus_text import LabelValues, MetricFamily, joined, render_histogram, render_values
from postroom.version import VERSION

PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
STATM, DESCRIPTORS = Path("/proc/self/statm"), Path("/proc/self/fd")
STARTED = time.time()

Rows = dict[LabelValues, list[float]]
Values = dict[LabelValues, float]
Gauges = Callable[[], Mapping[MetricFamily, Values]]


class Histogram:
    """Counts by label values and bucket. Whoever observes from several threads holds a lock."""

    def __init__(self, family: MetricFamily) -> None:
        self.family = family
        self.rows: Rows = {}
        self._bounds = family.buckets
        self._width = len(family.buckets) + 2

    def observe(self, labels: LabelValues, value: float) -> None:
        """Count one value."""
        row = self.rows.get(labels)
        if row is None:
            row = self.rows[labels] = [0.0] * self._width
        row[bisect_left(self._bounds, value)] += 1
        row[-1] += value

    def copy(self) -> Rows:
        """The counts as they are now."""
        return {labels: row[:] for labels, row in list(self.rows.items())}


class Measured(msgspec.Struct, kw_only=True):
    """What one process measured, or several together. Lists of pairs, because keys of JSON are strings."""

    histograms: dict[str, list[tuple[LabelValues, list[float]]]] = {}
    counters: dict[str, list[tuple[LabelValues, float]]] = {}
    gauges: dict[str, list[tuple[LabelValues, float]]] = {}

    def add(self, other: Measured, *, is_alive: bool = True) -> None:
        """Add what another process measured; how a process that has ended is doing counts no more."""
        for name, rows in other.histograms.items():
            self.histograms[name] = _summed_rows([*self.histograms.get(name, []), *rows])
        for name, values in other.counters.items():
            self.counters[name] = _summed([*self.counters.get(name, []), *values])
        if is_alive:
            for name, values in other.gauges.items():
                self.gauges[name] = [*self.gauges.get(name, []), *values]


class ProcessMetrics:
    """The measurements of this process."""

    def __init__(self) -> None:
        self.requests = Histogram(table.REQUEST_SECONDS)
        """Observed by the event loop only."""
        self.in_progress = 0
        self.hits = 0
        self.misses = 0
        self._lock = threading.Lock()
        self._transactions = Histogram(table.STORE_SECONDS)
        self._begins = Histogram(table.WRITE_WAIT_SECONDS)
        self._gauges: list[Gauges] = []

    def observe_transaction(self, operation: str, outcome: str, begin_s: float, seconds: float) -> None:
        """Count a transaction; called by any thread."""
        with self._lock:
            self._transactions.observe((operation, outcome), seconds)
            self._begins.observe((operation,), begin_s)

    def watch(self, gauges: Gauges) -> None:
        """Ask for these gauges, too, whenever somebody looks. Their last label is `pid`, or they are of one process."""
        self._gauges.append(gauges)

    def measured(self) -> Measured:
        """What was measured up to now; called by any thread."""
        with self._lock:
            histograms = (self._transactions.copy(), self._begins.copy())
        rows = {table.STORE_SECONDS: histograms[0], table.WRITE_WAIT_SECONDS: histograms[1]}
        rows[table.REQUEST_SECONDS] = self.requests.copy()
        pid = str(os.getpid())
        gauges: dict[MetricFamily, Values] = {table.REQUESTS_IN_PROGRESS: {(pid,): self.in_progress}}
        gauges |= _process(pid)
        for more in self._gauges:
            gauges |= more()
        return Measured(
            histograms={family.name: list(found.items()) for family, found in rows.items()},
            counters={
                table.CACHE_REQUESTS.name: [(("hit",), self.hits), (("miss",), self.misses)],
                table.CPU_SECONDS.name: [((pid,), time.process_time())],
            },
            gauges={family.name: list(found.items()) for family, found in gauges.items()},
        )


def render(measured: Measured, registry: Mapping[MetricFamily, Values]) -> str:
    """All metrics as a scraper reads them; `registry` has those which do not depend on the process."""
    return joined(_lines(measured, {**registry, table.BUILD: {(VERSION,): 1.0}}))


def _lines(measured: Measured, registry: Mapping[MetricFamily, Values]) -> Iterator[str]:
    for family in table.FAMILIES:
        if family.type == "histogram":
            yield from render_histogram(family, dict(measured.histograms.get(family.name, [])))
        elif family in registry:
            yield from render_values(family, registry[family])
        else:
            yield from render_values(
                family, dict(measured.counters.get(family.name) or measured.gauges.get(family.name, []))
            )


def _process(pid: str) -> dict[MetricFamily, Values]:
    """What the system knows of this process; where there is no /proc, less of it."""
    made: dict[MetricFamily, Values] = {table.START_TIME: {(pid,): STARTED}}
    if STATM.exists():
        made[table.MEMORY] = {(pid,): float(STATM.read_text().split()[1]) * PAGE}
        made[table.OPEN_FILES] = {(pid,): float(sum(1 for _ in DESCRIPTORS.iterdir()))}
    return made


def _summed(values: Iterable[tuple[LabelValues, float]]) -> list[tuple[LabelValues, float]]:
    total: Values = {}
    for labels, value in values:
        total[labels] = total.get(labels, 0.0) + value
    return list(total.items())


def _summed_rows(rows: Iterable[tuple[LabelValues, list[float]]]) -> list[tuple[LabelValues, list[float]]]:
    total: Rows = {}
    for labels, row in rows:
        before = total.get(labels)
        total[labels] = row if before is None else [a + b for a, b in zip(before, row, strict=True)]
    return list(total.items())

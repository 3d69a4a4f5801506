"""What the ledger of a lake tells, as metrics in the text format of Prometheus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.ledger import LedgerEntry, read_ledger
from postroom.pipeline.lake.manifest import unfinished
from postroom.pipeline.lake.reconciliation import balance_of
from postroom.prometheus_text import MetricFamily, MetricType, joined, render_values


class Metric(msgspec.Struct, frozen=True):
    """One metric: name, type, help, and its values by the value of its label (one without a label has the key "")."""

    name: str
    kind: MetricType
    help: str
    values: Mapping[str, float]
    label: str = ""


def lake_metrics(lake: Lake) -> str:
    """The metrics of a lake, as a scraper reads them."""
    return "".join(map(_exposed, metrics_of(read_ledger(lake), len(unfinished(lake)))))


def metrics_of(entries: list[LedgerEntry], in_flight: int = 0) -> Iterator[Metric]:
    """Metrics of the batches of a ledger, oldest first, and of the commits that are not in it yet."""
    read: Counter[str] = Counter()
    for entry in entries:
        read[entry.source] += max(entry.read - entry.replayed, 0)
    yield Metric("postroom_messages_read_total", "counter", "Messages read, by source.", _seen(read, entries), "source")
    # What a later catalog, or an erasure, took away again has landed all the same.
    landed = _summed({xid: max(rows, 0) for xid, rows in entry.landed.items()} for entry in entries)
    yield Metric("postroom_messages_landed_total", "counter", "Rows landed, by message definition.", landed, "message")
    sorts = [entry for entry in entries if entry.kind == "sort"]
    dead = _summed(entry.dead for entry in sorts)
    yield Metric("postroom_messages_dead_total", "counter", "Messages that did not land, by outcome.", dead, "outcome")
    replayed = sum(entry.replayed for entry in entries)
    yield Metric("postroom_letters_replayed_total", "counter", "Dead letters sorted again.", {"": replayed})
    yield Metric("postroom_dead_letters", "gauge", "Dead letters in the lake.", {"": balance_of(entries).dead})
    kinds = Counter(entry.kind for entry in entries)
    yield Metric("postroom_batches_total", "counter", "Batches in the ledger, by kind.", kinds, "kind")
    changes = Counter(change.kind for entry in entries for change in entry.changes)
    yield Metric("postroom_table_changes_total", "counter", "Changes of tables, by kind.", changes, "change")
    yield Metric("postroom_commits_in_flight", "gauge", "Manifests that are not in the ledger yet.", {"": in_flight})
    if entries:
        last = entries[-1]
        moment, took = last.committed.timestamp(), (last.committed - last.started).total_seconds()
        yield Metric("postroom_last_commit_timestamp_seconds", "gauge", "When the last batch was done.", {"": moment})
        yield Metric("postroom_last_batch_seconds", "gauge", "How long the last batch took.", {"": took})


def _seen(read: Counter[str], entries: list[LedgerEntry]) -> dict[str, int]:
    """Without the replays, which read nothing new."""
    sources = {entry.source for entry in entries if entry.kind == "sort"}
    return {source: count for source, count in read.items() if source in sources or count}


def _summed(counts: Iterable[Mapping[str, int]]) -> Counter[str]:
    total: Counter[str] = Counter()
    for count in counts:
        total.update(count)
    return total


def _exposed(metric: Metric) -> str:
    labels = (metric.label,) if metric.label else ()
    family = MetricFamily(name=metric.name, type=metric.kind, help=metric.help, labels=labels)
    return joined(render_values(family, {(value,) if labels else (): n for value, n in metric.values.items()}))

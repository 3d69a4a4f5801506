"""Metrics that the store itself knows: the change log, deliveries and links. They are the same in every process."""

from __future__ import annotations

import heapq
import time
from collections import Counter
from datetime import datetime
from itertools import islice

from postroom.http.operations import metric_table as table
from postroom.http.operations.metrics import Values
from postroom.prometheus_text import MetricFamily
from postroom.registry.entities import Change
from postroom.registry.transaction_interface import Transaction
from postroom.replication.replicas.service_links import configured, run_of
from postroom.replication.subscriptions import subscription_store
from postroom.replication.subscriptions.delivery_progress import DeliveryProgress

MOST_SUBSCRIPTIONS = 100
"""So many have metrics of their own; of all of them there are the numbers by state."""


def registry_metrics(tx: Transaction) -> dict[MetricFamily, Values]:
    """The metrics of a registry."""
    newest = tx.last_change()
    made: dict[MetricFamily, Values] = {table.CHANGE_LOG_SEQUENCE: {(): float(newest.sequence if newest else 0)}}
    made[table.CHANGE_LOG_TIME] = {(): _seconds(newest)} if newest else {}
    statuses = Counter(run_of(tx, link_id).status for link_id in configured(tx))
    made[table.LINKS] = {(status,): float(number) for status, number in statuses.items()}
    return made | _deliveries(tx, newest.sequence if newest else 0)


def _deliveries(tx: Transaction, newest: int) -> dict[MetricFamily, Values]:
    ids = [one for one, _ in tx.records(subscription_store.SUBSCRIPTION)]
    progress = {one: subscription_store.read_progress(tx, one) for one in ids}
    lags = {one: max(0, newest - _position(found)) for one, found in progress.items()}
    shown = heapq.nlargest(MOST_SUBSCRIPTIONS, ids, key=lambda one: lags[one])
    statuses = Counter(found.status for found in progress.values())
    return {
        table.SUBSCRIPTIONS: {(status,): float(number) for status, number in statuses.items()},
        table.DELIVERED_EVENTS: {(one,): float(progress[one].delivered) for one in shown},
        table.DELIVERY_LAG_CHANGES: {(one,): float(lags[one]) for one in shown},
        table.DELIVERY_LAG_SECONDS: {(one,): _age(tx, progress[one]) if lags[one] else 0.0 for one in shown},
    }


def _position(progress: DeliveryProgress) -> int:
    """The sequence that a cursor stands for."""
    text = progress.cursor.partition("-")[0]
    return int(text, 16) if text else 0


def _age(tx: Transaction, progress: DeliveryProgress) -> float:
    oldest = next(islice(tx.changes(_position(progress), 1), 1), None)
    return max(0.0, time.time() - _seconds(oldest)) if oldest else 0.0


def _seconds(change: Change) -> float:
    return datetime.fromisoformat(change.time).timestamp()

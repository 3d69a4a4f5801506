"""Retention of the change log; the history of superseded entities is kept for ever."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec

from postroom.registry.entities import Change
from postroom.registry.transaction_interface import Transaction

KIND, FORGOTTEN = "changes", "forgotten"
"""The record that holds the mark of the newest change that was deleted."""
STEP = 500


class Retention(msgspec.Struct, frozen=True):
    """How many days, and how many changes, are kept at least; 0 sets no limit."""

    days: int = 0
    count: int = 0


FOREVER = Retention()


def forget(tx: Transaction, retention: Retention, appended: int) -> None:
    """Delete rows that are due: few at a time, but more than the write has just appended."""
    newest = None if retention == FOREVER else tx.last_change()
    if newest is None:
        return
    last = newest.sequence - retention.count if retention.count else 0
    since = oldest_time(retention.days)
    cut: Change | None = None
    for change in tx.changes(0, max(STEP, 2 * appended)):
        if change.sequence == newest.sequence or (change.sequence > last and change.time >= since):
            break
        cut = change
    if cut is not None:
        tx.forget_changes(cut.sequence)
        tx.put_record(KIND, FORGOTTEN, cut.mark.encode())


def oldest_time(days: int) -> str:
    """The time before which changes are deleted; empty without a limit of days."""
    return (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S") if days else ""

"""Retention of the change log, and of the superseded bodies that only its changes show.

A body is kept at least as long as the change that superseded it: changes are shown, and kept from those who may not see
them, by what was there before and after. Bodies of message definitions that are there are never deleted: they are the
versions that the message catalog numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta

import msgspec

from postroom.registry.entities import Change
from postroom.registry.transaction_interface import Transaction
from postroom.store.interface import Store

KIND, FORGOTTEN = "changes", "forgotten"
"""The record that holds the mark of the newest change that was deleted."""
STEP = 500

State = tuple[str, int]
"""A row of the history: the xid of a superseded body, and the sequence of the change that superseded it."""


class Retention(msgspec.Struct, frozen=True):
    """How many days, and how many changes, are kept at least (0 sets no limit); whether superseded bodies go, too."""

    days: int = 0
    count: int = 0
    with_history: bool = False


class Due(msgspec.Struct, frozen=True):
    """How many rows a retention does not keep."""

    changes: int
    history: int


FOREVER = Retention()


def forget(tx: Transaction, retention: Retention, appended: int) -> int:
    """Delete rows that are due: few at a time, but more than the write has just appended; how many changes went."""
    found = _due_changes(tx, retention, 0, max(STEP, 2 * appended))
    if not found:
        return 0
    last = found[-1].sequence
    if retention.with_history:
        tx.forget_history(_superseded_by(tx, found, last))
    tx.forget_changes(last)
    tx.put_record(KIND, FORGOTTEN, found[-1].mark.encode())
    return len(found)


def count_due(tx: Transaction, retention: Retention) -> Due:
    """What `prune` would delete; nothing is changed."""
    changes, last = 0, 0
    while found := _due_changes(tx, retention, last, STEP):
        changes, last = changes + len(found), found[-1].sequence
    before = last + 1 if changes else _first_sequence(tx)
    history, seen = 0, set[str]()
    if retention.with_history:
        for states in _pages(tx):
            history += sum(1 for _ in _removable(tx, states, before, seen))
    return Due(changes, history)


def prune(store: Store, retention: Retention) -> Due:
    """Delete all that is due, in many short transactions between which others write."""
    changes, gone = 0, 1
    while gone:
        with store.write() as tx:
            gone = forget(tx, msgspec.structs.replace(retention, with_history=False), 0)
        changes += gone
    return Due(changes, _prune_history(store) if retention.with_history else 0)


def _prune_history(store: Store) -> int:
    with store.read() as tx:
        before = _first_sequence(tx)
    deleted, after = 0, ("", 0)
    while True:
        with store.read() as tx:
            states = tx.history_after(after, STEP)
            is_due = any(_removable(tx, states, before, set()))
        if not states:
            return deleted
        after = states[-1]
        if is_due:
            with store.write() as tx:
                deleted += tx.forget_history(_removable(tx, states, before, set()))


def oldest_time(days: int) -> str:
    """The time before which changes are deleted; empty without a limit of days."""
    return (datetime.now(UTC) - timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%S") if days else ""


def _due_changes(tx: Transaction, retention: Retention, after: int, limit: int) -> list[Change]:
    """The first changes after a sequence, as far as they are due."""
    newest = tx.last_change() if retention.days or retention.count else None
    if newest is None:
        return []
    last = newest.sequence - retention.count if retention.count else 0
    since = oldest_time(retention.days)
    found: list[Change] = []
    for change in tx.changes(after, limit):
        if change.sequence == newest.sequence or (change.sequence > last and change.time >= since):
            break
        found.append(change)
    return found


def _superseded_by(tx: Transaction, changes: Iterable[Change], last: int) -> Iterator[State]:
    """The rows of the history that go with changes, the newest of which has the sequence `last`."""
    gone: set[str] = set()
    for change in changes:
        definition = definition_of(change.xid)
        if not definition:
            yield change.xid, change.sequence
        elif change.action == "deleted":
            gone.add(definition)
    for definition in sorted(gone):
        yield from _past_of(tx, definition, last + 1)


def _removable(tx: Transaction, states: Iterable[State], before: int, seen: set[str]) -> Iterator[State]:
    """Those that were superseded before a sequence; of a definition that is gone all, with the first of them."""
    for xid, sequence in states:
        definition = definition_of(xid)
        if not definition and sequence < before:
            yield xid, sequence
        elif definition and definition not in seen:
            seen.add(definition)
            yield from _past_of(tx, definition, before)


def _past_of(tx: Transaction, definition: str, before: int) -> list[State]:
    """The states of a definition that is gone: all or none, as the oldest ones say where its successor begins."""
    if tx.entity(definition) is not None:
        return []
    states = [(one.xid, sequence) for sequence, one in tx.history_below(definition)]
    return states if all(sequence < before for _, sequence in states) else []


def _pages(tx: Transaction) -> Iterator[list[State]]:
    after: State = ("", 0)
    while found := tx.history_after(after, STEP):
        yield found
        after = found[-1]


def definition_of(xid: str) -> str:
    """The message definition that an xid is, or is below; empty when there is none."""
    parts = xid.split("/", 5)
    return "/".join(parts[:5]) if len(parts) > 4 and parts[3] == "messages" else ""


def _first_sequence(tx: Transaction) -> int:
    return next((change.sequence for change in tx.changes(0, 1)), 0)

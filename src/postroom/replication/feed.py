"""Reading the change log page by page, from a cursor on."""

from __future__ import annotations

import msgspec

from postroom.registry.entities import Change
from postroom.registry.transaction import Transaction
from postroom.replication.cursors import sequence_of
from postroom.replication.events import Event, event_of, is_beginning
from postroom.store.interface import Store

MOST_CHANGES = 10_000
"""More than this is not put into one page."""


class Page(msgspec.Struct, frozen=True):
    """Some changes in their order, and where to go on."""

    changes: list[Change]
    cursor: str
    """The cursor after this page; it also moves on past changes that a filter left out."""
    more: bool
    """Whether there were further changes when the page was read."""

    def events(self, base: str, *, names: bool = True) -> list[Event]:
        """The change events of the page."""
        return [event_of(change, base, names) for change in self.changes if not is_beginning(change)]


def read_changes(store: Store, after: str, limit: int, xid: str = "/") -> Page:
    """Up to `limit` changes after a cursor (empty: from the oldest that is kept) of an entity and what is below it.

    Raises CursorBroken, CursorForeign and CursorTooOld.
    """
    with store.read() as tx:
        return page_of(tx, after, limit, xid)


def page_of(tx: Transaction, after: str, limit: int, xid: str = "/") -> Page:
    """The same within a transaction."""
    sequence = sequence_of(tx, after)
    limit = max(1, min(limit, MOST_CHANGES))
    found = tx.changes(sequence, limit + 1, xid)
    if len(found) > limit:
        return Page(found[:limit], found[limit - 1].mark, more=True)
    newest = tx.last_change()
    return Page(found, newest.mark if newest else after, more=False)

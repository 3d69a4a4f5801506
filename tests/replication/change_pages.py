"""Pages of a store's change log, each read in a transaction of its own."""

from __future__ import annotations

from postroom.replication.changes.feed import ChangePage, page_of
from postroom.store.interface import Store


def read_changes(store: Store, after: str, limit: int, xid: str = "/") -> ChangePage:
    """Up to `limit` changes after a cursor."""
    with store.read() as tx:
        return page_of(tx, after, limit, xid)

"""Whether anybody is told of the changes of a registry: the first reader is noted, and stays noted."""

from __future__ import annotations

from postroom.registry.transaction import Transaction
from postroom.store.interface import Store
from postroom.store.retention import KIND

READ, SUBSCRIPTION = "read", "subscription"


def note_reader(store: Store) -> None:
    """Note that the changes of the registry are read; one write in its life."""
    with store.read() as tx:
        if tx.record(KIND, READ) is not None:
            return
    with store.write() as tx:
        tx.put_record(KIND, READ, b"{}")


def has_readers(tx: Transaction) -> bool:
    """Whether somebody has read the changes, or wants them sent."""
    return tx.record(KIND, READ) is not None or bool(tx.records(SUBSCRIPTION, limit=1))

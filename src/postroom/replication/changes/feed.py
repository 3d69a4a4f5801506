"""The change log page by page, from a cursor on; and whether anybody reads it."""

from __future__ import annotations

import msgspec

from postroom.model.names import is_entity_id
from postroom.registry.entities import Change
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.replication.changes.cursors import sequence_of
from postroom.store.interface import Store
from postroom.store.retention import KIND

MOST_CHANGES = 10_000
"""More than this is not put into one page."""
DEEPEST = 6
_READ, _SUBSCRIPTION = "read", "subscription"


class ChangePage(msgspec.Struct, frozen=True):
    """Some changes in their order, and where to go on."""

    changes: list[Change]
    cursor: str
    """The cursor after this page; it also moves on past changes that a filter left out."""
    more: bool
    """Whether there were further changes when the page was read."""


def page_of(tx: Transaction, after: str, limit: int, xid: str = "/") -> ChangePage:
    """Up to `limit` changes after a cursor (empty: from the oldest that is kept) of an entity and what is below it.

    Raises CursorBroken, CursorForeign and CursorTooOld.
    """
    sequence = sequence_of(tx, after)
    limit = max(1, min(limit, MOST_CHANGES))
    found = tx.changes(sequence, limit + 1, xid)
    if len(found) > limit:
        return ChangePage(found[:limit], found[limit - 1].mark, more=True)
    newest = tx.last_change()
    return ChangePage(found, newest.mark if newest else after, more=False)


def logged_xid(text: str, place: str) -> str:
    """What changes can be asked of: an xid, or a collection. A Resource's meta is logged as the Resource."""
    if text == "/":
        return text
    xid = text.removesuffix("/").removesuffix("/meta")
    parts = xid.split("/")[1:]
    if not text.startswith("/") or len(parts) > DEEPEST:
        detail = f"it begins with / and has at most {DEEPEST} parts"
        raise RegistryProblem("malformed_xid", place, xid=text, error_detail=detail)
    if not all(map(is_entity_id, parts)):
        raise RegistryProblem("malformed_xid", place, xid=text, error_detail="one of its parts is not legal")
    return xid


def note_reader(store: Store) -> None:
    """Note that the changes of the registry are read; one write in its life, for the first reader stays noted."""
    with store.read() as tx:
        if tx.record(KIND, _READ) is not None:
            return
    with store.write() as tx:
        tx.put_record(KIND, _READ, b"{}")


def has_readers(tx: Transaction) -> bool:
    """Whether somebody has read the changes, or wants them sent."""
    return tx.record(KIND, _READ) is not None or bool(tx.records(_SUBSCRIPTION, limit=1))

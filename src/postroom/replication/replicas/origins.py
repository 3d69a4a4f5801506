"""Where the units of a registry come from that were not written here: one record each, kept in the same transaction.

A unit without a record was written here. The record of a unit that is gone stays as its tombstone, so that an older
copy which arrives on another way does not bring it back.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from postroom.registry.transaction import Transaction
from postroom.replication.replicas.replica_unit import Stamp

KIND = "origin"
_PAGE = 1000


class UnitOrigin(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where one unit comes from, and what it was like when it came."""

    home: str
    """The id of the registry where it is written."""
    authority: str
    """Who is responsible for it, always explicit here (S002 2.2.4)."""
    path: str
    """Its xid at its home; it may be called otherwise here."""
    link: str
    """The link it came by last: if it goes away there, it goes away here."""
    stamp: Stamp = Stamp()
    digest: str = ""
    """Its digest at the source."""
    local: str = ""
    """Its digest here right after it came; another one means that it was edited here."""
    implied: tuple[str, ...] = ()
    """What was added to its Versions when it came: authority, version URI."""
    deleted: bool = False


def origin_of(tx: Transaction, xid: str) -> UnitOrigin | None:
    """The record of a unit, alive or deleted."""
    found = tx.record(KIND, xid)
    return msgspec.json.decode(found, type=UnitOrigin) if found else None


def living_origin(tx: Transaction, xid: str) -> UnitOrigin | None:
    """The record of a unit that is here and came from elsewhere."""
    found = origin_of(tx, xid)
    return None if found is None or found.deleted else found


def put_origin(tx: Transaction, xid: str, origin: UnitOrigin) -> None:
    """Create or replace a record."""
    tx.put_record(KIND, xid, msgspec.json.encode(origin))


def forget_origin(tx: Transaction, xid: str) -> None:
    """Let a unit be one that was written here."""
    tx.delete_record(KIND, xid)


def origins_in(tx: Transaction, group: str) -> dict[str, UnitOrigin]:
    """The records of a Group and of all that is in it."""
    own = origin_of(tx, group)
    found = {} if own is None else {group: own}
    return found | dict(_below(tx, group + "/"))


def all_origins(tx: Transaction) -> Iterator[tuple[str, UnitOrigin]]:
    """All records."""
    return _below(tx, "/")


def _below(tx: Transaction, prefix: str) -> Iterator[tuple[str, UnitOrigin]]:
    after = prefix
    while True:
        page = tx.records(KIND, after, _PAGE)
        for xid, body in page:
            if not xid.startswith(prefix):
                return
            yield xid, msgspec.json.decode(body, type=UnitOrigin)
        if len(page) < _PAGE:
            return
        after = page[-1][0]

"""The origins of units that were not written here: one record each, kept in the same transaction.

A unit without a record was written here. The record of a unit that is gone stays as its tombstone, so that an older
copy which arrives by another link does not bring it back. What belongs to another catalog is not edited here: its home
would not know, and undo it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from postroom.registry.entities import Entity
from postroom.registry.numbering.numbered_writes import ORIGIN
from postroom.registry.problems import RegistryProblem
from postroom.registry.rules import Rules
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.document_checks import MARKS
from postroom.replication.replicas.replica_unit import Stamp, unit_xid
from postroom.settings import Settings

KIND = ORIGIN
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
    states: int = 0
    """How many states a message had been in when it came, the present one included; 0: the source did not know."""
    past: str = ""
    """The digest of those states."""
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


def guarded(rules: Rules, settings: Settings) -> Rules:
    """Rules that refuse edits of what came from elsewhere, unless the setting says that they are only flagged."""
    if settings.foreign_edits == "flag":
        return rules

    def guard(tx: Transaction, before: Mapping[str, Entity | None]) -> None:
        refuse_foreign_edits(tx, before)
        rules.guard(tx, before)

    return msgspec.structs.replace(rules, guard=guard)


def refuse_foreign_edits(tx: Transaction, before: Mapping[str, Entity | None]) -> None:
    """Refuse a write that changes what came from elsewhere; `before` are the entities that it touched."""
    for xid, entity in before.items():
        unit = unit_xid(xid)
        origin = living_origin(tx, unit) if unit else None
        if origin is not None and _content(entity) != _content(tx.entity(xid)):
            detail = f"It belongs to {origin.authority}; change it there. The setting foreign_edits can allow it here."
            raise RegistryProblem("readonly", xid, detail=detail)


def _content(entity: Entity | None) -> object:
    """What an author wrote. That a member came or went is no edit of a Group, and marks are the server's own."""
    if entity is None:
        return None
    return {n: v for n, v in entity.attributes.items() if n not in MARKS}, entity.document

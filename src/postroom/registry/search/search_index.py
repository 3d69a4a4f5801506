"""Keep the search index: with every write, in its transaction, and for registries from before there was one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from postroom.registry.entities import Entity
from postroom.registry.search.search_entry import make_entry, read_states, unit_of
from postroom.registry.transaction_interface import Transaction

EDITION = b"1"
"""Changes with what entries are made of, so that a registry with those of an earlier edition is indexed anew."""
_DONE = "searchindex"


def index_written(tx: Transaction, before: Mapping[str, Entity | None]) -> None:
    """Bring up to date the entries of what was written; `before` are the entities as they were."""
    if len(before) == 1 and "/" in before:
        return

    def former(xid: str) -> Entity | None:
        return before[xid] if xid in before else tx.entity(xid)

    for unit in dict.fromkeys(map(unit_of, before)):
        if not unit:
            continue
        was, now = read_states(former, unit), read_states(tx.entity, unit)
        if not now and was:
            tx.delete_search_entry(unit)
        elif now and [_searched(one) for one in was] != [_searched(one) for one in now]:
            tx.put_search_entry(make_entry(unit, now, tx.rules))


def _searched(entity: Entity) -> tuple[object, ...]:
    return entity.xid, entity.attributes, entity.document


def is_indexed(tx: Transaction) -> bool:
    """Whether everything in a registry can be found."""
    return tx.record(_DONE, "/") == EDITION


def mark_indexed(tx: Transaction) -> None:
    """Note that it can."""
    tx.put_record(_DONE, "/", EDITION)


def index_existing(tx: Transaction) -> None:
    """Index everything anew."""
    tx.clear_search_index()
    for unit in list(_units(tx)):
        states = read_states(tx.entity, unit)
        if states:
            tx.put_search_entry(make_entry(unit, states, tx.rules))
    mark_indexed(tx)


def _units(tx: Transaction) -> Iterator[str]:
    return (xid for xid in tx.xids() if xid.count("/") in (2, 4))

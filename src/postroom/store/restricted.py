"""A store as one principal sees it: transactions that show what may be read, and know what may be written.

What may not be read is answered like what is not there, with the same statements. Where the rules of a registry look at
other entities (targets of xrefs, referenced documents, constraints of Groups that refer to a Resource), they see the
same: what the principal may not read counts as absent.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

import msgspec

from postroom.deadlines import check_deadline
from postroom.model.types import Model
from postroom.registry.entities import Change, Entity
from postroom.registry.permissions import ROOT, IdRange, Permissions
from postroom.registry.rules import Rules
from postroom.registry.search.index_rows import EntryQuery, EntryRow, PropertyRow
from postroom.registry.search.search_entry import SearchEntry
from postroom.registry.search.search_query import Term
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.deferred_checks import DeferredChecks
from postroom.store.interface import Claim, Store, StoredResource

STAMPS = frozenset({"epoch", "createdat", "modifiedat"})
XREF = "meta.xref"
OF_REFERENCE = frozenset({XREF, "meta.epoch", "meta.modifiedat"})
"""What a Resource itself changes when it begins or ceases to stand for another."""
ROWS = 200
"""How many rows of the change log are read at once, at least."""


IndexRow = TypeVar("IndexRow", EntryRow, PropertyRow)


class StoredTransaction(Transaction, Protocol):
    """A transaction of a store itself, which can read parts of a collection.

    `within` names ranges of ids, in order, that members have to be in; None stands for all of them.
    """

    def entities(self, collection: str, within: Sequence[IdRange] | None = None) -> list[Entity]:
        """The members of a collection, in the order of their ids."""

    def count(self, collection: str, within: Sequence[IdRange] | None = None) -> int:
        """How many members a collection has."""

    def ids(
        self,
        collection: str,
        after: str,
        limit: int,
        backwards: bool = False,
        within: Sequence[IdRange] | None = None,
    ) -> list[str]:
        """Up to `limit` ids of a collection that follow one (or, backwards, precede it)."""


class UnrestrictedStore(Store, Protocol):
    """A store itself."""

    def read(self) -> AbstractContextManager[StoredTransaction]:
        """A transaction that sees one state and changes nothing."""

    def write(
        self, checks: DeferredChecks | None = None, *, is_small: bool = False
    ) -> AbstractContextManager[StoredTransaction]:
        """A transaction that is committed when the block ends well."""

    def watch(self) -> AbstractContextManager[StoredTransaction]:
        """A short transaction that changes nothing."""


class RestrictedStore:
    """A store whose transactions are restricted to what a principal may do."""

    def __init__(self, store: UnrestrictedStore, permissions: Permissions) -> None:
        self._store = store
        self.permissions = permissions

    @property
    def base(self) -> Store:
        """The store without restrictions."""
        return self._store

    def seen_by(self, permissions: Permissions) -> Store:
        """What another principal sees of the store, or this one after its grants have changed."""
        return self._store.seen_by(permissions)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A transaction that sees one state and changes nothing."""
        with self._store.read() as tx:
            yield RestrictedTransaction(tx, self.permissions)

    @contextmanager
    def write(self, checks: DeferredChecks | None = None, *, is_small: bool = False) -> Iterator[Transaction]:
        """A transaction that is committed when the block ends well."""
        with self._store.write(checks, is_small=is_small) as tx:
            yield RestrictedTransaction(tx, self.permissions)

    @contextmanager
    def watch(self) -> Iterator[Transaction]:
        """A short transaction that changes nothing."""
        with self._store.watch() as tx:
            yield RestrictedTransaction(tx, self.permissions)

    def resource_at_once(self, xid: str) -> StoredResource | None:
        """A Resource that is shown; looked for before it is known to be."""
        found = self._store.resource_at_once(xid)
        return found if self.permissions.read.shows(xid) else None

    def version(self) -> int:
        """A number that changes whenever committed data changes, seen or not."""
        return self._store.version()

    def trouble(self, least_free: int) -> str:
        """Why nothing can be stored at present."""
        return self._store.trouble(least_free)

    def claim(self, name: str) -> Claim | None:
        """A lock among all processes on the store."""
        return self._store.claim(name)

    def close(self) -> None:
        """Leave the store open: whoever opened it closes it."""

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the store open."""


class RestrictedTransaction:
    """A transaction of a store of any kind, restricted to what a principal may do.

    See registry.transaction_interface for what each method is for. Records are not restricted: the services that keep
    them know whose they are.
    """

    def __init__(self, tx: StoredTransaction, permissions: Permissions) -> None:
        self._tx = tx
        self._read = permissions.read
        self.permissions = permissions
        self.rules: Rules = tx.rules

    def entity(self, xid: str) -> Entity | None:
        """The entity with exactly this xid, read before it is known to be shown: hiding takes as long as absence."""
        found = self._tx.entity(xid)
        return found if found is not None and self._shows(xid) else None

    def expect(self, path: str) -> None:
        """Hear which path a write is about; what is read for it is shown to nobody by that."""
        self._tx.expect(path)

    def entities(self, collection: str) -> list[Entity]:
        """The members of a collection that are shown."""
        return self._tx.entities(collection, self._read.ids(collection))

    def entities_by_xid(self, xids: Sequence[str]) -> dict[str, Entity]:
        """Those of some entities that exist and are shown."""
        return {xid: entity for xid, entity in self._tx.entities_by_xid(xids).items() if self._shows(xid)}

    def below(self, xid: str) -> list[Entity]:
        """Everything below an entity that is shown."""
        found = self._tx.below(xid)
        return found if self._read.covers(xid) else [entity for entity in found if self._shows(entity.xid)]

    def count(self, collection: str) -> int:
        """How many members of a collection are shown."""
        return self._tx.count(collection, self._read.ids(collection))

    def counts(self, collections: Sequence[str]) -> dict[str, int]:
        """How many members of some collections are shown; those that are shown whole are counted together."""
        whole = [collection for collection in collections if self._read.ids(collection) is None]
        others = {collection: self.count(collection) for collection in collections if collection not in whole}
        return self._tx.counts(whole) | others

    def ids(self, collection: str, after: str, limit: int, backwards: bool = False) -> list[str]:
        """A run of ids that are shown; the one to begin behind need not be."""
        return self._tx.ids(collection, after, limit, backwards, self._read.ids(collection))

    def xids(self) -> Iterator[str]:
        """The xids of all entities that are shown."""
        return (xid for xid in self._tx.xids() if self._shows(xid))

    def size(self, xid: str) -> int:
        """How many entities below one are shown: whole parts are counted as such, others member by member."""
        if self._read.covers(xid):
            return self._tx.size(xid)
        found = 0
        for collection in _collections(self.model(), xid):
            if self._read.ids(collection) is None:
                found += self._tx.size(collection)
            else:
                ids = self.ids(collection, "", 2**62)
                found += len(ids) + sum(self.size(f"{collection}/{one}") for one in ids)
        return found

    def sibling(self, collection: str, entity_id: str) -> str | None:
        """The id that equals this one when case is ignored, which is shown to the same principals as this one."""
        found = self._tx.sibling(collection, entity_id)
        return found if self._shows(f"{collection}/{entity_id}") else None

    def referrers(self, *xids: str) -> list[Entity]:
        """Those that refer to one of these and are shown: others neither bind a writer nor are told of."""
        return [entity for entity in self._tx.referrers(*xids) if self._shows(entity.xid)]

    def put(self, entity: Entity) -> None:
        """Create or replace an entity; the unit of work has asked whether that is allowed."""
        self._tx.put(entity)

    def delete(self, xid: str) -> None:
        """Remove one entity."""
        self._tx.delete(xid)

    def append_change(self, change: Change) -> int:
        """Add a row to the change log."""
        return self._tx.append_change(change)

    def append_history(self, entity: Entity, sequence: int) -> None:
        """Keep a superseded body."""
        self._tx.append_history(entity, sequence)

    def change(self, sequence: int) -> Change | None:
        """One row of the change log, shown or not: cursors are compared with it."""
        return self._tx.change(sequence)

    def changes(self, after: int, limit: int, xid: str = ROOT) -> list[Change]:
        """Rows of the change log that are shown, as many as were asked for as long as there are any."""
        found: list[Change] = []
        asked = max(ROWS, min(limit, 2**40))
        while len(found) < limit:
            check_deadline()
            rows = self._tx.changes(after, asked, xid)
            found += [shown for row in rows if (shown := self._shown(row)) is not None]
            if len(rows) < asked:
                break
            after = rows[-1].sequence
        return found[:limit]

    def last_change(self) -> Change | None:
        """The newest row of the change log, shown or not: what was looked through need not be looked through again."""
        return self._tx.last_change()

    def forget_changes(self, last: int) -> None:
        """Remove the oldest rows of the change log."""
        self._tx.forget_changes(last)

    def forget_history(self, states: Iterable[tuple[str, int]]) -> int:
        """Remove superseded bodies."""
        return self._tx.forget_history(states)

    def history_after(self, after: tuple[str, int], limit: int) -> list[tuple[str, int]]:
        """Superseded bodies by xid and sequence, shown or not: this is for retention."""
        return self._tx.history_after(after, limit)

    def superseded(self, xid: str, after: int) -> tuple[int, Entity] | None:
        """The first superseded body after a sequence."""
        found = self._tx.superseded(xid, after)
        return found if self._shows(xid) else None

    def history(self, xid: str) -> list[Entity]:
        """Superseded bodies of an entity, oldest first."""
        found = self._tx.history(xid)
        return found if self._shows(xid) else []

    def history_below(self, xid: str) -> list[tuple[int, Entity]]:
        """Superseded bodies of an entity and of everything below it that is shown."""
        return [found for found in self._tx.history_below(xid) if self._shows(found[1].xid)]

    def model(self) -> Model:
        """The full model in force."""
        return self._tx.model()

    def modelsource(self) -> dict[str, Any]:
        """The model as the user gave it."""
        return self._tx.modelsource()

    def put_modelsource(self, source: dict[str, Any], expanded: dict[str, Any]) -> None:
        """Replace the model."""
        self._tx.put_modelsource(source, expanded)

    def capabilities(self) -> dict[str, Any] | None:
        """The capabilities as they were set."""
        return self._tx.capabilities()

    def put_capabilities(self, capabilities: dict[str, Any]) -> None:
        """Replace the capabilities."""
        self._tx.put_capabilities(capabilities)

    def put_search_entry(self, entry: SearchEntry) -> None:
        """Put an entry into the search index."""
        self._tx.put_search_entry(entry)

    def delete_search_entry(self, xid: str) -> None:
        """Remove an entry from the search index."""
        self._tx.delete_search_entry(xid)

    def clear_search_index(self) -> None:
        """Empty the search index."""
        self._tx.clear_search_index()

    def find_entries(self, query: EntryQuery, after: int, limit: int) -> list[EntryRow]:
        """Entries that fit and are shown, as many as were asked for as long as there are any."""
        return self._shown_rows(partial(self._tx.find_entries, query), after, limit)

    def find_properties(self, terms: Sequence[Term], shared: bool, after: str, limit: int) -> list[str]:
        """Paths of properties, shown or not: that is known by their uses."""
        return self._tx.find_properties(terms, shared, after, limit)

    def property_uses(self, path: str, after: int, limit: int) -> list[PropertyRow]:
        """The schemas that have a property and are shown."""
        return self._shown_rows(partial(self._tx.property_uses, path), after, limit)

    def properties_found(self, xids: Sequence[str], terms: Sequence[Term], limit: int) -> list[PropertyRow]:
        """The properties of schemas that are shown."""
        return self._tx.properties_found([xid for xid in xids if self._shows(xid)], terms, limit)

    def payload_users(self, schemas: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The messages that are shown and whose payloads follow some schemas."""
        return (found for found in self._tx.payload_users(schemas) if self._shows(found[1]))

    def _shown_rows(self, read: Callable[[int, int], list[IndexRow]], after: int, limit: int) -> list[IndexRow]:
        found: list[IndexRow] = []
        asked = max(ROWS, limit)
        while len(found) < limit:
            check_deadline()
            rows = read(after, asked)
            found += [row for row in rows if self._shows(row.xid)]
            if len(rows) < asked:
                break
            after = rows[-1].number
        return found[:limit]

    def records(self, kind: str, after: str = "", limit: int = 2**62) -> list[tuple[str, bytes]]:
        """The records of a kind."""
        return self._tx.records(kind, after, limit)

    def record(self, kind: str, record_id: str) -> bytes | None:
        """One record."""
        return self._tx.record(kind, record_id)

    def put_record(self, kind: str, record_id: str, body: bytes) -> None:
        """Create or replace a record."""
        self._tx.put_record(kind, record_id, body)

    def delete_record(self, kind: str, record_id: str) -> None:
        """Remove a record."""
        self._tx.delete_record(kind, record_id)

    def _shows(self, xid: str) -> bool:
        """Whether an entity is shown, or a row about the configuration: whoever uses a registry needs its model."""
        return self._read.shows(xid) or xid.count("/") == 1

    def _shown(self, row: Change) -> Change | None:
        """A row as the principal may see it, None where it may not.

        Members that come and go change the entity they are in, so a row about the Registry, or about a Group of which
        only some Resources are shown, speaks of members only where one of them is shown.
        """
        if self._read.covers(row.xid):
            return self._without_target(row) if XREF in row.changed else row
        if not self._shows(row.xid):
            return None
        owner = row.xid.rstrip("/")
        plurals = {name for name in row.changed if f"{name}count" in row.changed}
        if not plurals:
            return row
        moved = {xid.rpartition("/")[0] for xid in self._moved(row)}
        hidden = {name for name in plurals if f"{owner}/{name}" not in moved}
        hidden |= {f"{name}count" for name in hidden}
        kept = tuple(name for name in row.changed if name not in hidden)
        return None if STAMPS.issuperset(kept) else msgspec.structs.replace(row, changed=kept)

    def _moved(self, row: Change) -> Iterator[str]:
        """The entities that came or went with the change of a row and are shown; rows of a request are neighbours."""
        for other in self._of_request(row):
            if other.action in ("created", "deleted") and self._shows(other.xid):
                yield other.xid

    def _of_request(self, row: Change) -> Iterator[Change]:
        """The other rows of the request that a row is of."""
        for rows in (self._following(row.sequence), self._preceding(row.sequence)):
            yield from itertools.takewhile(lambda other: other.correlation == row.correlation, rows)

    def _following(self, sequence: int) -> Iterator[Change]:
        while rows := self._tx.changes(sequence, ROWS):
            yield from rows
            sequence = rows[-1].sequence

    def _preceding(self, sequence: int) -> Iterator[Change]:
        for end in range(sequence - 1, 0, -ROWS):
            rows = self._tx.changes(max(0, end - ROWS), ROWS)
            yield from (row for row in reversed(rows) if row.sequence <= end)

    def _without_target(self, row: Change) -> Change:
        """A row about an xref, without the names of attributes that only its hidden target has or had."""
        former = self._tx.superseded(row.xid, row.sequence - 1)
        later = self._tx.superseded(row.xid, row.sequence)
        states = [former[1] if former else None, later[1] if later else self._tx.entity(row.xid)]
        targets = [state.attributes.get("xref", ROOT) for state in states if state is not None]
        if all(self._shows(target) for target in targets):
            return row
        return msgspec.structs.replace(row, changed=tuple(name for name in row.changed if name in OF_REFERENCE))


def _collections(model: Model, xid: str) -> list[str]:
    """The collections in the Registry or a Group, of the types that the model has."""
    if xid == ROOT:
        return [f"/{plural}" for plural in model.groups]
    group_type = model.groups.get(xid.split("/")[1])
    return [f"{xid}/{plural}" for plural in group_type.resources] if group_type and xid.count("/") == 2 else []

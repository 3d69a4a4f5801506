"""A store as an endpoint of a link."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence

import msgspec

from postroom.errors import CursorBroken, CursorForeign, CursorTooOld
from postroom.registry.transaction_interface import Transaction
from postroom.replication.changes.cursors import LAST
from postroom.replication.changes.feed import MOST_CHANGES, page_of
from postroom.replication.replicas.apply_units import STATES, BatchResult, ReplicaBatch, apply_batch
from postroom.replication.replicas.digests import DigestIndex, index_of, root_digest
from postroom.replication.replicas.export_units import UnitReader, registry_id
from postroom.replication.replicas.identity import implied_authority, with_uris
from postroom.replication.replicas.peers.peer import ChangedUnits, Overview
from postroom.replication.replicas.replica_unit import Unit, UnitEntry, group_xid, unit_xid
from postroom.replication.replicas.scope import LinkScope
from postroom.store.interface import Store

_LOOK_SECONDS = 0.2


class StoreEndpoint:
    """A registry that is opened here. `authority` is who is responsible for what was written there."""

    def __init__(self, store: Store, name: str, authority: str = "", home: str = "") -> None:
        self.store = store
        self.name = name
        self.requests = 0
        self._authority = authority
        self._home = home
        self._index: DigestIndex = index_of(store)

    def overview(self, scope: LinkScope, known: str = "") -> Overview | None:
        """What the store has; None when that is what has the known digest."""
        with self.store.read() as tx:
            found = overview_of(tx, self._index, scope, self.authority(tx))
        if self._home:
            found = msgspec.structs.replace(found, home=self._home)
        return None if known and found.digest == known else found

    def entries(self, groups: Sequence[str]) -> dict[str, UnitEntry]:
        """The entries of some Groups and of what is in them."""
        with self.store.read() as tx:
            authority = self.authority(tx)
            found = {xid: one for group in groups for xid, one in self._index.entries(tx, group).items()}
        return {xid: self._with_authority(xid, entry, authority) for xid, entry in found.items()}

    def units(self, xids: Sequence[str]) -> Iterator[Unit]:
        """Some units."""
        with self.store.read() as tx:
            authority, reader = self.authority(tx), UnitReader(tx, history=self._index.history)
            for xid in xids:
                unit = reader.unit(xid)
                if unit is not None:
                    entry = self._with_authority(xid, unit.entry, authority)
                    yield with_uris(tx, msgspec.structs.replace(unit, entry=entry), authority)

    def changes(self, after: str, scope: LinkScope, wait: float) -> ChangedUnits | None:
        """The units that changed after a cursor."""
        deadline = time.monotonic() + wait
        while True:
            state = self.store.version()
            with self.store.read() as tx:
                found = changes_of(tx, after, scope)
            if found is None or found.xids or time.monotonic() >= deadline:
                return found
            while self.store.version() == state and time.monotonic() < deadline:
                time.sleep(_LOOK_SECONDS)

    def state(self, link: str) -> bytes:
        """What was kept for a link."""
        with self.store.read() as tx:
            return tx.record(STATES, link) or b""

    def apply(self, batch: ReplicaBatch) -> BatchResult:
        """Take a batch in."""
        return apply_batch(self.store, batch, history=self._index.history)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    def authority(self, tx: Transaction) -> str:
        """Who is responsible for what was written here."""
        return self._authority or f"urn:xregistry:{registry_id(tx)}"

    def _with_authority(self, xid: str, entry: UnitEntry, base: str) -> UnitEntry:
        home = self._home if self._home and not entry.imported else entry.home
        return msgspec.structs.replace(entry, home=home, authority=entry.authority or implied_authority(base, xid))


def overview_of(tx: Transaction, index: DigestIndex, scope: LinkScope, authority: str) -> Overview:
    """What a registry has, in short."""
    newest = tx.last_change()
    groups = {xid: group for xid, group in index.groups(tx).items() if scope.covers(xid)}
    if scope.xid.count("/") == 4:
        found = index.entries(tx, group_xid(scope.xid)).get(scope.xid)
        digest = found.digest if found else "nothing"
    else:
        digest = root_digest(groups)
    return Overview(
        home=registry_id(tx),
        authority=authority,
        digest=digest,
        cursor=newest.mark if newest else "",
        rules=hashlib.blake2b(msgspec.json.encode(tx.modelsource()), digest_size=8).hexdigest(),
        groups=groups,
    )


def changes_of(tx: Transaction, after: str, scope: LinkScope) -> ChangedUnits | None:
    """The units that changed after a cursor, in the order of their first change; None when the log has lost it."""
    try:
        page = page_of(tx, after or LAST, MOST_CHANGES, scope.xid)
    except (CursorBroken, CursorForeign, CursorTooOld):
        return None
    xids = dict.fromkeys(unit_xid(change.xid) for change in page.changes)
    xids.pop("", None)
    return ChangedUnits(xids=tuple(xids), cursor=page.cursor, count=len(page.changes))

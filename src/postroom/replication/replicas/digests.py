"""The digests of a store: one per unit, one per Group, one of everything; brought up to date by the change log."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from weakref import WeakKeyDictionary

import msgspec

from postroom.registry.permissions import Prefixes
from postroom.registry.transaction_interface import Transaction
from postroom.replication.replicas.export_units import UnitReader, group_xids, imported_entry, registry_id
from postroom.replication.replicas.origins import origins_in
from postroom.replication.replicas.replica_unit import UnitEntry, combined, group_xid, unit_xid
from postroom.store.interface import Store

_PAGE = 5000
_MOST_INDEXES = 8


class GroupDigest(msgspec.Struct, frozen=True, array_like=True):
    """All of a Group in one digest, and how many units that is."""

    digest: str
    count: int


class DigestIndex:
    """The entries of all units of one store, as they were after a sequence of its change log."""

    def __init__(self, *, history: bool = True) -> None:
        self.history = history
        """Whether former states count."""
        self._lock = threading.Lock()
        self._sequence = -1
        self._model: object = None
        self._groups: dict[str, dict[str, UnitEntry]] = {}
        self._digests: dict[str, GroupDigest] = {}

    def groups(self, tx: Transaction) -> dict[str, GroupDigest]:
        """The digest of every Group."""
        with self._lock:
            self._refresh(tx)
            for group in self._groups.keys() - self._digests.keys():
                entries = {xid: entry.digest for xid, entry in self._groups[group].items()}
                self._digests[group] = GroupDigest(combined(entries), len(entries))
            return dict(self._digests)

    def entries(self, tx: Transaction, group: str) -> dict[str, UnitEntry]:
        """The entries of a Group and of what is in it, with the origins they have now."""
        with self._lock:
            self._refresh(tx)
            found = dict(self._groups.get(group, {}))
        origins, home = origins_in(tx, group), registry_id(tx)
        for xid, entry in found.items():
            origin = origins.get(xid)
            if origin is None or origin.deleted:
                found[xid] = msgspec.structs.replace(entry, home=home, imported=False)
            else:
                found[xid] = imported_entry(entry.digest, origin)
        return found

    def _refresh(self, tx: Transaction) -> None:
        newest = tx.last_change()
        last = newest.sequence if newest else 0
        model = tx.model()
        if self._sequence < 0 or model is not self._model or not self._follow(tx, last):
            reader = UnitReader(tx, history=self.history)
            self._groups = {
                group: {unit.xid: unit.entry for unit in reader.group(group)} for group in group_xids(tx, model)
            }
            self._digests = {}
        self._sequence, self._model = max(last, self._sequence), model

    def _follow(self, tx: Transaction, last: int) -> bool:
        """Take in what changed since; False when the log does not reach back far enough."""
        if last < self._sequence:
            return True  # this transaction began before the one that the index was brought up to date with
        if last > self._sequence and tx.change(self._sequence + 1) is None:
            return False
        touched: set[str] = set()
        while self._sequence < last:
            page = tx.changes(self._sequence, _PAGE)
            touched |= {unit_xid(change.xid) for change in page}
            self._sequence = page[-1].sequence if len(page) == _PAGE else last
        reader = UnitReader(tx, history=self.history)
        for xid in touched - {""}:
            self._update(reader, xid)
        return True

    def _update(self, reader: UnitReader, xid: str) -> None:
        group = group_xid(xid)
        self._digests.pop(group, None)
        unit = reader.unit(xid)
        if unit is not None:
            self._groups.setdefault(group, {})[xid] = unit.entry
            return
        self._groups.get(group, {}).pop(xid, None)
        if not self._groups.get(group):
            self._groups.pop(group, None)


_INDEXES: WeakKeyDictionary[Store, OrderedDict[Prefixes, DigestIndex]] = WeakKeyDictionary()
_MAKING = threading.Lock()


def index_of(store: Store) -> DigestIndex:
    """The index of what is seen of a store, the same for everybody who may read the same."""
    with _MAKING:
        indexes = _INDEXES.setdefault(store.base, OrderedDict())
        found = indexes.pop(store.permissions.read, None) or DigestIndex()
        indexes[store.permissions.read] = found
        if len(indexes) > _MOST_INDEXES:
            indexes.popitem(last=False)
        return found


def root_digest(groups: Mapping[str, GroupDigest]) -> str:
    """One digest of all Groups."""
    return combined({xid: group.digest for xid, group in groups.items()})

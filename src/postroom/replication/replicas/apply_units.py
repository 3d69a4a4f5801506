"""Applying a batch of units to a store: decisions, writes, origins and the link's state in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from postroom.registry import operations
from postroom.registry.changes.provenance import Provenance, accepts_provenance, attach_provenance
from postroom.registry.paths import resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.replication.replicas.conflict_policy import ConflictPolicy, Decision, decide, decide_gone, stamp_after
from postroom.replication.replicas.export_units import UnitReader, registry_id
from postroom.replication.replicas.former_states import keep_document
from postroom.replication.replicas.import_unit import ImportUnitOfWork, check_body, check_place, uri_of, write_unit
from postroom.replication.replicas.origins import UnitOrigin, forget_origin, origin_of, put_origin
from postroom.replication.replicas.replica_unit import PROVENANCE, Unit, digest_of_states, is_group, state_digests
from postroom.store.checked_write import write_checked
from postroom.store.interface import Store

LINKS = "link"
STATES = "linkstate"


class ReplicaBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Some of what a link brings: units as they are called at the target, and units that are gone."""

    link: str
    units: tuple[Unit, ...] = ()
    gone: tuple[str, ...] = ()
    claims: dict[str, bool] = {}
    """Units that came by other links, but are the same here and there, with whether the source is their home."""
    policy: ConflictPolicy = ConflictPolicy()
    state: str = ""
    """The link's state after this batch; empty: as it was."""


class BatchResult(msgspec.Struct, kw_only=True):
    """What became of a batch."""

    taken: list[str] = []
    deleted: list[str] = []
    kept: dict[str, Decision] = {}
    """Units that stayed as they were although the source has something else."""
    refused: dict[str, str] = {}
    """Units that the target's rules do not allow, with the reason."""

    def add(self, other: BatchResult) -> None:
        """Take in what became of another batch."""
        self.taken += other.taken
        self.deleted += other.deleted
        self.kept |= other.kept
        self.refused |= other.refused


def apply_batch(store: Store, batch: ReplicaBatch, *, history: bool = True) -> BatchResult:
    """Apply a batch; when something in it is refused, the rest of it is applied without that."""
    try:
        return _apply(store, batch, history)
    except RegistryProblem as problem:
        if problem.status >= 500:
            raise
        return _apply_parts(store, batch, problem, history)


def _apply_parts(store: Store, batch: ReplicaBatch, problem: RegistryProblem, history: bool) -> BatchResult:
    left, right = _halves(batch)
    if left is None or right is None:
        xid = batch.units[0].xid if batch.units else batch.gone[0]
        outcome = BatchResult(refused={xid: problem.sentence})
    else:
        outcome = apply_batch(store, left, history=history)
        outcome.add(apply_batch(store, right, history=history))
    if batch.state:
        with store.write() as tx:
            tx.put_record(STATES, batch.link, batch.state.encode())
    return outcome


def _halves(batch: ReplicaBatch) -> tuple[ReplicaBatch | None, ReplicaBatch | None]:
    plain = msgspec.structs.replace(batch, state="", claims={})
    if batch.gone and batch.units:
        return msgspec.structs.replace(plain, units=()), msgspec.structs.replace(plain, gone=())
    parts: Sequence[Any] = batch.units or batch.gone
    if len(parts) < 2:
        return None, None
    name, middle = "units" if batch.units else "gone", len(parts) // 2
    return tuple(msgspec.structs.replace(plain, **{name: part}) for part in (parts[:middle], parts[middle:]))  # type: ignore[return-value]


def _apply(store: Store, batch: ReplicaBatch, history: bool) -> BatchResult:
    def write(tx: Transaction) -> BatchResult:
        applying = _BatchWriter(tx, batch, history)
        applying.run()
        if batch.state:
            tx.put_record(STATES, batch.link, batch.state.encode())
        return applying.outcome

    return write_checked(store, write)


class _BatchWriter:
    """One batch in one transaction."""

    def __init__(self, tx: Transaction, batch: ReplicaBatch, history: bool) -> None:
        self.tx = tx
        self.batch = batch
        self.here = registry_id(tx)
        self.model = tx.model()
        self.work = ImportUnitOfWork(tx, actor=f"link:{batch.link}")
        self.reader = UnitReader(tx, history=history)
        self.outcome = BatchResult()
        self.arrived: list[tuple[Unit, UnitOrigin | None]] = []

    def run(self) -> None:
        """Deletions go first: what comes may differ from what goes only by case."""
        with self.work.operation():  # units may refer to each other
            for xid in sorted(self.batch.gone, key=lambda one: -one.count("/")):
                self._remove(xid)
            for unit in sorted(self.batch.units, key=lambda one: one.xid.count("/")):
                self._take(unit)
        for xid, is_home in self.batch.claims.items():
            self._claim(xid, is_home)
        self.work.finish()
        for unit, before in self.arrived:
            self._keep_beside(unit)
            put_origin(self.tx, unit.xid, self._origin(unit, before))

    def _take(self, unit: Unit) -> None:
        check_body(unit, check_place(self.model, unit.xid))
        local, origin = self._digest(unit.xid), origin_of(self.tx, unit.xid)
        decision = decide(unit.entry, local, origin, self.here, self.batch.policy)
        if decision == "take":
            write_unit(self.work, self.model, unit, _present_states(unit, local, origin))
            self.arrived.append((unit, origin))
            self.outcome.taken.append(unit.xid)
        elif decision != "same":
            self.outcome.kept[unit.xid] = decision
        elif origin is not None and origin.home == unit.entry.home and origin.link != self.batch.link:
            self._claim(unit.xid, not unit.entry.imported)

    def _claim(self, xid: str, is_home: bool) -> None:
        """Let a unit belong to this link from now on: it comes straight from home, or the other link is no more."""
        origin = origin_of(self.tx, xid)
        if origin is not None and not origin.deleted and (is_home or self.tx.record(STATES, origin.link) is None):
            put_origin(self.tx, xid, msgspec.structs.replace(origin, link=self.batch.link))

    def _remove(self, xid: str) -> None:
        check_place(self.model, xid)
        local, origin = self._digest(xid), origin_of(self.tx, xid)
        if not local:
            return
        decision = decide_gone(origin, local, self.batch.link, self.batch.policy)
        if decision != "take" or origin is None:
            self.outcome.kept[xid] = decision
            return
        if is_group(xid) and self.tx.size(xid):
            self.outcome.kept[xid] = "ours"  # somebody else's definitions are in it, and they need it
            forget_origin(self.tx, xid)
            return
        operations.delete(self.work, resolve(self.model, xid), None, None, "")
        put_origin(self.tx, xid, msgspec.structs.replace(origin, deleted=True))
        self.outcome.deleted.append(xid)

    def _keep_beside(self, unit: Unit) -> None:
        """Keep the documents of Versions, and their provenance where the model has no attributes for it."""
        if unit.is_group:
            return
        has_room = accepts_provenance(resolve(self.model, unit.xid).resource)
        for version_id in unit.versions:
            entity = self.tx.entity(f"{unit.xid}/versions/{version_id}")
            if entity is None:
                continue
            uri = uri_of(unit, version_id)
            if not has_room:
                attach_provenance(self.tx, entity, Provenance(unit.entry.authority, uri))
            if version_id in unit.documents:
                keep_document(self.tx, entity, unit.documents[version_id], uri)

    def _digest(self, xid: str) -> str:
        unit = self.reader.unit(xid)
        return unit.entry.digest if unit else ""

    def _origin(self, unit: Unit, before: UnitOrigin | None) -> UnitOrigin:
        entry = unit.entry
        states = [] if unit.history is None else state_digests(unit)
        origin = UnitOrigin(
            home=entry.home,
            authority=entry.authority,
            path=entry.path or unit.xid,
            link=self.batch.link,
            stamp=stamp_after(entry, before),
            digest=entry.digest,
            implied=tuple(name for name in PROVENANCE if any(name not in one for one in unit.versions.values())),
            states=len(states),
            past=digest_of_states(states),
        )
        put_origin(self.tx, unit.xid, origin)  # the digest depends on what is implied
        return msgspec.structs.replace(origin, local=self._digest(unit.xid))


def _present_states(unit: Unit, local: str, origin: UnitOrigin | None) -> int:
    """How many states of a message are here as the source has them; 0 when what is here is something else."""
    if unit.history is None or origin is None or origin.deleted or local != origin.local:
        return 0
    states = state_digests(unit)
    is_same = origin.states <= len(states) and digest_of_states(states[: origin.states]) == origin.past
    return origin.states if is_same else 0

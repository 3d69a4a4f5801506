"""Any xRegistry service as the target of a link: conflicts are decided here, with the help of a state file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

import msgspec

from postroom.catalog.service_client import problem_in
from postroom.catalog.service_entities import url_path
from postroom.errors import ServiceRefused
from postroom.replication.replicas.apply_units import BatchResult, ReplicaBatch
from postroom.replication.replicas.conflict_policy import Decision, decide, decide_gone, stamp_after
from postroom.replication.replicas.import_unit import with_versions_named
from postroom.replication.replicas.origins import UnitOrigin
from postroom.replication.replicas.peers.client import ReplicaClient
from postroom.replication.replicas.peers.state_file import StateFile
from postroom.replication.replicas.peers.xregistry_source import XRegistrySource
from postroom.replication.replicas.replica_unit import Tree, Unit, UnitEntry, group_xid, is_group

_DELETED = (200, 202, 204, 404)


class XRegistryTarget(XRegistrySource):
    """A service that is written to with PUT, POST and DELETE of entities."""

    def __init__(self, client: ReplicaClient, state_file: StateFile) -> None:
        super().__init__(client)
        self._state_file = state_file

    def entries(self, groups: Sequence[str]) -> dict[str, UnitEntry]:
        """The entries of some Groups, with what the state file knows of them."""
        return {xid: self._noted(xid, entry) for xid, entry in super().entries(groups).items()}

    def state(self, link: str) -> bytes:
        """What was kept for a link."""
        return bytes(self._state_file.states.get(link, b""))

    def apply(self, batch: ReplicaBatch) -> BatchResult:
        """Write what is wanted. A process that dies in between leaves what the next pull finds and completes."""
        outcome = BatchResult()
        for xid in sorted(batch.gone, key=lambda one: -one.count("/")):
            self._remove(xid, batch, outcome)
        for xid, is_home in batch.claims.items():
            self._claim(xid, is_home, batch.link)
        wanted = [unit for unit in batch.units if self._is_wanted(unit, batch, outcome)]
        for unit in wanted:
            self._clear(unit)
        self._write(wanted, outcome)
        arrived = {unit.xid: unit for unit in wanted if unit.xid not in outcome.refused}
        self._held = {}
        for unit in self.units(list(arrived)):
            self._note(arrived[unit.xid], unit.entry.digest, batch)
        outcome.taken += arrived
        if batch.state:
            self._state_file.states[batch.link] = msgspec.Raw(batch.state.encode())
        if batch.state or arrived or outcome.deleted or batch.claims:
            self._state_file.save()
        return outcome

    def _noted(self, xid: str, entry: UnitEntry) -> UnitEntry:
        origin = self._state_file.origins.get(xid)
        if origin is None or origin.deleted:
            return entry
        taken = origin.digest if origin.local == entry.digest else ""
        return msgspec.structs.replace(entry, imported=True, home=origin.home, link=origin.link, taken=taken)

    def _is_wanted(self, unit: Unit, batch: ReplicaBatch, outcome: BatchResult) -> bool:
        present = next(self.units([unit.xid]), None)
        decision = self._decide(unit, present, batch)
        if decision not in ("take", "same"):
            outcome.kept[unit.xid] = decision
        return decision == "take"

    def _decide(self, unit: Unit, present: Unit | None, batch: ReplicaBatch) -> Decision:
        local = present.entry.digest if present else ""
        return decide(unit.entry, local, self._state_file.origins.get(unit.xid), self.home, batch.policy)

    def _claim(self, xid: str, is_home: bool, link: str) -> None:
        origin = self._state_file.origins.get(xid)
        if origin is not None and not origin.deleted and (is_home or origin.link not in self._state_file.states):
            self._state_file.origins[xid] = msgspec.structs.replace(origin, link=link)

    def _remove(self, xid: str, batch: ReplicaBatch, outcome: BatchResult) -> None:
        origin, present = self._state_file.origins.get(xid), next(self.units([xid]), None)
        if present is None:
            return
        decision = decide_gone(origin, present.entry.digest, batch.link, batch.policy)
        if decision == "take" and is_group(xid) and any(not is_group(one.xid) for one in self._read_group(xid)):
            decision = "ours"
            del self._state_file.origins[xid]
        if decision != "take" or origin is None:
            outcome.kept[xid] = decision
            return
        self._delete(xid)
        self._state_file.origins[xid] = msgspec.structs.replace(origin, deleted=True)
        outcome.deleted.append(xid)

    def _delete(self, xid: str) -> None:
        reply = self.client.ask("DELETE", url_path(xid))
        if reply.status not in _DELETED:
            raise ServiceRefused(f"{xid} cannot be deleted: {problem_in(reply)}", place=self.name)
        self._held.pop(xid, None)

    def _clear(self, unit: Unit) -> None:
        """A write never takes Versions away, so a Resource that has too many is written anew."""
        present = self._held.get(unit.xid) or next(self.units([unit.xid]), None)
        if present is None or not unit.versions:
            return
        if any(one not in unit.versions for one in present.versions):
            self._delete(unit.xid)

    def _write(self, units: list[Unit], outcome: BatchResult) -> None:
        """One request for each Group; when it is refused, one for each half of it."""
        for group, some in groupby(sorted(units, key=lambda one: (group_xid(one.xid), one.xid)), _group_of):
            self._write_group(group, list(some), outcome)

    def _write_group(self, group: str, units: list[Unit], outcome: BatchResult) -> None:
        own = next((unit for unit in units if unit.is_group), None)
        body = {**(own.body if own else {}), **self._nested(unit for unit in units if not unit.is_group)}
        reply = self.client.ask("PUT" if own else "POST", url_path(group), json=body)
        if reply.is_success:
            return
        if reply.status >= 500:
            raise ServiceRefused(f"{group} answers {reply.status}: {problem_in(reply)}", place=self.name)
        if len(units) == 1:
            outcome.refused[units[0].xid] = problem_in(reply)
            return
        middle = len(units) // 2
        self._write_group(group, units[:middle], outcome)
        self._write_group(group, units[middle:], outcome)

    def _nested(self, units: Iterable[Unit]) -> Tree:
        nested: Tree = {}
        for unit in units:
            kind, _, plural, resource_id = unit.xid.split("/")[1:]
            shape = self.shapes()[kind].resources.get(plural) if kind in self.shapes() else None
            body = with_versions_named(unit) if shape is None or shape.has_room else unit.body
            nested.setdefault(plural, {})[resource_id] = body
        return nested

    def _note(self, unit: Unit, local: str, batch: ReplicaBatch) -> None:
        self._state_file.origins[unit.xid] = UnitOrigin(
            home=unit.entry.home,
            authority=unit.entry.authority,
            path=unit.entry.path or unit.xid,
            link=batch.link,
            stamp=stamp_after(unit.entry, self._state_file.origins.get(unit.xid)),
            digest=unit.entry.digest,
            local=local,
        )


def _group_of(unit: Unit) -> str:
    return group_xid(unit.xid)

"""Any xRegistry service as the source of a link, read by nothing but the specification's own API."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from postroom.catalog.service_entities import ResourceTypes, resource_types, url_path
from postroom.catalog.service_reader import ServiceReader
from postroom.errors import ServiceRefused
from postroom.replication.replicas.digests import GroupDigest
from postroom.replication.replicas.peers.client import ReplicaClient
from postroom.replication.replicas.peers.peer import UNKNOWN, ChangedUnits, Overview
from postroom.replication.replicas.peers.units_from_json import group_unit, resource_unit, shapes_in
from postroom.replication.replicas.replica_unit import Shapes, Tree, Unit, UnitEntry, group_xid, is_group
from postroom.replication.replicas.scope import LinkScope


class XRegistrySource:
    """A service that has neither digests nor a change log: Groups are read to be compared, one at a time."""

    def __init__(self, client: ReplicaClient) -> None:
        self.client = client
        self.name = client.name
        self.reader = ServiceReader(client, binary=True)
        self._home = ""
        self._shapes: Shapes | None = None
        self._kinds: ResourceTypes = {}
        self._listed: set[str] = set()
        self._held: dict[str, Unit] = {}

    @property
    def requests(self) -> int:
        """How many requests it took so far."""
        return self.client.requests

    @property
    def home(self) -> str:
        """The id of its registry."""
        if not self._home:
            self._registry()
        return self._home

    def shapes(self) -> Shapes:
        """The shapes of its model."""
        if self._shapes is None:
            model = self.reader.model()
            self._shapes, self._kinds = shapes_in(model), resource_types(model)
        return self._shapes

    def overview(self, scope: LinkScope, known: str = "") -> Overview | None:
        """Which Groups it has."""
        self.reader.begin()
        root, groups = self._registry(), dict[str, GroupDigest]()
        for plural in self.shapes():
            if scope.xid == "/":
                groups |= dict.fromkeys(
                    (f"/{plural}/{one}" for one in self.reader.members(root, f"/{plural}")), UNKNOWN
                )
            elif group_xid(scope.xid).split("/")[1] == plural:
                groups[group_xid(scope.xid)] = UNKNOWN
        self._listed = set(groups) if scope.xid == "/" else set()
        return Overview(home=self.home, authority=self.client.name, groups=groups)

    def entries(self, groups: Sequence[str]) -> dict[str, UnitEntry]:
        """The entries of some Groups; their units are held until other ones are asked for."""
        self.reader.begin()
        self._held = {unit.xid: unit for group in groups for unit in self._read_group(group)}
        return {xid: unit.entry for xid, unit in self._held.items()}

    def units(self, xids: Sequence[str]) -> Iterator[Unit]:
        """Some units."""
        self.reader.begin()
        for xid in xids:
            unit = self._held.get(xid) or self._read_one(xid)
            if unit is not None:
                yield unit

    def changes(self, after: str, scope: LinkScope, wait: float) -> ChangedUnits | None:
        """None: there is no change log."""
        return None

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def _registry(self) -> Tree:
        root = self.reader.registry()
        self._home = str(root.get("registryid") or self.name)
        return root

    def _read_group(self, xid: str) -> Iterator[Unit]:
        plural = xid.split("/")[1]
        shape = self.shapes().get(plural)
        group = self.reader.entity(url_path(xid)) if shape else None
        if shape is None or group is None:
            if xid in self._listed:
                raise ServiceRefused(f"it lists {xid} and does not give it.", place=self.name)
            return
        yield self._with_authority(group_unit(xid, group, shape, self.home))
        for name, resource_type in self._kinds[plural].items():
            for resource_id, seen in self.reader.resources(group, xid, resource_type):
                yield self._resource(f"{xid}/{name}/{resource_id}", seen)

    def _read_one(self, xid: str) -> Unit | None:
        parts = xid.split("/")
        shape = self.shapes().get(parts[1])
        if shape is None or (len(parts) > 3 and parts[3] not in shape.resources):
            return None
        if is_group(xid):
            group = self.reader.entity(url_path(xid))
            return self._with_authority(group_unit(xid, group, shape, self.home)) if group is not None else None
        resource_type = self._kinds[parts[1]][parts[3]]
        seen = self.reader.entity(
            self.reader.inlining(url_path(xid) + ("$details" if resource_type.hasdocument else ""))
        )
        return self._resource(xid, self.reader.resource(seen, xid, resource_type)) if seen is not None else None

    def _resource(self, xid: str, seen: Tree) -> Unit:
        parts = xid.split("/")
        shape = self.shapes()[parts[1]].resources[parts[3]]
        versions = seen.get("versions") or {}
        return self._with_authority(resource_unit(xid, seen, seen["meta"], versions, shape, self.home))

    def _with_authority(self, unit: Unit) -> Unit:
        authority = unit.entry.authority or self.client.name
        return msgspec.structs.replace(unit, entry=msgspec.structs.replace(unit.entry, authority=authority))

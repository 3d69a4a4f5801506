"""Any xRegistry service as an end of a link, by nothing but the specification's own reads and writes."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import msgspec

from postroom.errors import ServiceRefused
from postroom.replication.copies.digests import GroupDigest
from postroom.replication.copies.scopes import Scope
from postroom.replication.copies.sides.client import Client
from postroom.replication.copies.sides.side import UNKNOWN, Changes, Overview
from postroom.replication.copies.sides.trees import group_unit, resource_unit, shapes_in
from postroom.replication.copies.units import Entry, ResourceShape, Shapes, Tree, Unit, group_xid, is_group

_MOST_PAGES = 100_000


class PlainSide:
    """A service that has neither digests nor a change log: Groups are read to be compared, one at a time."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.name = client.name
        self._root: Tree | None = None
        self._shapes: Shapes = {}
        self._flags: frozenset[str] = frozenset()
        self._held: dict[str, Unit] = {}

    @property
    def requests(self) -> int:
        """How many requests it took so far."""
        return self.client.requests

    @property
    def home(self) -> str:
        """The id of its registry."""
        return str(self._registry().get("registryid") or self.name)

    def shapes(self) -> Shapes:
        """The shapes of its model."""
        self._registry()
        return self._shapes

    def overview(self, scope: Scope, known: str = "") -> Overview | None:
        """Which Groups it has."""
        shapes = self.shapes()
        groups: dict[str, GroupDigest] = {}
        for plural in shapes:
            if scope.xid == "/":
                groups |= dict.fromkeys((f"/{plural}/{one}" for one in self._members(f"/{plural}")), UNKNOWN)
            elif group_xid(scope.xid).split("/")[1] == plural:
                groups[group_xid(scope.xid)] = UNKNOWN
        return Overview(home=self.home, authority=self.client.name, groups=groups)

    def entries(self, groups: Sequence[str]) -> dict[str, Entry]:
        """The entries of some Groups; their units are held until other ones are asked for."""
        self._held = {unit.xid: unit for group in groups for unit in self._read_group(group)}
        return {xid: unit.entry for xid, unit in self._held.items()}

    def units(self, xids: Sequence[str]) -> Iterator[Unit]:
        """Some units."""
        for xid in xids:
            unit = self._held.get(xid) or self._read_one(xid)
            if unit is not None:
                yield unit

    def changes(self, after: str, scope: Scope, wait: float) -> Changes | None:
        """Nobody can tell."""
        return None

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    def _registry(self) -> Tree:
        if self._root is None:
            self._root = _object(self.client.get("/"), self.name)
            self._shapes = shapes_in(self.client.get("/model"))
            offered = self.client.ask("GET", "/capabilities")
            found = self.client.json(offered, "/capabilities") if offered.is_fine else {}
            flags = found.get("flags") if isinstance(found, dict) else None
            self._flags = frozenset(map(str, flags)) if isinstance(flags, list) else frozenset()
        return self._root

    def _read_group(self, xid: str) -> Iterator[Unit]:
        plural = xid.split("/")[1]
        shape = self.shapes().get(plural)
        group = self._entity(path_of(xid)) if shape else None
        if shape is None or group is None:
            return
        yield self._spoken_for(group_unit(xid, group, shape, self.home))
        for name in shape.resources:
            for resource_id, seen in self._members(f"{xid}/{name}", inline=True).items():
                yield self._resource(f"{xid}/{name}/{resource_id}", seen)

    def _read_one(self, xid: str) -> Unit | None:
        parts = xid.split("/")
        shape = self.shapes().get(parts[1])
        if shape is None or (len(parts) > 3 and parts[3] not in shape.resources):
            return None
        if is_group(xid):
            group = self._entity(path_of(xid))
            return self._spoken_for(group_unit(xid, group, shape, self.home)) if group is not None else None
        details = "$details" if shape.resources[parts[3]].hasdocument else ""
        seen = self._entity(path_of(xid) + details + self._inline())
        return self._resource(xid, seen) if seen is not None else None

    def _resource(self, xid: str, seen: Tree) -> Unit:
        """A Resource; what was not inlined is asked for."""
        parts = xid.split("/")
        shape = self._shapes[parts[1]].resources[parts[3]]
        meta = seen.get("meta") if isinstance(seen.get("meta"), dict) else self.client.get(path_of(xid) + "/meta")
        meta = _object(meta, self.name)
        versions: dict[str, Tree] = {}
        if not meta.get("xref"):
            inlined = seen.get("versions")
            versions = inlined if isinstance(inlined, dict) else self._members(f"{xid}/versions", inline=True)
        if shape.hasdocument and "inline" not in self._flags:
            versions = {one: self._with_document(f"{xid}/versions/{one}", v, shape) for one, v in versions.items()}
        return self._spoken_for(resource_unit(xid, seen, meta, versions, shape, self.home))

    def _with_document(self, xid: str, version: Tree, shape: ResourceShape) -> Tree:
        """A Version whose document is asked for on its own, unless it is elsewhere."""
        if any(shape.singular + end in version for end in ("url", "proxyurl")):
            return version
        reply = self.client.ask("GET", path_of(xid))
        if not reply.is_fine or not reply.body:
            return version
        return {**version, shape.singular + "base64": base64.b64encode(reply.body).decode()}

    def _members(self, xid: str, inline: bool = False) -> dict[str, Any]:
        """A whole collection, page by page."""
        found: dict[str, Any] = {}
        path, pages = path_of(xid) + (self._inline() if inline else ""), 0
        while path:
            reply = self.client.ask("GET", path)
            if reply.status == 404 and not pages:
                return {}
            found |= _object(self.client.json(reply, path), self.name)
            path, pages = reply.next_page(), pages + 1
            if pages > _MOST_PAGES:
                raise ServiceRefused(f"the pages of {xid} do not end.", place=self.name)
        return found

    def _entity(self, path: str) -> Tree | None:
        reply = self.client.ask("GET", path)
        return None if reply.status == 404 else _object(self.client.json(reply, path), self.name)

    def _inline(self) -> str:
        wanted = [one for one, flag in (("inline=*", "inline"), ("binary", "binary")) if flag in self._flags]
        return "?" + "&".join(wanted) if wanted else ""

    def _spoken_for(self, unit: Unit) -> Unit:
        authority = unit.entry.authority or self.client.name
        return msgspec.structs.replace(unit, entry=msgspec.structs.replace(unit.entry, authority=authority))


def path_of(xid: str) -> str:
    """The path of an xid in a URL."""
    return quote(xid, safe="/:@!$&'()*+,;=~")


def _object(value: Any, name: str) -> Tree:
    if not isinstance(value, dict):
        raise ServiceRefused("it answers something that is no registry.", place=name)
    return value

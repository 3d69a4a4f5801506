"""A message catalog (S002) as an endpoint of a link: groups and definitions, each at its newest version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from postroom.catalog.service_client import problem_in
from postroom.documents.dialects.messagecatalog import DIALECT
from postroom.documents.dialects.messagecatalog_ids import catalog_id_of, catalog_segment, entity_id
from postroom.documents.dialects.messagecatalog_sections import format_of
from postroom.errors import ServiceRefused
from postroom.outbound.policy import OutboundResponse
from postroom.registry.changes.provenance import version_uri
from postroom.replication.replicas.apply_units import BatchResult
from postroom.replication.replicas.import_unit import uri_of
from postroom.replication.replicas.peers.peer import UNKNOWN, Overview
from postroom.replication.replicas.peers.xregistry_target import XRegistryTarget
from postroom.replication.replicas.replica_unit import (
    GroupShape,
    ResourceShape,
    Shapes,
    Stamp,
    Tree,
    Unit,
    UnitEntry,
    digest_of,
    group_xid,
    is_group,
)
from postroom.replication.replicas.scope import LinkScope

GROUPS = "/messagegroups/"
MESSAGE = ResourceShape("message", hasdocument=False)
SHAPES: Shapes = {"messagegroups": GroupShape("messagegroup", {"messages": MESSAGE})}
VERSION = "1"
"""The one Version that a message has in a registry."""
_HEADER = "message-definition-"
_IDENTITY = frozenset({"messageid", "messagegroupid", "versionid", "createdat", "modifiedat", "authority", "messages"})
_CREATED = (200, 201, 204)


class MessageCatalogEndpoint(XRegistryTarget):
    """The API below `…/messagecatalog`. Its own URL is the authority of what names none."""

    @property
    def home(self) -> str:
        """The URL of the catalog: it has no other name."""
        return self.client.name

    def shapes(self) -> Shapes:
        """Message groups and messages."""
        return SHAPES

    def overview(self, scope: LinkScope, known: str = "") -> Overview | None:
        """Which groups it has."""
        if scope.xid != "/":
            ids = [group_xid(scope.xid)] if scope.xid.startswith(GROUPS) else []
        else:
            ids = [GROUPS + one for one in self._names("/")]
        return Overview(home=self.home, authority=self.home, groups=dict.fromkeys(ids, UNKNOWN))

    def _read_group(self, xid: str) -> Iterator[Unit]:
        group = self._read_one(xid)
        if group is None:
            return
        yield group
        for name in self._names(_path(xid) + "/messagedefinitions"):
            unit = self._read_one(f"{xid}/messages/{name}")
            if unit is not None:
                yield unit

    def _read_one(self, xid: str) -> Unit | None:
        if not xid.startswith(GROUPS):
            return None
        reply = self.client.ask("GET", _path(xid))
        if reply.status == 404:
            return None
        document = self.client.json(reply, _path(xid))
        if not isinstance(document, dict):
            return None
        return _group_unit(xid, document, self.home) if is_group(xid) else self._definition(xid, document, reply)

    def _definition(self, xid: str, document: Tree, reply: OutboundResponse) -> Unit:
        group, name = map(catalog_id_of, xid.split("/")[2::2])
        chosen = document.get("format") or reply.headers.get(_HEADER + "format")
        whole = {"id": group, "format": chosen, "messagedefinitions": {name: {"id": name, "versions": {"1": document}}}}
        groups = DIALECT.to_rc4({"messagecatalog": {group: whole}})[0]["messagegroups"]
        message = groups[entity_id(group)]["messages"][entity_id(name)]
        version = {one: value for one, value in message.items() if one not in _IDENTITY}
        body = {"meta": {}, "versions": {VERSION: version}}
        authority = reply.headers.get(_HEADER + "authority") or self.home
        place = f"{self.home}{_path(xid)}/versions/{reply.headers.get(_HEADER + 'version', '1')}"
        uri = reply.headers.get(_HEADER + "uri") or version_uri(authority, reply.headers.get(_HEADER + "id") or place)
        time = reply.headers.get(_HEADER + "updatedtimeutc", "")
        entry = UnitEntry(digest=digest_of(body, MESSAGE), stamp=Stamp(0, time), home=self.home, authority=authority)
        return Unit(xid=xid, body=body, entry=entry, uris={VERSION: uri})

    def _names(self, path: str) -> list[str]:
        found = self.client.get(path)
        if not isinstance(found, list):
            raise ServiceRefused(f"{path} does not list ids; this is no message catalog.", place=self.name)
        return [entity_id(str(one.get("id") if isinstance(one, dict) else one)) for one in found]

    def _delete(self, xid: str) -> None:
        reply = self.client.ask("DELETE", _path(xid))
        if reply.status not in (*_CREATED, 404):
            raise ServiceRefused(f"{xid} cannot be deleted: {problem_in(reply)}", place=self.name)
        self._held.pop(xid, None)

    def _clear(self, unit: Unit) -> None:
        """A new version takes the place of the one before."""

    def _write_group(self, group: str, units: list[Unit], outcome: BatchResult) -> None:
        present = next((unit for unit in units if unit.is_group), None) or next(self.units([group]), None)
        for unit in units:
            refused = self._write_one(unit, present.body if present else {})
            if refused:
                outcome.refused[unit.xid] = refused

    def _write_one(self, unit: Unit, group: Tree) -> str:
        """Write a unit; why it could not be written, else nothing."""
        if not unit.xid.startswith(GROUPS):
            return "a message catalog has message groups only."
        if is_group(unit.xid):
            body = {"format": format_of({}, group) or "CloudEvents"}
            body |= {name: group[name] for name in ("description",) if name in group}
            reply = self.client.ask("PUT", _path(unit.xid), json=body)
        else:
            document = _document(unit, group)
            if document is None:
                return "a message catalog cannot hold it: it has no format of the group's, or a base message."
            query = urlencode({"authority": unit.entry.authority, "id": uri_of(unit, _default(unit))})
            reply = self.client.ask("POST", f"{_path(unit.xid)}?{query}", json=document)
        if reply.status >= 500:
            raise ServiceRefused(f"{unit.xid} answers {reply.status}: {problem_in(reply)}", place=self.name)
        return "" if reply.status in _CREATED else problem_in(reply)


def _path(xid: str) -> str:
    group, *name = map(catalog_segment, xid.split("/")[2::2])
    return f"/{group}/messagedefinitions/{name[0]}" if name else f"/{group}"


def _group_unit(xid: str, document: Tree, home: str) -> Unit:
    name = xid.rpartition("/")[2]
    whole: Any = DIALECT.to_rc4({"messagecatalog": {catalog_id_of(name): {**document, "messagedefinitions": {}}}})[0]
    body = {one: value for one, value in whole["messagegroups"][name].items() if one not in _IDENTITY}
    entry = UnitEntry(
        digest=digest_of(body, None), home=home, authority=home, stamp=Stamp(0, document.get("updatedtimeutc", ""))
    )
    return Unit(xid=xid, body=body, entry=entry)


def _default(unit: Unit) -> str:
    chosen = unit.body["meta"].get("defaultversionid")
    return chosen if chosen in unit.versions else next(iter(unit.versions), VERSION)


def _document(unit: Unit, group: Tree) -> Tree | None:
    version = unit.versions.get(_default(unit))
    if version is None or "basemessage" in version:
        return None
    group_id, name = unit.xid.split("/")[2::2]
    plain = {one: value for one, value in version.items() if one not in ("authority", "versionuri", "ancestorid")}
    tree = {"messagegroups": {group_id: {**group, "messages": {name: {**plain, "versionid": "1"}}}}}
    definitions = DIALECT.from_rc4(tree)["messagecatalog"][catalog_id_of(group_id)]["messagedefinitions"]
    if catalog_id_of(name) not in definitions:
        return None
    document: Tree = definitions[catalog_id_of(name)]["versions"]["1"]
    described = {"description": version["description"]} if version.get("description") else {}
    return {**described, **{one: value for one, value in document.items() if one != "version"}}

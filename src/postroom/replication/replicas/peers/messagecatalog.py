"""A message catalog (S002) as an endpoint of a link: groups, and definitions with all their versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote, urlencode

from postroom.catalog.service_client import problem_in
from postroom.documents.dialects.messagecatalog_ids import catalog_segment, entity_id
from postroom.documents.dialects.messagecatalog_sections import NATIVE, format_of, group_selectors
from postroom.documents.dialects.name_tables import CATALOG_ATTRIBUTES
from postroom.errors import ServiceRefused
from postroom.outbound.policy import OutboundResponse
from postroom.registry.changes.original_documents import Original
from postroom.replication.replicas.apply_units import BatchResult, ReplicaBatch
from postroom.replication.replicas.conflict_policy import Decision
from postroom.replication.replicas.peers.client import ReplicaClient
from postroom.replication.replicas.peers.event_listener import CHANGES, ChangeFeed
from postroom.replication.replicas.peers.messagecatalog_documents import (
    HEADER,
    VERSION,
    continues,
    document_of,
    state_of,
    states_of,
)
from postroom.replication.replicas.peers.peer import UNKNOWN, ChangedUnits, Overview
from postroom.replication.replicas.peers.state_file import StateFile
from postroom.replication.replicas.peers.xregistry_target import XRegistryTarget
from postroom.replication.replicas.replica_unit import (
    FormerState,
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
    newest_time,
)
from postroom.replication.replicas.scope import LinkScope

GROUPS = "/messagegroups/"
_CATALOG = "/messagecatalog"
MESSAGE = ResourceShape("message", hasdocument=False)
SHAPES: Shapes = {"messagegroups": GroupShape("messagegroup", {"messages": MESSAGE})}
_CREATED = (200, 201, 204)


class MessageCatalogEndpoint(XRegistryTarget):
    """The API below `…/messagecatalog`. Its own URL is the authority of what names none.

    Where a Postroom has it, the events of the catalog are at the change log; elsewhere it is compared again and again.
    """

    def __init__(self, client: ReplicaClient, state_file: StateFile) -> None:
        super().__init__(client, state_file)
        root = client.base.removesuffix(_CATALOG).removesuffix("/-")
        self._feed = ChangeFeed(client, root + CHANGES, "messagecatalog", unit_of_path)
        self._has_feed = True

    @property
    def home(self) -> str:
        """The URL of the catalog: it has no other name."""
        return self.client.name

    def shapes(self) -> Shapes:
        """Message groups and messages."""
        return SHAPES

    def overview(self, scope: LinkScope, known: str = "") -> Overview | None:
        """Which groups it has."""
        cursor = self._cursor(scope)  # before anything is read, for it may change meanwhile
        if scope.xid != "/":
            ids = [group_xid(scope.xid)] if scope.xid.startswith(GROUPS) else []
        else:
            ids = [GROUPS + one for one in self._names("/")]
        groups = dict.fromkeys(ids, UNKNOWN)
        return Overview(home=self.home, authority=self.home, groups=groups, cursor=cursor)

    def changes(self, after: str, scope: LinkScope, wait: float) -> ChangedUnits | None:
        """The definitions and groups whose events came after a cursor; None when it does not know."""
        self._held = {}
        return self._feed.changes(after, _logged(scope), wait) if after else None

    def close(self) -> None:
        """Close the connections."""
        self._feed.stop()
        super().close()

    def _cursor(self, scope: LinkScope) -> str:
        """The newest event, to go on from; empty when the catalog has no events that can be read."""
        cursor = self._feed.last(_logged(scope)) if self._has_feed else ""
        self._has_feed = bool(cursor)
        return cursor

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
        if not is_group(xid):
            return self._definition(xid)
        reply = self.client.ask("GET", _path(xid))
        if reply.status == 404:
            return None
        document = self.client.json(reply, _path(xid))
        return _group_unit(xid, document, self.home) if isinstance(document, dict) else None

    def _definition(self, xid: str) -> Unit | None:
        """A definition with all versions that the catalog has of it."""
        replies = list(self._versions(xid))
        if not replies:
            return None
        newest = replies[-1][1].headers
        authority = newest.get(HEADER + "authority") or self.home
        *former, present = (state_of(reply, authority, self.home + place) for place, reply in replies)
        body = {"meta": {}, "versions": {VERSION: present.body}}
        documents = {VERSION: present.document} if present.document is not None else {}
        entry = UnitEntry(
            digest=digest_of(body, MESSAGE, former, documents),
            stamp=Stamp(0, newest_time(body, MESSAGE)),
            home=self.home,
            authority=authority,
        )
        uris = {VERSION: present.uri}
        return Unit(xid=xid, body=body, entry=entry, uris=uris, history=tuple(former), documents=documents)

    def _versions(self, xid: str) -> Iterator[tuple[str, OutboundResponse]]:
        """The paths and answers of all versions, oldest first; those that were retired meanwhile are left out."""
        listed = self.client.ask("GET", _path(xid) + "/versions")
        if listed.status == 404:
            return
        numbers = self.client.json(listed, _path(xid) + "/versions")
        if not isinstance(numbers, list) or not all(isinstance(one, int) for one in numbers):
            raise ServiceRefused(f"{_path(xid)}/versions does not list numbers.", place=self.name)
        for number in sorted(numbers):
            place = f"{_path(xid)}/versions/{number}"
            reply = self.client.ask("GET", place)
            if reply.is_success:
                yield place, reply
            elif reply.status != 404:
                raise ServiceRefused(f"{place} answers {reply.status}: {problem_in(reply)}", place=self.name)

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

    def _decide(self, unit: Unit, present: Unit | None, batch: ReplicaBatch) -> Decision:
        """As everywhere, but what the catalog has of the source is a copy, by whatever way it came there.

        A definition of the source has its URIs. Groups belong to nobody: one that says the same is the same.
        """
        decision = super()._decide(unit, present, batch)
        if decision != "collision" or present is None:
            return decision
        if not (_is_alike(present, unit, batch) if unit.is_group else self._is_copy(present, unit)):
            return decision
        if not unit.is_group and len(states_of(present)) < len(states_of(unit)):
            return "take"
        self._note(unit, present.entry.digest, batch)
        return "same"

    def _is_copy(self, present: Unit, unit: Unit) -> bool:
        authority = present.entry.authority
        if authority in (self.home, "") or authority != unit.entry.authority:
            return False
        return all(ours.uri == theirs.uri for ours, theirs in zip(states_of(present), states_of(unit), strict=False))

    def _clear(self, unit: Unit) -> None:
        """Versions cannot be changed, so a definition that has others than it should is written anew: see `_write`."""

    def _write_group(self, group: str, units: list[Unit], outcome: BatchResult) -> None:
        own = next((unit for unit in units if unit.is_group), None) or next(self.units([group]), None)
        body = own.body if own else {}
        for unit in units:
            if not unit.xid.startswith(GROUPS):
                refused = "a message catalog has message groups only."
            else:
                refused = self._write_own(unit, units) if unit.is_group else self._write_definition(unit, body)
            if refused:
                outcome.refused[unit.xid] = refused

    def _write_own(self, unit: Unit, units: list[Unit]) -> str:
        """Write a group; why it could not be written, else nothing."""
        described = {name: unit.body[name] for name in ("description",) if name in unit.body}
        return self._sent("PUT", unit.xid, json={"format": _format(unit.body, units), **described})

    def _write_definition(self, unit: Unit, group: Tree) -> str:
        """Add the versions that are not there; why one could not be added, else nothing."""
        found = [(state, document_of(unit, state, group)) for state in states_of(unit)]
        if not found or found[-1][1] is None:
            return "a message catalog cannot hold it: it has no format of the group's, or a base message."
        states = [(state, document) for state, document in found if document is not None]
        present = self._held.get(unit.xid) or next(self.units([unit.xid]), None)
        if present is not None and not continues(present, states, unit.history is not None):
            self._delete(unit.xid)
            present = None
        known = {state.uri for state in states_of(present)} if present else set()
        for state, document in states:
            if state.uri not in known:
                refused = self._post(unit, state, document)
                if refused:
                    return refused
        return ""

    def _post(self, unit: Unit, state: FormerState, document: Original) -> str:
        described = state.body.get("description") if state.document is not None else None
        given = {"authority": unit.entry.authority, "id": state.uri, "description": described or ""}
        query = urlencode({name: value for name, value in given.items() if value})
        headers = {"content-type": document.contenttype}
        return self._sent("POST", unit.xid, f"?{query}", content=document.content, headers=headers)

    def _sent(self, method: str, xid: str, query: str = "", **request: Any) -> str:
        reply = self.client.ask(method, _path(xid) + query, **request)
        if reply.status >= 500:
            raise ServiceRefused(f"{xid} answers {reply.status}: {problem_in(reply)}", place=self.name)
        return "" if reply.status in _CREATED else problem_in(reply)


def unit_of_path(path: str) -> str:
    """The unit that an event of a catalog is about, by the path in it; empty when it is no path of a catalog."""
    match path.removeprefix("/").split("/"):
        case ["messagecatalog", group]:
            return GROUPS + entity_id(unquote(group))
        case ["messagecatalog", group, "messagedefinitions", name, *_]:
            return f"{GROUPS}{entity_id(unquote(group))}/messages/{entity_id(unquote(name))}"
    return ""


def _logged(scope: LinkScope) -> str:
    """What events are asked of."""
    return scope.xid if scope.xid.startswith(GROUPS) else GROUPS.rstrip("/")


def _path(xid: str) -> str:
    group, *name = map(catalog_segment, xid.split("/")[2::2])
    return f"/{group}/messagedefinitions/{name[0]}" if name else f"/{group}"


def _group_unit(xid: str, document: Tree, home: str) -> Unit:
    form, description = str(document.get("format") or NATIVE), document.get("description")
    times = {ours: document[theirs] for theirs, ours in CATALOG_ATTRIBUTES.items() if theirs in document}
    described = {"description": description} if isinstance(description, str) and description else {}
    body = {**group_selectors(form), **described, **times}
    stamp = Stamp(0, newest_time(body, None))
    entry = UnitEntry(digest=digest_of(body, None), home=home, authority=home, stamp=stamp)
    return Unit(xid=xid, body=body, entry=entry)


def _is_alike(present: Unit, unit: Unit, batch: ReplicaBatch) -> bool:
    """Whether a group of the catalog says all that it could say of one of the source."""
    inside = [one for one in batch.units if not one.is_group and group_xid(one.xid) == unit.xid]
    same_format = _format(present.body, []) == _format(unit.body, inside)
    return same_format and present.body.get("description") == unit.body.get("description")


def _format(group: Tree, units: list[Unit]) -> str:
    """The format of a group: what it says itself, else what the first definition in it has."""
    messages = (body for unit in units for body in unit.versions.values())
    found = (
        format_of(one, group) or str(one.get("protocol") or group.get("protocol") or "") for one in ({}, *messages)
    )
    return next(filter(None, found), NATIVE)

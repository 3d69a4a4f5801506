"""What a Postroom offers to catalogs that copy from it or into it: digests, units, changes, and taking units in."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from urllib.parse import unquote

import msgspec

from postroom.errors import BadFlag
from postroom.http.server.request import Request
from postroom.http.server.response import Response
from postroom.registry.problems import RegistryProblem
from postroom.replication.replicas.apply_units import STATES, ReplicaBatch
from postroom.replication.replicas.link import LinkState
from postroom.replication.replicas.origins import UnitOrigin
from postroom.replication.replicas.peers.peer import Overview
from postroom.replication.replicas.peers.postroom import MOST_UNITS, MOUNT, UnitPage
from postroom.replication.replicas.peers.store import StoreEndpoint
from postroom.replication.replicas.replica_unit import Unit
from postroom.replication.replicas.scope import LinkScope, parse_scope
from postroom.replication.replicas.service_links import (
    LinkConfig,
    LinkRun,
    check,
    configured,
    described,
    put_link,
    remove_link,
)
from postroom.settings import Settings
from postroom.store.interface import Store

MOST_BYTES = 8_000_000
NAME = MOUNT.rpartition("/")[2]
ADMINISTRATORS = frozenset({"batches", "states", "links"})
"""What brings in what others wrote, or tells with whom a registry is linked; the rest is read as it may be."""

Body = TypeVar("Body")

# msgspec describes a type when it is first used, and two threads that make it do so at once crash the process.
for _type in (ReplicaBatch, LinkConfig, LinkState, UnitOrigin, Overview, LinkRun, UnitPage, list[str]):
    msgspec.json.Decoder(_type)


def answer_replication(request: Request, store: Store, settings: Settings) -> Response:
    """Answer a request to a path of the replication API."""
    service = _ReplicationRequest(request, store, settings)
    handlers: dict[tuple[str, str], Callable[[], Response]] = {
        ("GET", ""): service.greeting,
        ("GET", "overview"): service.overview,
        ("POST", "entries"): service.entries,
        ("POST", "units"): service.units,
        ("POST", "batches"): service.take,
        ("GET", "states"): service.state,
        ("GET", "links"): service.links,
        ("PUT", "links"): service.put_link,
        ("DELETE", "links"): service.delete_link,
    }
    word = request.path.strip("/").partition("/")[0]
    allowed = [method for method, name in handlers if name == word]
    if not allowed:
        raise RegistryProblem("api_not_found", f"/{NAME}{request.path}")
    if request.method not in allowed:
        headers = {"allow": ", ".join(allowed)}
        raise RegistryProblem("action_not_supported", f"/{NAME}{request.path}", action=request.method, headers=headers)
    if word in ADMINISTRATORS:
        request.permissions.require_admin(f"/{NAME}{request.path}")
    return handlers[request.method, word]()


class _ReplicationRequest:
    """One request."""

    def __init__(self, request: Request, store: Store, settings: Settings) -> None:
        self.request = request
        self.store = store
        self.settings = settings
        base = request.base.removesuffix(MOUNT).removesuffix(f"/{NAME}")
        self.side = StoreEndpoint(store, base, base)

    def greeting(self) -> Response:
        """Who this is."""
        found = self.side.overview(LinkScope())
        return Response(json={"home": found.home if found else "", "authority": self.side.name})

    def overview(self) -> Response:
        """The digests of all Groups; only that of everything when the caller knows that one."""
        found = self.side.overview(self._scope())
        if found is not None and found.digest == self._query("known"):
            found = msgspec.structs.replace(found, groups={})
        return Response(json=found)

    def entries(self) -> Response:
        """The entries of some Groups."""
        return Response(json=self.side.entries(self._body(list[str])))

    def units(self) -> Response:
        """Some units, as many as an answer holds."""
        asked = self._body(list[str])[:MOST_UNITS]
        found: list[Unit] = []
        left, size = set(asked), 0
        for unit in self.side.units(asked):
            size += len(msgspec.json.encode(unit))
            if found and size > MOST_BYTES:
                break
            found.append(unit)
            left.discard(unit.xid)
        else:
            left = set()
        last = asked.index(found[-1].xid) if found and left else -1
        return Response(json=UnitPage(found, asked[last + 1 :] if left else []))

    def take(self) -> Response:
        """Take a batch in."""
        if self.settings.inbound == "refuse":
            raise RegistryProblem(
                "action_not_supported", f"/{NAME}/batches", action="Replication into this registry", status=403
            )
        batch = self._body(ReplicaBatch)
        policy = msgspec.structs.replace(batch.policy, keeps_edits=self.settings.foreign_edits == "flag")
        return Response(json=self.side.apply(msgspec.structs.replace(batch, policy=policy)))

    def state(self) -> Response:
        """What is kept for a link."""
        with self.store.read() as tx:
            found = tx.record(STATES, unquote(self.request.path.rpartition("/")[2]))
        if found is None:
            raise RegistryProblem("not_found", f"/{NAME}{self.request.path}")
        return Response(headers={"Content-Type": "application/json"}, content=found)

    def links(self) -> Response:
        """All links of this service, or one."""
        with self.store.read() as tx:
            found = {one: described(tx, one, config) for one, config in configured(tx).items()}
        name = self._link_id()
        if name and name not in found:
            raise RegistryProblem("not_found", f"/{NAME}{self.request.path}")
        return Response(json=found[name] if name else found)

    def put_link(self) -> Response:
        """Create or change a link."""
        link_id, config = self._link_id(), self._body(LinkConfig)
        if config.mode == "push" and not config.authority:
            config = msgspec.structs.replace(config, authority=self.side.name)
        try:
            check(link_id, config, self.settings, files=False)
        except BadFlag as error:
            raise self._refusal(error) from None
        with self.store.write() as tx:
            is_new = link_id not in configured(tx)
            put_link(tx, link_id, config)
            return Response(status=201 if is_new else 200, json=described(tx, link_id, config))

    def delete_link(self) -> Response:
        """Remove a link."""
        with self.store.write() as tx:
            if not remove_link(tx, self._link_id()):
                raise RegistryProblem("not_found", f"/{NAME}{self.request.path}")
        return Response(status=204)

    def _link_id(self) -> str:
        return unquote(self.request.path.strip("/").partition("/")[2])

    def _scope(self) -> LinkScope:
        try:
            return parse_scope(self._query("scope") or "/")
        except BadFlag as error:
            raise self._refusal(error) from None

    def _refusal(self, error: BadFlag) -> RegistryProblem:
        sentence, remedy = error.sentence.rstrip("."), error.remedy
        return RegistryProblem("bad_request", f"/{NAME}{self.request.path}", error_detail=sentence, detail=remedy)

    def _query(self, name: str) -> str:
        return next((value for key, value in self.request.query if key == name), "")

    def _body(self, body_type: type[Body]) -> Body:
        try:
            return msgspec.json.decode(self.request.body, type=body_type)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise RegistryProblem("parsing_data", f"/{NAME}{self.request.path}", error_detail=str(error)) from None

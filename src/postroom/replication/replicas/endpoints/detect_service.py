"""A service of which nobody said what it is: a Postroom when it answers like one, else any xRegistry service."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from postroom.replication.replicas.apply_units import Batch, Outcome
from postroom.replication.replicas.endpoints.client import ReplicaClient
from postroom.replication.replicas.endpoints.endpoint import Changes, Overview
from postroom.replication.replicas.endpoints.postroom import PostroomSide, is_postroom, overview_path
from postroom.replication.replicas.endpoints.state_file import Notebook
from postroom.replication.replicas.endpoints.xregistry_source import PlainSide
from postroom.replication.replicas.endpoints.xregistry_target import PlainTarget
from postroom.replication.replicas.replica_unit import Entry, Unit
from postroom.replication.replicas.scope import Scope


class ServiceSide:
    """Finds out with the first request, which is the one that is needed anyway."""

    def __init__(self, client: ReplicaClient, notebook: Notebook | None = None, *, plain: bool = False) -> None:
        self._client = client
        self._notebook = notebook
        self.name = client.name
        self._known: PostroomSide | PlainSide | None = self._plain() if plain else None

    @property
    def requests(self) -> int:
        """How many requests it took so far."""
        return self._client.requests

    def overview(self, scope: Scope, known: str = "") -> Overview | None:
        """What it has."""
        if self._known is not None:
            return self._known.overview(scope, known)
        reply = self._client.ask("GET", overview_path(scope, known))
        if reply.status in (400, 404, 405, 501):
            self._known = self._plain()
            return self._known.overview(scope, known)
        self._known = side = PostroomSide(self._client)
        return side.read_overview(reply, known)

    def entries(self, groups: Sequence[str]) -> dict[str, Entry]:
        """The entries of some Groups and of what is in them."""
        return self._side().entries(groups)

    def units(self, xids: Sequence[str]) -> Iterator[Unit]:
        """Some units."""
        return self._side().units(xids)

    def changes(self, after: str, scope: Scope, wait: float) -> Changes | None:
        """The units that changed after a cursor."""
        return self._side().changes(after, scope, wait)

    def state(self, link: str) -> bytes:
        """What was kept for a link."""
        return self._target().state(link)

    def apply(self, batch: Batch) -> Outcome:
        """Take a batch in."""
        return self._target().apply(batch)

    def close(self) -> None:
        """Close the connections."""
        if self._known is not None:
            self._known.close()
        self._client.close()

    def _side(self) -> PostroomSide | PlainSide:
        if self._known is None:
            self._known = PostroomSide(self._client) if is_postroom(self._client) else self._plain()
        return self._known

    def _target(self) -> PostroomSide | PlainTarget:
        side = self._side()
        if isinstance(side, PostroomSide | PlainTarget):
            return side
        raise LookupError("this end is only read from")

    def _plain(self) -> PlainSide:
        return PlainSide(self._client) if self._notebook is None else PlainTarget(self._client, self._notebook)

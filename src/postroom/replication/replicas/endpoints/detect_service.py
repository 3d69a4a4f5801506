"""A service of which nobody said what it is: a Postroom when it answers like one, else any xRegistry service."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from postroom.replication.replicas.apply_units import BatchResult, ReplicaBatch
from postroom.replication.replicas.endpoints.client import ReplicaClient
from postroom.replication.replicas.endpoints.endpoint import ChangedUnits, Overview
from postroom.replication.replicas.endpoints.postroom import PostroomEndpoint, is_postroom, overview_path
from postroom.replication.replicas.endpoints.state_file import StateFile
from postroom.replication.replicas.endpoints.xregistry_source import XRegistrySource
from postroom.replication.replicas.endpoints.xregistry_target import XRegistryTarget
from postroom.replication.replicas.replica_unit import Unit, UnitEntry
from postroom.replication.replicas.scope import LinkScope


class DetectedService:
    """Finds out with the first request, which is the one that is needed anyway."""

    def __init__(self, client: ReplicaClient, notebook: StateFile | None = None, *, plain: bool = False) -> None:
        self._client = client
        self._notebook = notebook
        self.name = client.name
        self._known: PostroomEndpoint | XRegistrySource | None = self._plain() if plain else None

    @property
    def requests(self) -> int:
        """How many requests it took so far."""
        return self._client.requests

    def overview(self, scope: LinkScope, known: str = "") -> Overview | None:
        """What it has."""
        if self._known is not None:
            return self._known.overview(scope, known)
        reply = self._client.ask("GET", overview_path(scope, known))
        if reply.status in (400, 404, 405, 501):
            self._known = self._plain()
            return self._known.overview(scope, known)
        self._known = side = PostroomEndpoint(self._client)
        return side.read_overview(reply, known)

    def entries(self, groups: Sequence[str]) -> dict[str, UnitEntry]:
        """The entries of some Groups and of what is in them."""
        return self._side().entries(groups)

    def units(self, xids: Sequence[str]) -> Iterator[Unit]:
        """Some units."""
        return self._side().units(xids)

    def changes(self, after: str, scope: LinkScope, wait: float) -> ChangedUnits | None:
        """The units that changed after a cursor."""
        return self._side().changes(after, scope, wait)

    def state(self, link: str) -> bytes:
        """What was kept for a link."""
        return self._target().state(link)

    def apply(self, batch: ReplicaBatch) -> BatchResult:
        """Take a batch in."""
        return self._target().apply(batch)

    def close(self) -> None:
        """Close the connections."""
        if self._known is not None:
            self._known.close()
        self._client.close()

    def _side(self) -> PostroomEndpoint | XRegistrySource:
        if self._known is None:
            self._known = PostroomEndpoint(self._client) if is_postroom(self._client) else self._plain()
        return self._known

    def _target(self) -> PostroomEndpoint | XRegistryTarget:
        side = self._side()
        if isinstance(side, PostroomEndpoint | XRegistryTarget):
            return side
        raise LookupError("this end is only read from")

    def _plain(self) -> XRegistrySource:
        return (
            XRegistrySource(self._client) if self._notebook is None else XRegistryTarget(self._client, self._notebook)
        )

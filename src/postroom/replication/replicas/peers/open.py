"""Opening the endpoint that an address stands for."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from postroom.catalog.messagecatalog_reader import is_catalog_url
from postroom.catalog.open_store import open_store
from postroom.errors import SourceUnknown
from postroom.replication.replicas.apply_units import BatchResult, ReplicaBatch
from postroom.replication.replicas.peers.client import ReplicaClient
from postroom.replication.replicas.peers.files import FilesSource, FilesTarget
from postroom.replication.replicas.peers.messagecatalog import MessageCatalogEndpoint
from postroom.replication.replicas.peers.peer import ChangedUnits, Overview, ReplicaSource, ReplicaTarget
from postroom.replication.replicas.peers.postroom import PostroomEndpoint, is_postroom, overview_path
from postroom.replication.replicas.peers.state_file import StateFile
from postroom.replication.replicas.peers.store import StoreEndpoint
from postroom.replication.replicas.peers.xregistry_source import XRegistrySource
from postroom.replication.replicas.peers.xregistry_target import XRegistryTarget
from postroom.replication.replicas.replica_unit import Unit, UnitEntry
from postroom.replication.replicas.scope import LinkScope
from postroom.settings import Settings
from postroom.urls import STORE_SCHEMES, masked, scheme_of

HTTP = ("http", "https")
_REMEDY = "Give a file, a folder, http(s)://…, sqlite:///path.db or postgresql://host/database."


def open_source(address: str, settings: Settings, *, plain: bool = False, authority: str = "") -> ReplicaSource:
    """Where units come from. `plain`: use nothing but the specification's API; `authority`: of files and stores."""
    scheme = scheme_of(address)
    if scheme in HTTP and is_catalog_url(address):
        return MessageCatalogEndpoint(ReplicaClient(address, settings), StateFile(state_path(address)))
    if scheme in HTTP:
        return DetectedService(ReplicaClient(address, settings), plain=plain)
    if scheme in STORE_SCHEMES:
        return StoreEndpoint(open_store(address, create=False), masked(address), authority)
    if scheme:
        raise SourceUnknown(f"a catalog cannot be read from {scheme}://.", place=masked(address), remedy=_REMEDY)
    return FilesSource(Path(address), settings, authority)


def open_target(address: str, settings: Settings, *, plain: bool = False, reads: bool = False) -> ReplicaTarget:
    """Where units go; with `reads` it is only to be looked at."""
    scheme = scheme_of(address)
    if scheme in HTTP and is_catalog_url(address):
        return MessageCatalogEndpoint(ReplicaClient(address, settings), StateFile(state_path(address)))
    if scheme in HTTP:
        return DetectedService(ReplicaClient(address, settings), StateFile(state_path(address)), plain=plain)
    if scheme in STORE_SCHEMES:
        return StoreEndpoint(open_store(address, create=not reads), masked(address))
    if scheme:
        raise SourceUnknown(f"nothing can be written to {scheme}://.", place=masked(address), remedy=_REMEDY)
    return FilesSource(Path(address), settings) if reads else FilesTarget(Path(address), settings)


def state_path(address: str) -> Path:
    """Where the state file for a service is that keeps none itself: in the user's state folder."""
    folder = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    name = hashlib.blake2b(masked(address).encode(), digest_size=10).hexdigest()
    return Path(folder) / "postroom" / f"{name}.links"


class DetectedService:
    """A service that is a Postroom or any xRegistry service: its first response, needed anyway, decides."""

    def __init__(self, client: ReplicaClient, state_file: StateFile | None = None, *, plain: bool = False) -> None:
        self._client = client
        self._state_file = state_file
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
            XRegistrySource(self._client)
            if self._state_file is None
            else XRegistryTarget(self._client, self._state_file)
        )

"""Administration of the links of a service: over HTTP, or in its store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol
from urllib.parse import quote

from postroom.catalog.open_store import open_store
from postroom.errors import BadFlag
from postroom.replication.replicas import service_links
from postroom.replication.replicas.peers.client import ReplicaClient
from postroom.replication.replicas.peers.postroom import MOUNT
from postroom.replication.replicas.service_links import LinkConfig
from postroom.settings import Settings
from postroom.store.interface import Store
from postroom.urls import scheme_of


class LinkAdmin(Protocol):
    """Where links are listed, added and removed."""

    def all(self) -> dict[str, dict[str, Any]]:
        """All links by name."""

    def put(self, link_id: str, config: LinkConfig) -> None:
        """Create or change a link."""

    def remove(self, link_id: str) -> bool:
        """Remove a link; whether it was there."""


class _Remote:
    """Over HTTP."""

    def __init__(self, client: ReplicaClient) -> None:
        self._client = client

    def all(self) -> dict[str, dict[str, Any]]:
        """All links by name."""
        found: dict[str, dict[str, Any]] = self._client.get(f"{MOUNT}/links")
        return found

    def put(self, link_id: str, config: LinkConfig) -> None:
        """Create or change a link."""
        self._client.send("PUT", f"{MOUNT}/links/{quote(link_id, safe='')}", config)

    def remove(self, link_id: str) -> bool:
        """Remove a link."""
        reply = self._client.ask("DELETE", f"{MOUNT}/links/{quote(link_id, safe='')}")
        if reply.status != 404:
            self._client.json(reply, f"{MOUNT}/links")
        return reply.status != 404


class _Local:
    """In the store."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings

    def all(self) -> dict[str, dict[str, Any]]:
        """All links by name."""
        with self._store.read() as tx:
            return {
                one: service_links.described(tx, one, config) for one, config in service_links.configured(tx).items()
            }

    def put(self, link_id: str, config: LinkConfig) -> None:
        """Create or change a link; whether its host may be reached is the service's matter."""
        allowing = Settings(link_hosts=("*",))
        service_links.check(link_id, config, allowing, files=True)
        with self._store.write() as tx:
            service_links.put_link(tx, link_id, config)

    def remove(self, link_id: str) -> bool:
        """Remove a link."""
        with self._store.write() as tx:
            return service_links.remove_link(tx, link_id)


@contextmanager
def open_link_admin(where: str, settings: Settings) -> Iterator[LinkAdmin]:
    """The links of a service or a store; of the one that the setting names when nobody says which."""
    where = where or settings.db
    if not where:
        raise BadFlag(
            "which service?", place="--at", remedy="Give http(s)://…, sqlite:///path.db or postgresql://host/database."
        )
    if scheme_of(where) in ("http", "https"):
        client = ReplicaClient(where, settings)
        try:
            yield _Remote(client)
        finally:
            client.close()
    else:
        with open_store(where) as store:
            yield _Local(store, settings)

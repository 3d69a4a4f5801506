"""Catalogs that copy from each other: each a store with a client that writes, and a service where one is wanted."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from postroom.catalog.open_store import open_store
from postroom.catalog.wiring import RULES
from postroom.http.server.app import create_app
from postroom.http.server.worker_processes import AnnouncingServer, configuration
from postroom.replication.replicas.conflict_policy import ConflictPolicy
from postroom.replication.replicas.link import Link
from postroom.replication.replicas.origins import guarded
from postroom.replication.replicas.peers.peer import ReplicaSource, ReplicaTarget
from postroom.replication.replicas.peers.store import StoreEndpoint
from postroom.replication.replicas.pull import Pull, PullReport
from postroom.replication.replicas.scope import LinkScope
from postroom.replication.replicas.verify import UnitDifference, differences
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.registry.conftest import RegistryClient


class Kitchen(RegistryClient):
    """A catalog of ovens."""

    def __init__(self, folder: Path, name: str, model: str = "messaging") -> None:
        self.url = f"sqlite:///{folder}/{name}.db"
        super().__init__(open_store(self.url, model))
        self.side = StoreEndpoint(self.store, name)

    def bake(self, message: str = "bread.baked", group: str = "ovens", **attributes: Any) -> str:
        """Write a message definition; its xid."""
        xid = f"/messagegroups/{group}/messages/{message}"
        self.put(xid, {"envelope": "CloudEvents/1.0", **attributes})
        return xid

    def shape(self, *ids: str, group: str = "loaves") -> str:
        """Write a schema with several Versions; its xid."""
        xid = f"/schemagroups/{group}/schemas/loaf"
        for version_id in ids:
            schema = {"type": "object", "title": version_id}
            self.put(f"{xid}/versions/{version_id}", {"format": "JsonSchema/draft-07", "schema": schema})
        return xid

    def version(self, xid: str) -> dict[str, Any]:
        """The attributes of the default Version of a Resource."""
        shown: dict[str, Any] = self.show(xid)
        return shown


def pull(
    source: ReplicaSource, target: ReplicaTarget, link: str = "link", scope: LinkScope | None = None, **policy: bool
) -> PullReport:
    """Pull once."""
    return Pull(
        source, target, Link(id=link, scope=scope or LinkScope(), policy=ConflictPolicy(**policy))
    ).by_difference()


def verify(
    source: ReplicaSource, target: ReplicaTarget, link: str = "link", scope: LinkScope | None = None
) -> list[UnitDifference]:
    """What differs."""
    return list(differences(source, target, Link(id=link, scope=scope or LinkScope())))


def _opened(kitchen: Kitchen, settings: Settings) -> Store:
    return open_store(kitchen.url, rules=guarded(RULES, settings))


@contextmanager
def served(kitchen: Kitchen, settings: Settings | None = None) -> Iterator[str]:
    """The service over a catalog, in a thread of this process; its URL."""
    settings = settings or Settings()
    started = threading.Event()
    listening = socket.create_server(("127.0.0.1", 0))
    server = AnnouncingServer(
        configuration(settings, lambda: create_app(_opened(kitchen, settings), settings)), started.set
    )
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    try:
        assert started.wait(30)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
        listening.close()


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that has to happen."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)

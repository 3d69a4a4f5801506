"""What stands around a service in these tests: a database that may die, the way to it, a receiver of events."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.brokers import free_port
from tests.endurance.proxy import Proxy
from tests.postgres import Postgres, programs
from tests.replication.subscriptions.receivers import Receiver


@pytest.fixture
def own_server() -> Iterator[Postgres]:
    """A server that a test may kill; it does not answer before what it says is on disk."""
    with tempfile.TemporaryDirectory(prefix="postroom-pg-") as folder:
        server = Postgres(Path(folder), programs(), free_port())
        server.create()
        server.start("-c", "fsync=on")
        yield server
        server.kill()


@pytest.fixture
def proxy(postgres: Postgres) -> Iterator[Proxy]:
    """What lies between a service and its database."""
    made = Proxy(postgres.port)
    yield made
    made.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()

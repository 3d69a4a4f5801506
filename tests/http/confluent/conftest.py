"""The schema registry in this process, empty for each test, and as a service of its own port for real clients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.store.interface import Store
from tests.http.confluent.subject_client import SubjectClient
from tests.http.principals import permitted
from tests.http.running_service import serving


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as opened:
        yield opened


@pytest.fixture
def subjects(store: Store) -> SubjectClient:
    return SubjectClient(store, permitted(admin=True))


@pytest.fixture(scope="package")
def service_urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A service with a port for schema registry clients; its own URL, and the one there."""
    database = f"sqlite:///{tmp_path_factory.mktemp('subjects')}/registry.db"
    with serving(database, "--schema-registry-port", "0") as (process, url):
        assert process.stdout is not None
        yield url, process.stdout.readline().removeprefix("schema registry API on ").strip()


@pytest.fixture
def registry_url(service_urls: tuple[str, str]) -> str:
    """Where that service is for schema registry clients."""
    return service_urls[1]

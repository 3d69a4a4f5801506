"""`/healthz` and `/readyz`: whether a process lives, and whether it should get requests."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
import pytest

from postroom.http.operations.server_process import ServerProcess
from postroom.http.server.app import create_app
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.brokers import free_port
from tests.http.requests import AsgiClient
from tests.http.running_service import serving
from tests.postgres import Postgres, programs

HEALTH, READY = ("/healthz", "/-/healthz"), ("/readyz", "/-/readyz")


class LostStore:
    """A store whose database is gone: everything that asks it is told so."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> object:
        def refuse(*_: object, **__: object) -> object:
            raise RegistryProblem("server_busy", "/", detail="The database does not answer: connection refused.")

        return refuse if name in ("read", "write", "version") else getattr(self._store, name)


@pytest.mark.parametrize("path", HEALTH)
def test_a_process_lives_whatever_became_of_its_store(store: Store, path: str) -> None:
    lost = AsgiClient(create_app(LostStore(store), Settings()))  # type: ignore[arg-type]
    reply = lost.ask("GET", path)
    assert (reply.status, reply.json) == (200, {"status": "ok"})
    head = lost.ask("HEAD", path)
    assert (head.status, head.body) == (200, b"")


@pytest.mark.parametrize("path", READY)
def test_a_process_without_its_database_is_not_ready(store: Store, path: str) -> None:
    reply = AsgiClient(create_app(LostStore(store), Settings())).ask("GET", path)  # type: ignore[arg-type]
    assert reply.status == 503
    assert reply.json == {"status": "full", "detail": "The database does not answer: connection refused."}


def test_without_a_database_every_other_request_is_told_to_come_again(store: Store) -> None:
    reply = AsgiClient(create_app(LostStore(store), Settings())).ask("GET", "/messagegroups")  # type: ignore[arg-type]
    assert (reply.status, reply.problem) == (503, "server_busy")


@pytest.mark.parametrize("path", READY)
def test_a_process_that_was_told_to_stop_lives_and_is_not_ready(store: Store, path: str) -> None:
    process = ServerProcess()
    service = AsgiClient(create_app(store, Settings(), process))
    assert service.ask("GET", path).json == {"status": "ready"}
    process.is_stopping = True
    reply = service.ask("GET", path)
    assert (reply.status, reply.json["status"]) == (503, "stopping")
    assert service.ask("GET", "/healthz").status == 200
    assert service.ask("GET", "/model").headers["connection"] == "close"


@pytest.mark.parametrize("path", [*HEALTH, *READY])
def test_probes_are_open_where_access_is_on_and_say_nothing_about_the_registry(store: Store, path: str) -> None:
    service = AsgiClient(create_app(store, Settings(access="on")))
    reply = service.ask("GET", path)
    assert reply.status == 200
    assert reply.json in ({"status": "ok"}, {"status": "ready"})
    assert reply.headers.get("cache-control") in ("no-store", "private")
    assert service.ask("GET", path, headers={"Authorization": "Bearer wrong"}).status == 200


def test_a_group_type_of_that_name_is_served_at_the_root(store: Store) -> None:
    service = AsgiClient(create_app(store, Settings()))
    assert service.ask("PUT", "/modelsource", {"groups": {"healthz": {"singular": "health"}}}).status == 200
    assert service.ask("GET", "/healthz").json == {}
    assert service.ask("GET", "/-/healthz").json == {"status": "ok"}


@pytest.fixture
def database() -> Iterator[Postgres]:
    """A server that a test may kill."""
    with tempfile.TemporaryDirectory(prefix="postroom-pg-") as folder:
        server = Postgres(Path(folder), programs(), free_port())
        server.create()
        server.start()
        yield server
        server.kill()


def settled(url: str, status: str) -> httpx.Response:
    """What `/readyz` says as soon as it says that, or at last."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        reply = httpx.get(f"{url}/-/readyz", timeout=20)
        if reply.json()["status"] == status:
            break
        time.sleep(0.2)
    return reply


def test_a_database_that_is_lost_and_comes_back(database: Postgres) -> None:
    with serving(database.registry()) as (_, url):
        assert settled(url, "ready").status_code == 200
        database.kill()
        lost = settled(url, "full")
        assert (lost.status_code, lost.json()["status"]) == (503, "full")
        assert lost.json()["detail"].startswith("The database")
        assert httpx.get(f"{url}/healthz").json() == {"status": "ok"}
        assert httpx.get(f"{url}/messagegroups").status_code == 503
        database.start()
        assert settled(url, "ready").status_code == 200
        assert httpx.put(f"{url}/messagegroups/ovens", json={}).status_code == 201


def test_a_database_that_takes_no_writes_is_not_ready(database: Postgres) -> None:
    with serving(database.registry()) as (_, url), psycopg.connect(database.address, autocommit=True) as admin:
        admin.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        admin.execute("SELECT pg_reload_conf()")
        reply = settled(url, "full")
        assert (reply.status_code, reply.json()["status"]) == (503, "full")
        assert "cannot be written to" in reply.json()["detail"]
        assert httpx.get(f"{url}/messagegroups").status_code == 200

"""A full disk: what can be read is read, what cannot be written is refused with a reason, and all is well afterwards.

A limit on the size of files stands for the disk; SQLite cannot tell, and nobody needs to be root.
"""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from postroom.catalog.open_store import open_store
from postroom.catalog.wiring import RULES
from postroom.http.server.app import create_app
from postroom.registry.entities import Entity
from postroom.settings import Settings
from postroom.store.sqlite import SqliteStore
from tests.absence import absent
from tests.http.requests import AsgiClient
from tests.http.running_service import limit, serving

if sys.platform != "linux":
    absent("Linux", "the tests of a full disk did not run, they need its limits of other processes")


SHARED = 32 * 1024
"""The size of the file that readers and writers share; when it is there, it is made anew in the same room."""
OVENS = Entity(xid="/messagegroups/ovens", epoch=1, createdat="2030-01-01T00:00:00Z", modifiedat="2030-01-01T00:00:00Z")


def put(url: str, name: str, size: int = 0) -> httpx.Response:
    return httpx.put(f"{url}/messagegroups/{name}", json={"note": "x" * size}, timeout=60)


def refused(url: str, size: int = 100_000) -> None:
    answer = put(url, "refused", size)
    assert (answer.status_code, answer.json()["type"].rpartition("#")[2]) == (507, "server_error")
    assert "disk" in answer.json()["detail"]
    ready = httpx.get(f"{url}/readyz")
    assert (ready.status_code, ready.json()["status"]) == (503, "full")
    assert "disk" in ready.json()["detail"]
    assert httpx.get(f"{url}/healthz").status_code == 200


def recovered(url: str, *groups: str) -> None:
    assert httpx.get(f"{url}/readyz").json() == {"status": "ready"}
    assert put(url, "later").status_code == 201
    assert set(httpx.get(f"{url}/messagegroups").json()) == {*groups, "later"}


def test_a_disk_that_fills_up_while_the_service_runs(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/registry.db") as (process, url):
        assert put(url, "ovens").status_code == 201
        limit(process.pid, (tmp_path / "registry.db-wal").stat().st_size)
        for _ in range(3):
            refused(url)
            assert list(httpx.get(f"{url}/messagegroups").json()) == ["ovens"]
        limit(process.pid)
        recovered(url, "ovens")


def test_writes_that_share_a_commit_fail_together_on_a_full_disk(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/registry.db") as (process, url), ThreadPoolExecutor(12) as clients:
        assert put(url, "ovens").status_code == 201

        def put_message(number: int) -> int:
            path = f"{url}/messagegroups/ovens/messages/m{number}"
            return httpx.put(path, json={"note": "x" * 20_000}, timeout=60).status_code

        limit(process.pid, (tmp_path / "registry.db-wal").stat().st_size)
        assert set(clients.map(put_message, range(40))) == {507}
        assert httpx.get(f"{url}/messagegroups/ovens/messages").json() == {}
        limit(process.pid)
        assert set(clients.map(put_message, range(40))) == {201}
        assert len(httpx.get(f"{url}/messagegroups/ovens/messages").json()) == 40
        recovered(url, "ovens")


def test_a_service_starts_on_a_full_disk(tmp_path: Path) -> None:
    """There is no room for the files that SQLite needs beside the database, so this one alone is read."""
    database = f"sqlite:///{tmp_path}/registry.db"
    with open_store(database) as store, store.write() as tx:
        tx.put(OVENS)
    assert not (tmp_path / "registry.db-wal").exists()
    with serving(database, room=0) as (process, url):
        assert list(httpx.get(f"{url}/messagegroups").json()) == ["ovens"]
        refused(url)
        limit(process.pid)
        recovered(url, "ovens")
        with open_store(database) as other, other.read() as tx:
            assert {entity.id for entity in tx.entities("/messagegroups")} == {"ovens", "later"}


def test_a_write_waits_for_whoever_opens_the_file_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, begun, goes_on = tmp_path / "registry.db", threading.Event(), threading.Event()
    open_store(f"sqlite:///{path}").close()
    start = SqliteStore._start

    def fail(_: SqliteStore) -> None:
        full = sqlite3.OperationalError("database or disk is full")
        full.sqlite_errorcode = sqlite3.SQLITE_FULL
        raise full

    def start_slowly(store: SqliteStore) -> None:
        begun.set()
        goes_on.wait(60)
        start(store)

    def read() -> None:
        with store.read() as tx:
            assert tx.entity("/") is not None

    monkeypatch.setattr(SqliteStore, "_start", fail)
    with SqliteStore(path, RULES) as store, ThreadPoolExecutor() as pool:
        monkeypatch.setattr(SqliteStore, "_start", start_slowly)
        reading = pool.submit(read)
        assert begun.wait(60)
        threading.Timer(0.2, goes_on.set).start()
        with store.write() as tx:
            tx.put(OVENS)
        reading.result()
        with store.read() as tx:
            assert tx.entity(OVENS.xid) == OVENS


OPEN = """
import sys
from postroom.catalog.open_store import open_store
from tests.http.running_service import limit
limit(0, int(sys.argv[2]))
with open_store(sys.argv[1]) as store:
    with store.read() as tx:
        print([entity.id for entity in tx.entities("/messagegroups")])
"""


@pytest.mark.parametrize(
    ("shared", "room", "told"),
    [(True, SHARED, "['ovens']"), (False, 0, "the database cannot be used: disk I/O error")],
    ids=["files as a crash leaves them", "a file is lost"],
)
def test_what_is_not_in_the_database_itself_is_read_or_nothing_is(
    tmp_path: Path, shared: bool, room: int, told: str
) -> None:
    """Without the file that readers share, and without room for another, nobody can say what was committed last."""
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store:
        with store.write() as tx:
            tx.put(OVENS)
        crashed = tmp_path / "crashed"
        crashed.mkdir()
        for file in tmp_path.glob("registry.db*"):
            shutil.copy(file, crashed)
    assert (crashed / "registry.db-wal").stat().st_size
    if not shared:
        (crashed / "registry.db-shm").unlink()
    command = [sys.executable, "-c", OPEN, f"sqlite:///{crashed}/registry.db", str(room)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told in done.stdout + done.stderr


@pytest.mark.parametrize(("least", "status"), [(0, 200), (16, 200), (1_000_000, 503)])
def test_a_service_is_not_ready_when_less_is_free_than_the_setting_asks_for(
    tmp_path: Path, least: int, status: int
) -> None:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store:
        asgi = AsgiClient(create_app(store, Settings(min_free_mb=least)))
        assert asgi.ask("GET", "/readyz").status == asgi.ask("GET", "/readyz").status == status
        assert asgi.ask("PUT", "/messagegroups/ovens", {}).status == 201, "there is still room"

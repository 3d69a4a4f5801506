"""One dispatcher and one runner of links among all services on a database, whatever is lost."""

from __future__ import annotations

import random
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.brokers import free_port
from tests.http.running_service import kill, serving
from tests.postgres import Postgres, cut_sessions
from tests.replication.subscriptions.receivers import wait_until
from tests.replication.subscriptions.test_restarts import ALLOWED, delivered, hook, logged, write

DOCUMENT = {"protocol": "HTTP", "filters": [{"sql": "type LIKE 'io.xregistry.group.%'"}]}
LINKS = "/-/replication/links"


@pytest.fixture
def server(postgres: Postgres) -> Postgres:
    """Nobody else's sessions are on this server while a test cuts them."""
    cut_sessions(postgres.address)
    return postgres


def claims(url: str) -> int:
    """How many claims are held in the database, those to dispatch and those to run links."""
    with psycopg.connect(url) as connection:
        row = connection.execute("SELECT count(*) FROM pg_locks WHERE granted AND locktype = 'advisory'").fetchone()
        return int(row[0]) if row else 0


def test_when_sessions_are_lost_somebody_goes_on_and_no_event_is_lost(server: Postgres, tmp_path: Path) -> None:
    database, file, port = server.registry(), tmp_path / "events", free_port()
    stopped = threading.Event()
    with ExitStack() as stack:
        urls = [stack.enter_context(serving(database, **ALLOWED))[1] for _ in range(2)]
        stack.enter_context(hook(port, file))
        made = httpx.post(f"{urls[0]}/subscriptions", json=DOCUMENT | {"sink": f"http://127.0.0.1:{port}/"})
        assert made.status_code == 201
        writers = [threading.Thread(target=write, args=(url, random.Random(url), stopped)) for url in urls]
        for writer in writers:
            writer.start()
        for _ in range(4):
            before = len(delivered(file))
            wait_until(lambda known=before: len(delivered(file)) > known + 3)
            assert cut_sessions(database, "advisory") >= 1
        stopped.set()
        for writer in writers:
            writer.join()
        wait_until(lambda: set(delivered(file)) >= set(logged(database)))
        wait_until(lambda: claims(database) == 2)
        time.sleep(1.5)
        assert claims(database) == 2, "one dispatcher, one runner"
    expected, found = logged(database), delivered(file)
    assert sorted(found) == sorted(expected)
    for subject in {subject for subject, _ in expected}:
        assert [one for one in found if one[0] == subject] == [one for one in expected if one[0] == subject]


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A registry that several services share."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/registry.db"
    server: Postgres = request.getfixturevalue("server")
    return server.registry()


def test_another_process_dispatches_when_the_one_that_did_is_killed(database: str, tmp_path: Path) -> None:
    file, port = tmp_path / "events", free_port()
    with serving(database, **ALLOWED) as (first, url), hook(port, file):
        made = httpx.post(f"{url}/subscriptions", json=DOCUMENT | {"sink": f"http://127.0.0.1:{port}/"})
        assert made.status_code == 201
        with serving(database, **ALLOWED) as (_, other):
            httpx.put(f"{other}/messagegroups/ovens", json={}).raise_for_status()
            wait_until(lambda: len(delivered(file)) == 1)
            kill(first)
            httpx.put(f"{other}/messagegroups/boats", json={}).raise_for_status()
            wait_until(lambda: len(delivered(file)) == 2)


def test_another_process_runs_links_when_the_one_that_did_is_killed(database: str, tmp_path: Path) -> None:
    hosts = {"POSTROOM_LINK_HOSTS": "127.0.0.1"}
    with (
        serving(f"sqlite:///{tmp_path}/mill.db") as (_, mill),
        serving(database, **hosts) as (first, bakery),
        serving(database, **hosts) as (_, other),
    ):
        link = {"mode": "follow", "remote": mill, "every": 0.2}
        assert httpx.put(f"{bakery}{LINKS}/mill", json=link).status_code == 201
        httpx.put(f"{mill}/messagegroups/flour", json={}).raise_for_status()
        wait_until(lambda: httpx.get(f"{other}/messagegroups/flour").status_code == 200)
        kill(first)
        httpx.put(f"{mill}/messagegroups/bran", json={}).raise_for_status()
        wait_until(lambda: httpx.get(f"{other}/messagegroups/bran").status_code == 200)


def test_links_go_on_after_the_database_was_lost(server: Postgres, tmp_path: Path) -> None:
    database = server.registry()
    hosts = {"POSTROOM_LINK_HOSTS": "127.0.0.1"}
    with serving(f"sqlite:///{tmp_path}/mill.db") as (_, mill), serving(database, **hosts) as (_, bakery):
        link = {"mode": "follow", "remote": mill, "every": 0.2}
        assert httpx.put(f"{bakery}{LINKS}/mill", json=link).status_code == 201
        for number in range(3):
            httpx.put(f"{mill}/messagegroups/g{number}", json={}).raise_for_status()
            wait_until(lambda at=number: httpx.get(f"{bakery}/messagegroups/g{at}").status_code == 200)
            cut_sessions(database)

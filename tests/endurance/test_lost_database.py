"""A database that is killed, cut off or silent, and back: every answer meanwhile says so, never with a 500.

Afterwards everything goes on by itself: requests, streams, deliveries, links, and the claims to do the latter two.
"""

from __future__ import annotations

import threading
import time
from pathlib import Path

import httpx
import pytest

from postroom.catalog.open_store import open_store
from postroom.registry.problems import RegistryProblem
from postroom.store.interface import Store
from tests.endurance.proxy import Proxy
from tests.endurance.service_client import (
    GROUP,
    PATIENT,
    SETTINGS,
    subjects,
    subscribe,
    through,
    told,
    wait_until_ready,
)
from tests.http.running_service import serving
from tests.http.services.test_changes import STREAM, Listener
from tests.postgres import Postgres
from tests.replication.subscriptions.receivers import Receiver, wait_until

PATHS = (
    "/",
    "/model",
    "/messagegroups",
    GROUP,
    "/messagegroups?inline=*&filter=messagegroups.name=x",
    "/export",
    "/changes",
    "/subscriptions",
    "/-/replication/links",
    "/-/lint?xid=/",
    "/messagecatalog",
    "/v0.5/",
    "/metrics",
    "/nowhere",
    "/?specversion=1.0-rc2",
)
LONGEST = 20.0
"""Seconds after which everybody has been told that the database is away, on a machine with other work."""
WAIT_S = 5.0


def test_a_database_that_is_killed_and_comes_back(own_server: Postgres, receiver: Receiver, tmp_path: Path) -> None:
    with (
        serving(f"sqlite:///{tmp_path}/target.db") as (_, target),
        serving(own_server.registry(), **SETTINGS) as (_, url),
        httpx.Client(base_url=url, timeout=PATIENT) as client,
        client.stream("GET", "/changes?after=last", headers=STREAM) as stream,
    ):
        listener = Listener(stream)
        subscribe(client, receiver)
        link = {"mode": "push", "remote": target, "every": 1}
        assert client.put("/-/replication/links/shop", json=link).status_code in (200, 201)
        assert client.put(GROUP, json={"name": "Ovens"}).status_code == 201
        assert listener.subjects(2) == ["/", GROUP]
        wait_until(lambda: httpx.get(f"{target}{GROUP}").status_code == 200)
        before = client.get("/?inline=messagegroups").json()
        own_server.kill()
        for path in PATHS:
            begun = time.monotonic()
            assert "database" in told(client.get(path)), path
            assert time.monotonic() - begun < LONGEST, path
        for method in ("PUT", "PATCH", "DELETE"):
            assert "database" in told(client.request(method, GROUP, json={}))
        assert client.get("/healthz").json() == {"status": "ok"}, "the process itself is well"
        ready = client.get("/readyz")
        assert (ready.status_code, ready.json()["status"]) == (503, "full")
        assert "database" in ready.json()["detail"]
        time.sleep(2)  # long enough for whoever looks for changes to see that there is nothing to be seen
        own_server.start()
        wait_until_ready(url)
        assert client.get("/?inline=messagegroups").json() == before
        assert client.patch(GROUP, json={"name": "Later"}).json()["epoch"] == 2
        assert client.put("/messagegroups/mixers", json={}).status_code == 201
        assert listener.subjects(3) == [GROUP, "/", "/messagegroups/mixers"]
        wait_until(lambda: "/messagegroups/mixers" in subjects(receiver))
        wait_until(lambda: httpx.get(f"{target}/messagegroups/mixers").status_code == 200)
        assert list(dict.fromkeys(subjects(receiver))) == [GROUP, "/messagegroups/mixers"]


def test_connections_that_are_cut(postgres: Postgres, proxy: Proxy) -> None:
    with (
        serving(through(proxy, postgres), **SETTINGS) as (_, url),
        httpx.Client(base_url=url, timeout=PATIENT) as client,
    ):
        assert client.put(GROUP, json={}).status_code == 201
        for _ in range(3):
            with proxy.cut():
                pass
            assert client.get(GROUP).status_code == 200, "one that was cut is replaced, and nobody notices"
        with proxy.cut():
            assert "database" in told(client.get(GROUP))
            assert "database" in told(client.patch(GROUP, json={}))
        wait_until_ready(url)
        assert client.patch(GROUP, json={}).json()["epoch"] == 2


def test_a_silent_database_holds_up_nobody_who_does_not_need_it(postgres: Postgres, proxy: Proxy) -> None:
    with (
        serving(through(proxy, postgres), **SETTINGS) as (_, url),
        httpx.Client(base_url=url, timeout=PATIENT) as client,
    ):
        assert client.put(GROUP, json={}).status_code == 201
        answers: list[httpx.Response] = []

        def write() -> None:
            answers.append(httpx.patch(f"{url}{GROUP}", json={"name": "in flight"}, timeout=PATIENT))

        with proxy.silence():
            threads = [threading.Thread(target=write) for _ in range(4)]
            for thread in threads:
                thread.start()
            for _ in range(20):
                begun = time.monotonic()
                assert client.get("/healthz").status_code == 200
                assert time.monotonic() - begun < LONGEST
                assert "database" in told(client.get(GROUP))
        for thread in threads:
            thread.join(60)
        wait_until_ready(url)
        statuses = [answer.status_code for answer in answers]
        assert len(statuses) == 4
        assert set(statuses) <= {200, 503}
        assert client.get(GROUP).json()["epoch"] >= 1 + statuses.count(200), "what was acknowledged is there"


def test_a_lost_database_is_told_in_a_sentence(own_server: Postgres) -> None:
    with open_store(own_server.registry(), write_wait_s=WAIT_S) as store:
        store.version()
        own_server.kill()
        with pytest.raises(RegistryProblem, match="The database does not answer"):
            store.version()
        begun = time.monotonic()
        for use in (store.read, store.write):
            with pytest.raises(RegistryProblem, match="The database does not answer"), use():
                pass
        assert store.claim("links") is None
        assert time.monotonic() - begun < WAIT_S, "it is known to be away, and nobody waits for it"
        own_server.start()
        wait_until(lambda: not store.trouble(0))
        assert store.version() > 0


def test_whether_a_commit_was_kept_is_not_known_when_the_connection_ends(postgres: Postgres, proxy: Proxy) -> None:
    database = through(proxy, postgres)

    def write(store: Store) -> None:
        with store.write() as tx:
            tx.put_record("tests", "one", b"{}")

    with open_store(database) as store:
        proxy.ends_after = b"COMMIT"
        with pytest.raises(RegistryProblem, match="lost while it committed.* Look whether the change was kept"):
            write(store)
        proxy.ends_after = b""
        wait_until(lambda: not store.trouble(0))

        def is_kept() -> bool:
            with store.read() as tx:
                return tx.record("tests", "one") == b"{}"

        wait_until(is_kept, "that the server did what it was told before the connection ended")

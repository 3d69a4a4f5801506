"""A subscription outlives the service and its sink, both killed again and again: nothing is lost, order holds."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from postroom.catalog.open_store import open_store
from tests.brokers import free_port
from tests.http.running_service import kill, serving
from tests.replication.change_pages import read_changes
from tests.replication.subscriptions.receivers import wait_until

RESTARTS = int(os.environ.get("RESTARTS", "5"))
"""`RESTARTS=20 pytest tests/replication/test_restarts.py` is the long form."""
HOOK = Path(__file__).with_name("hook.py")
SUBJECTS = ("ovens", "boats", "doors")
ALLOWED = {"POSTROOM_SINK_HOSTS": "127.0.0.1", "POSTROOM_SINK_PRIVATE": "true"}


@contextmanager
def hook(port: int, file: Path) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(HOOK), str(port), str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.wait(30)
        if process.stdout is not None:
            process.stdout.close()


def write(url: str, rng: random.Random, stopped: threading.Event) -> None:
    """Change groups until the service is gone."""
    with httpx.Client(base_url=url, timeout=30) as client:
        while not stopped.is_set():
            try:
                client.put(f"/messagegroups/{rng.choice(SUBJECTS)}", json={"name": str(rng.random())})
            except httpx.HTTPError:
                return


def delivered(file: Path) -> list[tuple[str, str]]:
    """Subjects and ids in the order of their first arrival."""
    lines = file.read_text().splitlines() if file.exists() else []
    events = [json.loads(line) for line in lines]
    return list(dict.fromkeys((event["subject"], event["id"]) for event in events))


def logged(database: str) -> list[tuple[str, str]]:
    """The same from the change log."""
    with open_store(database) as store:
        changes = read_changes(store, "", 10_000).changes
    return [(change.xid, change.mark) for change in changes if change.xid.startswith("/messagegroups/")]


def test_nothing_is_lost_and_order_holds(tmp_path: Path) -> None:
    rng = random.Random(7)
    database, file, port = f"sqlite:///{tmp_path}/registry.db", tmp_path / "events", free_port()
    document = {
        "sink": f"http://127.0.0.1:{port}/",
        "protocol": "HTTP",
        "filters": [{"sql": "type LIKE 'io.xregistry.group.%'"}],
    }
    with serving(database, **ALLOWED) as (_, url):
        assert httpx.post(f"{url}/subscriptions", json=document).status_code == 201
    for round_number in range(RESTARTS):
        stopped = threading.Event()
        with serving(database, **ALLOWED) as (service, url), hook(port, file) as sink:
            before = len(delivered(file))
            writer = threading.Thread(target=write, args=(url, random.Random(round_number), stopped))
            writer.start()
            wait_until(lambda known=before: len(delivered(file)) > known + 3)
            # Who dies first is left to chance; the other one goes on for a moment.
            for kills in rng.sample([lambda: kill(service), sink.kill], 2):
                kills()
                threading.Event().wait(rng.random() / 5)
            stopped.set()
            writer.join()
    with serving(database, **ALLOWED), hook(port, file):
        expected = logged(database)
        wait_until(lambda: len(delivered(file)) >= len(expected))
    found = delivered(file)
    assert sorted(found) == sorted(expected)
    for subject in {subject for subject, _ in expected}:
        assert [one for one in found if one[0] == subject] == [one for one in expected if one[0] == subject]


def test_one_of_several_server_processes_delivers(tmp_path: Path) -> None:
    database, file, port = f"sqlite:///{tmp_path}/registry.db", tmp_path / "events", free_port()
    document = {"sink": f"http://127.0.0.1:{port}/", "protocol": "HTTP", "types": ["io.xregistry.group.created"]}
    with serving(database, "--workers", "2", **ALLOWED) as (_, url), hook(port, file), httpx.Client() as client:
        assert client.post(f"{url}/subscriptions", json=document, timeout=30).status_code == 201
        for number in range(10):
            assert client.put(f"{url}/messagegroups/g{number}", json={}, timeout=30).status_code == 201
        wait_until(lambda: len(delivered(file)) >= 10)
        (subscription,) = client.get(f"{url}/subscriptions").json()
        wait_until(lambda: client.get(f"{url}/subscriptions/{subscription['id']}/delivery").json()["delivered"] == 10)
    # No event came twice: nobody else delivered.
    assert len(file.read_text().splitlines()) == 10

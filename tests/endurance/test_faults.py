"""A full disk, a database that is only read, no free connection, a clock that is put back, a slow disk.

Each is answered as the documentation says, nothing of what was acknowledged is lost, and afterwards all is well.
`tests/store/test_disk.py` fills the disk of SQLite.
"""

from __future__ import annotations

import base64
import itertools
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import psycopg
import pytest

from postroom.catalog.open_store import open_store
from tests.absence import absent
from tests.endurance.proxy import Proxy
from tests.endurance.service_client import GROUP, PATIENT, SETTINGS, subjects, subscribe, through
from tests.http.running_service import serving
from tests.postgres import Postgres
from tests.replication.subscriptions.receivers import Receiver, Says, wait_until

ODD = "tests.endurance.odd_machine"
HOUR = 3600


def is_refused(answer: httpx.Response) -> None:
    """A change that cannot be stored: 507 with a sentence."""
    assert (answer.status_code, answer.json()["type"].rpartition("#")[2]) == (507, "server_error"), answer.text
    assert "cannot be written to. Nothing of the change was kept." in answer.json()["detail"]


@contextmanager
def small_disk(megabytes: int) -> Iterator[Path]:
    """A disk of its own that can be filled, where this machine lets us mount one."""
    folder = Path(tempfile.mkdtemp(prefix="postroom-disk-"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        folder.rmdir()
        absent("the right to mount", "the tests of a full disk of PostgreSQL did not run")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
        folder.rmdir()


def noise(size: int) -> str:
    """Text that cannot be compressed."""
    return base64.b64encode(random.Random(size).randbytes(size)).decode()


def test_a_disk_of_postgresql_that_fills_up(postgres: Postgres) -> None:
    with small_disk(24) as folder, psycopg.connect(postgres.address, autocommit=True) as admin, ExitStack() as stack:
        if os.getuid() == 0:
            shutil.chown(folder, "nobody")
        admin.execute(f"CREATE TABLESPACE small LOCATION '{folder}'".encode())
        stack.callback(admin.execute, b"DROP TABLESPACE small")
        admin.execute(b"CREATE DATABASE small TABLESPACE small")
        stack.callback(admin.execute, b"DROP DATABASE small WITH (FORCE)")
        address = postgres.address.replace("/postgres", "/small")
        with serving(address, **SETTINGS) as (_, url), httpx.Client(base_url=url, timeout=PATIENT) as client:
            written = 0
            while (answer := client.put(f"{GROUP}-{written}", json={"note": noise(700_000)})).status_code == 201:
                written += 1
            is_refused(answer)
            assert written > 2
            assert len(client.get("/messagegroups").json()) == written, "everything can still be read"
            subprocess.run(["mount", "-o", "remount,size=64m", folder], check=True)
            assert client.put(f"{GROUP}-{written}", json={"note": noise(700_000)}).status_code == 201
            assert client.get("/").json()["messagegroupscount"] == written + 1


def test_a_postgresql_that_is_only_read(postgres: Postgres) -> None:
    """As a standby is, or one that was made so by its administrator."""
    database = postgres.registry()
    with (
        serving(database, **SETTINGS) as (_, url),
        httpx.Client(base_url=url, timeout=PATIENT) as client,
        psycopg.connect(postgres.address, autocommit=True) as admin,
        ExitStack() as stack,
    ):
        assert client.put(GROUP, json={}).status_code == 201

        def set_read_only(value: str) -> None:
            admin.execute(f"ALTER SYSTEM SET default_transaction_read_only = {value}".encode())
            admin.execute(b"SELECT pg_reload_conf()")

        stack.callback(set_read_only, "off")
        set_read_only("on")
        wait_until(lambda: client.get("/readyz").json()["status"] == "full")
        is_refused(client.patch(GROUP, json={"name": "Later"}))
        assert client.get(GROUP).json()["epoch"] == 1
        with serving(database, **SETTINGS) as (_, started), httpx.Client(base_url=started) as other:
            assert other.get(GROUP).json()["epoch"] == 1, "a service starts and is read"
            is_refused(other.delete(GROUP))
        set_read_only("off")
        wait_until(lambda: client.get("/readyz").json()["status"] == "ready")
        assert client.patch(GROUP, json={"name": "Later"}).json()["epoch"] == 2


def test_a_file_that_may_only_be_read() -> None:
    with small_disk(8) as folder:
        database = f"sqlite:///{folder}/registry.db"
        with open_store(database):
            pass
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        command = [sys.executable, "-m", "postroom", "serve", "--db", database, "--port", "0"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 3
    assert "registry.db: cannot be written to: Read-only file system." in done.stderr


def use_up_connections(postgres: Postgres, stack: ExitStack) -> None:
    """Open connections until the server has no more."""
    while True:
        try:
            stack.enter_context(psycopg.connect(postgres.address))
        except psycopg.OperationalError as error:
            assert re.search("too many clients|reserved", str(error))  # noqa: PT017
            return


def test_a_server_without_free_connections(postgres: Postgres) -> None:
    """Others may use up what the server has; what the service has got already still serves."""
    with (
        serving(postgres.registry(), **SETTINGS) as (_, url),
        httpx.Client(base_url=url, timeout=PATIENT) as client,
        ExitStack() as stack,
    ):
        assert client.put(GROUP, json={}).status_code == 201
        use_up_connections(postgres, stack)
        with ThreadPoolExecutor(16) as pool:
            asked = list(pool.map(lambda n: client.patch(GROUP, json={"name": str(n)}), range(32)))
        done = [answer for answer in asked if answer.status_code == 200]
        assert {answer.status_code for answer in asked} <= {200, 503}
        stack.close()
        assert client.get(GROUP).json()["epoch"] == 1 + len(done)
        assert client.patch(GROUP, json={}).status_code == 200


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_clock_that_is_put_back(
    kind: str, tmp_path: Path, receiver: Receiver, request: pytest.FixtureRequest
) -> None:
    """The times of changes stay in their order, and nobody waits until the clock is where it was."""
    clock = tmp_path / "clock"
    clock.write_text("0")
    database = f"sqlite:///{tmp_path}/registry.db"
    if kind == "postgresql":
        database = request.getfixturevalue("postgres").registry()
    with (
        serving(database, program=ODD, CLOCK_FILE=str(clock), **SETTINGS) as (_, url),
        httpx.Client(base_url=url, timeout=PATIENT) as client,
    ):
        subscribe(client, receiver)
        before = client.put(GROUP, json={}).json()
        version = {"format": "JsonSchema/draft-07", "schema": {"type": "object"}}
        schema = "/schemagroups/ovens/schemas/oven$details"
        assert client.put(schema, json=version).status_code == 201
        receiver.wait(2)
        receiver.script += [Says(503, {"Retry-After": "30"})]
        assert client.put("/messagegroups/mixers", json={}).status_code == 201
        receiver.wait(3)
        delivery = f"/subscriptions/{client.get('/subscriptions').json()[0]['id']}/delivery"
        wait_until(lambda: client.get(delivery).json()["status"] == "retrying")
        cursor = client.get("/changes?after=last").json()["cursor"]
        clock.write_text(str(-HOUR))
        after = client.patch(GROUP, json={"name": "Later"}).json()
        assert after["epoch"] == 2
        assert after["modifiedat"] > before["modifiedat"], "times in the registry never go back"
        assert client.put(schema.replace("$", "/versions/2$"), json=version).status_code == 201
        assert client.get(schema).json()["versionid"] == "2", "the newest Version is the default one"
        rows = client.get("/changes", params={"after": cursor}).json()["events"]
        told = [row["subject"] for row in rows]
        assert told[:1] == [GROUP]
        assert "/schemagroups/ovens/schemas/oven/versions/2" in told
        wait_until(lambda: subjects(receiver).count("/messagegroups/mixers") == 2, "it is tried again at once")
        assert client.put("/messagegroups/scales", json={}).status_code == 201
        wait_until(lambda: subjects(receiver)[-1] == "/messagegroups/scales")
        assert client.get("/readyz").status_code == 200


def storm(url: str, seconds: float) -> tuple[list[int], list[float]]:
    """Create groups from eight threads for a while, and read beside that: statuses of writes, times of reads."""
    statuses: list[int] = []
    until = time.monotonic() + seconds

    def write(number: int) -> None:
        with httpx.Client(base_url=url, timeout=PATIENT) as client:
            for count in itertools.count():
                if time.monotonic() > until:
                    return
                statuses.append(client.put(f"/messagegroups/g{number}-{count}", json={}).status_code)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    reads = []
    with httpx.Client(base_url=url, timeout=PATIENT) as client:
        while time.monotonic() < until:
            begun = time.monotonic()
            assert client.get("/model").status_code == 200
            reads.append(time.monotonic() - begun)
    for thread in threads:
        thread.join()
    return statuses, reads


def test_a_slow_disk(tmp_path: Path) -> None:
    """Writes take turns, and who waits too long is refused; reads wait for nobody; what was refused is not there."""
    database = f"sqlite:///{tmp_path}/registry.db"
    settings = {"COMMIT_SECONDS": "0.3", "POSTROOM_WRITE_WAIT_S": "0.5"}
    with serving(database, program=ODD, **settings) as (_, url):
        statuses, reads = storm(url, seconds=2)
        assert set(statuses) == {201, 503}
        assert sorted(reads)[len(reads) // 2] < 0.1
        assert httpx.get(url).json()["messagegroupscount"] == statuses.count(201)


def test_a_slow_way_to_the_database(postgres: Postgres, proxy: Proxy) -> None:
    with serving(through(proxy, postgres), POSTROOM_WRITE_WAIT_S="0.5") as (_, url):
        assert httpx.get(url).status_code == 200
        proxy.delay = 0.03
        statuses, _ = storm(url, seconds=2)
        proxy.delay = 0.0
        assert set(statuses) == {201, 503}
        assert httpx.get(url).json()["messagegroupscount"] == statuses.count(201)

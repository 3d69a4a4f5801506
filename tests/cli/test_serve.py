from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from postroom.catalog.open_store import open_store
from postroom.http.server.worker_processes import START_SECONDS


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "postroom", "serve", *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(command, capture_output=True, text=True, timeout=60, env=env, check=False)


@contextmanager
def serving(*arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    command = [sys.executable, "-m", "postroom", "serve", "--port", "0", *arguments]
    env = {**os.environ, **environment}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().removeprefix("listening on ").strip()
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_it_says_where_it_listens_and_stops_cleanly(tmp_path: Path, stop: signal.Signals) -> None:
    with serving("--db", f"sqlite:///{tmp_path}/registry.db") as (process, url):
        assert httpx.get(url).status_code == 200
        process.send_signal(stop)
        assert process.wait(30) == 0


def test_without_a_database_it_uses_the_data_folder(tmp_path: Path) -> None:
    with serving(XDG_DATA_HOME=str(tmp_path)) as (_, url):
        assert httpx.get(f"{url}/healthz").json() == {"status": "ok"}
    assert (tmp_path / "postroom" / "registry.db").exists()


@pytest.mark.audit("clients-12")
def test_the_id_of_a_new_registry_can_be_chosen(tmp_path: Path) -> None:
    database = ("--db", f"sqlite:///{tmp_path}/registry.db")
    with serving(*database, "--registry-id", "harbour") as (_, url):
        assert httpx.get(url).json()["registryid"] == "harbour"
    with serving(*database, POSTROOM_REGISTRY_ID="other") as (_, url):
        assert httpx.get(url).json()["registryid"] == "harbour", "only a new one can be called so"
    assert run(*database, "--registry-id", "a/b", "--db", f"sqlite:///{tmp_path}/new.db").returncode == 2


def test_several_workers_share_the_registry(tmp_path: Path) -> None:
    with serving("--workers", "2", "--db", f"sqlite:///{tmp_path}/registry.db") as (_, url):
        for number in range(30):
            assert httpx.put(f"{url}/messagegroups/g{number}", json={}).status_code == 201
            assert httpx.get(url).json()["messagegroupscount"] == number + 1


def test_a_model_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text('{"groups": {"kitchens": {"singular": "kitchen"}}}')
    with serving("--model", str(tmp_path / "model.json"), "--db", f"sqlite:///{tmp_path}/registry.db") as (_, url):
        assert list(httpx.get(f"{url}/model").json()["groups"]) == ["kitchens"]


def test_bad_starts_are_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "broken.json").write_text('{"groups": ')
    (tmp_path / "wrong.json").write_text('{"groups": {"kitchens": {}}}')
    database = ("--db", f"sqlite:///{tmp_path}/registry.db")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        cases = [
            (("--port", str(taken.getsockname()[1]), *database), 3, "another process listens there"),
            (("--host", "0.0.0.0", *database), 2, "--insecure"),  # noqa: S104
            (("--port", "99999", *database), 2, "--port"),
            (("--model", str(tmp_path / "none.json"), *database), 2, "no such model file"),
            (("--model", str(tmp_path / "broken.json"), *database), 2, "broken.json:1:"),
            (("--model", str(tmp_path / "wrong.json"), *database), 2, "singular"),
            (("--db", "postgresql://127.0.0.1:1/y"), 3, "the database cannot be used"),
            (("--db", "ftp://x/y"), 2, "no store"),
        ]
        for arguments, code, words in cases:
            ended = run(*arguments)
            assert (ended.returncode, ended.stdout) == (code, ""), ended.stderr
            assert words in ended.stderr
            assert ended.stderr.count("\n") == 1, ended.stderr


def test_two_servers_do_not_share_a_port(tmp_path: Path) -> None:
    with serving("--db", f"sqlite:///{tmp_path}/one.db") as (_, url):
        ended = run("--port", url.rpartition(":")[2], "--db", f"sqlite:///{tmp_path}/two.db")
        assert (ended.returncode, "another process" in ended.stderr) == (3, True)


@pytest.mark.sqlite
@pytest.mark.feature("REG-083", "REG-084")
def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/registry.db"
    acknowledged: list[int] = []
    with serving("--db", database) as (process, url):

        def write() -> None:
            with httpx.Client(base_url=url) as client:
                for number in range(100_000):
                    try:
                        answer = client.put(f"/messagegroups/g/messages/m{number}", json={"name": f"n{number}"})
                    except httpx.HTTPError:
                        return
                    if answer.status_code == 201:
                        acknowledged.append(number)

        writer = threading.Thread(target=write)
        writer.start()
        time.sleep(1.0)
        for pid in (process.pid, *_children(process.pid)):  # the parent first: it would start a new worker
            os.kill(pid, signal.SIGKILL)
        writer.join(30)
        process.wait(30)
    with open_store(database) as store, store.read() as tx:
        stored = {entity.id for entity in tx.entities("/messagegroups/g/messages")}
        created = {change.xid for change in tx.changes(0, 10**6) if change.action == "created"}
        versions = {entity.xid for one in stored for entity in tx.entities(f"/messagegroups/g/messages/{one}/versions")}
    assert acknowledged
    assert {f"m{number}" for number in acknowledged} <= stored
    assert {f"/messagegroups/g/messages/{one}/versions/1" for one in stored} == versions
    assert {f"/messagegroups/g/messages/{one}" for one in stored} <= created


def _is_alive(pid: int) -> bool:
    try:
        return "(zombie)" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("worker_first", [False, True])
def test_no_worker_outlives_its_parent(tmp_path: Path, worker_first: bool) -> None:
    with serving("--workers", "2", "--db", f"sqlite:///{tmp_path}/registry.db") as (process, url):
        workers = _workers(process.pid)
        assert len(workers) == 2
        if worker_first:
            os.kill(workers[0], signal.SIGKILL)
            workers = _replaced_workers(process.pid, workers)
            assert httpx.get(url, timeout=30).status_code == 200
        process.kill()
        process.wait(10)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline and any(map(_is_alive, workers)):
            time.sleep(0.1)
        assert not any(map(_is_alive, workers))


def test_a_worker_that_cannot_start_ends_the_service(tmp_path: Path) -> None:
    database = tmp_path / "registry.db"
    with serving("--workers", "2", "--db", f"sqlite:///{database}") as (process, _):
        for file in tmp_path.glob("registry.db*"):
            file.unlink()
        database.write_bytes(b"this is no database" * 100)
        os.kill(_workers(process.pid)[0], signal.SIGKILL)
        assert process.wait(180) == 3


def test_workers_log_like_their_parent(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "postroom", "serve", "--port", "0", "--workers", "2", "-v"]
    database = ("--db", f"sqlite:///{tmp_path}/registry.db")
    with subprocess.Popen([*command, *database], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        url = process.stdout.readline().removeprefix("listening on ").strip()
        instance = httpx.get(f"{url}/nowhere").json()["instance"]
        process.send_signal(signal.SIGTERM)
        lines = [json.loads(line) for line in process.stderr]
        assert process.wait(30) == 0
    assert [line["instance"] for line in lines if line["logger"] == "postroom.http"] == [instance]


def _replaced_workers(pid: int, before: list[int]) -> list[int]:
    """Two workers, one of them new. A worker that dies while it is asked for a sign of life is waited for first."""
    deadline = time.monotonic() + 3 * START_SECONDS
    while time.monotonic() < deadline:
        workers = _workers(pid)
        if len(workers) == 2 and set(workers) != set(before):
            return workers
        time.sleep(0.001)
    raise AssertionError(f"no worker took the place of the one that was killed: {_workers(pid)}")


def _workers(pid: int) -> list[int]:
    """The processes that answer; Python keeps another one beside them."""
    return [one for one in _children(pid) if b"spawn_main" in _command(one)]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in listed.split()]

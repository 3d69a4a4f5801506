"""The access log of a running service: a JSON line for each request, and nothing secret in any."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from postroom.access.grants import parse_grant
from postroom.access.keys import create_key
from postroom.catalog.open_store import open_store
from postroom.errors import FolderUnwritable
from postroom.http.operations.access_log import MOST_WAITING, AccessLog, AccessRecord, loggable, now
from tests.http.running_service import serving

RIDE = "/messagegroups/fleet/messages/ride"
SECRET = "0123456789abcdef" * 4
TOKEN = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm5hIn0.c2lnbmF0dXJl"


def lines(path: Path, number: int) -> list[dict[str, Any]]:
    """The lines of a log, as soon as there are so many."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = path.read_text().splitlines() if path.exists() else []
        if len(found) >= number:
            return [json.loads(line) for line in found]
        time.sleep(0.05)
    raise AssertionError(f"there are {len(found)} lines, not {number}")


def record(number: int = 0) -> AccessRecord:
    return AccessRecord(time=now(), id=str(number), method="GET", path="/", route="/", status=200, ms=0.1, bytes=number)


def test_each_request_is_a_line_with_what_became_of_it(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    with serving(f"sqlite:///{tmp_path}/registry.db", POSTROOM_ACCESS_LOG=str(log)) as (_, url):
        with httpx.Client(base_url=url, headers={"User-Agent": "fleet/7"}) as client:
            put = client.put(RIDE, json={}, headers={"X-Request-Id": "depot-4.17"})
            kept = [client.get(RIDE), client.get(f"{RIDE}?inline=*"), client.get(RIDE)][-1]
            client.get("/messagegroups/fleet/messages/none")
        found = lines(log, 5)
    assert put.headers["x-request-id"] == "depot-4.17"
    first, second, third, again, missing = found
    assert first == {
        "time": first["time"],
        "id": "depot-4.17",
        "method": "PUT",
        "path": RIDE,
        "route": "/{grouptype}/{groupid}/{resourcetype}/{resourceid}",
        "status": 201,
        "ms": first["ms"],
        "bytes": len(put.content),
        "client": "127.0.0.1",
        "agent": "fleet/7",
    }
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", first["time"])
    assert 0 < first["ms"] < 30_000
    assert second["path"] == third["path"] == again["path"] == RIDE  # without the query
    assert kept.headers["x-request-id"] == again["id"]
    assert len({one["id"] for one in found}) == 5
    assert (missing["status"], missing["path"]) == (404, "/messagegroups/fleet/messages/none")


def test_a_line_names_whoever_asked_and_holds_no_key(tmp_path: Path) -> None:
    log, database = tmp_path / "access.log", f"sqlite:///{tmp_path}/registry.db"
    with open_store(database) as store, store.write() as tx:
        _, key = create_key(tx, "anna", [parse_grant("key:anna", "admin", "/")])
    with serving(database, "--access", "on", POSTROOM_ACCESS_LOG=str(log)) as (_, url):
        given = {"Authorization": f"Bearer {key}"}
        assert httpx.get(f"{url}/model", headers=given).status_code == 200
        made = httpx.post(f"{url}/-/keys", json={"id": "ben"}, headers=given)
        assert made.status_code == 201, made.text
        assert httpx.get(f"{url}/model", auth=("anna", key)).status_code == 200
        assert httpx.get(f"{url}/model").status_code == 401
        assert httpx.get(f"{url}/healthz").status_code == 200
        # What people do by mistake:
        httpx.get(f"{url}/model?key={key}&access_token={TOKEN}", headers=given)
        httpx.get(f"{url}/{key}/{TOKEN}", headers=given | {"User-Agent": key, "X-Request-Id": key})
        httpx.get(f"{url}/model", headers={"Authorization": f"Bearer {key[:-1]}0", "X-Request-Id": TOKEN})
        found = lines(log, 8)
    principals = [one.get("principal") for one in found]
    assert principals[:3] == ["key:anna", "key:anna", "key:anna"]
    assert principals[3] is None  # nobody was let in
    text = log.read_text()
    secrets = [key.rpartition("_")[2], str(made.json()["key"]).rpartition("_")[2], *TOKEN.split(".")]
    assert all(len(secret) > 8 for secret in secrets)
    assert not [secret for secret in secrets if secret in text]
    assert found[6]["path"] == "/postroom_anna_…/…"
    assert stat_mode(log) == 0o640


def stat_mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


@pytest.mark.parametrize(
    ("given", "logged"),
    [
        ("/messagegroups/fleet", "/messagegroups/fleet"),
        (b"curl/8.1 \xfc", "curl/8.1 ü"),
        (f"postroom_anna_{SECRET}", "postroom_anna_…"),
        (f"/x/postroom_depot-4.north_{SECRET[:20]}?", "/x/postroom_depot-4.north_…?"),
        (f"Bearer {TOKEN}", "Bearer …"),
        ("x" * 600, "x" * 511 + "…"),
        ("/postroom_is_nice", "/postroom_is_nice"),
    ],
)
def test_a_text_of_a_client_is_logged_without_secrets_and_not_at_any_length(given: str | bytes, logged: str) -> None:
    assert loggable(given) == logged


@pytest.mark.parametrize("bad", ["", "two words", "x" * 129, "a\u00e9", '"quoted"', "{}"])
def test_what_is_no_id_is_replaced_by_one(tmp_path: Path, bad: str) -> None:
    from postroom.http.operations.access_log import request_id

    made = request_id({"headers": [(b"x-request-id", bad.encode("latin-1"))]})
    assert re.fullmatch("[0-9a-f]{20}", made)


def test_a_file_that_was_moved_away_is_made_anew(tmp_path: Path) -> None:
    path, old = tmp_path / "access.log", tmp_path / "access.log.1"
    log = AccessLog(str(path))
    log.start()
    log.note(record(1))
    lines(path, 1)
    path.rename(old)
    log.note(record(2))
    assert [one["id"] for one in lines(path, 1)] == ["2"]
    assert [one["id"] for one in lines(old, 1)] == ["1"]
    log.stop()


def test_lines_that_nobody_takes_are_dropped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "access.log"
    log = AccessLog(str(path))
    for number in range(MOST_WAITING + 7):  # nothing is written yet
        log.note(record(number))
    log.start()
    log.stop()
    found = lines(path, MOST_WAITING + 1)
    assert found[-1]["dropped"] == 7
    assert found[-2]["bytes"] == MOST_WAITING - 1


def test_lines_of_two_workers_do_not_mix_and_all_of_them_are_there_after_a_stop(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    with serving(f"sqlite:///{tmp_path}/registry.db", "--workers", "2", POSTROOM_ACCESS_LOG=str(log)) as (process, url):

        def ask(client: int) -> None:
            for number in range(50):
                httpx.get(f"{url}/model", headers={"X-Request-Id": f"{client}-{number}", "User-Agent": "u" * 300})

        with ThreadPoolExecutor(4) as threads:
            list(threads.map(ask, range(4)))
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    ids = [one["id"] for one in lines(log, 200) if one["path"] == "/model"]
    assert sorted(ids) == sorted(f"{client}-{number}" for client in range(4) for number in range(50))


def test_it_goes_to_standard_error_where_the_setting_is_a_hyphen(tmp_path: Path) -> None:
    errors = tmp_path / "stderr"
    command = [sys.executable, "-m", "postroom", "serve", "--db", f"sqlite:///{tmp_path}/r.db", "--port", "0"]
    with errors.open("w") as stderr:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            env={**os.environ, "POSTROOM_ACCESS_LOG": "-"},
        )
        assert process.stdout is not None
        url = process.stdout.readline().removeprefix("listening on ").strip()
        httpx.get(f"{url}/model")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
        process.stdout.close()
    assert [json.loads(line)["path"] for line in errors.read_text().splitlines()] == ["/model"]


def test_a_log_that_cannot_be_written_is_refused_with_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(FolderUnwritable, match="nowhere.*the access log cannot be written: No such file or directory"):
        AccessLog(str(tmp_path / "nowhere" / "access.log"))


def test_a_client_that_leaves_is_logged_as_such(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    with serving(f"sqlite:///{tmp_path}/registry.db", POSTROOM_ACCESS_LOG=str(log)) as (_, url):
        with httpx.stream("GET", f"{url}/changes", headers={"Accept": "text/event-stream"}) as stream:
            next(stream.iter_bytes())
        found = lines(log, 1)
    assert (found[0]["path"], found[0]["status"]) == ("/changes", 200)
    assert found[0]["bytes"] > 0

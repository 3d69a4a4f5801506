"""How much one request may ask for, and how it is told: records, time, threads; nobody else waits for it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import gzip
import json
import socket
import sqlite3
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from postroom.http.server import thread_pools
from postroom.http.server.app import create_app
from postroom.http.server.request import Request, parse_query
from postroom.http.server.thread_pools import Pool, Pools
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient
from tests.http.running_service import serving

LINES = {"content-type": "application/x-ndjson"}
MOST = 1_000
EVENT = {"specversion": "1.0", "id": "1", "source": "/ovens/7", "type": "reading"}
BATCH = json.dumps([EVENT] * (MOST + 1))
TOO_LARGE = {"content-type": "application/cloudevents-batch+json"}
MESSAGE = "/messagegroups/ovens/messages/reading"
GROUP = {"messages": {"reading": {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "reading"}}}}}


@pytest.fixture
def limited(store: Store) -> AsgiClient:
    asgi = AsgiClient(create_app(store, Settings(max_records=MOST)))
    assert asgi.ask("PUT", "/messagegroups/ovens", GROUP).status == 201
    return asgi


def http_record(**payload: str) -> dict[str, Any]:
    headers = [{"name": name, "value": value} for name, value in TOO_LARGE.items()]
    return {"protocol": "HTTP", "metadata": {"headers": headers}, **payload}


@pytest.mark.parametrize(
    ("path", "body", "headers"),
    [
        ("/match", b"0\n" * (MOST + 1), LINES),
        ("/match", b"\n" * (MOST + 1), LINES),
        ("/match", gzip.compress(b"0\n" * 150_000), {**LINES, "content-encoding": "gzip"}),
        ("/match", BATCH.encode(), {}),
        ("/match", b"[" + b"0," * 8_000_000 + b"0]", {}),
        ("/match", json.dumps(http_record(payload=BATCH)).encode(), {}),
        ("/match", json.dumps(http_record(payload=BATCH.replace(",", ", "))).encode(), LINES),
        ("/match", json.dumps(http_record(payload_base64=base64.b64encode(BATCH.encode()).decode())).encode(), {}),
        ("/match", b"\n".join([json.dumps([{}] * 90).encode()] * 12), LINES),
        ("/make", json.dumps({"message": MESSAGE, "count": MOST + 1}).encode(), {}),
    ],
    ids=[
        "lines", "empty lines", "packed lines", "array", "array of nothing", "batch", "batch in a line", "packed batch",
        "many batches", "make",
    ],
)  # fmt: skip
def test_more_records_than_a_request_may_have_are_refused(
    limited: AsgiClient, path: str, body: bytes, headers: dict[str, str]
) -> None:
    answer = limited.ask("POST", path, body, headers)
    assert (answer.status, answer.problem) == (413, "bad_request")
    assert "max_records" in answer.json["args"]["error_detail"]
    assert "several requests" in answer.json["detail"]


def test_as_many_records_as_a_request_may_have_are_answered(limited: AsgiClient) -> None:
    lines = limited.ask("POST", "/match", b"0\n" * MOST, LINES)
    assert len(lines.body.splitlines()) == MOST
    assert len(limited.ask("POST", "/match", [EVENT] * MOST).json) == MOST
    order = {"message": MESSAGE, "count": MOST, "values": {}, "seed": 1}
    made = limited.ask("POST", "/make", order).json
    assert len(made) == MOST
    assert limited.ask("POST", "/make", order, {"accept": "application/x-ndjson"}).body.count(b"\n") == MOST


def test_a_record_that_carries_several_messages_is_answered_with_all_outcomes(limited: AsgiClient) -> None:
    found = limited.ask("POST", "/match", http_record(payload=json.dumps([EVENT, EVENT, {}]))).json
    assert [one["outcome"] for one in found] == ["landed", "landed", "malformed"]


class Slowly:
    """Asks an application, and looks at each part of the answer as it comes."""

    def __init__(self, body: bytes, *, pause_s: float = 0, leaves_after: int | None = None) -> None:
        self._body = body
        self._pause_s = pause_s
        self._leaves_after = leaves_after
        self._left = asyncio.Event()
        self._was_read = False
        self.parts: list[Any] = []

    async def ask(self, app: Any) -> list[Any]:
        headers = [(b"host", b"ovens.localhost"), (b"content-type", LINES["content-type"].encode())]
        scope = {
            "type": "http", "method": "POST", "path": "/match", "raw_path": b"/match", "query_string": b"",
            "headers": headers, "client": ("203.0.113.9", 1), "scheme": "http",
        }  # fmt: skip
        await app(scope, self._receive, self._send)
        return self.parts

    async def _receive(self) -> Any:
        if not self._was_read:
            self._was_read = True
            return {"type": "http.request", "body": self._body, "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, part: Any) -> None:
        self.parts.append(part)
        if self._leaves_after == len(self.parts):
            self._left.set()
        await asyncio.sleep(self._pause_s)


def test_answers_are_sent_while_they_are_made(store: Store) -> None:
    parts = asyncio.run(Slowly(b"0\n" * 5_000).ask(create_app(store, Settings())))
    assert len(parts) > 10
    assert max(len(part.get("body", b"")) for part in parts) < 500_000
    assert b"".join(part.get("body", b"") for part in parts).count(b"\n") == 5_000
    assert not parts[-1].get("more_body")


def test_nothing_more_is_done_for_a_client_that_has_left(store: Store) -> None:
    parts = asyncio.run(Slowly(b"0\n" * 10_000, leaves_after=2).ask(create_app(store, Settings())))
    assert len(parts) < 6


def test_an_answer_whose_time_is_over_ends_in_a_line_that_says_so_and_is_not_completed(store: Store) -> None:
    app = create_app(store, Settings(request_timeout_s=2.0))
    parts = asyncio.run(Slowly(b"0\n" * 10_000, pause_s=0.3).ask(app))
    assert parts[-1]["more_body"]
    last = json.loads(parts[-1]["body"])
    assert (last["status"], last["type"].rpartition("#")[2]) == (503, "server_busy")
    assert "request_timeout_s" in last["detail"]


def test_no_client_takes_an_answer_for_whole_that_is_not(tmp_path: Path) -> None:
    lines = b"0\n" * 500 + BATCH.encode() + b"\n"
    with serving(f"sqlite:///{tmp_path}/registry.db", POSTROOM_MAX_RECORDS=str(MOST)) as (_, url):
        received: list[bytes] = []
        with httpx.stream("POST", f"{url}/match", content=lines, headers=LINES, timeout=30) as answer:
            assert answer.status_code == 200
            with pytest.raises(httpx.RemoteProtocolError):
                received.extend(answer.iter_bytes())
        *outcomes, last = map(json.loads, b"".join(received).splitlines())
        assert {one["outcome"] for one in outcomes} == {"malformed"}
        assert last["status"] == 413
        assert _old_protocol(url, lines).startswith(b"HTTP/1.1 413")


def _old_protocol(url: str, body: bytes) -> bytes:
    """HTTP/1.0 knows no chunks: an answer that is cut off could not be told from a whole one."""
    address = urlsplit(url)
    head = f"POST /match HTTP/1.0\r\nContent-Type: application/x-ndjson\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection((address.hostname, address.port), timeout=30) as connection:
        connection.sendall(head.encode() + body)
        return b"".join(iter(lambda: connection.recv(65536), b""))


@pytest.mark.parametrize(
    "target",
    ["/export", "/?inline=*", "/messagegroups?filter=messages.name=x", "/messagegroups/ovens/messages?sort=name"],
)
def test_a_read_that_takes_too_long_is_given_up_with_its_remedy(store: Store, target: str) -> None:
    hasty = AsgiClient(create_app(store, Settings(request_timeout_s=0.000_001)))
    assert hasty.ask("PUT", "/messagegroups/ovens", GROUP).status == 201  # a write is done whole
    answer = hasty.ask("GET", target)
    assert (answer.status, answer.problem) == (503, "server_busy")
    assert answer.headers["retry-after"]
    assert "request_timeout_s" in answer.json["detail"]


@pytest.mark.parametrize(
    ("method", "target", "pool"),
    [
        ("GET", "/messagegroups/g/messages/m", "reads"),
        ("GET", "/messagegroups/g", "reads"),
        ("GET", "/capabilities", "reads"),
        ("GET", "/changes", "reads"),
        ("GET", "/messagegroups/g/messages?limit=10", "reads"),
        ("GET", "/messagegroups/g/messages", "large_reads"),
        ("HEAD", "/messagegroups/", "large_reads"),
        ("GET", "/schemagroups/g/schemas/s/versions", "large_reads"),
        ("GET", "/messagegroups?filter=name=a&limit=10", "large_reads"),
        ("GET", "/export", "large_reads"),
        ("GET", "/?inline=*", "large_reads"),
        ("PUT", "/messagegroups/g/messages", "writes"),
        ("PUT", "/messagegroups/g/messages/m", "small_writes"),
        ("DELETE", "/messagegroups/g/messages/m", "writes"),
        ("POST", "/match", "matches"),
        ("GET", "/readyz", "probes"),
    ],
)
def test_answers_with_many_entities_leave_single_ones_their_threads(method: str, target: str, pool: str) -> None:
    async def chosen() -> tuple[Pool, Pool]:
        path, _, query = target.partition("?")
        request = Request(method=method, path=path, base="http://ovens", query=parse_query(query))
        pools = Pools(Settings())
        return getattr(pools, pool), pools.of(request)

    wanted, given = asyncio.run(chosen())
    assert given is wanted


def test_a_full_pool_refuses_and_says_when_to_come_back() -> None:
    async def crowd() -> list[Any]:
        pool, door = Pool(threads=1, most_waiting=1, max_wait_s=0.05), threading.Event()
        first = asyncio.create_task(pool.run(door.wait, "/"))
        await asyncio.sleep(0)
        patient = asyncio.create_task(pool.run(time.monotonic, "/"))
        await asyncio.sleep(0)
        refused = await asyncio.gather(pool.run(time.monotonic, "/"), patient, return_exceptions=True)
        door.set()
        await first
        return [*refused, await pool.run(lambda: "free", "/")]

    *refused, free = asyncio.run(crowd())
    assert free == "free"
    for problem in refused:
        assert isinstance(problem, RegistryProblem)
        assert (problem.status, problem.extra_headers["retry-after"]) == (503, "10")


def test_threads_take_short_turns_while_one_of_them_works_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thread_pools, "LONG_AFTER_SECONDS", 3600.0)

    async def interval_during(pool: Pool) -> float:
        door = threading.Event()
        working = asyncio.create_task(pool.run(door.wait, "/"))
        for _ in range(10):
            await asyncio.sleep(0)
        seen = sys.getswitchinterval()
        door.set()
        await working
        return seen

    async def work() -> list[float]:
        pools = (Pool(threads=1, most_waiting=1, is_long=is_long) for is_long in (False, True))
        return [one for pool in pools for one in (await interval_during(pool), sys.getswitchinterval())]

    before = sys.getswitchinterval()
    try:
        seen = asyncio.run(work())
    finally:
        sys.setswitchinterval(before)
    long, short = thread_pools.LONG_TURN_SECONDS, thread_pools.SHORT_TURN_SECONDS
    assert seen == pytest.approx([long, long, short, long])


@contextlib.contextmanager
def asked(url: str, method: str, targets: list[str]) -> Iterator[None]:
    """Requests that are on their way while the block lasts; nobody waits for what becomes of them."""

    def ask(target: str) -> None:
        with contextlib.suppress(httpx.HTTPError):
            httpx.request(method, url + target, content=b"{}" if method == "PUT" else None, timeout=60)

    with ThreadPoolExecutor(len(targets)) as clients:
        for target in targets:
            clients.submit(ask, target)
        time.sleep(1)
        yield


def test_writers_that_wait_leave_readers_their_threads(tmp_path: Path) -> None:
    database = tmp_path / "registry.db"
    with serving(f"sqlite:///{database}") as (_, url):
        holder = sqlite3.connect(database, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        with asked(url, "PUT", [f"/messagegroups/g{number}" for number in range(45)]):
            try:
                assert httpx.get(f"{url}/messagegroups?limit=1", timeout=15).status_code == 200
                assert httpx.post(f"{url}/match", json=EVENT, timeout=15).json()["outcome"] == "unmatched"
            finally:
                holder.rollback()
                holder.close()


def test_documents_of_a_silent_host_leave_others_their_threads(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host = f"127.0.0.1:{silent.getsockname()[1]}"
        flags = ("--allow-fetch", host)
        with serving(f"sqlite:///{tmp_path}/registry.db", *flags, POSTROOM_TIMEOUT_S="20") as (_, url):
            body = {"format": "T/1", "schemaproxyurl": f"http://{host}/slow"}
            with contextlib.suppress(httpx.TimeoutException):
                httpx.put(f"{url}/schemagroups/g/schemas/s$details", json=body, timeout=1)
            with asked(url, "GET", [f"/schemagroups/g/schemas/s?n={number}" for number in range(45)]):
                assert httpx.get(f"{url}/messagegroups", timeout=15).status_code == 200
                assert httpx.put(f"{url}/messagegroups/g", json={}, timeout=15).status_code == 201
                silent.close()

"""Restarts under load: no request fails, and streams go on where they ended."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.http.running_service import serving

CLIENTS = 8
STREAM = {"Accept": "text/event-stream"}


class Storm:
    """Clients that ask one after the other on connections they keep. Like a balancer, they go to the next server when
    one refuses the connection; whatever else goes wrong is a request that failed.
    """

    def __init__(self, *urls: str) -> None:
        self._addresses = [urlsplit(url).netloc for url in urls]
        self._stopping = threading.Event()
        self._numbers = itertools.count()
        self.acknowledged: list[str] = []
        self.failed: list[str] = []
        self.answered = 0
        self.refused_everywhere = 0
        self._threads = [threading.Thread(target=self._run) for _ in range(CLIENTS)]

    def _run(self) -> None:
        connection: http.client.HTTPConnection | None = None
        while not self._stopping.is_set():
            number = next(self._numbers)
            connection = connection if connection is not None and connection.sock is not None else self._connected()
            if connection is None:
                self.refused_everywhere += 1
                time.sleep(0.05)
                continue
            try:
                self._ask(connection, number)
            except (OSError, http.client.HTTPException) as error:
                self.failed.append(f"{number}: {error!r}")
                connection = None

    def _connected(self) -> http.client.HTTPConnection | None:
        for address in self._addresses:
            connection = http.client.HTTPConnection(address, timeout=30)
            try:
                connection.connect()
            except ConnectionRefusedError:
                continue
            except OSError as error:
                self.failed.append(f"connecting: {error!r}")
                continue
            return connection
        return None

    def _ask(self, connection: http.client.HTTPConnection, number: int) -> None:
        writes = number % 5 == 0
        path = f"/messagegroups/g{number}" if writes else "/messagegroups/ovens"
        headers = {"Content-Type": "application/json"}
        connection.request("PUT" if writes else "GET", path, body=b"{}" if writes else None, headers=headers)
        answer = connection.getresponse()
        answer.read()
        if answer.status not in (200, 201):
            self.failed.append(f"{number}: {answer.status}")
        elif writes:
            self.acknowledged.append(f"g{number}")
        self.answered += 1

    def wait(self, more: int) -> None:
        """Until so many more requests are answered."""
        goal, deadline = self.answered + more, time.monotonic() + 60
        while self.answered < goal and time.monotonic() < deadline:
            time.sleep(0.02)
        assert self.answered >= goal, f"only {self.answered}; failed: {self.failed[:5]}"

    @contextmanager
    def raging(self) -> Iterator[Storm]:
        for thread in self._threads:
            thread.start()
        try:
            yield self
        finally:
            self._stopping.set()
            for thread in self._threads:
                thread.join(60)


def workers_of(pid: int) -> set[int]:
    """The processes below another that answer requests."""
    children = map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
    return {one for one in children if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()}


def test_two_processes_restarted_one_after_the_other_fail_no_request(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/registry.db"
    with serving(database) as (first, one), serving(database) as (second, two), ExitStack() as replaced:
        httpx.put(f"{one}/messagegroups/ovens", json={}).raise_for_status()
        with Storm(one, two).raging() as storm:
            storm.wait(200)
            first.terminate()
            assert first.wait(30) == 0
            storm.wait(100)
            replaced.enter_context(serving(database, "--port", str(urlsplit(one).port)))
            storm.wait(100)
            second.terminate()
            assert second.wait(30) == 0
            storm.wait(100)
        assert storm.failed == []
        assert storm.refused_everywhere == 0
        there = httpx.get(f"{one}/messagegroups?limit=100000").json()
        assert set(storm.acknowledged) <= set(there)


def test_a_process_that_stops_answers_what_has_reached_it_and_refuses_the_rest(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/registry.db") as (process, url):
        httpx.put(f"{url}/messagegroups/ovens", json={}).raise_for_status()
        with Storm(url).raging() as storm:
            storm.wait(200)
            process.terminate()
            assert process.wait(30) == 0
            time.sleep(0.3)
        assert storm.failed == []
        assert storm.refused_everywhere > 0


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
def test_workers_that_are_replaced_or_stopped_fail_no_request(tmp_path: Path, number: int) -> None:
    with serving(f"sqlite:///{tmp_path}/registry.db", "--workers", "2") as (process, url):
        httpx.put(f"{url}/messagegroups/ovens", json={}).raise_for_status()
        with Storm(url).raging() as storm:
            storm.wait(200)
            before = workers_of(process.pid)
            assert len(before) == 2
            process.send_signal(number)
            if number == signal.SIGHUP:
                deadline = time.monotonic() + 60
                while time.monotonic() < deadline and workers_of(process.pid) & before:
                    time.sleep(0.1)
                assert not workers_of(process.pid) & before
                storm.wait(200)
                assert storm.refused_everywhere == 0
            else:
                assert process.wait(30) == 0
        assert storm.failed == []


def test_a_request_in_progress_is_answered_and_one_that_comes_on_its_connection_is_told_to_go(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/registry.db") as (process, url):
        idle = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        idle.request("GET", "/model")
        idle.getresponse().read()
        slow = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        body = json.dumps({"description": "x" * 1000}).encode()
        slow.putrequest("PUT", "/messagegroups/ovens")
        slow.putheader("Content-Length", str(len(body)))
        slow.putheader("Content-Type", "application/json")
        slow.endheaders(body[:100])
        time.sleep(0.2)
        process.terminate()
        time.sleep(0.7)  # it does not accept connections any more
        idle.request("GET", "/model")
        answer = idle.getresponse()
        assert (answer.status, answer.getheader("connection")) == (200, "close")
        answer.read()
        time.sleep(1)
        slow.send(body[100:])
        made = slow.getresponse()
        assert (made.status, made.getheader("connection")) == (201, "close")
        made.read()
        assert process.wait(30) == 0


def test_while_it_drains_it_is_not_ready_takes_connections_and_asks_clients_to_leave(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/registry.db", POSTROOM_DRAIN_S="3") as (process, url):
        assert httpx.get(f"{url}/-/readyz").json() == {"status": "ready"}
        process.terminate()
        time.sleep(0.5)
        ready = httpx.get(f"{url}/-/readyz")
        assert (ready.status_code, ready.json()["status"]) == (503, "stopping")
        assert httpx.get(f"{url}/-/healthz").status_code == 200
        answer = httpx.put(f"{url}/messagegroups/ovens", json={})
        assert (answer.status_code, answer.headers["connection"]) == (201, "close")
        began = time.monotonic()
        assert process.wait(30) == 0
        assert 1 < time.monotonic() - began < 15


def test_a_request_that_takes_too_long_does_not_keep_the_process_for_ever(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/registry.db", POSTROOM_STOP_TIMEOUT_S="1") as (process, url):
        slow = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        slow.putrequest("PUT", "/messagegroups/ovens")
        slow.putheader("Content-Length", "100")
        slow.endheaders(b"{")
        time.sleep(0.2)
        began = time.monotonic()
        process.terminate()
        assert process.wait(30) == 0
        assert time.monotonic() - began < 8
        slow.close()


def frames(response: httpx.Response) -> Iterator[dict[str, str]]:
    """The frames of a stream until it ends in good order."""
    frame: dict[str, str] = {}
    for line in response.iter_lines():
        if line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            frame[name] = value
        elif not line and frame:
            yield frame
            frame = {}


def test_a_stream_ends_with_a_cursor_at_which_another_process_goes_on(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/registry.db"
    with serving(database) as (first, one), serving(database) as (second, two):
        writer = threading.Thread(target=lambda: [put(two, number) for number in range(60)])
        subjects, last = [], ""
        with httpx.stream("GET", f"{one}/changes?after=last", headers=STREAM, timeout=30) as response:
            writer.start()
            for frame in frames(response):
                last = frame.get("id", last)
                subjects += [json.loads(frame["data"])["subject"]] if "data" in frame else []
                if len(subjects) == 10:
                    os.kill(first.pid, signal.SIGTERM)
        assert first.wait(30) == 0
        with httpx.stream("GET", f"{two}/changes", headers=STREAM | {"Last-Event-ID": last}, timeout=30) as response:
            for frame in frames(response):
                subjects += [json.loads(frame["data"])["subject"]] if "data" in frame else []
                if "/messagegroups/g59" in subjects:
                    break
        writer.join(60)
        groups = [one for one in subjects if one.startswith("/messagegroups/g")]
        assert groups == [f"/messagegroups/g{number}" for number in range(60)]
        assert second.poll() is None


def put(url: str, number: int) -> None:
    httpx.put(f"{url}/messagegroups/g{number}", json={}, timeout=30).raise_for_status()
    time.sleep(0.01)

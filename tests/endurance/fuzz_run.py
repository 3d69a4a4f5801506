"""Fuzz a running service: sockets, threads, and a tally of what came back.

`python -m tests.endurance.fuzz_run --requests 100000` is the long form; it ends with 1 when anything was wrong.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import msgspec

from postroom.access.grants import parse_grant
from postroom.access.keys import create_key
from postroom.catalog.open_store import open_store
from tests.brokers import free_port
from tests.endurance.fuzz import Fuzzer, Trial
from tests.http.running_service import serving
from tests.postgres import Postgres, programs

THREADS = 8
HANG_SECONDS = 30.0
"""An answer, or the end of the connection, comes sooner than that; the machine may be busy."""
REFUSALS = frozenset({501, 505, 507})
"""Statuses above 500 that say something about the request."""
UPLOAD_SECONDS = "3"
PER_SERVICE = 2_560
"""How many requests one registry gets, before a fuzzed model leaves little of it."""
RESEED_EVERY = 40
"""How many requests of a thread come between two times that what is asked for is put back."""
DEFECT = b"Traceback"


class Finding(msgspec.Struct, frozen=True):
    """A trial that went wrong."""

    what: str
    trial: Trial


class Tally:
    """How often each status came, and what was wrong."""

    def __init__(self) -> None:
        self.statuses: Counter[int] = Counter()
        self.trials = 0
        self.findings: list[Finding] = []
        self.slowest = 0.0
        self._lock = threading.Lock()

    def add(self, trial: Trial, statuses: list[int], seconds: float, wrong: str) -> None:
        with self._lock:
            self.trials += 1
            self.statuses.update(statuses)
            self.slowest = max(self.slowest, seconds)
            if wrong:
                self.findings.append(Finding(wrong, trial))


class Reply(msgspec.Struct, frozen=True):
    """One answer as it came off the wire; the body of the last one may be cut short."""

    status: int
    body: bytes


def send(service: str, trial: Trial) -> tuple[list[int], str]:
    """The statuses that came back, and what is wrong with the answers; empty when nothing is."""
    address = urlsplit(service)
    with socket.create_connection((address.hostname, address.port), timeout=HANG_SECONDS) as connection:
        try:
            _write(connection, trial)
            received = _read(connection, trial)
        except TimeoutError:
            return [], f"no answer within {HANG_SECONDS:g} seconds"
    try:
        replies = list(parse_replies(received))
    except ValueError as error:
        return [], f"the answer is no HTTP: {error!r}: {received[:300]!r}"
    return [one.status for one in replies], "; ".join(filter(None, map(_wrong, replies)))


def _write(connection: socket.socket, trial: Trial) -> None:
    try:
        for number, piece in enumerate(trial.pieces):
            if number:
                time.sleep(0.002)
            connection.sendall(piece)
        if trial.ends:
            connection.shutdown(socket.SHUT_WR)
    except TimeoutError:
        raise
    except OSError:
        pass  # the server has answered and left; its answer can still be read


def _read(connection: socket.socket, trial: Trial) -> bytes:
    """What comes until the server closes the connection, or has answered one that stays open."""
    received = b""
    try:
        while piece := connection.recv(65536):
            received += piece
            is_answered = re.search(rb"HTTP/1.1 [2-5][\s\S]*\r\n\r\n", received)
            if is_answered and (not trial.ends or b"text/event-stream" in received):
                connection.settimeout(0.3)
    except TimeoutError:
        if connection.gettimeout() == HANG_SECONDS:
            raise
    except ConnectionResetError:
        pass  # what it had read of the request was enough to refuse it
    return received


def parse_replies(received: bytes) -> Iterator[Reply]:
    """The answers in what a server said. One without a body (HEAD, 304) is followed by the next one at once."""
    while received:
        head, _, received = received.partition(b"\r\n\r\n")
        found = re.match(rb"HTTP/1\.1 (\d\d\d) ", head)
        if found is None:
            raise ValueError(head[:100])
        size = 0 if received.startswith(b"HTTP/1.1 ") else _body_size(head, received)
        body, received = received[:size], received[size:]
        if int(found[1]) >= 200:
            yield Reply(int(found[1]), body)


def _body_size(head: bytes, rest: bytes) -> int:
    if b"\r\ntransfer-encoding: chunked" in head:
        end = rest.find(b"\r\n0\r\n\r\n")
        return 5 if rest.startswith(b"0\r\n\r\n") else len(rest) if end < 0 else end + 7
    length = re.search(rb"\r\ncontent-length: (\d+)", head)
    return int(length[1]) if length else len(rest) if b"text/event-stream" in head else 0


def _wrong(reply: Reply) -> str:
    if reply.status >= 500 and reply.status not in REFUSALS:
        return f"{reply.status}: {reply.body[:600]!r}"
    is_page = reply.body.startswith(b"<!doctype html>")  # below /ui
    if reply.status >= 400 and reply.body and not is_page and not _is_json(reply.body):
        return f"{reply.status} without a problem document: {reply.body[:300]!r}"
    return ""


def _is_json(body: bytes) -> bool:
    try:
        json.loads(gzip.decompress(body) if body.startswith(b"\x1f\x8b") else body)
    except ValueError:
        return False
    return True


def fuzz(service: str, seed: str, requests: int, tally: Tally, key: str = "") -> None:
    """Send so many requests with several threads; each has a sequence of its own."""

    def work(number: int) -> None:
        trials = Fuzzer(f"{seed}-{number}", key).trials()
        for count in range(requests // THREADS):
            if number == 0 and count % RESEED_EVERY == 0:
                seed_registry(service, key)
            trial = next(trials)
            begun = time.monotonic()
            statuses, wrong = send(service, trial)
            tally.add(trial, statuses, time.monotonic() - begun, wrong)

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def seed_registry(service: str, key: str = "") -> None:
    """Something to be asked for and changed."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    version = {"format": "JsonSchema/draft-07", "schema": {"type": "object"}}
    document = {
        "messagegroups": {"ovens": {"messages": {"heated": {"name": "Heated"}, "cooled": {}}}},
        "schemagroups": {"ovens": {"schemas": {"oven": {"versions": {"1": version}}}}},
        "endpoints": {"shop": {"usage": ["producer"], "messages": {"sold": {}}}},
    }
    with httpx.Client(base_url=service, timeout=30, headers=headers) as client:
        client.post("/", json=document)


def defects(log: Path) -> str:
    """The first traceback of a log."""
    found = log.read_bytes().partition(DEFECT)
    return (found[1] + found[2][:6000]).decode("utf-8", "replace") if found[1] else ""


def administrator(database: str) -> str:
    """The key of somebody who may do everything."""
    with open_store(database) as store, store.write() as tx:
        return create_key(tx, "root", [parse_grant("key:root", "admin", "/")])[1]


def fuzz_services(requests: int, seed: str, folder: Path, databases: Iterator[str]) -> Tally:
    """Fuzz one service after another, each with a registry of its own."""
    tally = Tally()
    for number in range(-(-requests // PER_SERVICE)):
        log, database = folder / f"log-{number}", next(databases)
        key = administrator(database) if number % 4 > 1 else ""
        access = ("--access", "on") if key else ()
        with serving(database, *access, log=log, POSTROOM_UPLOAD_TIMEOUT_S=UPLOAD_SECONDS) as (process, service):
            fuzz(service, f"{seed}-{number}", min(PER_SERVICE, requests), tally, key)
            if process.poll() is not None or httpx.get(f"{service}/healthz", timeout=30).status_code != 200:
                tally.findings.append(Finding("the service is gone", Trial((), ends=True)))
        if told := defects(log):
            tally.findings.append(Finding(told, Trial((), ends=True)))
        print(
            f"{tally.trials} requests, {dict(sorted(tally.statuses.items()))}, slowest {tally.slowest:.1f} s, "
            f"{len(tally.findings)} findings",
            flush=True,
        )
    return tally


def main() -> int:
    """Fuzz SQLite and PostgreSQL in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seed", default=str(time.time_ns()))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="postroom-fuzz-")))
        (folder / "pg").mkdir()
        folder.chmod(0o755)
        server = Postgres(folder / "pg", programs(), free_port())
        server.create()
        server.start()
        stack.callback(server.kill)
        tally = fuzz_services(given.requests, given.seed, folder, both_stores(folder, server))
    for finding in tally.findings[:50]:
        print(f"\n{finding.what}\n{b'|'.join(finding.trial.pieces)[:3000]!r}")
    return 1 if tally.findings else 0


def both_stores(folder: Path, server: Postgres) -> Iterator[str]:
    """Databases of new registries, SQLite and PostgreSQL in turns."""
    number = 0
    while True:
        number += 1
        yield f"sqlite:///{folder}/{number}.db"
        yield server.registry()


if __name__ == "__main__":
    sys.exit(main())

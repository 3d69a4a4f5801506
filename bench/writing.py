"""What writes, imports, exports and filters cost: against lint left out, and against the least that could be done."""

from __future__ import annotations

import contextlib
import itertools
import json
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from bench.latency import message_definition
from bench.load import request, seconds_of_load
from bench.measure import Ratio, Share, cpu_of, ratio, share
from bench.serving import cpu_of_process, server
from postroom.catalog.open_store import open_store
from postroom.catalog.wiring import RULES, rules_of
from postroom.http.server.request import Request
from postroom.http.xregistry.dispatch import answer
from postroom.registry.rules import Rules, find_nothing
from postroom.settings import Settings
from tests.brokers import free_port
from tests.postgres import Postgres, programs

WRITES = 200
PUTS = 500
GROUPS, MESSAGES = 50, 200
FEW, MANY = 1_000, 100_000
GROUP = "/messagegroups/g"
NUMBERS = itertools.count()
SCHEMAS = {"schemas": {f"s{n:02}": {"format": "JsonSchema/draft-07", "schema": {}} for n in range(100)}}
LEAST_SHARE, LEAST_KEPT = 0.3, 0.85


def measure() -> Iterator[Ratio | Share]:
    """Lint beside a write; PUT, import, export and filter over sockets; PUT and GET as a registry grows."""
    with tempfile.TemporaryDirectory() as folder:
        yield from _lint(folder)
        yield _puts("SQLite", f"sqlite:///{folder}/ours.db", f"sqlite:///{folder}/bare.db")
        with own_postgres(Path(folder)) as postgres:
            yield _puts("PostgreSQL", postgres.registry(), postgres.registry())
        yield from _whole_registry(folder)
        yield from _growth(folder)


def _lint(folder: str) -> Iterator[Ratio]:
    """PUT of messages without findings, in this process: known ones that get another name, and new ones."""
    without = msgspec.structs.replace(RULES, lint=find_nothing)
    for is_new in (False, True):
        kind = "new" if is_new else "known"
        plain = _writing(f"sqlite:///{folder}/{kind}.db", without, Settings(), is_new)
        for settings in (Settings(), Settings(write_rules="strict")):
            url = f"sqlite:///{folder}/{kind}-{settings.write_rules}.db"
            subject = _writing(url, rules_of(settings), settings, is_new)
            yield ratio(f"PUT a {kind} message, {settings.write_rules} / without lint", subject, plain, 1.2, 7)


def _writing(url: str, rules: Rules, settings: Settings, is_new: bool) -> Callable[[], float]:
    store = open_store(url, rules=rules)

    def ask(method: str, path: str, body: Any) -> None:
        asked = Request(method=method, path=path, base="http://bench", body=json.dumps(body).encode())
        assert answer(asked, store, settings).status < 300

    def write() -> None:
        for number in range(WRITES):
            name = next(NUMBERS)
            body = {**message_definition(0, number), "name": str(name)}
            if is_new:
                body["envelopemetadata"]["type"]["value"] = f"shop.sold{name}"
                body["protocoloptions"]["topic"] = f"shops{name}"
            ask("PUT", f"{GROUP}/messages/m{name if is_new else number}", body)

    ask("PUT", "/schemagroups/g", SCHEMAS)
    ask("PUT", GROUP, {})
    return lambda: cpu_of(write)


@contextlib.contextmanager
def own_postgres(folder: Path) -> Iterator[Postgres]:
    """A server that waits for the disk at every commit."""
    folder.chmod(0o755)
    data = folder / "postgres"
    data.mkdir()
    postgres = Postgres(data, programs(), free_port())
    postgres.create()
    postgres.start("-c", "fsync=on")
    try:
        yield postgres
    finally:
        postgres.kill()


def _registry(url: str) -> contextlib.AbstractContextManager[tuple[int, int]]:
    return server([sys.executable, "-m", "postroom", "serve", "--db", url, "--port", "0"])


def _put_requests(count: int) -> Iterator[bytes]:
    for number in itertools.islice(NUMBERS, count):
        body = {**message_definition(0, number % MESSAGES), "name": str(number)}
        yield request("PUT", f"{GROUP}/messages/m{number % MESSAGES}", json.dumps(body).encode())


def _start(port: int) -> None:
    seconds_of_load(port, [request("PUT", "/schemagroups/g", json.dumps(SCHEMAS).encode())])
    seconds_of_load(port, [request("PUT", GROUP, b"{}")])


def _puts(name: str, ours: str, bare: str) -> Share:
    bare_server = [sys.executable, "-m", "bench.bare_writes", bare]
    with _registry(ours) as (_, port), server(bare_server) as (_, bare_port):
        _start(port)
        return share(
            f"PUT a message on {name} / an application that commits one row",
            lambda: _rate(port, lambda _: _put_requests(PUTS)),
            lambda: _rate(bare_port, lambda _: _put_requests(PUTS)),
            LEAST_SHARE,
            7,
        )


def _whole_registry(folder: str) -> Iterator[Ratio]:
    """CPU time of the server for one request over all messages."""
    path = Path(folder) / "whole.db"
    tree = {
        f"g{group:02}": {"messages": {f"m{n:04}": message_definition(group, n) for n in range(MESSAGES)}}
        for group in range(GROUPS)
    }
    body = json.dumps({"messagegroups": tree}).encode()
    with _registry(f"sqlite:///{path}") as (process, port):
        _start(port)

        def cost(*asked: bytes) -> float:
            return cpu_of_process(process, lambda: seconds_of_load(port, asked, 1))

        def import_all() -> float:
            seconds_of_load(port, [request("DELETE", "/messagegroups")], 1)
            return cost(request("PATCH", "/", body))

        def find_none() -> float:
            return cost(request("GET", f"/messagegroups?filter=messages.name=none{next(NUMBERS)}"))

        def export() -> float:
            seconds_of_load(port, _put_requests(1), 1)  # so that no kept answer is sent again
            return cost(request("GET", "/export"))

        seconds = f"{GROUPS * MESSAGES:,} messages"
        yield ratio(f"import {seconds} / parse, one executemany", import_all, lambda: _insert(folder, body), 12, 5)
        seconds_of_load(port, [request("PUT", GROUP, b"{}")])
        yield ratio(f"export {seconds} / select, parse, serialise", export, lambda: _dump(path), 6, 5)
        yield ratio(f"a filter over {seconds} / select, parse, compare", find_none, lambda: _scan(path), 3, 5)


def _insert(folder: str, body: bytes) -> float:
    def work() -> None:
        groups = json.loads(body)["messagegroups"]
        rows = [(f"{g}/{m}", json.dumps(one)) for g, group in groups.items() for m, one in group["messages"].items()]
        with contextlib.closing(sqlite3.connect(Path(folder) / "inserted.db")) as connection, connection:
            connection.execute("DROP TABLE IF EXISTS kept")
            connection.execute("CREATE TABLE kept (path TEXT PRIMARY KEY, body TEXT)")
            connection.executemany("INSERT INTO kept VALUES (?, ?)", rows)

    return cpu_of(work)


def _rows(path: Path) -> Iterator[tuple[str, bytes]]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        yield from connection.execute("SELECT xid, attributes FROM entity")


def _dump(path: Path) -> float:
    return cpu_of(lambda: json.dumps({xid: json.loads(attributes) for xid, attributes in _rows(path)}))


def _scan(path: Path) -> float:
    def work() -> list[str]:
        return [
            x for x, attributes in _rows(path) if "/versions/" in x and json.loads(attributes).get("name") == "none"
        ]

    return cpu_of(work)


def _growth(folder: str) -> Iterator[Share]:
    """The time of a PUT and of a GET of any message, and the server's memory, as there are more messages."""
    with contextlib.ExitStack() as stack:
        ports, processes = {}, {}
        for count in (FEW, MANY):
            url = f"sqlite:///{folder}/of{count}.db"
            with open_store(url) as store:
                _fill(store, count)
            processes[count], ports[count] = stack.enter_context(_registry(url))
            _start(ports[count])

        def gets(count: int) -> Iterator[bytes]:
            for number in itertools.islice(NUMBERS, PUTS * 4):
                group, message = divmod(number * 7919 % count, MESSAGES)
                yield request("GET", f"/messagegroups/g{group:03}/messages/m{message:04}")

        def get_one(_: int) -> Iterator[bytes]:
            return itertools.repeat(request("GET", f"{GROUP}/messages/m0"), PUTS * 4)

        kinds: dict[str, tuple[Callable[[int], Iterator[bytes]], float | None]] = {
            "PUT a message": (lambda _: _put_requests(PUTS), LEAST_KEPT),
            "GET one message": (get_one, LEAST_KEPT),
            "GET any message (of 100,000 few are kept)": (gets, None),
        }
        for name, (requests, goal) in kinds.items():
            yield share(
                f"{name} among {MANY:,} / among {FEW:,}",
                partial(_rate, ports[MANY], requests, MANY),
                partial(_rate, ports[FEW], requests, FEW),
                goal,
                7,
            )
        for count in (FEW, MANY):
            print(f"  memory of the server after that, {count:,} messages: {_memory_mb(processes[count])} MB")


def _fill(store: Any, count: int) -> None:
    from postroom.registry.operations import import_document

    for first in range(0, count // MESSAGES, GROUPS):
        numbers = range(first, min(first + GROUPS, count // MESSAGES))
        tree = {
            f"g{group:03}": {"messages": {f"m{n:04}": message_definition(group, n) for n in range(MESSAGES)}}
            for group in numbers
        }
        with store.write() as tx:
            import_document(tx, {"messagegroups": tree})


def _rate(port: int, requests: Callable[[int], Iterator[bytes]], count: int = 0) -> float:
    waiting = list(requests(count))
    return len(waiting) / seconds_of_load(port, waiting)


def _memory_mb(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) // 1024

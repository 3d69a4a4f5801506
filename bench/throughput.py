"""How many requests a second the registry answers, against bare applications on the same server."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.bare_reads import Headers, insert, save
from bench.latency import message_definition
from bench.load import request, seconds_of_load
from bench.measure import Share, share
from bench.serving import server
from bench.writing import SCHEMAS, own_postgres
from postroom.catalog.open_store import open_store
from postroom.registry.operations import import_document

GROUPS, MESSAGES = 50, 200
ONE = "/messagegroups/g07/messages/m0042"
COLLECTION = "/messagegroups/g07/messages"
PER_CONNECTION = {b"date", b"connection", b"server"}
WORKERS = (1, 2)
ROUNDS = 5
Answers = dict[str, tuple[Headers, bytes]]
Load = Callable[[random.Random], list[bytes]]


def measure() -> Iterator[Share]:
    """Each with one worker, then with two, on both sides; on PostgreSQL the bare application selects what it sends."""
    with tempfile.TemporaryDirectory() as name, own_postgres(Path(name)) as postgres:
        folder = Path(name)
        sqlite, elsewhere, selects = f"sqlite:///{folder}/bench.db", postgres.registry(), postgres.registry()
        for url in (sqlite, elsewhere):
            fill(url)
        answers = answers_of(sqlite)
        save(folder / "answers.json", answers)
        insert(selects, answers)
        for workers in WORKERS:
            bare = [sys.executable, "-m", "bench.bare_reads", str(folder / "answers.json"), str(workers)]
            yield from _on("SQLite", sqlite, bare, workers, {"one": 0.6, "any": 0.4, "mixed": 0.3, "collection": 0.3})
            yield from _on("PostgreSQL", elsewhere, [*bare, selects], workers, {"one": 0.5})


def fill(url: str, groups: int = GROUPS, messages: int = MESSAGES) -> None:
    """Put message groups with messages of the usual size into a registry, a part of them at a time."""
    with open_store(url) as store:
        for first in range(0, groups, 50):
            tree = {
                f"g{group:02}": {"messages": {f"m{n:04}": message_definition(group, n) for n in range(messages)}}
                for group in range(first, min(first + 50, groups))
            }
            with store.write() as tx:
                import_document(tx, {"schemagroups": {"g": SCHEMAS}, "messagegroups": tree})


def path_of(number: int) -> str:
    """The path of a message."""
    group, message = divmod(number, MESSAGES)
    return f"/messagegroups/g{group:02}/messages/m{message:04}"


def answers_of(url: str) -> Answers:
    """What the registry answers to each GET, so that another application can give the same bytes."""
    with registry(url, 1) as port, contextlib.closing(http.client.HTTPConnection("127.0.0.1", port)) as client:

        def ask(path: str) -> tuple[Headers, bytes]:
            client.request("GET", path, headers={"Host": "127.0.0.1"})
            answer = client.getresponse()
            headers = [(name.lower().encode(), value.encode()) for name, value in answer.getheaders()]
            return [one for one in headers if one[0] not in PER_CONNECTION], answer.read()

        return {path: ask(path) for path in (COLLECTION, *map(path_of, range(GROUPS * MESSAGES)))}


@contextlib.contextmanager
def registry(url: str, workers: int) -> Iterator[int]:
    """The service, which has just started; its port."""
    command = [sys.executable, "-m", "postroom", "serve", "--db", url, "--port", "0", "--workers", str(workers)]
    with server(command) as (_, port):
        yield port


def _one(_: random.Random) -> list[bytes]:
    return [request("GET", ONE)] * 10_000


def _any(chance: random.Random) -> list[bytes]:
    return [request("GET", path_of(chance.randrange(GROUPS * MESSAGES))) for _ in range(10_000)]


def _mixed(chance: random.Random) -> list[bytes]:
    return [_put(chance) if number % 10 == 9 else one for number, one in enumerate(_any(chance)[:5_000])]


def _put(chance: random.Random) -> bytes:
    number = chance.randrange(GROUPS * MESSAGES)
    body = {**message_definition(*divmod(number, MESSAGES)), "name": f"Message {chance.random()}"}
    return request("PUT", path_of(number), json.dumps(body).encode())


def _collection(_: random.Random) -> list[bytes]:
    return [request("GET", COLLECTION)] * 1_000


LOADS: dict[str, tuple[str, Load]] = {
    "one": ("GET one message", _one),
    "any": ("GET any of 10,000 messages, cache cold", _any),
    "mixed": ("90 % GET, 10 % PUT of any of 10,000 messages", _mixed),
    "collection": (f"GET a collection of {MESSAGES} messages", _collection),
}


def _on(store: str, url: str, bare: list[str], workers: int, goals: dict[str, float]) -> Iterator[Share]:
    least = "one SELECT" if store == "PostgreSQL" else "the same bytes"
    with server(bare) as (_, bare_port):
        for name, (shown, load) in LOADS.items():
            chance = random.Random(name)

            def ours(load: Load = load, chance: random.Random = chance, is_cold: bool = name == "any") -> float:
                """Requests a second of a service that was just started, and has answered before unless it is cold."""
                with registry(url, workers) as port:
                    if not is_cold:
                        seconds_of_load(port, load(chance))
                    return _rate(port, load(chance))

            def theirs(load: Load = load, chance: random.Random = chance) -> float:
                return _rate(bare_port, load(chance))

            goal = goals.get(name) if workers == 1 else None
            plural = "" if workers == 1 else "s"
            yield share(f"{shown}, {store}, {workers} worker{plural} / {least}", ours, theirs, goal, ROUNDS)


def _rate(port: int, requests: list[bytes]) -> float:
    return len(requests) / seconds_of_load(port, requests)

"""How long a cheap GET takes beside one expensive request, with 20,000 messages in the registry."""

from __future__ import annotations

import contextlib
import gc
import http.client
import itertools
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from bench.serving import server
from postroom.catalog.open_store import open_store
from postroom.registry.operations import import_document

GROUPS, MESSAGES = 20, 1000
GOAL_MS = 100.0
PAUSE_SECONDS = 0.005
LEAST_SECONDS = 2.0
NOTES = ("held", "collected")
WORTH_A_NOTE = 0.005
PATH = "/messagegroups/g00/messages/m0000"
LINES = {"Content-Type": "application/x-ndjson"}

Ask = Callable[[http.client.HTTPConnection], None]


@dataclass(frozen=True)
class Latency:
    """The times of cheap requests beside an expensive one."""

    name: str
    seconds: float
    cheap_ms: list[float]
    held_ms: float
    """The longest that the server computed before a thread that was ready got its turn: what is left without noise."""
    collected_ms: float
    """The longest pause that Python's garbage collector made meanwhile."""

    def __str__(self) -> str:
        shares = statistics.quantiles(self.cheap_ms, n=20)
        most = max(self.cheap_ms)
        verdict = "met" if most <= GOAL_MS else "MISSED"
        times = f"{shares[9]:6.1f} /{shares[18]:7.1f} /{most:7.1f} ms   goal {GOAL_MS:g}   {verdict:<6}"
        stalls = f"   held {self.held_ms:5.1f} ms, collector {self.collected_ms:5.1f} ms"
        return f"  beside {self.name:<34}{self.seconds:6.1f} s{times}{stalls}"


def measure() -> Iterator[Latency]:
    """p50 / p95 / max of GETs that the cache does not hold, over a connection that stays open."""
    with tempfile.TemporaryDirectory() as folder:
        database = f"sqlite:///{folder}/bench.db"
        with open_store(database) as store, store.write() as tx:
            import_document(tx, catalog())
        with server([sys.executable, "-m", "bench.latency", folder, "serve", "--db", database, "--port", "0"]) as at:
            for name, ask in EXPENSIVE.items():
                yield _beside(name, ask, at[1], Path(folder))


def catalog() -> dict[str, Any]:
    """Message groups with messages of the usual size, each with one of a hundred schemas."""
    document = {"type": "object", "required": ["total"], "properties": {"total": {"type": "number"}}}
    schema = {"format": "JsonSchema/draft-07", "schema": document}
    tree: dict[str, Any] = {"schemagroups": {"g": {"schemas": {f"s{n:02}": schema for n in range(100)}}}}
    tree["messagegroups"] = {
        f"g{group:02}": {"messages": {f"m{n:04}": message_definition(group, n) for n in range(MESSAGES)}}
        for group in range(GROUPS)
    }
    return tree


def message_definition(group: int, number: int) -> dict[str, Any]:
    """A message of the usual size."""
    return {
        "name": f"Message {number}",
        "description": "What happened in a shop, for whoever wants to know about it. " * 2,
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {
            "type": {"value": f"shop.g{group}.m{number}"},
            "source": {"type": "uritemplate", "value": "/shops/{shop}/desks/{desk}"},
        },
        "protocol": "KAFKA",
        "protocoloptions": {"topic": f"t{group}", "key": "{shop}"},
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschemauri": f"/schemagroups/g/schemas/s{number % 100:02}",
    }


def _get(target: str) -> Ask:
    return lambda connection: _asked(connection, "GET", target)


def _match_after_write(connection: http.client.HTTPConnection) -> None:
    _asked(connection, "PATCH", PATH, json.dumps({"name": str(time.time())}).encode())
    _asked(connection, "POST", "/match", b"{}")


def _match_many(connection: http.client.HTTPConnection) -> None:
    event = {"specversion": "1.0", "id": "1", "source": "/shops/1/desks/2", "data": {"total": 1}}
    lines = [json.dumps({**event, "type": f"shop.g1.m{number % 1000}"}) for number in range(10_000)]
    _asked(connection, "POST", "/match", "\n".join(lines).encode(), LINES)


def _import(connection: http.client.HTTPConnection) -> None:
    body = {"messages": {f"n{n:04}": message_definition(0, n) for n in range(2_000)}}
    _asked(connection, "PUT", f"/messagegroups/new{time.time():.0f}", json.dumps(body).encode())


MANY_FILTERS = "&".join(f"filter=messages.name={quote(f'No message {n}')}" for n in range(256))
EXPENSIVE: dict[str, Ask] = {
    "nothing": lambda _: time.sleep(LEAST_SECONDS),
    "GET /export": _get("/export"),
    "GET /?inline=*": _get("/?inline=*"),
    "GET of all messages of a group": _get("/messagegroups/g01/messages?inline=*"),
    "a filter over all messages": _get("/messagegroups?filter=messages.name=none"),
    "256 filters over all messages": _get(f"/messagegroups?{MANY_FILTERS}"),
    "the first /match": lambda connection: _asked(connection, "POST", "/match", b"{}"),
    "a write and the /match after it": _match_after_write,
    "/match of 10,000 lines": _match_many,
    "an import of 2,000 messages": _import,
}


def _asked(
    connection: http.client.HTTPConnection, method: str, target: str, body: bytes = b"", headers: Any = None
) -> None:
    connection.request(method, target, body, headers or {})
    answer = connection.getresponse()
    answer.read()
    if answer.status >= 400 and answer.status != 503:
        sys.exit(f"bench: {method} {target[:60]} answers {answer.status}")


def _beside(name: str, ask: Ask, port: int, folder: Path) -> Latency:
    done, took = threading.Event(), [0.0]
    for notes in NOTES:
        (folder / notes).write_text("")

    def work() -> None:
        with _connected(port) as connection:
            began = time.monotonic()
            ask(connection)
            took[0] = time.monotonic() - began
        done.set()

    thread = threading.Thread(target=work)
    with _connected(port) as connection:
        _asked(connection, "GET", PATH)
        thread.start()
        cheap_ms = list(_probed(connection, done))
    thread.join()
    longest = [max(map(float, (folder / notes).read_text().split()), default=0.0) * 1000 for notes in NOTES]
    return Latency(name, took[0], cheap_ms, *longest)


def _probed(connection: http.client.HTTPConnection, done: threading.Event) -> Iterator[float]:
    for number in itertools.count():
        if done.is_set() and number > 20:
            return
        target = f"/messagegroups/g{number % GROUPS:02}/messages/m{number // GROUPS % MESSAGES:04}?n={time.time()}"
        began = time.monotonic()
        _asked(connection, "GET", target)
        yield (time.monotonic() - began) * 1000
        time.sleep(PAUSE_SECONDS)


@contextlib.contextmanager
def _connected(port: int) -> Iterator[http.client.HTTPConnection]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        yield connection
    finally:
        connection.close()


def _serve(folder: str, arguments: list[str]) -> None:
    """The service, with notes of what keeps its threads waiting."""
    from postroom.cli.main import execute

    held, collected = (Path(folder) / notes for notes in NOTES)
    began = [0.0]

    def note_collecting(phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            began[0] = time.process_time()
        else:
            _note(collected, time.process_time() - began[0])

    def note_waiting() -> None:
        while True:
            before, delayed = time.process_time(), _delay()
            time.sleep(0.002)
            _note(held, time.process_time() - before - (_delay() - delayed))

    gc.callbacks.append(note_collecting)
    threading.Thread(target=note_waiting, daemon=True).start()
    sys.exit(execute(arguments))


def _delay() -> float:
    """How long this thread was ready while the machine ran others: that is no fault of the interpreter."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        return 0.0


def _note(file: Path, seconds: float) -> None:
    if seconds > WORTH_A_NOTE:
        with file.open("a") as notes:
            notes.write(f"{seconds:.6f}\n")


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2:])

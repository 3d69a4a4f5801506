"""The p99 of cheap GETs that come at a fixed rate, alone and beside one expensive request after another."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import random
import select
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator

from bench.latency import message_definition
from bench.load import latencies, request, seconds_of_load
from bench.measure import Ratio
from bench.throughput import fill, registry

GROUPS, MESSAGES = 50, 2_000
PROBED = 10_000
REQUESTS = 20_000
ROUNDS = 5
WORKERS = (1, 2)
IMPORTED = 10_000
MOST = 5.0
MEMBERS = 40
Ask = Callable[[http.client.HTTPConnection, int], None]


def measure() -> Iterator[Ratio]:
    """Half of what the service can do is asked for, whether the answers before have come or not."""
    for workers in WORKERS:
        with tempfile.TemporaryDirectory() as folder:
            url = f"sqlite:///{folder}/bench.db"
            fill(url, GROUPS, MESSAGES)
            with registry(url, workers) as port:
                yield from _compare(port, workers)


def _compare(port: int, workers: int) -> Iterator[Ratio]:
    chance = random.Random(5)
    _prepare(port)
    seconds_of_load(port, _gets(chance, REQUESTS))
    rate = REQUESTS / seconds_of_load(port, _gets(chance, REQUESTS)) / 2
    alone: list[float] = []
    beside: dict[str, list[float]] = {name: [] for name in EXPENSIVE}
    for _ in range(ROUNDS):
        alone.append(_p99(port, _gets(chance, REQUESTS), rate))
        for name, found in beside.items():
            with _asking(port, name):
                found.append(_p99(port, _gets(chance, REQUESTS), rate))
    least = statistics.median(alone)
    plural = "" if workers == 1 else "s"
    print(f"  p99 of {rate:,.0f} GETs a second, {workers} worker{plural}, alone: {least * 1000:.1f} ms", flush=True)
    for name, found in beside.items():
        ms = statistics.median(found) * 1000
        shown = f"p99 beside {name}, {workers} worker{plural}: {ms:.1f} ms / alone"
        yield Ratio(shown, ms / 1000 / least, MOST if workers == 1 else None)


def _p99(port: int, requests: list[bytes], rate: float) -> float:
    return statistics.quantiles(latencies(port, requests, rate, 64), n=100)[98]


def _gets(chance: random.Random, count: int) -> list[bytes]:
    numbers = (divmod(chance.randrange(PROBED), MESSAGES) for _ in range(count))
    return [request("GET", f"/messagegroups/g{group:02}/messages/m{number:04}") for group, number in numbers]


def _prepare(port: int) -> None:
    schema = {"meta": {"compatibility": "backward"}, "format": "JsonSchema/draft-07", "schema": _schema(MEMBERS)}
    path, body = "/schemagroups/g/schemas/hard$details", json.dumps(schema).encode()
    seconds_of_load(port, [request("PUT", path, body)], 1)


def _schema(members: int) -> dict[str, object]:
    """Types that lead to each other, so that each pair of them is compared."""
    types = {
        f"n{n}": {
            "type": "object",
            "properties": {f"p{m}": {"$ref": f"#/definitions/n{(n * m + 1) % MEMBERS}"} for m in range(members)},
        }
        for n in range(MEMBERS)
    }
    return {"$ref": "#/definitions/n0", "definitions": types}


@contextlib.contextmanager
def _asking(port: int, name: str) -> Iterator[None]:
    """Somebody asks for something expensive again and again, in a process of their own."""
    command = [sys.executable, "-m", "bench.tail", str(port), name]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdout.readline()
        yield
    finally:
        process.stdin.close()
        process.stdout.read()
        process.wait()


def _export(client: http.client.HTTPConnection, _: int) -> None:
    _asked(client, "GET", "/export")


def _import(client: http.client.HTTPConnection, number: int) -> None:
    body = {"messages": {f"n{n:05}": message_definition(number, n) for n in range(IMPORTED)}}
    _asked(client, "PUT", f"/messagegroups/new{random.random()}", json.dumps(body).encode())


def _hard_version(client: http.client.HTTPConnection, number: int) -> None:
    body = {"format": "JsonSchema/draft-07", "schema": _schema(MEMBERS - 1 - number % 2)}
    _asked(client, "POST", "/schemagroups/g/schemas/hard$details", json.dumps(body).encode())


EXPENSIVE: dict[str, Ask] = {
    f"an export of {GROUPS * MESSAGES:,} messages": _export,
    f"an import of {IMPORTED:,} messages": _import,
    "a hostile compatibility check": _hard_version,
}


def _asked(client: http.client.HTTPConnection, method: str, path: str, body: bytes = b"") -> None:
    client.request(method, path, body)
    answer = client.getresponse()
    text = b""
    while piece := answer.read(1024 * 1024):
        text = piece
    if answer.status >= 300:
        sys.exit(f"bench: {method} {path} answers {answer.status}: {text[:300]!r}")


def _ask(port: int, name: str) -> None:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=300)) as client:
        for number in itertools.count():
            print("asking", flush=True)
            EXPENSIVE[name](client, number)
            if select.select([sys.stdin], (), (), 0)[0]:
                return


if __name__ == "__main__":
    _ask(int(sys.argv[1]), sys.argv[2])

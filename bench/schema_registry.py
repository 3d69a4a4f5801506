"""What the schema registry API costs: an id that is asked for again and again, and registering beside a native PUT."""

from __future__ import annotations

import itertools
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from bench.measure import Ratio, cpu_of, ratio
from bench.serving import cost, server
from postroom.catalog.open_store import open_store
from postroom.http.server.request import Request
from postroom.http.xregistry.dispatch import answer
from postroom.settings import Settings
from postroom.store.interface import Store

ROUNDS = 9
SCHEMAS = 10_000 // (ROUNDS + 1)
"""How many are written in each turn, so that it is 10,000 with the one that warms up."""
LEAST_SHARE = 0.5


def measure() -> Iterator[Ratio]:
    """GET over sockets, without the client's own time; writes in this process, each registry its own."""
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/ids.db"
        with open_store(url) as store:
            _ask(store, "POST", "/confluent/subjects/s0/versions", {"schema": json.dumps(_record(0))})
        ours = [sys.executable, "-m", "postroom", "serve", "--db", url, "--port", "0"]
        with server(ours) as registry, server([sys.executable, "-m", "bench.serving"]) as yardstick:
            yield ratio(
                "GET /schemas/ids/N / a bare ASGI answer",
                lambda: cost(*registry, path="/confluent/schemas/ids/100001"),
                lambda: cost(*yardstick),
                1 / LEAST_SHARE,
                7,
            )
        registered, written = f"sqlite:///{folder}/registered.db", f"sqlite:///{folder}/written.db"
        with open_store(registered) as first, open_store(written) as second:
            yield ratio(
                "register a schema / PUT it natively (10,000 of each)",
                _writing(first, _register),
                _writing(second, _put),
                1.5,
                ROUNDS,
            )


def _writing(store: Store, write: Callable[[Store, int], None]) -> Callable[[], float]:
    numbers = itertools.count()

    def work() -> None:
        for number in itertools.islice(numbers, SCHEMAS):
            write(store, number)

    return lambda: cpu_of(work)


def _register(store: Store, number: int) -> None:
    _ask(store, "POST", f"/confluent/subjects/s{number}/versions", {"schema": json.dumps(_record(number))})


def _put(store: Store, number: int) -> None:
    body = {"format": "Avro/1.12", "schema": _record(number)}
    _ask(store, "PUT", f"/schemagroups/default/schemas/s{number}/versions/1$details", body)


def _record(number: int) -> dict[str, Any]:
    names = ("id", "heat", "fuel", "bakery", "shift")
    return {"type": "record", "name": f"Oven{number}", "fields": [{"name": one, "type": "string"} for one in names]}


def _ask(store: Store, method: str, path: str, body: Any) -> None:
    asked = Request(method=method, path=path, base="http://bench", body=json.dumps(body).encode())
    assert answer(asked, store, Settings()).status < 300

"""Sixteen clients of four server processes read, change and write back the same entities.

No update is lost, nobody waits for ever, and what everybody was answered is linearizable, by epochs and by If-Match,
with every read, kept answers included. `ROUNDS=400 pytest tests/endurance/test_concurrency.py` is the long form.
"""

from __future__ import annotations

import math
import os
import random
import threading
import time
from collections import Counter
from pathlib import Path

import httpx
import msgspec
import pytest

from tests.endurance.linearizability import Kind, Operation, State, is_linearizable
from tests.http.running_service import serving
from tests.postgres import Postgres

CLIENTS = 16
PROCESSES = 4
ENTITIES = 4
ROUNDS = int(os.environ.get("ROUNDS", "12"))
LONGEST = 60.0 + ROUNDS
"""Seconds after which everybody has finished, or waits for somebody who waits for them."""
REFUSED = {400: "mismatched_epoch", 412: ""}
"""How a change of something else than what was read is refused: by `epoch`, and by If-Match."""


class Client:
    """Adds to counters, each time to what it has read, and remembers what it was answered."""

    def __init__(self, number: int, url: str) -> None:
        self.number = number
        self.url = url
        self.random = random.Random(number)
        self.histories: dict[str, list[Operation]] = {path(one): [] for one in range(ENTITIES)}
        self.added: Counter[str] = Counter()
        self.refused = 0
        self.wrong = ""

    def run(self) -> None:
        """Do as many rounds as asked for."""
        # A connection for each request, so that every process gets to answer every client.
        with httpx.Client(base_url=self.url, timeout=60, headers={"Connection": "close"}) as client:
            for round_number in range(ROUNDS):
                target = path(self.random.randrange(ENTITIES))
                state, etag, count = self._read(client, target)
                how = self.random.choice(("epoch", "epoch", "etag", "etag", "blind"))
                self._write(client, target, state, etag, count, how, f"{self.number}.{round_number}")

    def _read(self, client: httpx.Client, target: str) -> tuple[State, str, int]:
        called = time.monotonic()
        answer = client.get(target)
        returned = time.monotonic()
        assert answer.status_code == 200, answer.text
        self.histories[target].append(Operation("read", called, returned, seen=state_of(answer)))
        return state_of(answer), answer.headers["etag"], int(answer.json()["labels"]["count"])

    def _write(
        self, client: httpx.Client, target: str, state: State, etag: str, count: int, how: str, value: str
    ) -> None:
        kind: Kind = "write" if how == "blind" else "swap"
        # A blind write leaves the count alone; it would undo what others have added.
        labels = {} if how == "blind" else {"labels": {"count": str(count + 1)}}
        epoch = {"epoch": state.epoch} if how == "epoch" else {}
        headers = {"If-Match": etag} if how == "etag" else {}
        called = time.monotonic()
        operation = Operation(kind, called, math.inf, state.epoch if kind == "swap" else 0, value)
        try:
            answer = client.patch(target, json={"description": value, **labels, **epoch}, headers=headers)
        except httpx.HTTPError:
            self.histories[target].append(operation)
            return
        returned = time.monotonic()
        if answer.status_code == 200:
            operation = msgspec.structs.replace(operation, returned=returned, seen=state_of(answer))
            self.added[target] += how != "blind"
        elif answer.status_code in REFUSED and kind == "swap":
            assert REFUSED[answer.status_code] in answer.json()["type"], answer.text
            operation = msgspec.structs.replace(operation, returned=returned)
            self.refused += 1
        else:
            self.wrong = answer.text
        self.histories[target].append(operation)


def path(number: int) -> str:
    return f"/messagegroups/ovens/messages/m{number}"


def state_of(answer: httpx.Response) -> State:
    return State(answer.json()["epoch"], answer.json()["description"])


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_read_modify_write_of_the_same_entities(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    server: Postgres | None = request.getfixturevalue("postgres") if kind == "postgresql" else None
    database = server.registry() if server else f"sqlite:///{tmp_path}/registry.db"
    with serving(database, "--workers", str(PROCESSES), POSTROOM_WRITE_WAIT_S="60") as (_, url):
        for number in range(ENTITIES):
            made = httpx.put(f"{url}{path(number)}", json={"description": "first", "labels": {"count": "0"}})
            assert made.status_code == 201
        clients = [Client(number, url) for number in range(CLIENTS)]
        threads = [threading.Thread(target=client.run, daemon=True) for client in clients]
        begun = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, begun + LONGEST - time.monotonic()))
        assert not any(thread.is_alive() for thread in threads), "somebody waits for ever"
        took = time.monotonic() - begun
        found = {path(number): httpx.get(f"{url}{path(number)}", timeout=60).json() for number in range(ENTITIES)}
    assert [client.wrong for client in clients if client.wrong] == []
    operations = 0
    for target, document in found.items():
        history = [one for client in clients for one in client.histories[target]]
        operations += len(history)
        assert int(document["labels"]["count"]) == sum(client.added[target] for client in clients), "an update is lost"
        assert is_linearizable(history, State(1, "first")), target
    refused = sum(client.refused for client in clients)
    print(f"\n{kind}: {operations} operations, {refused} of them refused, in {took:.1f} s")
    assert operations == 2 * CLIENTS * ROUNDS
    assert refused > 0, "they were in each other's way"

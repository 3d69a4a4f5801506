"""Catalogs in processes of their own that follow each other, are written to and killed, and come to rest."""

from __future__ import annotations

import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from postroom.catalog.open_store import open_store
from postroom.replication.replicas.link import Link
from postroom.replication.replicas.peers.store import StoreEndpoint
from postroom.replication.replicas.verify import differences

PATIENCE_SECONDS = 120.0
GROUP = "/messagegroups/ovens"


class Gate:
    """A port that stays while the process behind it comes and goes; it counts the requests that pass."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.requests = 0
        self.behind: int | None = None
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Close the port."""
        self._listening.close()
        self.drop()

    def drop(self) -> None:
        """End all connections."""
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._pass_on, args=(client,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.behind or 1))
        except OSError:
            client.close()
            return
        self._open |= {client, server}
        back = threading.Thread(target=self._pump, args=(server, client, False), daemon=True)
        back.start()
        self._pump(client, server, counts=True)
        back.join()
        self._open -= {client, server}
        client.close()
        server.close()

    def _pump(self, source: socket.socket, target: socket.socket, counts: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self.requests += data.count(b" HTTP/1.1\r\n") if counts else 0
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


class House:
    """One catalog: a store, the process that serves it, and the gate before it."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self.database = f"sqlite:///{folder}/{name}.db"
        self.gate = Gate()
        self.expected: dict[str, list[str | None]] = {}
        """What its own definitions may say: the last word that was acknowledged, and those that may have been heard."""
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the process, if it does not run."""
        if self._process is not None:
            return
        command = [sys.executable, "-m", "postroom", "serve", "--db", self.database, "--port", "0"]
        environment = {**os.environ, "POSTROOM_LINK_HOSTS": "127.0.0.1"}
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
        )

    def arrive(self) -> None:
        """Wait until the process answers."""
        assert self._process is not None
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("listening on"), line
        self.gate.behind = int(line.rpartition(":")[2])

    def kill(self) -> None:
        """kill -9."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None
        self.gate.behind = None
        self.gate.drop()

    def follow(self, source: House) -> None:
        """Follow another catalog."""
        link = {"mode": "follow", "remote": source.gate.url, "every": 1}
        assert self.ask("PUT", f"/-/replication/links/{link_name(source, self)}", link).is_success

    def write(self, message: str, word: str | None) -> None:
        """Write or delete a definition; what is not acknowledged may or may not have happened."""
        xid = f"{GROUP}/messages/{self.name}.{message}"
        try:
            answer = self.ask("DELETE", xid) if word is None else self.ask("PUT", xid, {"description": word})
        except httpx.HTTPError:
            self.expected.setdefault(xid, [None]).append(word)
        else:
            assert answer.is_success or answer.status_code == 404, answer.text
            self.expected[xid] = [word]

    def ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """One request."""
        return httpx.request(method, self.gate.url + path, json=body, timeout=30)


class Town:
    """Catalogs and who follows whom."""

    def __init__(self, folder: Path, roads: dict[str, list[str]]) -> None:
        self.houses = {name: House(folder, name) for name in roads}
        self.roads = [(self.houses[source], self.houses[target]) for target in roads for source in roads[target]]

    @contextmanager
    def alive(self) -> Iterator[None]:
        """All catalogs running, every road opened."""
        with ExitStack() as stack:
            for house in self.houses.values():
                stack.callback(house.gate.close)
                stack.callback(house.kill)
                house.start()
            for house in self.houses.values():
                house.arrive()
            for source, target in self.roads:
                target.follow(source)
            yield

    def storm(self, seed: int, writes: int, kills: int) -> None:
        """Random writes everywhere, and processes that die in between."""
        chance = random.Random(seed)
        fatal = set(chance.sample(range(1, writes), kills))
        houses = list(self.houses.values())
        down: list[House] = []
        for number in range(writes):
            house = chance.choice(houses)
            house.write(str(chance.randrange(6)), None if chance.random() < 0.2 else f"{seed}-{number}")
            if number in fatal:
                for one in down:
                    one.arrive()
                down = [chance.choice(houses)]
                down[0].kill()
                down[0].start()
        for one in down:
            one.arrive()

    def rest(self) -> None:
        """Wait until everybody has what everybody else has; read past the services, so that it costs no request."""
        with ExitStack() as stack:
            sides = {
                house.name: StoreEndpoint(stack.enter_context(open_store(house.database)), house.name)
                for house in self.houses.values()
            }
            deadline = time.monotonic() + PATIENCE_SECONDS
            while left := self._differing(sides):
                assert time.monotonic() < deadline, left
                time.sleep(0.1)

    def lost(self) -> list[str]:
        """Definitions whose home does not have what it acknowledged."""
        found = []
        for house in self.houses.values():
            present = house.ask("GET", f"{GROUP}/messages").json()
            for xid, words in house.expected.items():
                shown = present.get(xid.rpartition("/")[2])
                if (shown["description"] if shown else None) not in words:
                    found.append(xid)
        return found

    def requests(self) -> int:
        """How many requests passed all gates so far."""
        return sum(house.gate.requests for house in self.houses.values())

    def _differing(self, sides: dict[str, StoreEndpoint]) -> list[Any]:
        return [
            difference
            for source, target in self.roads
            for difference in differences(sides[source.name], sides[target.name], Link(id=link_name(source, target)))
        ]


def link_name(source: House, target: House) -> str:
    """The name of the link between two catalogs."""
    return f"to-{target.name}-from-{source.name}"


RING = {"anna": ["cleo"], "bert": ["anna"], "cleo": ["bert"]}
STAR = {"hub": ["anna", "bert"], "anna": ["hub"], "bert": ["hub"]}

"""A registry of vehicle fleets behind the whole HTTP stack, without a socket."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from postroom.catalog.open_store import open_store
from postroom.http.server.app import create_app
from postroom.settings import Settings
from postroom.store.interface import Store

ANYTHING = {"type": "object", "attributes": {"*": {"type": "any"}}}
MODEL: dict[str, Any] = {
    "attributes": {"region": {"type": "string"}},
    "groups": {
        "fleets": {
            "singular": "fleet",
            "attributes": {
                "size": {"type": "integer"},
                "active": {"type": "boolean"},
                "tags": {"type": "array", "item": {"type": "string"}},
                "info": ANYTHING,
                "extra": {"type": "any"},
                "inspected": {"type": "timestamp"},
            },
            "resources": {
                "vehicles": {
                    "singular": "vehicle",
                    "hasdocument": False,
                    "attributes": {"wheels": {"type": "uinteger"}},
                },
                "manuals": {"singular": "manual", "hasdocument": True},
            },
        },
        "depots": {"singular": "depot"},
    },
}
CONTENT: dict[str, Any] = {
    "region": "Alps",
    "fleets": {
        "north": {
            "name": "North",
            "size": 12,
            "active": True,
            "labels": {"stage": "dev", "my.key": "yes"},
            "tags": ["red", "blue"],
            "info": {"owner": "joe", "addresses": {"home": {"state": "CA"}, "work": {"state": "NV"}}},
            "extra": 7,
            "inspected": "2026-03-01T12:00:00+02:00",
            "vehicles": {
                "van": {"name": "Van", "wheels": 4},
                "truck": {"name": "Tr*ck", "wheels": 6},
            },
            "manuals": {
                "driving": {
                    "versions": {
                        "a": {"name": "first", "ancestorid": "a", "manual": {"pages": 1}},
                        "b": {"name": "second", "ancestorid": "a", "manual": {"pages": 2}},
                    }
                },
                "likewise": {"meta": {"xref": "/fleets/north/manuals/driving"}},
            },
        },
        "south": {
            "name": "south",
            "description": "",
            "size": 3,
            "active": False,
            "extra": "seven",
            "vehicles": {"van": {"name": "van", "wheels": 3}},
        },
        "west": {},
    },
    "depots": {"main": {}},
}


class Client:
    """HTTPX straight into the application; blocking, as tests read best."""

    def __init__(self, store: Store) -> None:
        self._loop = asyncio.new_event_loop()
        transport = httpx.ASGITransport(create_app(store, Settings()))
        self._client = httpx.AsyncClient(transport=transport, base_url="http://garage.localhost")

    def request(self, method: str, target: str, **more: Any) -> httpx.Response:
        return self._loop.run_until_complete(self._client.request(method, target, **more))

    def get(self, target: str, **more: Any) -> httpx.Response:
        return self.request("GET", target, **more)

    def put(self, target: str, **more: Any) -> httpx.Response:
        return self.request("PUT", target, **more)

    def close(self) -> None:
        self._loop.run_until_complete(self._client.aclose())
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


class Garage:
    """The service and the store behind it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.client = Client(store)

    def send(self, method: str, target: str, body: Any = None) -> httpx.Response:
        return self.client.request(method, target, json=body)

    def get(self, target: str) -> Any:
        answer = self.send("GET", target)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def problem(self, method: str, target: str, body: Any = None) -> str:
        answer = self.send(method, target, body)
        assert answer.status_code >= 400, answer.text
        assert answer.status_code < 500, answer.text
        return str(answer.json()["type"]).rpartition("#")[2]

    def switch(self, **capabilities: Any) -> None:
        assert self.send("PATCH", "/capabilities", capabilities).status_code == 200


@contextmanager
def opened(path: Path, model: str) -> Iterator[Garage]:
    with open_store(f"sqlite:///{path}", model) as store:
        made = Garage(store)
        yield made
        made.client.close()


@contextmanager
def filled(folder: Path) -> Iterator[Garage]:
    with opened(folder / "garage.db", "none") as made:
        answer = made.send("PUT", "/", {"modelsource": MODEL, **CONTENT})
        assert answer.status_code == 200, answer.text
        yield made


@pytest.fixture
def garage(tmp_path: Path) -> Iterator[Garage]:
    with filled(tmp_path) as made:
        yield made


@pytest.fixture(scope="session")
def parked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Garage]:
    """The same for tests that change nothing: filled once."""
    with filled(tmp_path_factory.mktemp("parked")) as made:
        yield made


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Callable[[str], Garage]]:
    """Opens one more registry, with a model and nothing in it."""
    with ExitStack() as stack:
        yield lambda model: stack.enter_context(opened(tmp_path / "empty.db", model))

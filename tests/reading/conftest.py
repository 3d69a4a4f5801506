"""A registry of vehicle fleets behind the whole HTTP stack, without a socket."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.testclient import TestClient

from postroom.http.app import create_app
from postroom.settings import Settings
from postroom.store import open_store
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


class Garage:
    """The service and the store behind it."""

    def __init__(self, client: httpx.Client, store: Store) -> None:
        self.client = client
        self.store = store

    def send(self, method: str, target: str, body: Any = None, **more: Any) -> httpx.Response:
        return self.client.request(method, target, json=body, **more)

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


@pytest.fixture
def garage(tmp_path: Path) -> Iterator[Garage]:
    store = open_store(f"sqlite:///{tmp_path}/garage.db", "none")
    with TestClient(create_app(store, Settings()), base_url="http://garage.example", follow_redirects=False) as client:
        made = Garage(client, store)
        answer = made.send("PUT", "/", {"modelsource": MODEL, **CONTENT})
        assert answer.status_code == 200, answer.text
        yield made

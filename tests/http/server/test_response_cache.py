from __future__ import annotations

from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.http.server.app import create_app
from postroom.http.server.representation import Representation
from postroom.http.server.response_cache import ResponseCache
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.requests import AsgiClient

OVENS = "/messagegroups/ovens"


def answer(size: int) -> Representation:
    return Representation(status=200, headers=[], body=b"x" * size)


def test_an_answer_lives_as_long_as_its_state() -> None:
    cache = ResponseCache(1_000_000)
    cache.put("a", 1, answer(10))
    assert cache.get("a", 1) == answer(10)
    assert cache.get("a", 2) is None
    assert cache.get("b", 1) is None
    cache.put("b", 2, answer(20))
    assert len(cache) == 1
    cache.put("a", 1, answer(30))  # rendered before the change, finished after it
    assert (cache.get("a", 1), cache.get("a", 2)) == (None, None)


def test_memory_is_bounded_and_what_was_used_last_stays() -> None:
    cache = ResponseCache(100_000)
    cache.put("first", 1, answer(5_000))
    for number in range(100):
        cache.put(number, 1, answer(5_000))
        assert cache.get("first", 1) is not None
    assert len(cache) < 20
    cache.put("large", 1, answer(50_000))
    assert cache.get("large", 1) is None
    for _ in range(100):
        cache.put("same", 1, answer(5_000))
    assert len(cache) > 10


class Counting:
    """A store that counts how often it is read."""

    def __init__(self, inner: Store) -> None:
        self._inner = inner
        self.reads = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)

    def read(self) -> object:
        self.reads += 1
        return self._inner.read()


@pytest.fixture
def counting(store: Store) -> Counting:
    return Counting(store)


@pytest.fixture
def asgi(counting: Counting) -> AsgiClient:
    return AsgiClient(create_app(counting, Settings()))  # type: ignore[arg-type]  # it passes everything on


@pytest.mark.parametrize("path", ["/", OVENS, f"{OVENS}?inline=messages", "/messagegroups", "/model", "/export"])
def test_an_answer_is_rendered_once_per_state(asgi: AsgiClient, counting: Counting, path: str) -> None:
    asgi.ask("PUT", OVENS, {})
    first = asgi.ask("GET", path)
    reads = counting.reads
    again = asgi.ask("GET", path)
    assert (again, counting.reads) == (first, reads)
    asgi.ask("PATCH", OVENS, {"name": "Ovens"})
    before = counting.reads
    asgi.ask("GET", path)
    assert counting.reads > before


def test_answers_differ_by_base_query_and_coding(asgi: AsgiClient) -> None:
    asgi.ask("PUT", OVENS, {})
    assert asgi.ask("GET", OVENS).json["self"] == f"http://ovens.localhost{OVENS}"
    assert asgi.ask("GET", OVENS, host=b"other.localhost").json["self"] == f"http://other.localhost{OVENS}"
    assert asgi.ask("GET", OVENS, scheme="https").json["self"] == f"https://ovens.localhost{OVENS}"
    assert "messages" in asgi.ask("GET", f"{OVENS}?inline=messages").json
    assert "messages" not in asgi.ask("GET", OVENS).json


def test_a_write_is_seen_by_the_next_read_here_and_elsewhere(store: Store, tmp_path: Path) -> None:
    here = AsgiClient(create_app(store, Settings()))
    with open_store(f"sqlite:///{tmp_path}/registry.db") as other:
        there = AsgiClient(create_app(other, Settings()))
        here.ask("PUT", OVENS, {})
        for number in range(50):
            writer, reader = (here, there) if number % 2 else (there, here)
            assert writer.ask("PATCH", OVENS, {"name": f"n{number}"}).status == 200
            assert [asgi.ask("GET", OVENS).json["name"] for asgi in (reader, writer)] == [f"n{number}"] * 2


def test_configuration_is_part_of_the_state(asgi: AsgiClient) -> None:
    source = asgi.ask("GET", "/modelsource").json
    assert "kitchens" not in asgi.ask("GET", "/model").json["groups"]
    groups = {**source["groups"], "kitchens": {"singular": "kitchen"}}
    assert asgi.ask("PUT", "/modelsource", {**source, "groups": groups}).status == 200
    assert "kitchens" in asgi.ask("GET", "/model").json["groups"]
    assert asgi.ask("GET", "/kitchens").json == {}


def test_problems_and_writes_are_not_kept(asgi: AsgiClient) -> None:
    assert asgi.ask("GET", OVENS).status == 404
    asgi.ask("PUT", OVENS, {})
    assert asgi.ask("GET", OVENS).status == 200
    assert asgi.ask("DELETE", OVENS).status == 204
    assert asgi.ask("GET", OVENS).status == 404

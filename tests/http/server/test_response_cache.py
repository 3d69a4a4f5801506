from __future__ import annotations

from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.http.server.app import create_app
from postroom.http.server.representation import Representation
from postroom.http.server.response_cache import ResponseCache
from postroom.settings import Settings
from postroom.store.change_follower import Changed
from postroom.store.interface import Store
from tests.http.requests import AsgiClient

OVENS = "/messagegroups/ovens"
KILNS = "/messagegroups/kilns"


def answer(size: int) -> Representation:
    return Representation(status=200, headers=[], body=b"x" * size)


def changed(*parts: str) -> Changed:
    return Changed(parts=frozenset(parts))


def test_an_answer_lives_until_what_it_shows_changes() -> None:
    cache = ResponseCache(1_000_000)
    cache.put("a", cache.revision, answer(10), "/messagegroups/a/*")
    cache.put("b", cache.revision, answer(20), "/messagegroups/b/*")
    cache.put("changes", cache.revision, answer(30))
    cache.drop(changed("/messagegroups/b/*", "/*"))
    assert (cache.get("a"), cache.get("b"), cache.get("changes")) == (answer(10), None, None)
    cache.drop(changed())
    assert cache.get("a") == answer(10)
    cache.drop(Changed(everything=True))
    assert len(cache) == 0


def test_an_answer_that_was_begun_before_a_change_and_is_done_after_it_is_kept_if_it_does_not_show_it() -> None:
    cache = ResponseCache(1_000_000)
    began = cache.revision
    cache.drop(changed("/messagegroups/b/*"))
    cache.put("a", began, answer(10), "/messagegroups/a/*")
    cache.put("b", began, answer(10), "/messagegroups/b/*")
    cache.put("changes", began, answer(10))
    assert (cache.get("a"), cache.get("b"), cache.get("changes")) == (answer(10), None, None)
    began = cache.revision
    cache.drop(Changed(everything=True))
    cache.put("a", began, answer(10), "/messagegroups/a/*")
    assert cache.get("a") is None


def test_memory_is_bounded_and_what_was_used_last_stays() -> None:
    cache = ResponseCache(100_000)
    cache.put("first", 0, answer(5_000))
    for number in range(100):
        cache.put(number, 0, answer(5_000))
        assert cache.get("first") is not None
    assert len(cache) < 20
    cache.put("large", 0, answer(50_000))
    assert cache.get("large") is None
    for _ in range(100):
        cache.put("same", 0, answer(5_000))
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


@pytest.mark.parametrize("path", [OVENS, f"{OVENS}?inline=messages", "/messagegroups", "/?inline=*", "/export"])
def test_an_answer_is_rendered_once_per_state_of_what_it_shows(asgi: AsgiClient, counting: Counting, path: str) -> None:
    asgi.ask("PUT", OVENS, {})
    asgi.ask("PUT", KILNS, {})
    first = asgi.ask("GET", path)
    reads = counting.reads
    again = asgi.ask("GET", path)
    assert (again, counting.reads) == (first, reads)
    asgi.ask("PATCH", OVENS, {"name": "Ovens"})
    before = counting.reads
    asgi.ask("GET", path)
    assert counting.reads > before


@pytest.mark.parametrize("path", [OVENS, f"{OVENS}?inline", f"{OVENS}/messages", f"{OVENS}/messages/hot", "/"])
def test_a_write_leaves_answers_that_do_not_show_it(asgi: AsgiClient, counting: Counting, path: str) -> None:
    for group in (OVENS, KILNS):
        asgi.ask("PUT", group, {"messages": {"hot": {}}})
    first = asgi.ask("GET", path)
    asgi.ask("PATCH", f"{KILNS}/messages/hot", {"name": "Hot"})
    asgi.ask("PATCH", KILNS, {"name": "Kilns"})
    reads = counting.reads
    assert (asgi.ask("GET", path), counting.reads) == (first, reads)


def test_a_condition_is_answered_by_the_tag_of_the_kept_answer(asgi: AsgiClient, counting: Counting) -> None:
    asgi.ask("PUT", OVENS, {})
    first = asgi.ask("GET", OVENS)
    reads = counting.reads
    for condition in (first.headers["etag"], f'W/{first.headers["etag"]}, "x"', "*"):
        again = asgi.ask("GET", OVENS, headers={"if-none-match": condition})
        assert (again.status, again.body, again.headers["etag"]) == (304, b"", first.headers["etag"])
        assert not {"content-type", "content-length"} & again.headers.keys()
    assert asgi.ask("GET", OVENS, headers={"if-none-match": '"x"'}) == first
    assert counting.reads == reads


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

"""What web pages cost the server against the same as JSON, and what search costs as a registry grows."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.measure import Ratio, cpu_of, ratio
from bench.serving import PATH, cost, loaded_registry, server
from postroom.catalog.open_store import open_store
from postroom.http.operations.server_process import ServerProcess
from postroom.http.server.representation import represent
from postroom.http.server.request import Request
from postroom.http.xregistry.dispatch import answer
from postroom.registry.operations import import_document
from postroom.registry.search.search import SearchRequest, search
from postroom.settings import Settings
from postroom.store.interface import Store
from postroom.ui.website import open_pages

PAGE = f"/ui{PATH}"
ANSWERS = 200
FEW, MANY, IN_GROUP = 1_000, 100_000, 500
WORD, HITS = "marmalade", 20
SEARCHES = 100
ROUNDS = 7


def measure() -> Iterator[Ratio]:
    """The page of a message without any cache and from the cache; search for words with the same number of hits."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        database = f"sqlite:///{folder}/demo.db"
        command = loaded_registry(database)
        with open_store(database) as store:
            page, json = made(store, PAGE), made(store, PATH)
            yield ratio("the page of a message / its JSON, nothing kept", page, json, 3, ROUNDS)
        with server(command) as (process, port):
            yield ratio(
                "the page of a message / its JSON, both kept (0.5 of the rate is 2)",
                lambda: cost(process, port, path=PAGE),
                lambda: cost(process, port),
                2,
                ROUNDS,
            )
        yield from _searches(folder)


def made(store: Store, path: str) -> Callable[[], float]:
    """CPU seconds for making the answer for a path many times."""
    settings = Settings()
    process = ServerProcess(pages=open_pages(settings))
    request = Request(method="GET", path=path, base="http://127.0.0.1")

    def make() -> None:
        for _ in range(ANSWERS):
            represent(answer(request, store, settings, process), "GET", gzips=False)

    return lambda: cpu_of(make)


def _searches(folder: Path) -> Iterator[Ratio]:
    small, large = folder / "small.db", folder / "large.db"
    fill(small, FEW)
    fill(large, MANY)
    with open_store(f"sqlite:///{small}") as few, open_store(f"sqlite:///{large}") as many:
        of_few, of_many = searched(few), searched(many)
        yield ratio(f"search of {MANY:,} messages / of {FEW:,}, {HITS} hits", of_many, of_few, 1.3, ROUNDS)
        yield ratio(f"search of {MANY:,} messages / a bare query of FTS5", of_many, bare(large), 5, ROUNDS)


def fill(path: Path, count: int) -> None:
    """A registry with so many messages, a few of which have the word in their descriptions."""
    every = count // HITS
    with open_store(f"sqlite:///{path}") as store:
        for first in range(0, count, 20 * IN_GROUP):
            groups = {
                f"g{start}": {
                    "messages": {
                        f"m{number}": {"description": f"Jar {number}" + f" of {WORD}" * (number % every == 0)}
                        for number in range(start, min(start + IN_GROUP, count))
                    }
                }
                for start in range(first, min(first + 20 * IN_GROUP, count), IN_GROUP)
            }
            with store.write() as tx:
                import_document(tx, {"messagegroups": groups})


def searched(store: Store) -> Callable[[], float]:
    """CPU seconds of searching for the word many times, with highlights and facets."""

    def look() -> None:
        for _ in range(SEARCHES):
            with store.read() as tx:
                found = search(tx, SearchRequest(q=WORD))
            if len(found.hits) != HITS:
                raise SystemExit(f"bench: {len(found.hits)} hits instead of {HITS}")

    return lambda: cpu_of(look)


def bare(path: Path) -> Callable[[], float]:
    """CPU seconds of asking the index alone for the rows with the word, the best first, and for their titles."""
    connection = sqlite3.connect(path)
    query = (
        "SELECT search_entry.* FROM search_text JOIN search_entry ON id = search_text.rowid "
        "WHERE search_text MATCH ? ORDER BY rank"
    )

    def ask() -> None:
        for _ in range(SEARCHES):
            connection.execute(query, (WORD,)).fetchall()

    return lambda: cpu_of(ask)

"""What reading the change log costs, against a bare SELECT of the same rows and writing them as JSON."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.measure import Ratio, cpu_of, ratio
from postroom.catalog.open_store import open_store
from postroom.http.server.request import Request
from postroom.http.xregistry.dispatch import answer
from postroom.registry.operations import import_document
from postroom.replication.changes.feed import page_of
from postroom.settings import Settings
from postroom.store.interface import Store

GROUPS, MESSAGES = 20, 150
PAGE, PAGES = 1000, 12
COLUMNS = ("sequence", "xid", "action", "epoch", "changed", "actor", "correlation", "time")
BARE = f"SELECT {', '.join(COLUMNS)} FROM change WHERE sequence > ? ORDER BY sequence LIMIT ?"  # noqa: S608
GOAL = 2.0


def measure() -> Iterator[Ratio]:
    """Pages of a log of updates, through the whole service but its socket; twice the cost is half of the speed."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "bench.db"
        with open_store(f"sqlite:///{database}") as store:
            _fill(store)
            cursors = _cursors(store)
            connection = sqlite3.connect(database, isolation_level=None)
            yield ratio(
                "GET /changes, 1000 at a time / SELECT the rows and write them as JSON",
                lambda: cpu_of(lambda: _read(store, cursors)),
                lambda: cpu_of(lambda: _select(connection)),
                GOAL,
                9,
            )
            connection.close()


def _fill(store: Store) -> None:
    for text in ("created", "updated"):
        messages = {f"message{number}": {"name": text, "description": text} for number in range(MESSAGES)}
        with store.write() as tx:
            import_document(tx, {"messagegroups": {f"group{n}": {"messages": messages} for n in range(GROUPS)}})


def _cursors(store: Store) -> list[str]:
    """Where the pages begin: what a client reads of an answer is not the service's cost."""
    found = [""]
    while len(found) < PAGES:
        with store.read() as tx:
            found.append(page_of(tx, found[-1], PAGE).cursor)
    return found


def _read(store: Store, cursors: list[str]) -> None:
    for cursor in cursors:
        query = (("limit", str(PAGE)), ("after", cursor))
        request = Request(method="GET", path="/changes", base="http://localhost:8080", query=query)
        assert answer(request, store, Settings()).status == 200


def _select(connection: sqlite3.Connection) -> None:
    after = 0
    for _ in range(PAGES):
        rows = connection.execute(BARE, (after, PAGE)).fetchall()
        shown = [{**dict(zip(COLUMNS, row, strict=True)), "changed": msgspec.Raw(row[4])} for row in rows]
        msgspec.json.encode(shown)
        after = rows[-1][0]

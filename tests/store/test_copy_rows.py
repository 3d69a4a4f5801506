"""Registries moved between databases: all of them, or nothing."""

from __future__ import annotations

import itertools
import logging
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import psycopg
import pytest

from postroom.catalog.convert import dump
from postroom.catalog.move import move
from postroom.catalog.open_store import SQLITE, connect_store, open_store
from postroom.errors import FileMissing, StoreChanged, StoreOccupied, StoreUnusable
from postroom.settings import Settings
from postroom.store import copy_rows
from postroom.store.copy_rows import Contents, contents_of, tables_of
from postroom.store.interface import Store
from postroom.store.sql_transaction import SqlTransaction
from postroom.store.tables import TABLES
from tests.postgres import Postgres
from tests.replication.change_pages import read_changes
from tests.store.random_registry import fill
from tests.store.test_transactions import oven

Database = Callable[[str], str]


@pytest.fixture
def new(tmp_path: Path, request: pytest.FixtureRequest) -> Database:
    """The URL of a database without a registry."""

    numbers = itertools.count()

    def make(kind: str) -> str:
        if kind == "sqlite":
            return f"{SQLITE}{tmp_path}/{next(numbers)}.db"
        server: Postgres = request.getfixturevalue("postgres")
        return server.registry()

    return make


def contents(url: str) -> Contents:
    with connect_store(url) as store, store.read() as tx:
        return contents_of(tables_of(tx))


def document(url: str) -> dict[str, Any]:
    return dict(dump(url, "1.0-rc4", Settings()).document)


WAYS = [("sqlite", "postgresql"), ("postgresql", "sqlite"), ("sqlite", "sqlite"), ("postgresql", "postgresql")]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("here", "there"), WAYS)
def test_a_registry_moved_there_and_back_is_the_same(new: Database, here: str, there: str, seed: int) -> None:
    places = [new(here), new(there), new(here)]
    fill(places[0], seed)
    before = contents(places[0])
    assert min(before.rows.values()) > 0, "something of everything"
    for source, target in itertools.pairwise(places):
        assert move(source, target, Settings()) == before
    assert [contents(url) for url in places] == [before] * 3
    assert document(places[0]) == document(places[1]) == document(places[2])


@pytest.mark.parametrize(("here", "there"), WAYS[:2])
def test_cursors_go_on_after_a_move_and_new_changes_follow_the_old_ones(new: Database, here: str, there: str) -> None:
    source, target = new(here), new(there)
    fill(source, 7)
    with open_store(source) as store:
        pages = [read_changes(store, "", 10), read_changes(store, "", 1000)]
        with store.read() as tx:
            newest = tx.last_change()
        assert newest is not None
    move(source, target, Settings())
    with open_store(target) as store:
        assert read_changes(store, pages[0].cursor, 1000).changes == pages[1].changes[10:]
        assert read_changes(store, newest.mark, 1000).changes == []
        with store.write() as tx:
            change = msgspec.structs.replace(newest, sequence=0)
            assert tx.append_change(change) == newest.sequence + 1


def test_the_tables_of_both_databases_are_the_ones_that_are_copied(new: Database) -> None:
    """Whoever adds a table or a column has to add it there; the search index is made anew."""
    known = {table.name: sorted(table.columns) for table in TABLES}
    lite, grown = new("sqlite"), new("postgresql")
    for url in (lite, grown):
        open_store(url).close()
    with sqlite3.connect(lite.removeprefix(SQLITE)) as connection:
        names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
        found = {
            name: sorted(row[1] for row in connection.execute(f"PRAGMA table_info({name})"))
            for (name,) in names
            if name != "sqlite_sequence" and not name.startswith("search_")
        }
        assert found == known
    with psycopg.connect(grown) as database:
        rows = database.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = current_schema()"
        ).fetchall()
        found = {}
        for name, column in rows:
            found[name] = sorted([*found.get(name, []), column])
        assert {name: columns for name, columns in found.items() if name != "state" and "search_" not in name} == known


def test_a_move_says_how_far_it_is(
    new: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    source = new("sqlite")
    fill(source, 3)
    monkeypatch.setattr(copy_rows, "STEP", 10)
    with caplog.at_level(logging.INFO, "postroom.progress"):
        move(source, new("sqlite"), Settings())
    assert {"Copying entities: 10", "Copying history: 20", "Checking changes: 30"} <= set(caplog.messages)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_registry_is_never_moved_over_another_one(new: Database, kind: str) -> None:
    source, target = new("sqlite"), new(kind)
    for seed, url in enumerate((source, target)):
        fill(url, seed, 3)
    before = contents(target)
    with pytest.raises(StoreOccupied, match="there is a registry in this database. Name a database without one."):
        move(source, target, Settings())
    assert contents(target) == before


def test_a_database_without_a_registry_cannot_be_moved(new: Database, tmp_path: Path) -> None:
    with pytest.raises(FileMissing):
        move(f"{SQLITE}{tmp_path}/none.db", new("sqlite"), Settings())
    with pytest.raises(FileMissing):
        move(new("postgresql"), new("sqlite"), Settings())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", ["sqlite", "postgresql"])
@pytest.mark.parametrize("here", ["sqlite", "postgresql"])
def test_a_write_to_the_source_undoes_the_move(
    new: Database, here: str, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = new(here), new(there)
    fill(source, 1, 5)

    def check(tx: SqlTransaction) -> Contents:
        """In the middle of the move somebody writes."""
        with open_store(source) as store, store.write() as writing:
            writing.put(oven("/messagegroups/late"))
        return contents_of(tx)

    monkeypatch.setattr(copy_rows, "contents_of", check)
    with pytest.raises(StoreChanged, match="written to meanwhile; nothing was kept") as refused:
        move(source, target, Settings())
    assert refused.value.place
    monkeypatch.undo()
    assert sum(contents(target).rows.values()) == 0


def test_a_database_that_gives_back_something_else_is_found_out(
    new: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, target = new("sqlite"), f"{SQLITE}{tmp_path}/target.db"
    fill(source, 1, 5)
    monkeypatch.setattr(copy_rows, "contents_of", lambda _: Contents("sha256:", {}))
    with pytest.raises(StoreUnusable, match="does not give back"):
        move(source, target, Settings())
    assert not (tmp_path / "target.db").exists()


MOVE = """
import sys, time
from postroom.catalog.move import move
from postroom.settings import Settings
from postroom.store import copy_rows

def wait(tx):
    print("copied", flush=True)
    time.sleep(60)

copy_rows.contents_of = wait
move(sys.argv[1], sys.argv[2], Settings())
"""


@pytest.mark.parametrize("there", ["sqlite", "postgresql"])
def test_a_move_that_was_killed_leaves_nothing_and_can_be_done_again(new: Database, there: str) -> None:
    source, target = new("sqlite"), new(there)
    fill(source, 2)
    process = subprocess.Popen([sys.executable, "-c", MOVE, source, target], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "copied\n"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with connect_store(target) as store:
        assert wait_until_empty(store)
    assert move(source, target, Settings()) == contents(source) == contents(target)


def wait_until_empty(store: Store) -> bool:
    """The server finds out by itself that nobody is there any more; the lock is free then."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with store.write() as tx:
            return sum(contents_of(tables_of(tx)).rows.values()) == 0
    return False


def test_a_large_registry_is_moved_in_little_memory(new: Database, tmp_path: Path) -> None:
    """The documents of 400 schemas have 100 MB; the process may not grow by half of that."""
    source, target = new("sqlite"), new("postgresql")
    with open_store(source) as store, store.write() as tx:
        for number in range(400):
            tx.put_record("large", str(number), os.urandom(250_000))
    script = (
        "import resource, sys\n"
        "from postroom.catalog.move import move\n"
        "from postroom.settings import Settings\n"
        "import postroom.store.postgres\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "move(sys.argv[1], sys.argv[2], Settings())\n"
        "move(sys.argv[2], sys.argv[3], Settings())\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    back = f"{SQLITE}{tmp_path}/back.db"
    command = [sys.executable, "-c", script, source, target, back]
    grown = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert grown < 50_000, f"{grown} kB"

"""Small writes that others wait behind are committed together, each as if it were alone."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.wiring import RULES
from postroom.registry.entities import Change, Entity
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.store.interface import Store
from postroom.store.sqlite import SqliteStore

OVENS = "/messagegroups/ovens"


def put(tx: Transaction, name: str) -> None:
    moment = "2030-01-01T00:00:00Z"
    tx.put(Entity(xid=f"/messagegroups/{name}", epoch=1, createdat=moment, modifiedat=moment))
    tx.append_change(
        Change(
            xid=f"/messagegroups/{name}",
            action="created",
            epoch=1,
            changed=(),
            actor="",
            correlation=name,
            time=moment,
        )
    )


def stored(store: Store) -> set[str]:
    with store.read() as tx:
        return {entity.id for entity in tx.entities("/messagegroups")}


def logged(store: Store) -> list[tuple[int, str]]:
    with store.read() as tx:
        rows = tx.changes(0, 1000)
    return [(row.sequence, row.correlation) for row in rows if row.correlation]


def until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.001)


class Writer(threading.Thread):
    """A write in a thread of its own, and what became of it."""

    def __init__(self, store: Store, name: str, work: Callable[[Transaction], None], *, is_small: bool = True) -> None:
        super().__init__(name=name, daemon=True)
        self.store, self.work, self.is_small = store, work, is_small
        self.error: BaseException | None = None
        self.start()

    def run(self) -> None:
        try:
            with self.store.write(is_small=self.is_small) as tx:
                put(tx, self.name)
                self.work(tx)
        except Exception as error:  # noqa: BLE001  # whatever it is, the test asks for it
            self.error = error


def nothing(_: Transaction) -> None:
    pass


@contextmanager
def crowd(store: Store, *works: Callable[[Transaction], None], is_small: bool = True) -> Iterator[list[Writer]]:
    """Writers that all wait until the block is over, behind one more."""
    commits: Any = getattr(store, "_commits")  # noqa: B009  # of a store of either kind
    before = store.version()
    with store.write(is_small=True) as tx:
        put(tx, "first")
        writers = [Writer(store, f"w{number}", work, is_small=is_small) for number, work in enumerate(works)]
        until(lambda: commits._waiting == len(writers))
        yield writers
        assert store.version() == before
    for writer in writers:
        writer.join(60)
        assert not writer.is_alive()


@pytest.fixture
def commits(store: Store, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each commit since then succeeded."""
    found: list[bool] = []
    own: Any = getattr(store, "_commits")  # noqa: B009
    begin = own._begin

    def counted() -> Any:
        transaction = begin()
        commit = transaction.commit

        def count() -> None:
            commit()
            found.append(True)

        transaction.commit = count
        return transaction

    monkeypatch.setattr(own, "_begin", counted)
    return found


def test_writes_that_wait_share_a_commit(store: Store, commits: list[bool]) -> None:
    last = logged(store)
    with crowd(store, *[nothing] * 7) as writers:
        pass
    names = ["first", *(writer.name for writer in writers)]
    assert [writer.error for writer in writers] == [None] * 7
    assert len(commits) == 1
    assert stored(store) >= set(names)
    found = logged(store)[len(last) :]
    assert sorted(name for _, name in found) == sorted(names)
    first = found[0][0]
    assert [sequence for sequence, _ in found] == list(range(first, first + 8))


def test_a_write_that_nobody_waits_for_is_committed_at_once(store: Store, commits: list[bool]) -> None:
    for number in range(3):
        with store.write(is_small=True) as tx:
            put(tx, f"alone{number}")
        assert len(commits) == number + 1


def test_a_commit_is_shared_by_only_so_many(store: Store, commits: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.store.group_commit.MOST_MEMBERS", 2)
    with crowd(store, *[nothing] * 5):
        pass
    assert len(commits) == 3


def test_a_commit_is_put_off_only_so_long(store: Store, commits: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.store.group_commit.LONGEST_SECONDS", 0.0)
    with crowd(store, *[nothing] * 5):
        pass
    assert len(commits) == 6


def test_a_write_that_is_refused_is_undone_alone(store: Store) -> None:
    def refuse(tx: Transaction) -> None:
        assert tx.entity("/messagegroups/first") is not None, "what others wrote before is there"
        raise RegistryProblem("bad_request", OVENS, error_detail="no")

    with crowd(store, nothing, refuse, nothing, refuse, refuse) as writers:
        pass
    assert [type(writer.error) for writer in writers] == [
        type(None), RegistryProblem, type(None), RegistryProblem, RegistryProblem
    ]  # fmt: skip
    assert stored(store) == {"first", "w0", "w2"}
    assert [sequence for sequence, _ in logged(store)] == [1, 2, 3, 4], "there is no gap after the first row"


def test_a_statement_that_fails_fails_its_own_write(store: Store) -> None:
    def fail(tx: Any) -> None:
        tx.flush()
        tx._run("SELECT no_such_column FROM entity")

    with crowd(store, nothing, fail, nothing) as writers:
        pass
    assert [writer.error is None for writer in writers] == [True, False, True]
    assert stored(store) == {"first", "w0", "w2"}


def test_nobody_is_told_before_the_commit(store: Store) -> None:
    inside, goes_on = threading.Event(), threading.Event()

    def stay(_: Transaction) -> None:
        inside.set()
        assert goes_on.wait(60)

    with crowd(store, stay) as (slow,):
        done = Writer(store, "done", nothing)
        commits: Any = getattr(store, "_commits")  # noqa: B009
        until(lambda: commits._waiting == 2)

        def watch() -> None:
            """Whichever of both comes first waits for the other, and for the commit."""
            assert inside.wait(60)
            assert (stored(store), slow.is_alive()) == (set(), True)
            goes_on.set()

        watcher = threading.Thread(target=watch)
        watcher.start()
    watcher.join(60)
    done.join(60)
    assert (done.error, slow.error) == (None, None)
    assert stored(store) == {"first", "w0", "done"}


def test_nobody_is_refused_before_the_commit_of_what_they_are_refused_for(store: Store) -> None:
    commits: Any = getattr(store, "_commits")  # noqa: B009

    def refuse(tx: Transaction) -> None:
        if tx.entity("/messagegroups/first") is not None:
            raise RegistryProblem("bad_request", OVENS, error_detail="there is one")

    with left_to_others(commits):
        Writer(store, "first", nothing)
        until(lambda: has_left(commits, 1))
        early = Writer(store, "early", refuse)
        until(lambda: has_left(commits, 2))
        assert (stored(store), early.is_alive()) == (set(), True)
    early.join(60)
    assert isinstance(early.error, RegistryProblem)
    assert stored(store) == {"first"}


def test_who_shares_nothing_writes_after_the_commit_of_the_others(store: Store, commits: list[bool]) -> None:
    found: list[tuple[set[str], int]] = []

    def look(_: Transaction) -> None:
        found.append((stored(store), len(commits)))

    with crowd(store, look, is_small=False):
        pass
    assert found == [({"first"}, 1)]
    assert len(commits) == 2
    assert stored(store) == {"first", "w0"}


def test_when_the_database_gives_up_the_transaction_all_its_writes_fail(store: Store) -> None:
    """As SQLite does on a full disk, and PostgreSQL when the connection is lost."""

    def lose(tx: Any) -> None:
        tx._run("ROLLBACK")
        raise RegistryProblem("server_busy", "/", detail="lost")

    with pytest.raises(RegistryProblem) as caught, crowd(store, lose) as writers:
        pass
    writers[0].join(60)
    assert isinstance(writers[0].error, RegistryProblem)
    assert (caught.value.detail, writers[0].error.detail) == ("lost", "lost")
    assert stored(store) == set()
    with store.write(is_small=True) as tx:
        put(tx, "later")
    assert stored(store) == {"later"}


def test_a_transaction_that_sqlite_took_back_is_not_taken_for_committed(tmp_path: Path) -> None:
    def lose(tx: Any) -> None:
        tx.flush()
        tx._run("ROLLBACK")

    with SqliteStore(tmp_path / "registry.db", RULES) as store:
        with pytest.raises(sqlite3.OperationalError, match="no transaction"), crowd(store, lose) as writers:
            pass
        writers[0].join(60)
        assert isinstance(writers[0].error, sqlite3.OperationalError)
        assert stored(store) == set()


@contextmanager
def left_to_others(commits: Any) -> Iterator[None]:
    """As if somebody were waiting, who gives up at the end of the block."""
    commits._waiting += 1
    yield
    commits._waiting -= 1
    commits._end_abandoned()


def has_left(commits: Any, members: int) -> bool:
    return commits._group is not None and len(commits._group._latches) == members and not commits._turn.locked()


def test_a_commit_that_was_left_to_somebody_who_gave_up_is_made(store: Store) -> None:
    commits: Any = getattr(store, "_commits")  # noqa: B009
    with left_to_others(commits):
        left = Writer(store, "left", nothing)
        until(lambda: has_left(commits, 1))
        assert left.is_alive()
    left.join(60)
    assert (left.is_alive(), left.error) == (False, None)
    assert stored(store) == {"left"}

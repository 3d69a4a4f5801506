"""What is forgotten of the change log, and when."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.errors import CursorForeign, CursorTooOld
from postroom.registry.operations import import_document
from postroom.store.interface import Store
from postroom.store.retention import FORGOTTEN, KIND, STEP, Retention
from tests.replication.change_pages import read_changes


def ovens(count: int, name: str = "oven") -> dict[str, object]:
    return {"messagegroups": {f"{name}{number}": {} for number in range(count)}}


def write(store: Store, tree: dict[str, object]) -> str:
    """Write, and the cursor after it."""
    with store.write() as tx:
        import_document(tx, tree)
    return read_changes(store, "last", 1).cursor


def sequences(store: Store) -> list[int]:
    with store.read() as tx:
        return [change.sequence for change in tx.changes(0, 10**6)]


def test_nothing_is_forgotten_unless_somebody_says_so(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/r.db") as store:
        write(store, ovens(STEP))
        write(store, ovens(1))
        assert sequences(store)[0] == 1


def test_only_so_many_are_kept_and_cursors_before_them_are_too_old(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/r.db", retention=Retention(count=3)) as store:
        cursors = [write(store, ovens(1, f"oven{number}-")) for number in range(4)]  # two rows each
        assert sequences(store) == [7, 8, 9]
        with pytest.raises(CursorTooOld):
            read_changes(store, cursors[1], 10)
        assert [change.sequence for change in read_changes(store, cursors[2], 10).changes] == [8, 9]
        with store.read() as tx:
            edge = (tx.record(KIND, FORGOTTEN) or b"").decode()
        # Nothing that follows the newest forgotten change is lost, so its cursor still holds.
        assert [change.sequence for change in read_changes(store, edge, 10).changes] == [7, 8, 9]
        with pytest.raises(CursorForeign):
            read_changes(store, edge.partition("-")[0] + "-00000000", 10)
        assert [change.sequence for change in read_changes(store, "", 10).changes] == [7, 8, 9]


def test_old_changes_go_with_the_writes_in_small_steps(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/r.db"
    with open_store(url) as store:
        write(store, ovens(3 * STEP))
        before = len(sequences(store))
    with open_store(url, retention=Retention(count=1)) as store:
        assert len(sequences(store)) == before
        write(store, ovens(1))
        assert len(sequences(store)) == before + 1 - STEP  # an update of one Group
        for _ in range(4):
            write(store, ovens(1))
        assert len(sequences(store)) == 1


def test_days_count_and_the_newest_change_stays(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/r.db"
    with open_store(url) as store:
        write(store, ovens(3))
    now = datetime.now(UTC)
    times = [(now - timedelta(days=days)).isoformat().replace("+00:00", "Z") for days in (50, 40, 31, 29, 20)]
    with sqlite3.connect(tmp_path / "r.db") as connection:
        connection.executemany("UPDATE change SET time = ? WHERE sequence = ?", zip(times, range(1, 6), strict=True))
    connection.close()
    with open_store(url, retention=Retention(days=30)) as store:
        write(store, ovens(1))
        assert sequences(store) == [4, 5, 6]
    with open_store(url, retention=Retention(days=30, count=1)) as store:
        write(store, ovens(1))
        assert sequences(store) == [7]


def test_history_is_kept_when_the_log_is_not(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/r.db", retention=Retention(count=1)) as store:
        for _ in range(5):
            write(store, ovens(1))
        with store.read() as tx:
            assert [old.epoch for old in tx.history("/messagegroups/oven0")] == [1, 2, 3, 4]

"""What is forgotten of the change log, and when."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.errors import CursorForeign, CursorTooOld
from postroom.registry.operations import delete, import_document
from postroom.registry.paths import resolve
from postroom.registry.read.resource_history import load_state, read_states
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.replication.changes.audit import AuditEntry, entry_of
from postroom.store.interface import Store
from postroom.store.retention import FORGOTTEN, KIND, STEP, Due, Retention, count_due, prune
from tests.replication.change_pages import read_changes
from tests.store.random_registry import fill


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


KEPT_WITH_CHANGES = Retention(count=1, with_history=True)


def states(store: Store, xid: str) -> int:
    """How many superseded bodies there are of an entity and of what is below it."""
    with store.read() as tx:
        return len(tx.history_below(xid))


def message(name: str) -> dict[str, object]:
    return {"messagegroups": {"ovens": {"messages": {"heated": {"name": name}}}}}


HEATED = "/messagegroups/ovens/messages/heated"


def delete_entity(store: Store, xid: str) -> None:
    with store.write() as tx:
        work = UnitOfWork(tx)
        delete(work, resolve(tx.model(), xid), None, None, "")
        work.finish()


def numbers(store: Store) -> list[tuple[int, str]]:
    """The versions of a definition by number, as the message catalog has them."""
    with store.read() as tx:
        found = read_states(tx, HEATED)
        return [(state.number, load_state(tx, state).version.attributes["name"]) for state in found]


def test_superseded_bodies_go_with_their_changes_where_that_is_set(database: str) -> None:
    with open_store(database, retention=KEPT_WITH_CHANGES) as store:
        for _ in range(5):
            write(store, ovens(1))
        assert sequences(store) == [7]
        with store.read() as tx:
            assert [old.epoch for old in tx.history("/messagegroups/oven0")] == [4]  # what change 7 superseded
            assert tx.history("/") == []


def test_a_body_stays_as_long_as_a_change_shows_it(database: str) -> None:
    with open_store(database, retention=Retention(count=3, with_history=True)) as store:
        for _ in range(6):
            write(store, ovens(1))
        with store.read() as tx:
            kept = {change.sequence for change in tx.changes(0, 100) if change.xid == "/messagegroups/oven0"}
            assert {sequence for sequence, _ in tx.history_below("/messagegroups/oven0")} == kept == {6, 7, 8}


def test_versions_of_a_definition_that_is_there_are_kept_with_their_numbers(database: str) -> None:
    with open_store(database, retention=KEPT_WITH_CHANGES) as store:
        for name in ("Warm", "Hot", "Hotter"):
            write(store, message(name))
        for _ in range(9):
            write(store, ovens(1))
        assert numbers(store) == [(1, "Warm"), (2, "Hot"), (3, "Hotter")]


def test_versions_of_a_definition_that_is_gone_go_when_its_deletion_is_forgotten(database: str) -> None:
    with open_store(database, retention=KEPT_WITH_CHANGES) as store:
        for name in ("Warm", "Hot", "Hotter"):
            write(store, message(name))
        delete_entity(store, HEATED)
        for _ in range(3):
            write(store, ovens(1))
        assert states(store, HEATED) == 0
        write(store, message("Cold"))
        assert numbers(store) == [(1, "Cold")]


@pytest.mark.parametrize("deleted", [HEATED, "/messagegroups/ovens"])
@pytest.mark.parametrize("kept", range(1, 9))
def test_a_definition_that_comes_again_begins_with_number_one_wherever_the_log_ends(
    kept: int, deleted: str, database: str
) -> None:
    with open_store(database, retention=Retention(count=kept, with_history=True)) as store:
        for name in ("Warm", "Hot"):
            write(store, message(name))
        delete_entity(store, deleted)
        write(store, message("Cold"))
        write(store, message("Colder"))
        write(store, ovens(2))
        write(store, ovens(2))
        assert numbers(store) == [(1, "Cold"), (2, "Colder")]


def test_prune_deletes_at_once_what_its_dry_run_counts(database: str) -> None:
    with open_store(database) as store:
        for number in range(STEP):
            write(store, {"messagegroups": {"ovens": {"name": f"Ovens {number}"}}})
        for name in ("Warm", "Hot"):
            write(store, message(name))
            write(store, {"messagegroups": {"ovens": {"messages": {"heated-2": {"name": name}}}}})
        delete_entity(store, f"{HEATED}-2")
        write(store, ovens(1))
        for retention in (Retention(), Retention(with_history=True)):
            with store.read() as tx:
                assert count_due(tx, retention) == Due(0, 0), "changes that are kept show the history"
        before, total = sequences(store), states(store, "/messagegroups")
        with store.read() as tx:
            due = count_due(tx, KEPT_WITH_CHANGES)
            logged = count_due(tx, Retention(count=1))
        assert logged == Due(len(before) - 1, 0)
        assert due.history > STEP
        assert (sequences(store), states(store, "/messagegroups")) == (before, total), "counting deletes nothing"
        assert prune(store, Retention(count=1)) == logged
        with store.read() as tx:
            left = count_due(tx, KEPT_WITH_CHANGES)
        assert left == Due(0, due.history), "what is left from before the setting is due, too"
        assert prune(store, KEPT_WITH_CHANGES) == left
        assert prune(store, KEPT_WITH_CHANGES) == Due(0, 0)
        assert numbers(store) == [(1, "Warm"), (2, "Hot")]
        assert states(store, f"{HEATED}-2") == 0


def test_versions_of_a_definition_go_with_the_group_that_was_deleted(database: str) -> None:
    with open_store(database, retention=KEPT_WITH_CHANGES) as store:
        for name in ("Warm", "Hot"):
            write(store, message(name))
        delete_entity(store, "/messagegroups/ovens")
        for _ in range(3):
            write(store, ovens(1))
        assert states(store, "/messagegroups/ovens") == 0


def audit(store: Store, last: int) -> list[AuditEntry]:
    with store.read() as tx:
        return [entry_of(tx, change) for change in tx.changes(0, 10**6)][-last:]


def versions(store: Store) -> dict[str, list[tuple[int, str]]]:
    with store.read() as tx:
        messages = [xid for xid in tx.xids() if xid.count("/") == 4 and "/messages/" in xid]
        return {
            xid: [(one.number, repr(load_state(tx, one).version)) for one in read_states(tx, xid)] for xid in messages
        }


@pytest.mark.parametrize("seed", range(4))
def test_nothing_that_is_still_shown_changes_by_pruning(seed: int, database: str) -> None:
    fill(database, seed)
    with open_store(database) as store:
        shown, numbered = audit(store, 10), versions(store)
        retention = Retention(count=10, with_history=True)
        with store.read() as tx:
            due = count_due(tx, retention)
        assert due.history > 0
        assert prune(store, retention) == due
        assert audit(store, 10) == shown
        assert versions(store) == numbered


def test_others_write_while_a_registry_is_pruned(database: str) -> None:
    with open_store(database) as store, open_store(database) as other, ThreadPoolExecutor(1) as thread:
        for _ in range(3):
            write(store, ovens(STEP))
        written = thread.submit(lambda: [write(other, {"messagegroups": {"bakery": {}}}) for _ in range(20)])
        pruned = prune(store, Retention(count=1, with_history=True))
        written.result()
        assert pruned.changes > 2 * STEP
        assert pruned.history > STEP
        with store.read() as tx:
            bakery = tx.entity("/messagegroups/bakery")
            assert bakery is not None
            assert bakery.epoch == 20
            assert tx.changes(0, 10**6)[-1].xid in ("/", "/messagegroups/bakery")

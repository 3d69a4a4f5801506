"""Places in the change log."""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.errors import CursorBroken, CursorForeign
from postroom.registry.entities import Change
from tests.replication.change_pages import read_changes
from tests.replication.conftest import Office


@pytest.mark.parametrize("cursor", ["x", "1", "-1-00000000", "1-0", "first", "1-00000000 ", "ff" * 20, "\0", "é" * 500])
def test_garbage_is_no_cursor(office: Office, cursor: str) -> None:
    with pytest.raises(CursorBroken) as refused:
        read_changes(office.store, cursor, 10)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("cursor", ["1-00000000", "0-00000000", "fffffffffffffff-00000000"])
def test_a_cursor_of_another_log_is_refused(office: Office, cursor: str) -> None:
    with pytest.raises(CursorForeign):
        read_changes(office.store, cursor, 10)


def test_a_page_leads_to_the_next_until_nothing_is_left(office: Office) -> None:
    office.put("/dirs", {f"d{number}": {} for number in range(5)}, patch=True)
    whole = read_changes(office.store, "", 100)
    assert not whole.more
    seen, cursor, more = [], "", True
    while more:
        page = read_changes(office.store, cursor, 2)
        assert len(page.changes) <= 2
        seen, cursor, more = [*seen, *page.changes], page.cursor, page.more
    assert seen == whole.changes
    assert cursor == whole.cursor
    assert read_changes(office.store, cursor, 2).changes == []


def test_from_the_last_change_on_there_is_only_what_comes(office: Office) -> None:
    office.put("/dirs/d1", {})
    start = read_changes(office.store, "last", 10)
    assert start.changes == []
    office.put("/dirs/d2", {})
    assert "/dirs/d2" in {change.xid for change in read_changes(office.store, start.cursor, 10).changes}


def test_a_filter_takes_an_entity_and_what_is_below_and_passes_over_the_rest(office: Office) -> None:
    for name in ("d1", "d10", "d2"):
        office.put(f"/dirs/{name}/files/f", {})
    page = read_changes(office.store, "", 100, "/dirs/d1")
    assert [change.xid for change in page.changes] == ["/dirs/d1", "/dirs/d1/files/f", "/dirs/d1/files/f/versions/1"]
    assert page.cursor == read_changes(office.store, "last", 1).cursor
    assert [change.xid for change in read_changes(office.store, "", 100, "/dirs/d1/files/f").changes][:1] == [
        "/dirs/d1/files/f"
    ]
    assert read_changes(office.store, "", 100, "/dirs/nobody").changes == []


def test_a_limit_is_kept_within_bounds(office: Office) -> None:
    assert len(read_changes(office.store, "", 0).changes) == 1
    assert read_changes(office.store, "", 10**30).more is False


@pytest.mark.sqlite
def test_cursors_hold_over_restarts_and_not_after_a_restored_backup(office: Office, tmp_path: Path) -> None:
    office.put("/dirs/d1", {})
    before = read_changes(office.store, "last", 1).cursor
    office.store.close()
    shutil.copy(tmp_path / "registry.db", tmp_path / "backup.db")
    with open_store(f"sqlite:///{tmp_path}/registry.db") as again:
        assert read_changes(again, before, 10).changes == []
        Office(again).put("/dirs/d2", {})
        after = read_changes(again, before, 10)
        assert [change.xid for change in after.changes] == ["/", "/dirs/d2"]
    with open_store(f"sqlite:///{tmp_path}/backup.db") as restored:
        assert read_changes(restored, before, 10).changes == []
        with pytest.raises(CursorForeign, match="present change log"):  # from the future
            read_changes(restored, after.cursor, 10)
        Office(restored).put("/dirs/d3", {})
        with pytest.raises(CursorForeign, match="Read the whole registry"):  # the same place, another past
            read_changes(restored, after.cursor, 10)


def test_a_follower_misses_nothing_while_others_write(office: Office) -> None:
    def write(name: str) -> None:
        for number in range(25):
            office.put(f"/dirs/{name}/files/f{number}", {})

    writers = [threading.Thread(target=write, args=(name,)) for name in ("a", "b", "c")]
    cursor = start = read_changes(office.store, "last", 1).cursor
    for writer in writers:
        writer.start()
    seen: list[Change] = []
    more = True
    while more or any(writer.is_alive() for writer in writers):
        page = read_changes(office.store, cursor, 7)
        seen, cursor, more = [*seen, *page.changes], page.cursor, page.more
    for writer in writers:
        writer.join()
    seen += read_changes(office.store, cursor, 10_000).changes
    assert seen == read_changes(office.store, start, 10_000).changes
    assert sum(change.action == "created" for change in seen) == 3 * (1 + 25 * 2)

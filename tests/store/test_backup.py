"""Backups of stores that are in use, and what comes back of them."""

from __future__ import annotations

import functools
import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from postroom.catalog.move import back_up, move, restore
from postroom.catalog.open_store import SQLITE, open_store
from postroom.errors import BackupBroken, FileMissing, FolderUnwritable, StoreOccupied, StoreUnusable
from postroom.settings import Settings
from postroom.store.migrations import LATEST, MIGRATIONS
from tests.http.running_service import limit, serving
from tests.replication.change_pages import read_changes
from tests.store.random_registry import fill
from tests.store.test_copy_rows import contents

WRITE = """
import sys
from postroom.catalog.open_store import open_store
from tests.store.test_transactions import oven

with open_store(sys.argv[1]) as store:
    number = 0
    while True:
        number += 1
        with store.write() as tx:
            tx.put(oven(f"/messagegroups/oven{number:06}"))
            tx.put_record("ovens", "number", str(number).encode())
        print(number, flush=True)
"""


@contextmanager
def writing(url: str) -> Iterator[None]:
    """Another process writes while this goes on: each time an oven, and the number of ovens as a record."""
    process = subprocess.Popen([sys.executable, "-c", WRITE, url], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "1\n"
        reading = threading.Thread(target=process.stdout.read)
        reading.start()
        yield
        assert process.poll() is None, "it wrote all the time"
        process.kill()
        process.wait()
        reading.join()


def test_a_backup_made_while_others_write_is_one_state_of_the_registry(database: str, tmp_path: Path) -> None:
    fill(database, 1)
    files = [tmp_path / f"{number}.backup" for number in range(3)]
    with writing(database):
        made = [back_up(database, file, Settings()) for file in files]
    for number, file in enumerate(files):
        restored = f"{SQLITE}{tmp_path}/restored{number}.db"
        assert restore(file, restored, Settings()) == made[number] == contents(restored)
        with open_store(restored) as store, store.read() as tx:
            count = int(tx.record("ovens", "number") or b"0")
            assert count > 0
            assert sum(name.startswith("oven") for name in tx.ids("/messagegroups", "", 10**6)) == count
    assert sorted(one.rows["entities"] for one in made) == [one.rows["entities"] for one in made]


def put_groups(url: str, client: int, acknowledged: list[str], stopping: threading.Event) -> None:
    with httpx.Client(base_url=url) as http:
        while not stopping.is_set():
            name = f"c{client}.{len(acknowledged)}"
            reply = http.put(f"/messagegroups/{name}/messages/m", json={"description": name})
            assert reply.status_code == 201, reply.text
            acknowledged.append(name)


def test_a_backup_in_a_storm_of_writes_has_all_that_was_acknowledged_before(database: str, tmp_path: Path) -> None:
    file, stopping = tmp_path / "registry.backup", threading.Event()
    acknowledged: list[list[str]] = [[], [], [], []]
    with serving(database) as (_, url), ThreadPoolExecutor() as pool:
        clients = [pool.submit(put_groups, url, at, known, stopping) for at, known in enumerate(acknowledged)]
        while min(map(len, acknowledged)) < 5:
            time.sleep(0.01)
        before = [len(known) for known in acknowledged]
        command = [sys.executable, "-m", "postroom", "backup", database, str(file), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        stopping.set()
        for client in clients:
            client.result()
    made = json.loads(done.stdout)
    restored = f"{SQLITE}{tmp_path}/restored.db"
    assert restore(file, restored, Settings()).digest == made["digest"] == contents(restored).digest
    with open_store(restored) as store, store.read() as tx:
        there = set(tx.ids("/messagegroups", "", 10**6))
        logged = {change.xid.split("/")[2] for change in tx.changes(0, 10**6) if change.xid.count("/") == 4}
        whole = {name for name in there if tx.entity(f"/messagegroups/{name}/messages/m") is not None}
    assert there == logged == whole, "nothing is half there, and the change log agrees"
    for count, known in zip(before, acknowledged, strict=True):
        assert set(known[:count]) <= there


@pytest.mark.parametrize("target", ["sqlite", "postgresql"])
def test_what_was_backed_up_comes_back_into_either_database(
    database: str, target: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"{SQLITE}{tmp_path}/there.db" if target == "sqlite" else request.getfixturevalue("postgres").registry()
    fill(database, 2)
    before = contents(database)
    with open_store(database) as store:
        cursor = read_changes(store, "", 5).cursor
        following = read_changes(store, cursor, 1000)
    file = tmp_path / "registry.backup"
    assert back_up(database, file, Settings()) == before
    assert restore(file, url, Settings()) == before == contents(url)
    with open_store(url) as store:
        assert read_changes(store, cursor, 1000) == following


def test_a_backup_is_one_file_for_its_owner_alone(database: str, tmp_path: Path) -> None:
    folder = tmp_path / "backups"
    fill(database, 3, 3)
    before = os.umask(0)
    try:
        back_up(database, folder / "registry.backup", Settings())
        restore(folder / "registry.backup", f"{SQLITE}{folder}/restored.db", Settings())
    finally:
        os.umask(before)
    found = {file.name: stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert found == {"registry.backup": 0o600, "restored.db": 0o600}


def test_a_file_that_is_there_is_replaced_only_when_asked_for(database: str, tmp_path: Path) -> None:
    fill(database, 4, 3)
    file = tmp_path / "registry.backup"
    file.write_text("something else")
    with pytest.raises(StoreOccupied, match="Say --force"):
        back_up(database, file, Settings())
    assert file.read_text() == "something else"
    made = back_up(database, file, Settings(), replaces=True)
    assert restore(file, f"{SQLITE}{tmp_path}/restored.db", Settings()) == made


def test_a_registry_is_replaced_by_a_backup_only_when_asked_for(database: str, tmp_path: Path) -> None:
    source, file = f"{SQLITE}{tmp_path}/source.db", tmp_path / "registry.backup"
    fill(source, 5)
    fill(database, 6)
    made, before = back_up(source, file, Settings()), contents(database)
    with pytest.raises(StoreOccupied, match="there is a registry"):
        restore(file, database, Settings())
    assert contents(database) == before
    assert restore(file, database, Settings(), replaces=True) == made == contents(database)


def test_a_backup_that_was_changed_is_refused_and_leaves_the_database_as_it_was(database: str, tmp_path: Path) -> None:
    source, file = f"{SQLITE}{tmp_path}/source.db", tmp_path / "registry.backup"
    fill(source, 7)
    fill(database, 8)
    before = contents(database)
    back_up(source, file, Settings())
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE record SET body = x'00' WHERE kind = 'linkrun'")
    with pytest.raises(BackupBroken, match="was changed after it was made; nothing was restored") as refused:
        restore(file, database, Settings(), replaces=True)
    assert contents(database) == before
    assert str(refused.value.remedy) == f"To take it as it is: postroom move sqlite:///{file} TARGET"
    move(f"{SQLITE}{file}", f"{SQLITE}{tmp_path}/taken.db", Settings())


def test_a_damaged_backup_is_refused(tmp_path: Path) -> None:
    source, file = f"{SQLITE}{tmp_path}/source.db", tmp_path / "registry.backup"
    fill(source, 9)
    back_up(source, file, Settings())
    whole = file.read_bytes()
    for spoiled in (whole[: len(whole) // 2], whole[:4096] + os.urandom(4096) + whole[8192:], b"", b"no database" * 99):
        file.write_bytes(spoiled)
        with pytest.raises(BackupBroken):
            restore(file, f"{SQLITE}{tmp_path}/restored.db", Settings())
        assert not (tmp_path / "restored.db").exists()


def test_a_file_that_is_no_backup_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "source.db"
    fill(f"{SQLITE}{source}", 1, 3)
    with pytest.raises(BackupBroken, match="a database, but no backup"):
        restore(source, f"{SQLITE}{tmp_path}/restored.db", Settings())
    with pytest.raises(FileMissing):
        restore(tmp_path / "none", f"{SQLITE}{tmp_path}/restored.db", Settings())
    (tmp_path / "file").touch()
    with pytest.raises(FolderUnwritable):
        back_up(f"{SQLITE}{source}", tmp_path / "file" / "x.backup", Settings())


def test_a_backup_is_only_read(tmp_path: Path) -> None:
    source, file = f"{SQLITE}{tmp_path}/source.db", tmp_path / "backups" / "registry.backup"
    fill(source, 1, 3)
    back_up(source, file, Settings())
    before = file.read_bytes()
    restore(file, f"{SQLITE}{tmp_path}/restored.db", Settings())
    assert [one.read_bytes() for one in file.parent.iterdir()] == [before]


def test_a_backup_of_an_older_version_is_brought_up_to_date_and_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "older.backup"
    with sqlite3.connect(file) as connection:
        for statement in ";".join(MIGRATIONS[:1]).split(";"):
            connection.execute(statement)
        connection.execute("INSERT INTO entity VALUES ('/', '', '/', 1, 't', 't', '{}', NULL, NULL, 0, 0)")
        connection.execute("CREATE TABLE backup (made TEXT, digest TEXT)")
        connection.execute("INSERT INTO backup VALUES ('2026-01-01', 'sha256:of rows that look different by now')")
        connection.execute("PRAGMA user_version = 1")
    before = file.read_bytes()
    restored = f"{SQLITE}{tmp_path}/restored.db"
    assert restore(file, restored, Settings()).rows["entities"] == 1
    assert file.read_bytes() == before
    with open_store(restored) as store, store.read() as tx:
        assert tx.entity("/") is not None


def test_a_backup_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    source, file = f"{SQLITE}{tmp_path}/source.db", tmp_path / "registry.backup"
    fill(source, 1, 3)
    back_up(source, file, Settings())
    with sqlite3.connect(file) as connection:
        connection.execute(f"PRAGMA user_version = {LATEST + 1}")
    with pytest.raises(StoreUnusable, match="newer Postroom") as refused:
        restore(file, f"{SQLITE}{tmp_path}/restored.db", Settings())
    assert refused.value.place == str(file)


BACK_UP = """
import sys, time
from pathlib import Path
from postroom.catalog.move import back_up
from postroom.settings import Settings
from postroom.store import backup

def wait(part, contents):
    print("written", flush=True)
    time.sleep(60)

backup._seal = wait
back_up(sys.argv[1], Path(sys.argv[2]), Settings())
"""


def test_a_backup_that_was_killed_leaves_no_file_of_that_name(database: str, tmp_path: Path) -> None:
    fill(database, 3)
    file = tmp_path / "registry.backup"
    command = [sys.executable, "-c", BACK_UP, database, str(file)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout:
        assert process.stdout.readline() == "written\n"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert not file.exists()
    assert back_up(database, file, Settings()) == contents(database)


def test_a_backup_that_finds_no_room_leaves_nothing(database: str, tmp_path: Path) -> None:
    fill(database, 4)
    folder = tmp_path / "backups"
    command = [sys.executable, "-m", "postroom", "backup", database, str(folder / "registry.backup")]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=functools.partial(limit, 0, 100_000),  # it only sets a limit
    )
    assert done.returncode == 3
    assert done.stderr.startswith("postroom: ")
    assert done.stderr.count("\n") == 1
    assert list(folder.iterdir()) == []

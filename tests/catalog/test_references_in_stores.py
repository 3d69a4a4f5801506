from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.registry.entities import Entity
from postroom.store.migrations import MIGRATIONS

OVEN = "/kitchens/k/ovens/big"
SHOWN = "/shops/s/ovens/shown"


def entity(xid: str, **attributes: str) -> Entity:
    now = "2026-01-01T00:00:00Z"
    return Entity(xid=xid, epoch=1, createdat=now, modifiedat=now, attributes=dict(attributes))


def test_a_store_knows_who_refers_to_a_resource(tmp_path: Path) -> None:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store, store.write() as tx:
        tx.put(entity(SHOWN, xref=OVEN))
        tx.put(entity("/shops/s", xref=OVEN))
        tx.put(entity(f"{OVEN}/versions/1", xref=OVEN))
        assert [one.xid for one in tx.referrers(OVEN)] == [SHOWN]
        tx.put(entity(SHOWN))
        assert tx.referrers(OVEN) == []


@pytest.mark.sqlite
def test_a_store_of_the_first_version_learns_its_references(tmp_path: Path) -> None:
    path = tmp_path / "registry.db"
    old = sqlite3.connect(path)
    old.executescript(MIGRATIONS[0])
    row = "INSERT INTO entity (xid, collection, folded, epoch, createdat, modifiedat, attributes) "
    row += "VALUES (?, ?, ?, 1, '', '', ?)"
    old.execute(row, ("/", "", "/", b'{"registryid": "r"}'))
    old.execute(row, (SHOWN, "/shops/s/ovens", "shown", f'{{"xref": "{OVEN}"}}'.encode()))
    old.execute(row, ("/shops/s", "/shops", "s", f'{{"xref": "{OVEN}"}}'.encode()))
    old.execute("PRAGMA user_version = 1")
    old.commit()
    old.close()
    with open_store(f"sqlite:///{path}") as store, store.read() as tx:
        assert [one.xid for one in tx.referrers(OVEN)] == [SHOWN]

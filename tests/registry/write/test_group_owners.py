"""Groups that come and go are reported in the transaction of the write, so that grants can come and go with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from postroom.catalog.wiring import RULES
from postroom.registry.operations import import_document, initialise
from postroom.registry.permissions import Permissions, Prefixes
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.store.sqlite import SqliteStore

ANNA = Permissions(principal="anna", read=Prefixes(["/"]), write=Prefixes(["/"]))


class Noted:
    """Rules that write down what they are told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, ...]] = []
        self.rules = msgspec.structs.replace(RULES, group_created=self.created, group_deleted=self.deleted)

    def created(self, tx: Any, xid: str, principal: str) -> None:
        assert tx.entity(xid) is not None
        self.told.append(("created", xid, principal))

    def deleted(self, tx: Any, xid: str) -> None:
        assert tx.entity(xid) is None
        self.told.append(("deleted", xid))


@pytest.fixture
def noted() -> Noted:
    return Noted()


@pytest.fixture
def store(tmp_path: Path, noted: Noted) -> SqliteStore:
    store = SqliteStore(tmp_path / "registry.db", noted.rules)
    with store.write() as tx:
        initialise(tx, "messaging")
    return store


def test_whoever_creates_a_group_is_reported_as_its_creator(store: SqliteStore, noted: Noted) -> None:
    groups = {"messagegroups": {"fleet": {"messages": {"moved": {}}}}, "schemagroups": {"fleet": {}}}
    for _ in range(2):
        with store.seen_by(ANNA).write() as tx:
            import_document(tx, groups)
    assert sorted(noted.told) == [
        ("created", f"/{plural}/fleet", "anna") for plural in ("messagegroups", "schemagroups")
    ]


def test_whoever_owns_the_place_of_a_new_group_is_not_reported(store: SqliteStore, noted: Noted) -> None:
    with store.seen_by(msgspec.structs.replace(ANNA, own=Prefixes(["/messagegroups"]))).write() as tx:
        import_document(tx, {"messagegroups": {"fleet": {}}, "schemagroups": {"fleet": {}}})
    assert noted.told == [("created", "/schemagroups/fleet", "anna")]


def test_a_group_that_nobody_in_particular_creates_has_no_creator(store: SqliteStore, noted: Noted) -> None:
    with store.write() as tx:
        import_document(tx, {"messagegroups": {"fleet": {}}})
    assert noted.told == []


def test_a_deleted_group_is_reported_whoever_deletes_it(store: SqliteStore, noted: Noted) -> None:
    with store.write() as tx:
        import_document(tx, {"messagegroups": {"fleet": {"messages": {"moved": {}}}}})
    with store.write() as tx:
        work = UnitOfWork(tx)
        work.remove("/messagegroups/fleet")
        work.finish()
    assert noted.told == [("deleted", "/messagegroups/fleet")]

"""What every store does."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.catalog.open_store import open_store
from postroom.registry.entities import Change, Document, Entity
from postroom.store.interface import Store
from postroom.store.sql_transaction import entity_of, entity_values


def oven(xid: str, **attributes: object) -> Entity:
    return Entity(xid=xid, epoch=1, createdat="2030-01-01T00:00:00Z", modifiedat="", attributes=dict(attributes))


def test_a_failed_write_leaves_nothing(store: Store) -> None:
    before = store.version()

    def fail() -> None:
        with store.write() as tx:
            tx.put(oven("/messagegroups/ovens"))
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with store.read() as tx:
        assert tx.entity("/messagegroups/ovens") is None
    assert store.version() == before


def test_a_read_sees_one_state(store: Store) -> None:
    with store.read() as tx:
        assert tx.count("/messagegroups") == 0
        with store.write() as writing:
            writing.put(oven("/messagegroups/ovens"))
        assert tx.count("/messagegroups") == 0
    with store.read() as tx:
        assert tx.count("/messagegroups") == 1


def test_below_is_below_and_nothing_beside(store: Store) -> None:
    xids = ["/messagegroups/a", "/messagegroups/a/messages/x", "/messagegroups/a/messages/x/versions/1"]
    beside = ["/messagegroups/a.b", "/messagegroups/a-b/messages/x", "/messagegroups/ab", "/messagegroups/a0"]
    with store.write() as tx:
        for xid in xids + beside:
            tx.put(oven(xid))
        assert [entity.xid for entity in tx.below("/messagegroups/a")] == xids[1:]


@pytest.mark.feature("REG-035", "REG-036")
def test_runs_of_ids_start_beside_any_id(store: Store) -> None:
    ids = ["Alpha", "beta", "Delta", "gamma"]
    with store.write() as tx:
        for one in ids:
            tx.put(oven(f"/messagegroups/{one}"))
        tx.put(oven("/messagegroups/beta/messages/heated"))
        assert tx.ids("/messagegroups", "", 10) == ids
        assert tx.ids("/messagegroups", "", 2, backwards=True) == ["gamma", "Delta"]
        assert tx.ids("/messagegroups", "BETA", 1) == ["Delta"]
        assert tx.ids("/messagegroups", "c-is-gone", 10) == ["Delta", "gamma"]
        assert tx.ids("/messagegroups", "c-is-gone", 10, backwards=True) == ["beta", "Alpha"]
        assert tx.ids("/messagegroups", "zulu", 2**64) == []
        assert (tx.size("/"), tx.size("/messagegroups/beta"), tx.size("/messagegroups/Alpha")) == (5, 1, 0)
        assert min(tx.xids()) == "/"


def test_ids_are_found_exactly_and_unique_ignoring_case(store: Store) -> None:
    with store.write() as tx:
        tx.put(oven("/messagegroups/Ovens"))
        assert tx.sibling("/messagegroups", "ovens") == "Ovens"
        assert tx.sibling("/messagegroups", "oven") is None
        assert tx.entity("/messagegroups/ovens") is None


def test_writers_take_turns(store: Store) -> None:
    def add(number: int) -> None:
        with store.write() as tx:
            found = tx.entity("/messagegroups/counter")
            count = found.attributes["count"] if found else 0
            tx.put(oven("/messagegroups/counter", count=count + 1, last=number))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.read() as tx:
        found = tx.entity("/messagegroups/counter")
    assert found is not None
    assert found.attributes["count"] == 20


def test_the_file_is_safe_at_every_commit(tmp_path: Path) -> None:
    import sqlite3

    with open_store(f"sqlite:///{tmp_path}/registry.db") as store:
        writer: sqlite3.Connection = store._writer  # type: ignore[attr-defined]
        assert writer.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert writer.execute("PRAGMA synchronous").fetchone() == (2,)


@given(
    st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5) | st.booleans(), max_size=4),
    st.none() | st.builds(Document, content=st.binary(max_size=20), url=st.text(max_size=5), text=st.booleans()),
)
def test_rows_are_entities_again(attributes: dict[str, object], document: Document | None) -> None:
    entity = Entity(xid="/a/b", epoch=3, createdat="c", modifiedat="m", attributes=attributes, document=document)
    assert entity_of(entity_values(entity)) == entity


def test_records_of_a_kind_come_in_the_order_of_their_ids(store: Store) -> None:
    with store.write() as tx:
        for name in ("b", "a", "c"):
            tx.put_record("link", name, name.encode())
        tx.put_record("subscription", "a", b"another")
        tx.put_record("link", "c", b"new")
        tx.delete_record("link", "a")
    with store.read() as tx:
        assert tx.records("link") == [("b", b"b"), ("c", b"new")]
        assert tx.records("link", after="b", limit=1) == [("c", b"new")]
        assert (tx.record("subscription", "a"), tx.record("link", "a")) == (b"another", None)
        assert tx.records("nothing") == []


XIDS = ("/", "/ovens/a", "/ovens/a/kinds/b", "/ovens/a/kinds/b/versions/1", "/ovens/a0", "/ovens/a-1", "/ovens/ab")


@settings(max_examples=30, deadline=None)
@given(
    logged=st.lists(st.sampled_from(XIDS), max_size=120),
    after=st.integers(0, 120),
    limit=st.integers(1, 5),
    xid=st.sampled_from((*XIDS, "/ovens")),
)
def test_changes_of_an_entity_are_those_that_looking_at_each_finds(
    tmp_path_factory: pytest.TempPathFactory, logged: list[str], after: int, limit: int, xid: str
) -> None:
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('log')}/registry.db") as store, store.write() as tx:
        row = Change(xid="", action="updated", epoch=1, changed=(), actor="", correlation="c", time="t")
        for one in logged:
            tx.append_change(msgspec.structs.replace(row, xid=one))
        everything = tx.changes(after, 1000)
        wanted = [one for one in everything if xid == "/" or one.xid == xid or one.xid.startswith(f"{xid}/")]
        assert tx.changes(after, limit, xid) == wanted[:limit]


def test_entities_and_sizes_of_collections_are_read_together(store: Store) -> None:
    ids = [f"o{number:04}" for number in range(1100)]  # more than one statement names
    with store.write() as tx:
        for one in ids:
            tx.put(oven(f"/messagegroups/{one}"))
        tx.put(oven("/messagegroups/o0001/messages/heated"))
        tx.put(oven("/messagegroups/o0001/messages/cooled"))
        tx.delete("/messagegroups/o0003")
        found = tx.entities_by_xid([*(f"/messagegroups/{one}" for one in ids), "/messagegroups/O0001"])
        assert found.keys() == {f"/messagegroups/{one}" for one in ids if one != "o0003"}
        assert found["/messagegroups/o0007"] == tx.entity("/messagegroups/o0007")
        sizes = tx.counts(["/messagegroups", "/messagegroups/o0001/messages", "/messagegroups/o0002/messages"])
        assert {name: size for name, size in sizes.items() if size} == {
            "/messagegroups": 1099,
            "/messagegroups/o0001/messages": 2,
        }
        assert (tx.entities_by_xid([]), tx.counts([])) == ({}, {})

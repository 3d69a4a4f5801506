"""The index follows every write, in its transaction."""

from __future__ import annotations

from pathlib import Path

import pytest

from postroom.catalog.open_store import connect_store
from postroom.registry.search.search_index import index_existing, is_indexed
from postroom.store.backup import back_up, restore
from postroom.store.copy_rows import move_registry
from tests.registry.search.conftest import CATALOG, ORDER_SCHEMA, PLACED, SHOP, Searched


def test_a_change_is_found_and_what_it_replaced_is_not(registry: Searched) -> None:
    registry.patch(PLACED, {"name": "Purchase made", "labels": {"team": "till"}})
    assert registry.find("purchase") == [PLACED]
    assert registry.find("checkout") == []
    assert registry.find('"order placed"') == [PLACED], "its id"


def test_what_is_deleted_is_not_found(registry: Searched) -> None:
    registry.delete(PLACED)
    assert registry.find("zurich") == []
    registry.delete(SHOP)
    assert registry.find("order", kind="messages") == []
    registry.delete("/schemagroups")
    assert registry.fields("email").fields == ()
    registry.put(PLACED, {"name": "Order placed again"})
    assert registry.find("order placed again") == [PLACED]


def test_the_default_version_is_what_is_searched(registry: Searched) -> None:
    registry.put(f"{ORDER_SCHEMA}/versions/2", {"format": "JsonSchema/draft-07", "schema": {"properties": {}}})
    assert registry.find("email") == []
    registry.put(f"{ORDER_SCHEMA}/meta", {"defaultversionid": "1", "defaultversionsticky": True})
    assert registry.find("email") == [ORDER_SCHEMA]


def test_a_resource_that_stands_for_another_is_found_by_its_id(registry: Searched) -> None:
    registry.put("/messagegroups/depot/messages/till/meta", {"xref": PLACED})
    assert registry.find("till") == ["/messagegroups/depot/messages/till"]
    assert registry.find("zurich") == [PLACED]
    assert registry.find("messagegroups shop OrderPlaced") == ["/messagegroups/depot/messages/till"]


def test_a_write_that_fails_leaves_the_index_alone(registry: Searched) -> None:
    with pytest.raises(Exception, match="format"):
        registry.put("/schemagroups/shop/schemas/odd", {"format": "Avro/1.11", "schema": {"type": "nonsense"}})
    assert registry.find("odd") == []


def test_what_was_there_before_the_index_is_indexed_when_the_store_is_opened(
    registry: Searched,
) -> None:
    before = {q: registry.find(q) for q in ("order", "email", "", "zurich")}
    with registry.store.write() as tx:
        tx.clear_search_index()
    assert registry.find("") == []
    with registry.store.write() as tx:
        tx.delete_record("searchindex", "/")
        assert not is_indexed(tx)
        index_existing(tx)
    assert {q: registry.find(q) for q in before} == before


def test_registries_are_indexed_where_they_are_copied_to(registry: Searched, tmp_path: Path) -> None:
    copies = [f"sqlite:///{tmp_path}/{name}.db" for name in ("moved", "restored")]
    back_up(registry.store, tmp_path / "backup.db")
    with connect_store(copies[0]) as moved, connect_store(copies[1]) as restored:
        move_registry(registry.store, moved)
        restore(tmp_path / "backup.db", restored)
        for copy in (moved, restored):
            found = Searched(copy)
            assert [found.find(q) for q in ("order", "email", "")] == [registry.find(q) for q in ("order", "email", "")]
            assert found.fields("total").fields == registry.fields("total").fields


def test_a_change_that_says_nothing_new_writes_nothing(registry: Searched, monkeypatch: pytest.MonkeyPatch) -> None:
    put: list[str] = []
    with registry.store.write() as tx:
        monkeypatch.setattr(type(tx), "put_search_entry", lambda _, entry: put.append(entry.xid))
    registry.put(PLACED, CATALOG["messagegroups"]["shop"]["messages"]["OrderPlaced"])
    assert put == []
    registry.put(f"{SHOP}/messages/new", {})
    assert put == [f"{SHOP}/messages/new"], "the Group has a new epoch, and no new words"

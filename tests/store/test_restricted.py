"""A store as one principal sees it: what is hidden is answered like what is not there, with the same statements."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.catalog.open_store import open_store
from postroom.registry.entities import Entity
from postroom.registry.operations import import_document
from postroom.registry.permissions import UNRESTRICTED, Permissions, Prefixes
from postroom.registry.transaction_interface import Transaction
from postroom.store.interface import Store
from postroom.store.restricted import RestrictedTransaction
from postroom.store.sqlite import SqliteTransaction


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as opened:
        yield opened


def reader(*prefixes: str) -> Permissions:
    return Permissions(principal="anna", read=Prefixes(prefixes))


def load(store: Store, groups: dict[str, Any]) -> None:
    tree = {"messagegroups": {one: {"messages": {key: {} for key in messages}} for one, messages in groups.items()}}
    with store.write() as tx:
        import_document(tx, tree)


@pytest.fixture
def fleets(store: Store) -> Store:
    load(store, {"fleet": ["moved", "stopped"], "fleet2": ["moved"], "ovens": ["heated", "cooled"]})
    return store


SEEN = [
    (reader(), [], {}),
    (reader("/messagegroups/fleet"), ["fleet"], {"fleet": ["moved", "stopped"]}),
    (reader("/messagegroups/FLEET*"), ["fleet", "fleet2"], {"fleet": ["moved", "stopped"], "fleet2": ["moved"]}),
    (reader("/messagegroups/ovens/messages/heated"), ["ovens"], {"ovens": ["heated"]}),
    (
        reader("/messagegroups/ovens/messages/c*", "/messagegroups/fleet2"),
        ["fleet2", "ovens"],
        {"fleet2": ["moved"], "ovens": ["cooled"]},
    ),
    (reader("/schemagroups"), [], {}),
    (reader("/messagegroups/fleet3", "/messagegroups/absent/messages/x"), [], {}),
]


@pytest.mark.parametrize(("permissions", "groups", "messages"), SEEN)
def test_collections_counts_and_ids_hold_what_may_be_read(
    fleets: Store, permissions: Permissions, groups: list[str], messages: dict[str, list[str]]
) -> None:
    with fleets.seen_by(permissions).read() as tx:
        assert [entity.id for entity in tx.entities("/messagegroups")] == groups
        assert tx.count("/messagegroups") == len(groups)
        assert tx.ids("/messagegroups", "", 10) == groups
        assert tx.ids("/messagegroups", "", 10, True) == groups[::-1]
        for group in ("fleet", "fleet2", "ovens"):
            shown = sorted(messages.get(group, []))
            collection = f"/messagegroups/{group}/messages"
            assert [entity.id for entity in tx.entities(collection)] == shown
            assert (tx.count(collection), tx.ids(collection, "", 9)) == (len(shown), shown)
            assert (tx.entity(f"/messagegroups/{group}") is not None) == (group in groups)
        below = [entity.xid for entity in tx.below("/")]
        assert sum(xid.count("/") == 4 for xid in below) == sum(map(len, messages.values()))
        assert tx.size("/") == len(below)
        assert sorted(tx.xids()) == sorted(["/", *below])


def test_pages_of_ids_go_on_behind_what_is_hidden(store: Store) -> None:
    load(store, {f"g{number:02}": [] for number in range(30)})
    seen = ["g03", "g05", *(f"g1{digit}" for digit in range(10)), "g29"]
    with store.seen_by(reader(*(f"/messagegroups/{one}" for one in ("g03", "g05", "g1*", "g29")))).read() as tx:
        for size in (1, 2, 5, 100):
            for backwards in (False, True):
                found: list[str] = []
                while page := tx.ids("/messagegroups", found[-1] if found else "", size, backwards):
                    assert len(page) <= size
                    found += page
                assert found == (seen[::-1] if backwards else seen)
        assert tx.ids("/messagegroups", "g04", 1) == ["g05"]
        assert tx.ids("/messagegroups", "g28", 3, True) == ["g19", "g18", "g17"]


PATTERNS = st.lists(
    st.sampled_from(
        [
            *("/", "/messagegroups", "/messagegroups/fleet", "/messagegroups/fleet*", "/messagegroups/ov*"),
            *("/messagegroups/ovens/messages", "/messagegroups/ovens/messages/heated", "/messagegroups/fleet2"),
            *("/messagegroups/fleet/messages/m*", "/messagegroups/absent", "/schemagroups"),
        ]
    ),
    max_size=4,
)


@given(patterns=PATTERNS)
@settings(deadline=None, max_examples=60)
def test_every_read_shows_what_the_prefixes_say(patterns: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    database = tmp_path_factory.getbasetemp() / "prefixes.db"
    is_new = not database.exists()
    with open_store(f"sqlite:///{database}") as store:
        if is_new:
            load(store, {"Fleet": ["moved", "Stopped"], "fleet2": ["moved"], "ovens": ["heated", "cooled"]})
        read = Prefixes(patterns)
        with store.read() as tx:
            everything = list(tx.xids())
        shown = {xid for xid in everything if read.shows(xid)}
        with store.seen_by(Permissions(read=read)).read() as tx:
            assert set(tx.xids()) == shown
            assert {xid for xid in everything if tx.entity(xid)} == shown
            for collection in {xid.rpartition("/")[0] for xid in everything if xid != "/"}:
                members = [xid for xid in shown if xid != "/" and xid.rpartition("/")[0] == collection]
                assert {entity.xid for entity in tx.entities(collection)} == set(members)
                assert tx.count(collection) == len(members)
            for xid in everything:
                assert tx.size(xid) == len(tx.below(xid))


def statements(store: Store, permissions: Permissions, read: Any) -> int:
    with store.seen_by(permissions).read() as tx:
        connection = _stored(tx)._db
        found: list[str] = []
        connection.set_trace_callback(found.append)
        read(tx)
        connection.set_trace_callback(None)
    return len(found)


def _stored(tx: Transaction) -> SqliteTransaction:
    assert isinstance(tx, RestrictedTransaction)
    stored = tx._tx
    assert isinstance(stored, SqliteTransaction)
    return stored


@pytest.mark.parametrize(
    "read",
    [
        lambda tx, xid: tx.entity(xid),
        lambda tx, xid: tx.entities(f"{xid}/messages"),
        lambda tx, xid: tx.count(f"{xid}/messages"),
        lambda tx, xid: tx.ids(f"{xid}/messages", "", 10),
        lambda tx, xid: tx.below(xid),
        lambda tx, xid: tx.size(xid),
        lambda tx, xid: tx.sibling("/messagegroups", xid.rpartition("/")[2]),
        lambda tx, xid: tx.referrers(xid),
        lambda tx, xid: tx.history(xid),
        lambda tx, xid: tx.superseded(xid, 0),
        lambda tx, xid: tx.history_below(xid),
    ],
)
def test_what_is_hidden_takes_as_many_statements_as_what_is_not_there(fleets: Store, read: Any) -> None:
    anna = reader("/messagegroups/fleet")
    hidden = statements(fleets, anna, lambda tx: read(tx, "/messagegroups/ovens"))
    absent = statements(fleets, anna, lambda tx: read(tx, "/messagegroups/absent"))
    assert hidden == absent
    with fleets.seen_by(anna).read() as tx:
        assert not read(tx, "/messagegroups/ovens")


def test_ranges_of_ids_are_found_by_the_index(fleets: Store) -> None:
    with fleets.read() as tx:
        assert isinstance(tx, SqliteTransaction)
        plans = []
        for what in ("count(*)", "xid, attributes"):
            for condition in ("folded >= 'f' AND folded < 'g'", "folded IN ('fleet', 'ovens')"):
                query = (
                    f"EXPLAIN QUERY PLAN SELECT {what} FROM entity WHERE collection = '/messagegroups' AND {condition}"  # noqa: S608
                )
                plans += [str(row[3]) for row in tx._db.execute(query)]
    assert all(plan.startswith("SEARCH entity USING ") and "INDEX entity_by_collection" in plan for plan in plans)
    assert sum("COVERING" in plan for plan in plans) == 2


def test_a_thousand_names_are_read_in_the_order_of_ids(store: Store) -> None:
    load(store, {f"g{number:04}": [] for number in range(1200)})
    wanted = [f"g{number:04}" for number in range(0, 1200, 2)]
    with store.seen_by(reader(*(f"/messagegroups/{one}" for one in wanted))).read() as tx:
        assert [entity.id for entity in tx.entities("/messagegroups")] == wanted
        assert tx.count("/messagegroups") == 600
        assert tx.ids("/messagegroups", "g0500", 300) == wanted[251:551]


def test_without_restrictions_a_store_is_seen_as_it_is(store: Store) -> None:
    assert store.seen_by(UNRESTRICTED) is store
    assert store.seen_by(reader("/")).seen_by(UNRESTRICTED) is store
    with store.seen_by(reader("/")).read() as tx:
        assert tx.permissions == reader("/")


def change(store: Store, put: dict[str, Any]) -> None:
    with store.write() as tx:
        import_document(tx, put)


def rows(store: Store, permissions: Permissions, xid: str = "/") -> list[tuple[str, str, tuple[str, ...]]]:
    with store.seen_by(permissions).read() as tx:
        return [(row.xid, row.action, row.changed) for row in tx.changes(1, 1000, xid)]


GREW = ("epoch", "messagegroups", "messagegroupscount", "modifiedat")


def test_the_change_log_has_the_rows_of_what_may_be_read(fleets: Store) -> None:
    assert rows(fleets, reader("/messagegroups/fleet2")) == [
        ("/", "updated", GREW),
        ("/messagegroups/fleet2", "created", ()),
        ("/messagegroups/fleet2/messages/moved", "created", ()),
        ("/messagegroups/fleet2/messages/moved/versions/1", "created", ()),
    ]


def test_the_registry_changes_for_those_who_see_the_member_that_came_or_went(store: Store) -> None:
    load(store, {"fleet": ["moved"]})
    load(store, {"ovens": ["heated"]})
    assert rows(store, reader("/messagegroups/ovens"))[0] == ("/", "updated", GREW)
    assert [row[0] for row in rows(store, reader("/messagegroups/ovens"))].count("/") == 1
    assert rows(store, reader("/messagegroups/absent")) == []
    assert rows(store, reader("/schemagroups")) == []


def test_a_group_on_the_way_changes_with_its_shown_members_only(store: Store) -> None:
    load(store, {"ovens": ["heated"]})
    load(store, {"ovens": ["cooled"]})
    change(store, {"messagegroups": {"ovens": {"name": "Ovens"}}})
    seen = rows(store, reader("/messagegroups/ovens/messages/heated"))
    assert [row for row in seen if row[0] == "/messagegroups/ovens"] == [
        ("/messagegroups/ovens", "created", ()),
        ("/messagegroups/ovens", "updated", ("epoch", "modifiedat", "name")),
    ]


def test_a_page_of_changes_is_full_as_long_as_there_are_any(store: Store) -> None:
    for number in range(60):
        load(store, {"fleet" if number % 20 == 0 else "ovens": [f"m{number}"]})
    fleet = reader("/messagegroups/fleet")
    with store.seen_by(fleet).read() as tx:
        whole = tx.changes(0, 1000)
        for size in (1, 3, 7):
            found, after = [], 0
            while page := tx.changes(after, size):
                assert len(page) <= size
                found += page
                after = page[-1].sequence
            assert found == whole
    assert {row.xid for row in whole if row.xid.count("/") == 4} == {
        f"/messagegroups/fleet/messages/m{number}" for number in (0, 20, 40)
    }


def test_a_row_about_an_xref_names_no_attributes_of_a_target_that_may_not_be_read(store: Store) -> None:
    secret = {"messages": {"formula": {"name": "x", "description": "y", "documentation": "http://z.example"}}}
    reference = {"messages": {"public": {"meta": {"xref": "/messagegroups/ovens/messages/formula"}}}}
    change(store, {"messagegroups": {"ovens": secret, "fleet": {"messages": {"public": {}}}}})
    change(store, {"messagegroups": {"fleet": reference}})
    xid = "/messagegroups/fleet/messages/public"
    changed = [row for row in rows(store, reader("/messagegroups/fleet"), xid) if row[:2] == (xid, "updated")]
    assert changed
    assert all(name.startswith("meta.") for _, _, names in changed for name in names)
    assert any("documentation" in names for _, _, names in rows(store, reader("/"), xid))


def test_former_bodies_are_those_of_what_may_be_read(fleets: Store) -> None:
    change(fleets, {"messagegroups": {"ovens": {"name": "Ovens"}, "fleet": {"name": "Fleet"}}})
    with fleets.seen_by(reader("/messagegroups/fleet")).read() as tx:
        assert tx.history("/messagegroups/fleet")
        assert tx.superseded("/messagegroups/fleet", 0) is not None
        assert tx.history("/messagegroups/ovens") == []
        assert tx.superseded("/messagegroups/ovens", 0) is None
        assert [found.xid for _, found in tx.history_below("/messagegroups/ovens")] == []


def test_an_xref_refers_to_what_may_be_read(store: Store) -> None:
    reference = {"messages": {"heated": {"meta": {"xref": "/messagegroups/fleet/messages/moved"}}}}
    change(store, {"messagegroups": {"fleet": {"messages": {"moved": {}}}, "ovens": reference}})
    with store.seen_by(reader("/messagegroups/fleet")).read() as tx:
        assert tx.referrers("/messagegroups/fleet/messages/moved") == []
    with store.seen_by(reader("/messagegroups/ovens")).read() as tx:
        heated = tx.entity("/messagegroups/ovens/messages/heated")
        assert isinstance(heated, Entity)
        assert tx.entity(heated.attributes["xref"]) is None


def test_changes_are_logged_with_the_principal_who_made_them(store: Store) -> None:
    anna = Permissions(principal="anna", read=Prefixes(["/"]), write=Prefixes(["/"]))
    load(store.seen_by(anna), {"fleet": []})
    with store.read() as tx:
        newest = tx.last_change()
    assert newest is not None
    assert newest.actor == "anna"

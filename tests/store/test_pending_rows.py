"""Rows that wait: a transaction sees what it wrote, whether it is in the database yet or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.catalog.open_store import open_store
from postroom.registry.entities import Change, Entity
from postroom.registry.transaction_interface import Transaction
from postroom.store import pending_rows
from postroom.store.interface import Store

GROUPS = ("/ovens/Alpha", "/ovens/beta")
RESOURCES = tuple(f"{group}/kinds/{name}" for group in GROUPS for name in ("Deck", "rack", "tunnel"))
VERSIONS = tuple(f"{resource}/versions/1" for resource in RESOURCES)
XIDS = (*GROUPS, *RESOURCES, *VERSIONS)

Known = dict[str, Entity]
Step = Callable[[Transaction, Known], None]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def stores(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    folder: Path = tmp_path_factory.mktemp("pending")
    is_file = request.param == "sqlite"
    with open_store(
        f"sqlite:///{folder}/registry.db" if is_file else request.getfixturevalue("postgres").registry()
    ) as store:
        yield store


def _owner(xid: str) -> str:
    return xid.rsplit("/", 2)[0]


def _put(xid: str, number: int) -> Step:
    def run(tx: Transaction, known: Known) -> None:
        for one in (_owner(_owner(xid)), _owner(xid), xid):
            if one and (one == xid or one not in known):
                known[one] = Entity(xid=one, epoch=number, createdat="c", modifiedat="m", attributes={"n": number})
                tx.entity(one)
                tx.put(known[one])

    return run


def _remove(xid: str) -> Step:
    def run(tx: Transaction, known: Known) -> None:
        assert [one.xid for one in tx.below(xid)] == sorted(one for one in known if one.startswith(f"{xid}/"))
        for one in [one for one in known if one == xid or one.startswith(f"{xid}/")]:
            tx.delete(one)
            del known[one]

    return run


def _log(xid: str, number: int) -> Step:
    def run(tx: Transaction, known: Known) -> None:
        before = tx.last_change()
        change = Change(xid=xid, action="updated", epoch=number, changed=("n",), actor="", correlation="c", time="t")
        sequence = tx.append_change(change)
        assert sequence == (before.sequence if before else 0) + 1
        superseded = Entity(xid=xid, epoch=number, createdat="c", modifiedat="m", attributes={})
        tx.append_history(superseded, sequence)
        assert tx.superseded(xid, sequence - 1) == (sequence, superseded)
        found = tx.change(sequence)
        assert found is not None
        assert (found.xid, found.epoch) == (xid, number)

    return run


def _look(xid: str) -> Step:
    def run(tx: Transaction, known: Known) -> None:
        assert tx.entity(xid) == known.get(xid)
        collection, _, name = xid.rpartition("/")
        assert tx.sibling(collection, name.upper()) == (name if xid in known else None)

    return run


def _list(xid: str) -> Step:
    def run(tx: Transaction, known: Known) -> None:
        collection = xid.rpartition("/")[0]
        members = [known[one] for one in XIDS if one in known and one.rpartition("/")[0] == collection]
        assert tx.entities(collection) == members
        assert tx.count(collection) == len(members)

    return run


def _refer(xid: str, target: str) -> Step:
    def run(tx: Transaction, known: Known) -> None:
        before = tx.entity(xid)
        if before is not None:
            known[xid] = msgspec.structs.replace(before, attributes={"xref": target} if target else {"n": 1})
            tx.put(known[xid])

    return run


def _list_referrers(xid: str) -> Step:
    def run(tx: Transaction, known: Known) -> None:
        expected = [one for one in sorted(known) if known[one].attributes.get("xref") == xid]
        assert sorted(one.xid for one in tx.referrers(xid)) == expected

    return run


STEPS = (
    st.builds(_put, st.sampled_from(XIDS), st.integers(1, 9))
    | st.builds(_remove, st.sampled_from(XIDS))
    | st.builds(_log, st.sampled_from(XIDS), st.integers(1, 9))
    | st.builds(_look, st.sampled_from(XIDS))
    | st.builds(_list, st.sampled_from(XIDS))
    | st.builds(_refer, st.sampled_from(RESOURCES), st.sampled_from(("", *RESOURCES)))
    | st.builds(_list_referrers, st.sampled_from(RESOURCES))
)
EXPECTED = st.sampled_from(("", "/ovens", *XIDS))
"""What a write is said to be about."""


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(EXPECTED, st.lists(STEPS, max_size=25)), max_size=3))
def test_a_transaction_sees_what_it_has_written(stores: Store, transactions: list[tuple[str, list[Step]]]) -> None:
    known: Known = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pending_rows, "MOST_PENDING", 4)  # so that some rows are sent and some wait
        patch.setattr(pending_rows, "MOST_READ", 6)
        with stores.write() as tx:
            for entity in tx.below("/"):
                tx.delete(entity.xid)
        for path, steps in transactions:
            with stores.write() as tx:
                tx.expect(path)
                for step in steps:
                    step(tx, known)
    with stores.read() as tx:
        assert tx.below("/") == [known[xid] for xid in sorted(known)]


def test_referrers_that_were_read_ahead_are_those_of_now(store: Store) -> None:
    deck, rack, tunnel = RESOURCES[:3]
    known: Known = {}
    with store.write() as tx:
        for xid in (deck, rack, tunnel):
            _put(xid, 1)(tx, known)
        _refer(tunnel, deck)(tx, known)
    for step in (_refer(rack, deck), _refer(tunnel, ""), _refer(rack, tunnel), _refer(tunnel, deck), _remove(tunnel)):
        with store.write() as tx:
            tx.expect(deck)
            _list_referrers(deck)(tx, known)
            step(tx, known)
            _list_referrers(deck)(tx, known)


def test_who_asks_for_the_referrers_of_many_resources_hears_of_the_first_reference(store: Store) -> None:
    known: Known = {}
    with store.write() as tx:
        for xid in RESOURCES:
            _put(xid, 1)(tx, known)
        for _ in range(4):
            for xid in RESOURCES:
                _list_referrers(xid)(tx, known)
        _refer(RESOURCES[1], RESOURCES[0])(tx, known)
        _list_referrers(RESOURCES[0])(tx, known)


def test_a_transaction_that_fails_leaves_no_row_that_waited(store: Store) -> None:
    def fail() -> None:
        with store.write() as tx:
            for number in range(pending_rows.MOST_PENDING + 10):
                _put(f"/ovens/o{number}", 1)(tx, {})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    with store.read() as tx:
        assert tx.count("/ovens") == 0


def test_a_row_that_the_database_refuses_fails_the_write(store: Store) -> None:
    """Two ids that differ in case alone cannot both be there, however late the second one is sent."""

    def collide() -> None:
        with store.write() as tx:
            _put("/ovens/Alpha", 1)(tx, {})
            _put("/ovens/alpha", 1)(tx, {})

    with pytest.raises(Exception, match=r"(?i)unique"):
        collide()
    with store.read() as tx:
        assert tx.count("/ovens") == 0

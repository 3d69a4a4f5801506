"""The states of a message: one for each write, through whichever Version, since it was created."""

from __future__ import annotations

import pytest

from postroom.registry.read.numbered_states import load_state, number_after, read_states
from tests.registry.conftest import Desk

OVEN = "/messagegroups/ovens/messages/heated"


def told(desk: Desk, xid: str = OVEN) -> list[tuple[int, str, str]]:
    with desk.store.read() as tx:
        states = [load_state(tx, one) for one in read_states(tx, xid)]
    return [(one.number, one.version.id, one.version.attributes.get("name", "")) for one in states]


@pytest.mark.feature("CAT-003", "CAT-004")
def test_every_write_makes_a_state(desk: Desk) -> None:
    desk.put(OVEN, {"name": "one"})
    desk.put(OVEN, {"name": "two"})
    desk.put(OVEN, {"description": "the name stays"}, patch=True)
    desk.put(f"{OVEN}/versions/east", {"name": "four"})
    desk.put(f"{OVEN}/versions/1", {"name": "five"})
    assert told(desk) == [(1, "1", "one"), (2, "1", "two"), (3, "1", "two"), (4, "east", "four"), (5, "1", "five")]


def test_former_states_are_counted_without_their_bodies(desk: Desk) -> None:
    for name in ("one", "two", "three"):
        desk.put(OVEN, {"name": name, "description": "long" * 1000})
    with desk.store.read() as tx:
        found = read_states(tx, OVEN)
        assert [one.version.attributes.get("name") for one in found] == [None, None, "three"]
        assert [load_state(tx, one).version.attributes["name"] for one in found] == ["one", "two", "three"]
        assert [load_state(tx, one).version.modifiedat for one in found] == [one.version.modifiedat for one in found]


def test_writes_elsewhere_make_none(desk: Desk) -> None:
    desk.put(OVEN, {"name": "one"})
    desk.put(f"{OVEN}/meta", {"deprecated": {}})
    desk.put("/messagegroups/ovens", {"name": "Ovens"}, patch=True)
    desk.put(OVEN + "-twice", {"name": "another"})
    assert told(desk) == [(1, "1", "one")]


@pytest.mark.feature("CAT-024")
@pytest.mark.parametrize("gone", [OVEN, "/messagegroups/ovens"])
@pytest.mark.parametrize("metas", [0, 2])
@pytest.mark.parametrize("writes", [1, 3])
def test_a_message_that_was_deleted_begins_anew(desk: Desk, gone: str, metas: int, writes: int) -> None:
    for round_number in range(3):
        for number in range(writes):
            desk.put(OVEN, {"name": f"{round_number} {number}"})
        for number in range(metas):
            desk.put(f"{OVEN}/meta", {"deprecated": {"documentation": f"https://ovens.example/{number}"}})
        if round_number < 2:
            desk.delete(gone)
            assert told(desk) == []
    assert told(desk) == [(number + 1, "1", f"2 {number}") for number in range(writes)]


def test_a_reference_has_the_states_of_its_target(desk: Desk) -> None:
    other = OVEN + "-again"
    desk.put(OVEN, {"name": "one"})
    desk.put(other, {"name": "own"})
    desk.put(f"{other}/meta", {"xref": OVEN})
    desk.put(OVEN, {"name": "two"})
    assert told(desk, other) == told(desk) == [(1, "1", "one"), (2, "1", "two")]
    desk.put(f"{other}/meta", {"xref": None})
    desk.put(other, {"name": "own again"})
    assert [name for _, _, name in told(desk, other)][-1] == "own again"
    assert "own" not in [name for _, _, name in told(desk, other)]
    desk.put(f"{other}/meta", {"xref": "/messagegroups/ovens/messages/nowhere"})
    assert told(desk, other) == []


def test_a_change_knows_the_state_it_led_to(desk: Desk) -> None:
    for name in ("one", "two", "three"):
        desk.put(OVEN, {"name": name})
    desk.put(f"{OVEN}/versions/2", {"name": "four"})
    with desk.store.read() as tx:
        states = read_states(tx, OVEN)
        written = [one for one in tx.changes(0, 100) if one.xid.startswith(f"{OVEN}/versions/")]
    led_to = [number_after(states, one.sequence) for one in written if one.action != "deleted"]
    assert led_to == [1, 2, 3, 4]

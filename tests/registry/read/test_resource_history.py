"""The states of a message: one for each write, through whichever Version, since it was created."""

from __future__ import annotations

import pytest

from postroom.registry.read.resource_history import load_state, number_after, read_states
from tests.registry.conftest import RegistryClient

OVEN = "/messagegroups/ovens/messages/heated"


def told(registry: RegistryClient, xid: str = OVEN) -> list[tuple[int, str, str]]:
    with registry.store.read() as tx:
        states = [load_state(tx, one) for one in read_states(tx, xid)]
    return [(one.number, one.version.id, one.version.attributes.get("name", "")) for one in states]


@pytest.mark.feature("CAT-003", "CAT-004")
def test_every_write_makes_a_state(registry: RegistryClient) -> None:
    registry.put(OVEN, {"name": "one"})
    registry.put(OVEN, {"name": "two"})
    registry.put(OVEN, {"description": "the name stays"}, patch=True)
    registry.put(f"{OVEN}/versions/east", {"name": "four"})
    registry.put(f"{OVEN}/versions/1", {"name": "five"})
    assert told(registry) == [(1, "1", "one"), (2, "1", "two"), (3, "1", "two"), (4, "east", "four"), (5, "1", "five")]


def test_former_states_are_counted_without_their_bodies(registry: RegistryClient) -> None:
    for name in ("one", "two", "three"):
        registry.put(OVEN, {"name": name, "description": "long" * 1000})
    with registry.store.read() as tx:
        found = read_states(tx, OVEN)
        assert [one.version.attributes.get("name") for one in found] == [None, None, "three"]
        assert [load_state(tx, one).version.attributes["name"] for one in found] == ["one", "two", "three"]
        assert [load_state(tx, one).version.modifiedat for one in found] == [one.version.modifiedat for one in found]


def test_writes_elsewhere_make_none(registry: RegistryClient) -> None:
    registry.put(OVEN, {"name": "one"})
    registry.put(f"{OVEN}/meta", {"deprecated": {}})
    registry.put("/messagegroups/ovens", {"name": "Ovens"}, patch=True)
    registry.put(OVEN + "-twice", {"name": "another"})
    assert told(registry) == [(1, "1", "one")]


@pytest.mark.feature("CAT-024")
@pytest.mark.parametrize("gone", [OVEN, "/messagegroups/ovens"])
@pytest.mark.parametrize("metas", [0, 2])
@pytest.mark.parametrize("writes", [1, 3])
def test_a_message_that_was_deleted_begins_anew(registry: RegistryClient, gone: str, metas: int, writes: int) -> None:
    for round_number in range(3):
        for number in range(writes):
            registry.put(OVEN, {"name": f"{round_number} {number}"})
        for number in range(metas):
            registry.put(f"{OVEN}/meta", {"deprecated": {"documentation": f"https://ovens.example/{number}"}})
        if round_number < 2:
            registry.delete(gone)
            assert told(registry) == []
    assert told(registry) == [(number + 1, "1", f"2 {number}") for number in range(writes)]


def test_a_reference_has_the_states_of_its_target(registry: RegistryClient) -> None:
    other = OVEN + "-again"
    registry.put(OVEN, {"name": "one"})
    registry.put(other, {"name": "own"})
    registry.put(f"{other}/meta", {"xref": OVEN})
    registry.put(OVEN, {"name": "two"})
    assert told(registry, other) == told(registry) == [(1, "1", "one"), (2, "1", "two")]
    registry.put(f"{other}/meta", {"xref": None})
    registry.put(other, {"name": "own again"})
    assert [name for _, _, name in told(registry, other)][-1] == "own again"
    assert "own" not in [name for _, _, name in told(registry, other)]
    registry.put(f"{other}/meta", {"xref": "/messagegroups/ovens/messages/nowhere"})
    assert told(registry, other) == []


def test_a_change_knows_the_state_it_led_to(registry: RegistryClient) -> None:
    for name in ("one", "two", "three"):
        registry.put(OVEN, {"name": name})
    registry.put(f"{OVEN}/versions/2", {"name": "four"})
    with registry.store.read() as tx:
        states = read_states(tx, OVEN)
        written = [one for one in tx.changes(0, 100) if one.xid.startswith(f"{OVEN}/versions/")]
    led_to = [number_after(states, one.sequence) for one in written if one.action != "deleted"]
    assert led_to == [1, 2, 3, 4]

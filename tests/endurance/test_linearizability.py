"""The checker of histories: right histories pass, wrong ones do not, and it agrees with trying all orders."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.endurance.linearizability import Operation, State, after, is_linearizable

INITIAL = State(1, "a")


def read(called: float, returned: float, epoch: int, value: str) -> Operation:
    return Operation("read", called, returned, seen=State(epoch, value))


def swap(called: float, returned: float, expected: int, value: str) -> Operation:
    return Operation("swap", called, returned, expected, value, State(expected + 1, value))


def refused(called: float, returned: float, expected: int) -> Operation:
    return Operation("swap", called, returned, expected, "x")


def write(called: float, returned: float, epoch: int, value: str) -> Operation:
    return Operation("write", called, returned, value=value, seen=State(epoch, value))


def unanswered(called: float, expected: int, value: str) -> Operation:
    return Operation("swap", called, math.inf, expected, value)


RIGHT = {
    "one after the other": [read(0, 1, 1, "a"), swap(2, 3, 1, "b"), read(4, 5, 2, "b")],
    "a read beside a write sees what was before": [swap(0, 9, 1, "b"), read(1, 2, 1, "a")],
    "a read beside a write sees what is after": [swap(0, 9, 1, "b"), read(1, 2, 2, "b")],
    "of two swaps one is refused": [swap(0, 5, 1, "b"), refused(1, 4, 1)],
    "the later of two writes won": [write(0, 9, 3, "b"), write(1, 8, 2, "c"), read(10, 11, 3, "b")],
    "no answer, and it was done": [unanswered(0, 1, "b"), read(5, 6, 1, "a"), read(7, 8, 2, "b")],
    "no answer, and it was not done": [unanswered(0, 1, "b"), read(5, 6, 1, "a"), swap(7, 8, 1, "c")],
    "nothing": [],
}
WRONG = {
    "a lost update: two swaps of one epoch": [swap(0, 5, 1, "b"), swap(1, 4, 1, "c")],
    "a lost update: the value is gone": [swap(0, 1, 1, "b"), read(2, 3, 1, "a")],
    "a stale read": [swap(0, 1, 1, "b"), read(2, 3, 2, "b"), read(4, 5, 1, "a")],
    "a read goes back in time": [swap(0, 9, 1, "b"), read(1, 2, 2, "b"), read(3, 4, 1, "a")],
    "a read of what nobody wrote": [read(0, 1, 2, "b")],
    "a write seen before it was called": [read(0, 1, 2, "b"), swap(2, 3, 1, "b")],
    "refused, and the epoch was right": [refused(0, 1, 1)],
    "an epoch that was left out": [write(0, 1, 3, "b")],
    "an epoch that was used twice": [write(0, 1, 2, "b"), write(2, 3, 2, "c")],
    "half done: the epoch without the value": [swap(0, 1, 1, "b"), read(2, 3, 2, "a")],
    "no answer, done and undone": [unanswered(0, 1, "b"), read(5, 6, 2, "b"), read(7, 8, 1, "a")],
}


@pytest.mark.parametrize("history", RIGHT.values(), ids=RIGHT)
def test_right_histories(history: list[Operation]) -> None:
    assert is_linearizable(history, INITIAL)


@pytest.mark.parametrize("history", WRONG.values(), ids=WRONG)
def test_wrong_histories(history: list[Operation]) -> None:
    assert not is_linearizable(history, INITIAL)


def by_all_orders(history: Iterable[Operation]) -> bool:
    """Try every order of every choice of what was not answered: slow, and hardly to be got wrong."""
    operations = list(history)
    answered = [one for one in operations if one.is_answered]
    others = [one for one in operations if not one.is_answered]
    for count in range(len(others) + 1):
        for chosen in itertools.combinations(others, count):
            if any(_fits(order) for order in itertools.permutations([*answered, *chosen])):
                return True
    return False


def _fits(order: tuple[Operation, ...]) -> bool:
    state: State | None = INITIAL
    for position, one in enumerate(order):
        if any(later.returned < one.called for later in order[position + 1 :]):
            return False
        state = after(state, one)
        if state is None:
            return False
    return True


@st.composite
def operations(draw: st.DrawFn) -> Operation:
    called = draw(st.integers(0, 8))
    returned = called + draw(st.integers(1, 6))
    epoch, value = draw(st.integers(1, 3)), draw(st.sampled_from("abc"))
    makes = draw(st.sampled_from([read, swap, write, refused, unanswered]))
    if makes is refused:
        return refused(called, returned, epoch)
    if makes is unanswered:
        return unanswered(called, epoch, value)
    return makes(called, returned, epoch, value)


@given(st.lists(operations(), max_size=5))
def test_it_agrees_with_trying_all_orders(history: list[Operation]) -> None:
    assert is_linearizable(history, INITIAL) == by_all_orders(history)


@given(st.lists(st.tuples(st.sampled_from(["read", "swap", "write"]), st.floats(0, 20), st.floats(0, 20)), max_size=60))
def test_what_really_happened_in_an_order_passes_however_long_the_calls_took(
    steps: list[tuple[str, float, float]],
) -> None:
    """And with one answer from the past it does not."""
    state, history = INITIAL, []
    for moment, (kind, before, later) in enumerate(steps):
        called, returned, value = moment - before, moment + later + 0.1, f"v{moment}"
        if kind != "read":
            state = State(state.epoch + 1, value)
        makes = {"read": read, "write": write}.get(kind)
        if makes is not None:
            history.append(makes(called, returned, state.epoch, state.value))
        else:
            history.append(swap(called, returned, state.epoch - 1, value))
    assert is_linearizable(history, INITIAL)
    if state != INITIAL:
        assert not is_linearizable([*history, read(1000, 1001, INITIAL.epoch, INITIAL.value)], INITIAL)


def test_many_that_overlap_are_judged_at_once() -> None:
    """Reads and refusals can come in any order among themselves; trying all of them would take for ever."""
    history = [
        one
        for epoch in range(1, 40)
        for one in (
            Operation("write", epoch, epoch + 0.9, value=str(epoch), seen=State(epoch + 1, str(epoch))),
            *(Operation("read", epoch, epoch + 0.9, seen=State(epoch + 1, str(epoch))) for _ in range(20)),
            *(Operation("swap", epoch, epoch + 0.9, expected=999) for _ in range(20)),
        )
    ]
    assert is_linearizable(history, State(1, "first"))
    assert not is_linearizable([*history, Operation("read", 39.5, 39.9, seen=State(3, "lost"))], State(1, "first"))

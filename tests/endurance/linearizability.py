"""Is a recorded history of reads and conditional writes of one entity linearizable?

It is, when every operation can be thought to happen at one moment between its call and its return, so that each saw
exactly what those before it had left. An operation without an answer happened at some moment after its call, or never.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

Kind = Literal["read", "swap", "write"]


class State(msgspec.Struct, frozen=True):
    """What an entity is: its value, and its epoch, which every write raises by one."""

    epoch: int
    value: str


class Operation(msgspec.Struct, frozen=True):
    """What a client did, and what it was answered."""

    kind: Kind
    called: float
    returned: float = math.inf
    expected: int = 0
    """The epoch that a swap demands."""
    value: str = ""
    """What a write brings."""
    seen: State | None = None
    """The state that the answer showed; None for a refusal, and where there was no answer."""

    @property
    def is_answered(self) -> bool:
        """Whether somebody knows what became of it."""
        return self.returned < math.inf


def after(state: State, operation: Operation) -> State | None:
    """The state after an operation at this moment; None when its answer does not fit this state."""
    if operation.kind == "read":
        return state if operation.seen == state else None
    if operation.kind == "swap" and operation.expected != state.epoch:
        return state if operation.seen is None else None
    written = State(state.epoch + 1, operation.value)
    return written if operation.seen == written or not operation.is_answered else None


def is_linearizable(history: Iterable[Operation], initial: State) -> bool:
    """Look for an order; orders that lead to the same state by the same operations are tried once."""
    operations = sorted(history, key=lambda one: one.called)
    everything = sum(1 << number for number, one in enumerate(operations) if one.is_answered)
    waiting = [(0, initial)]
    tried = set(waiting)
    while waiting:
        done, state = waiting.pop()
        if done & everything == everything:
            return True
        steps = [(number, then) for number in _next(operations, done) if (then := after(state, operations[number]))]
        # What was answered and leaves the state as it is can come first: it takes no order away from the others.
        still = next(([one] for one in steps if one[1] == state and operations[one[0]].is_answered), steps)
        for number, then in still:
            step = (done | 1 << number, then)
            if step not in tried:
                tried.add(step)
                waiting.append(step)
    return False


def _next(operations: list[Operation], done: int) -> Iterator[int]:
    """The operations that can come next: those which were called before any other that is left had returned."""
    first_return = math.inf
    number = (~done & (done + 1)).bit_length() - 1  # everything before is done
    while number < len(operations) and operations[number].called <= first_return:
        if not done >> number & 1:
            first_return = min(first_return, operations[number].returned)
            yield number
        number += 1

"""How much work one question about schemas may take: whether one reads another, or what a fitting value is.

Schemas of a few hundred bytes can describe millions of cases. Whoever walks over them counts the steps, and a question
that takes too many is given up. Steps come first, so that the same question has the same answer everywhere; seconds
of computing, which a busy machine does not use up, only stop what a step does not measure.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST_STEPS = 1_000_000
MOST_SECONDS = 10.0
_BETWEEN_LOOKS = 200


class BudgetExhausted(Exception):
    """A question that took all the work it may take; the sentence says how much that was."""


class WorkBudget:
    """The steps and the seconds that are left."""

    def __init__(self, steps: int = MOST_STEPS, seconds: float = MOST_SECONDS) -> None:
        self._steps = steps
        self._seconds = seconds
        self._left = steps
        self._until = time.thread_time() + seconds
        self._next_look = steps - _BETWEEN_LOOKS

    def spend(self, steps: int = 1) -> None:
        """Count steps; GivenUp when there are none left, or no time."""
        self._left -= steps
        if self._left > self._next_look:
            return
        if self._left < 0:
            raise BudgetExhausted(f"given up after {self._steps:,} steps")
        if time.thread_time() > self._until:
            raise BudgetExhausted(f"given up after {self._seconds:g} seconds of computing")
        self._next_look = max(self._left - _BETWEEN_LOOKS, 0)


_CURRENT: ContextVar[WorkBudget | None] = ContextVar("budget", default=None)


@contextmanager
def work_limit(steps: int = MOST_STEPS, seconds: float = MOST_SECONDS) -> Iterator[None]:
    """A block that may take so much work; inside of another such block it is the outer one that counts."""
    if _CURRENT.get() is not None:
        yield
        return
    token = _CURRENT.set(WorkBudget(steps, seconds))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def spend(steps: int = 1) -> None:
    """Count steps of the question at hand, if there is one that is limited."""
    budget = _CURRENT.get()
    if budget is not None:
        budget.spend(steps)

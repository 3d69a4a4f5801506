"""A budget for the work of one operation on schemas: a comparison, or the search for a sample value.

Schemas of a few hundred bytes can describe millions of cases. Walks over them count their steps, and an operation that
takes too many is given up. Steps come first, so that results are the same everywhere; the limit on CPU seconds, which
a busy machine does not use up, only stops what steps do not measure.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

MOST_STEPS = 1_000_000
MOST_SECONDS = 10.0
_STEPS_PER_CHECK = 200


class BudgetExhausted(Exception):
    """An operation used up its budget; the message says how much that was."""


class WorkBudget:
    """The steps and the CPU seconds that are left."""

    def __init__(self, steps: int = MOST_STEPS, seconds: float = MOST_SECONDS) -> None:
        self._steps = steps
        self._seconds = seconds
        self._left = steps
        self._until = time.thread_time() + seconds
        self._next_check = steps - _STEPS_PER_CHECK

    def spend(self, steps: int = 1) -> None:
        """Count steps; BudgetExhausted when there are none left, or no time."""
        self._left -= steps
        if self._left > self._next_check:
            return
        if self._left < 0:
            raise BudgetExhausted(f"given up after {self._steps:,} steps")
        if time.thread_time() > self._until:
            raise BudgetExhausted(f"given up after {self._seconds:g} seconds of computing")
        self._next_check = max(self._left - _STEPS_PER_CHECK, 0)


_CURRENT: ContextVar[WorkBudget | None] = ContextVar("budget", default=None)


@contextmanager
def work_limit(steps: int = MOST_STEPS, seconds: float = MOST_SECONDS) -> Iterator[None]:
    """Limit the work of a block; inside of another such block only the outer limit counts."""
    if _CURRENT.get() is not None:
        yield
        return
    token = _CURRENT.set(WorkBudget(steps, seconds))
    try:
        yield
    finally:
        _CURRENT.reset(token)


def spend(steps: int = 1) -> None:
    """Count steps against the current limit, if there is one."""
    budget = _CURRENT.get()
    if budget is not None:
        budget.spend(steps)

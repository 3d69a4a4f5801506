"""Deadlines of requests: long work checks the clock now and then, and gives up when its time is over."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_END: ContextVar[float] = ContextVar("deadline", default=math.inf)


class DeadlinePassed(Exception):
    """Raised when the time for a piece of work is over."""


@contextmanager
def deadline(end: float) -> Iterator[None]:
    """Set the deadline for a block, by the monotonic clock; `math.inf` removes one."""
    token = _END.set(end)
    try:
        yield
    finally:
        _END.reset(token)


def check_deadline() -> None:
    """Raise DeadlinePassed when the time is over."""
    if time.monotonic() > _END.get():
        raise DeadlinePassed

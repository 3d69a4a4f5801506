"""When an answer has to be there: long work looks at the clock on its way, and gives up when it is over."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_END: ContextVar[float] = ContextVar("deadline", default=math.inf)


class DeadlinePassed(Exception):
    """Work that was given up because its time was over."""


@contextmanager
def deadline(end: float) -> Iterator[None]:
    """Work until then, by the monotonic clock; `math.inf` takes a deadline away."""
    token = _END.set(end)
    try:
        yield
    finally:
        _END.reset(token)


def check_deadline() -> None:
    """Give up when the time is over."""
    if time.monotonic() > _END.get():
        raise DeadlinePassed

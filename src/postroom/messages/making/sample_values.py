"""Inventing values for what a definition demands and leaves open."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from operator import itemgetter
from typing import Any

from postroom.messages.definitions.definition import Constraint
from postroom.messages.making.uuids import Chance

Invent = Callable[[random.Random], Any]


def inventor(constraint: Constraint) -> Invent:
    """What makes values for an attribute, header or option without a fixed value."""
    if constraint.type == "timestamp":
        return now
    if constraint.path == ("id",):
        return identity
    if constraint.path == ("source",) and constraint.type not in _BY_TYPE:
        return lambda _rng: "/postroom/make"
    name = constraint.path[-1]
    return _BY_TYPE.get(constraint.type) or (lambda rng: f"{name}{rng.randrange(10_000)}")


def now(_rng: random.Random | None = None) -> str:
    """The present moment, as RFC 3339 writes it; it leaves nothing to chance."""
    return _moment(time.time_ns() // 1_000_000)


@functools.lru_cache(maxsize=1)
def _moment(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_second(seconds)}.{rest:03d}Z"


@functools.lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


def identity(rng: random.Random) -> str:
    """A random UUID (version 4)."""
    if type(rng) is Chance:
        try:
            return rng.store.pop()
        except IndexError:
            return rng.identity()
    # As uuid.UUID(int=…, version=4) would say it, in a fraction of the time.
    bits = rng.getrandbits(128) & _NEITHER | _VERSION_4
    return "-".join(_UUID_PARTS("%032x" % bits))  # noqa: UP031 - a third of the time of a format


_NEITHER = ~(0xC000 << 48 | 0xF000 << 64)
_VERSION_4 = 0x8000 << 48 | 4 << 76
_UUID_PARTS = itemgetter(slice(0, 8), slice(8, 12), slice(12, 16), slice(16, 20), slice(20, 32))
_BY_TYPE: dict[str, Invent] = {
    "integer": lambda rng: rng.randrange(1000),
    "number": lambda rng: round(rng.random(), 3),
    "boolean": lambda rng: rng.random() < 0.5,
    "uri": lambda rng: f"https://example.com/{rng.randrange(10_000)}",
    "duration": lambda rng: f"PT{rng.randrange(1, 60)}S",
    "binary": lambda _rng: "cG9zdHJvb20=",
    "symbol": lambda rng: f"symbol_{rng.randrange(10_000)}",
}

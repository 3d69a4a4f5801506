"""Inventing values for what a definition demands and leaves open."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from postroom.messages.definition import Constraint

Invent = Callable[[random.Random], Any]


def inventor(constraint: Constraint) -> Invent:
    """What makes values for an attribute, header or option without a fixed value."""
    if constraint.type == "timestamp":
        return lambda _rng: now()
    if constraint.path == ("id",):
        return identity
    if constraint.path == ("source",) and constraint.type not in _BY_TYPE:
        return lambda _rng: "/postroom/make"
    name = constraint.path[-1]
    return _BY_TYPE.get(constraint.type) or (lambda rng: f"{name}{rng.randrange(10_000)}")


def now() -> str:
    """The present moment, as RFC 3339 writes it."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def identity(rng: random.Random) -> str:
    """A random UUID (version 4)."""
    # As uuid.UUID(int=…, version=4) would say it, in a third of the time.
    bits = rng.getrandbits(128) & ~(0xC000 << 48 | 0xF000 << 64) | 0x8000 << 48 | 4 << 76
    text = f"{bits:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


_BY_TYPE: dict[str, Invent] = {
    "integer": lambda rng: rng.randrange(1000),
    "number": lambda rng: round(rng.random(), 3),
    "boolean": lambda rng: rng.random() < 0.5,
    "uri": lambda rng: f"https://example.com/{rng.randrange(10_000)}",
    "duration": lambda rng: f"PT{rng.randrange(1, 60)}S",
    "binary": lambda _rng: "cG9zdHJvb20=",
    "symbol": lambda rng: f"symbol_{rng.randrange(10_000)}",
}

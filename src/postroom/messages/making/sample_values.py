"""Sample values for the attributes, headers and options that a definition requires and leaves open."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from postroom.messages.definitions.definition import Constraint
from postroom.messages.making.uuids import random_uuid

Sampler = Callable[[random.Random], Any]


def sampler_for(constraint: Constraint) -> Sampler:
    """Return the function that samples values of a constraint without a fixed value."""
    if constraint.type == "timestamp":
        return now
    if constraint.path == ("id",):
        return random_uuid
    if constraint.path == ("source",) and constraint.type not in _BY_TYPE:
        return lambda _rng: "/postroom/make"
    if constraint.at == "/envelopemetadata/dataschema":  # a URI in every event, whatever type its definition leaves it
        return _BY_TYPE["uri"]
    name = constraint.path[-1]
    return _BY_TYPE.get(constraint.type) or (lambda rng: f"{name}{rng.randrange(10_000)}")


def now(_rng: random.Random | None = None) -> str:
    """Return the present time in RFC 3339, with milliseconds."""
    return _timestamp(time.time_ns() // 1_000_000)


@functools.lru_cache(maxsize=1)
def _timestamp(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_second(seconds)}.{rest:03d}Z"


@functools.lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()[:19]


_BY_TYPE: dict[str, Sampler] = {
    "integer": lambda rng: rng.randrange(1000),
    "number": lambda rng: round(rng.random(), 3),
    "boolean": lambda rng: rng.random() < 0.5,
    "uri": lambda rng: f"https://example.com/{rng.randrange(10_000)}",
    "duration": lambda rng: f"PT{rng.randrange(1, 60)}S",
    "binary": lambda _rng: "cG9zdHJvb20=",
    "ulong": lambda rng: rng.randrange(10_000),
    "uuid": random_uuid,
    "symbol": lambda rng: f"symbol_{rng.randrange(10_000)}",
}

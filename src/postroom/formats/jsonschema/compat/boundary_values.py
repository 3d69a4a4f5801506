"""Boundary values: numbers, strings and names at the limits that JSON Schemas state."""

from __future__ import annotations

import math
import random
import zlib
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

from postroom.errors import SchemaRefused
from postroom.formats.jsonschema.compat.merged_assertions import Nodes, exact
from postroom.formats.regex_samples import sample_string

_PLAIN_NUMBERS = (0, 1, -1, 0.5, 1.5, 7, 100, -100, 100.5, 1_000_003, 1.0)
_PLAIN_TEXTS = (
    "a", "", "A", "0", "abc", "Zurich", "ä", "😀", "a b", "%", "{", "{}", "e30=", "null", "-1",
    "2026-01-01T00:00:00Z", "2026-01-01", "12:00:00Z", "P1D", "ada@example.com", "https://example.com/a",
    "/a/b", "example.com", "192.0.2.1", "2001:db8::1", "123e4567-e89b-42d3-a456-426614174000", "^a$", "1", "/0",
)  # fmt: skip
_BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_LONGEST = 2000
_SAMPLES = 6


def numbers(nodes: Nodes) -> Iterator[float]:
    """Numbers at and around all limits and multiples that the subschemas state."""
    bounds = sorted({exact(node[keyword]) for node in nodes for keyword in _BOUNDS if keyword in node})
    steps = sorted({exact(node["multipleOf"]) for node in nodes if node.get("multipleOf")})
    yield from _PLAIN_NUMBERS
    for bound in bounds:
        for distance in (0, 1, -1, Fraction(1, 2), Fraction(-1, 2), 1000, -1000):
            yield from _written(bound + distance)
    for first, second in pairwise(bounds):
        yield from _written((first + second) / 2)
    for step in steps:
        for factor in (1, 2, 3, -1, 5, 7, 1001):
            yield from _written(step * factor)
        for bound in bounds:
            for times in (math.floor(bound / step), math.ceil(bound / step)):
                for around in (times, times + 1, times - 1):
                    yield from _written(step * around)
        for other in steps:
            yield from _written(step * other)


def _written(number: Fraction) -> Iterator[float]:
    if number.denominator == 1:
        yield int(number)
        if abs(number) < 2**53:
            yield float(number)
    elif abs(number) < 1e300:
        yield float(number)


def lengths(nodes: Nodes, what: str, longest: int) -> list[int]:
    """The counts at and around all limits on the length of strings, lists or objects."""
    stated = {math.floor(node[key]) for node in nodes for key in (f"min{what}", f"max{what}") if key in node}
    return sorted({count for limit in stated for count in (limit - 1, limit, limit + 1) if 0 <= count <= longest})


def strings(nodes: Nodes) -> Iterator[str]:
    """Strings of all lengths, patterns and formats that the subschemas state."""
    counts = lengths(nodes, "Length", _LONGEST)
    for pattern in sorted({node["pattern"] for node in nodes if "pattern" in node}):
        yield from _matching(pattern, counts)
    yield from _PLAIN_TEXTS
    for count in counts:
        yield "a" * count
        yield "7" * count


def names(nodes: Nodes) -> Iterator[str]:
    """Names of members that the subschemas name, match or leave open."""
    for node in nodes:
        yield from node.get("properties", ())
        yield from node.get("required", ())
        for name, needed in node.get("dependentRequired", {}).items():
            yield from (name, *needed)
        yield from node.get("dependentSchemas", ())
    for pattern in sorted({pattern for node in nodes for pattern in node.get("patternProperties", ())}):
        yield from _matching(pattern, [])
    yield from ("extra", "Extra_1", "x")


def _matching(pattern: str, counts: list[int]) -> Iterator[str]:
    rng = random.Random(zlib.crc32(pattern.encode("utf-8", "replace")))  # noqa: S311 - texts, not secrets
    for _ in range(_SAMPLES):
        try:
            text = sample_string(pattern, rng)
        except (SchemaRefused, RecursionError, ValueError, OverflowError):
            return
        if len(text) <= _LONGEST:
            yield text
            yield from (text + text[-1:] * (count - len(text)) for count in counts if count > len(text))


def odd_values() -> list[Any]:
    """One value of every type."""
    return [None, True, False, 0, 1.5, "a", "", [], {}, [1], {"extra": 1}, -7, "extra"]

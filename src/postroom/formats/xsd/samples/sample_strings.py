"""Inventing texts for simple types."""

from __future__ import annotations

import base64
import datetime
import random
import string
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from postroom.errors import SchemaRefused
from postroom.formats.regex_samples import sample_string
from postroom.formats.work_budget import spend
from postroom.formats.xsd.patterns import python_pattern
from postroom.formats.xsd.simple_types import Bound, Facets, facts

_TRIES = 60
_EPOCH = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
_LONGEST = 10_000
_MOST_DIGITS = 1_000


def invent(xsd_type: Any, rng: random.Random) -> str:
    """A text that a simple type takes; SchemaRefused when none could be found."""
    demands = facts(xsd_type)
    if demands.least_length <= _LONGEST:
        for text in _tries(demands, rng):
            if fits(xsd_type, text):
                return text
    raise SchemaRefused(f"no value could be invented for the type {xsd_type.local_name or demands.builtin!r}.")


def fits(xsd_type: Any, text: str) -> bool:
    """Whether a simple type takes a text."""
    spend(20 + len(text) // 5)
    try:
        return bool(xsd_type.is_valid(text))
    except (ValueError, TypeError, ArithmeticError, RecursionError):
        return False


def _tries(demands: Facets, rng: random.Random) -> Iterator[str]:
    if demands.enumeration is not None:
        yield from rng.sample(demands.enumeration, len(demands.enumeration))
        return
    for _ in range(_TRIES):
        yield _candidate(demands, rng)
    yield from edges(demands)


def _candidate(demands: Facets, rng: random.Random) -> str:
    if demands.variety == "union":
        return invent(rng.choice(demands.members), rng)
    if demands.variety == "list":
        count = _length(demands, rng, 1)
        return " ".join(invent(demands.item, rng) for _ in range(count))
    if demands.patterns:
        # Any step's alternatives; the others are checked by the type itself.
        step = rng.choice(demands.patterns)
        return sample_string(python_pattern(rng.choice(step)), rng)
    if demands.primitive in ("decimal", "float", "double"):
        return _number(demands, rng)
    return _MAKERS.get(demands.builtin, _MAKERS.get(demands.primitive, _letters))(demands, rng)


def _length(demands: Facets, rng: random.Random, usual: int) -> int:
    least = min(max(demands.least_length, usual if demands.most_length is None else 0), _LONGEST)
    most = least + 8 if demands.most_length is None else min(least + 8, demands.most_length)
    return rng.randint(least, max(least, most))


def _letters(demands: Facets, rng: random.Random) -> str:
    return "".join(rng.choices(string.ascii_lowercase, k=_length(demands, rng, 3)))


def _number(demands: Facets, rng: random.Random) -> str:
    digits = demands.fraction_digits if demands.fraction_digits is not None else 2
    step = Decimal(1).scaleb(-min(digits, 6))
    low, high = _ends(demands, step)
    spread = min(int((high - low) / step), 10_000)
    number = low + step * rng.randint(0, max(spread, 0))
    return format(number.quantize(step) if abs(number) < 10**18 else number, "f")


def _ends(demands: Facets, step: Decimal) -> tuple[Decimal, Decimal]:
    low = _end(demands.lower, step)
    high = _end(demands.upper, -step)
    if low is None:
        low = min(Decimal(0), high - 100) if high is not None else Decimal(0)
    if high is None:
        high = low + 1000
    if low < 0 <= high:
        low = Decimal(0)
    most = Decimal(10) ** min(demands.total_digits or 30, _MOST_DIGITS) - 1
    return low, min(high, most)


def _end(bound: Bound | None, step: Decimal) -> Decimal | None:
    if bound is None:
        return None
    value = Decimal(str(bound.value))
    if not value.is_finite():
        return None
    return value if bound.inclusive else value + step


def edges(demands: Facets) -> Iterator[str]:
    """Texts at and around the limits of a type: the likeliest to tell two types apart."""
    if demands.enumeration is not None:
        yield from demands.enumeration[:200]
        return
    for bound in (demands.lower, demands.upper):
        if bound is not None:
            yield from _around(bound.value)
    for digits in (demands.total_digits, demands.fraction_digits):
        if digits:
            yield "9" * min(digits, 100)
            yield "0." + "9" * min(digits, 100)
    if demands.variety == "atomic":
        lengths = {demands.least_length, demands.most_length, demands.least_length + 1}
        for length in sorted({size for size in lengths if size is not None and size <= _LONGEST}):
            yield from ("x" * length, "1" * length, "ab" * length)
    yield from _EDGES.get(demands.primitive, ())
    yield from _COMMON


def _around(value: Any) -> Iterator[str]:
    text = str(value)
    yield text
    try:
        number = Decimal(text)
    except ArithmeticError:
        return
    if number.is_finite():
        for other in (number + 1, number - 1, number + Decimal("0.5")):
            yield format(other, "f")


_COMMON = (
    "",
    "0",
    "1",
    "-1",
    "1.5",
    "1e3",
    "true",
    "some text",
    "a",
    "two  spaces",
    "INF",
    "-0",
    "+1",
    "99999999999999999999",
    "x" * 300,
)
_EDGES: dict[str, tuple[str, ...]] = {
    "decimal": ("9999999999999999999999999", "-9999999999999999999999999", "0.123456789", "12.5"),
    "boolean": ("true", "false", "1", "0"),
    "float": ("INF", "NaN", "1e30", "-1.5"),
    "double": ("INF", "NaN", "1e300", "-1.5"),
    "dateTime": ("2024-02-29T12:00:00Z", "2024-02-29T12:00:00.123456789+14:00", "-0044-03-15T00:00:00"),
    "date": ("2024-02-29", "2024-02-29Z"),
    "time": ("12:00:00", "12:00:00.5Z"),
    "hexBinary": ("", "AB", "ABCDEF"),
    "base64Binary": ("", "YQ==", "AAAA"),
    "string": ("é", "line\nbreak", " padded ", "<&>"),
    "anyURI": ("urn:a", "http://example.com/a%20b"),
    "duration": ("P1D", "-P1Y2M3DT4H5M6.7S"),
}  # fmt: skip


def _instant(rng: random.Random) -> datetime.datetime:
    return _EPOCH + datetime.timedelta(seconds=rng.randrange(300 * 86_400))


def _octets(demands: Facets, rng: random.Random) -> bytes:
    return rng.randbytes(_length(demands, rng, 3))


_MAKERS: dict[str, Callable[[Facets, random.Random], str]] = {
    "boolean": lambda _, rng: rng.choice(("true", "false")),
    "dateTime": lambda _, rng: _instant(rng).strftime("%Y-%m-%dT%H:%M:%SZ"),
    "dateTimeStamp": lambda _, rng: _instant(rng).strftime("%Y-%m-%dT%H:%M:%SZ"),
    "date": lambda _, rng: _instant(rng).strftime("%Y-%m-%d"),
    "time": lambda _, rng: _instant(rng).strftime("%H:%M:%S"),
    "gYear": lambda _, rng: str(rng.randint(1990, 2030)),
    "gYearMonth": lambda _, rng: _instant(rng).strftime("%Y-%m"),
    "gMonth": lambda _, rng: _instant(rng).strftime("--%m"),
    "gMonthDay": lambda _, rng: _instant(rng).strftime("--%m-%d"),
    "gDay": lambda _, rng: _instant(rng).strftime("---%d"),
    "duration": lambda _, rng: f"P{rng.randint(1, 9)}DT{rng.randint(1, 23)}H",
    "dayTimeDuration": lambda _, rng: f"P{rng.randint(1, 9)}DT{rng.randint(1, 23)}H",
    "yearMonthDuration": lambda _, rng: f"P{rng.randint(1, 9)}Y",
    "hexBinary": lambda demands, rng: _octets(demands, rng).hex().upper(),
    "base64Binary": lambda demands, rng: base64.b64encode(_octets(demands, rng)).decode(),
    "language": lambda _, rng: rng.choice(("en", "de", "fr-CA")),
    "anyURI": lambda _, rng: f"https://example.com/{rng.randrange(10_000)}",
    "QName": _letters,
    "ID": lambda _, rng: f"id{rng.getrandbits(48):x}",
}

"""Sample JSON values of primitive types."""

from __future__ import annotations

import math
import random
import string
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from postroom.errors import SchemaRefused
from postroom.formats.jsonstructure.keyword_rules import number_of
from postroom.formats.jsonstructure.types import JsonPrimitiveType
from postroom.formats.jsonstructure.validation.primitives import FLOATS, INTEGERS, LONG_INTEGERS, digits
from postroom.formats.jsonstructure.validation.string_types import ENCODINGS
from postroom.formats.regex_samples import sample_string

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_LONGEST = 1000


def sample_primitive(type_: JsonPrimitiveType, rng: random.Random) -> Any:
    """A JSON value of a primitive type that holds its rules, where they are not too intricate."""
    if type_.values is not None:
        return rng.choice(type_.values)
    if type_.name in INTEGERS:
        return _integer(INTEGERS[type_.name], type_.rules, rng)
    if type_.name in LONG_INTEGERS:
        return str(_integer(LONG_INTEGERS[type_.name], type_.rules, rng))
    if type_.name in FLOATS:
        return _float(type_.rules, rng)
    if type_.name == "decimal":
        return _decimal(type_.rules, rng)
    if type_.name == "string":
        return _string(type_.rules, rng)
    if type_.name == "binary":
        encode = ENCODINGS[type_.rules.get("contentEncoding", "base64")][1]
        return encode(rng.randbytes(rng.randint(0, 12))).decode("ascii")
    return _MADE[type_.name](rng)


def any_value(rng: random.Random) -> Any:
    """Some JSON value."""
    return rng.choice((None, True, 7, 2.5, "anything", ["one", 2], {"name": "value"}))


def _limits(rules: dict[str, Any], low: float, high: float, margin: float) -> tuple[Any, Any]:
    """The narrower of the given limits and the rules; exclusive bounds are passed by a margin."""
    lows, highs = [low], [high]
    for name, found, shift in (
        ("minimum", lows, 0.0),
        ("exclusiveMinimum", lows, margin),
        ("maximum", highs, 0.0),
        ("exclusiveMaximum", highs, -margin),
    ):
        bound = number_of(rules.get(name))
        if bound is not None:
            found.append((bound if isinstance(bound, int) else float(bound)) + (int(shift) if margin == 1 else shift))
    return max(lows), min(highs)


def _integer(limits: tuple[int, int], rules: dict[str, Any], rng: random.Random) -> int:
    low, high = _limits(rules, *limits, 1)
    low, high = math.ceil(low), math.floor(high)
    if low > high:
        raise SchemaRefused("no integer fits between the bounds of this schema.")
    # Small numbers look like data, the ends of the range find errors.
    near = max(low, min(0, high))
    picked = rng.choice((rng.randint(near, min(high, near + 100)), rng.randint(low, high), low, high))
    step = number_of(rules.get("multipleOf"))
    if step is None:
        return picked
    whole = int(step) if step == int(step) else 1
    return next((n for n in (picked // whole * whole, -(-picked // whole) * whole) if low <= n <= high), picked)


def _float(rules: dict[str, Any], rng: random.Random) -> float:
    low, high = _limits(rules, -math.inf, math.inf, 0.001)
    if low == -math.inf:
        low = 0.0 if high >= 0 else high - 100
    high = min(high, low + 100)
    picked = min(max(round(rng.uniform(low, high), 3), low), high)
    step = number_of(rules.get("multipleOf"))
    if step is not None:
        picked = round(float(step) * math.floor(picked / float(step)), 12)
    return picked if abs(picked) != math.inf else 0.0


def _decimal(rules: dict[str, Any], rng: random.Random) -> str:
    total, before, behind = digits(rules)
    low, high = _limits(rules, -(10.0 ** min(before, 4)) + 1, 10.0 ** min(before, 4) - 1, 1)
    if before == 0:
        low, high = 0.0, 0.0
    whole = rng.randint(math.ceil(low), max(math.ceil(low), math.floor(high)))
    decimals = min(behind, max(total - len(str(abs(whole))), 0), 4)
    if "multipleOf" in rules or whole in (math.ceil(low), math.floor(high)):
        decimals = 0
        step = number_of(rules.get("multipleOf"))
        whole = whole // int(step) * int(step) if step is not None and step == int(step) else whole
    return f"{whole}.{rng.randrange(10**decimals):0{decimals}d}" if decimals else str(whole)


def _string(rules: dict[str, Any], rng: random.Random) -> str:
    if "pattern" in rules:
        return sample_string(rules["pattern"], rng)
    made = _FORMATS.get(rules.get("format", ""))
    if made is not None:
        return made(rng)
    least, most = rules.get("minLength", 0), rules.get("maxLength", 12)
    if least > 10 * _LONGEST:
        raise SchemaRefused("the texts of this schema are too long to be invented.")
    length = rng.randint(least, max(least, min(most, least + 10)))
    return "".join(rng.choices(string.ascii_lowercase, k=length))


def _instant(rng: random.Random) -> datetime:
    return _EPOCH + timedelta(seconds=rng.randrange(0, 300 * 86400))


_MADE: dict[str, Callable[[random.Random], Any]] = {
    "boolean": lambda rng: rng.random() < 0.5,
    "null": lambda rng: None,
    "date": lambda rng: _instant(rng).date().isoformat(),
    "datetime": lambda rng: _instant(rng).isoformat().replace("+00:00", "Z"),
    "time": lambda rng: _instant(rng).strftime("%H:%M:%SZ"),
    "duration": lambda rng: f"P{rng.randint(0, 30)}DT{rng.randint(0, 23)}H",
    "uuid": lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
    "uri": lambda rng: f"https://example.com/{rng.randrange(10_000)}",
    "jsonpointer": lambda rng: f"/items/{rng.randrange(100)}",
}
_FORMATS: dict[str, Callable[[random.Random], str]] = {
    "ipv4": lambda rng: f"192.0.2.{rng.randrange(1, 255)}",
    "ipv6": lambda rng: f"2001:db8::{rng.randrange(1, 65535):x}",
    "email": lambda rng: f"{rng.choice(('ada', 'linus', 'grace'))}@example.com",
    "idn-email": lambda rng: f"{rng.choice(('ada', 'linus', 'grace'))}@example.com",
    "hostname": lambda rng: f"host{rng.randrange(100)}.example.com",
    "idn-hostname": lambda rng: f"host{rng.randrange(100)}.example.com",
    "iri": lambda rng: f"https://example.com/{rng.randrange(10_000)}",
    "iri-reference": lambda rng: f"/items/{rng.randrange(10_000)}",
    "uri-template": lambda rng: f"/items/{{id}}/{rng.randrange(100)}",
    "relative-json-pointer": lambda rng: f"{rng.randrange(5)}/name",
    "regex": lambda rng: rng.choice(("[a-z]+", "^x$", "[0-9]{3}")),
}

"""Texts that match a regular expression, for inventing sample values."""

from __future__ import annotations

import random
import re
import string
from typing import Any

from postroom.errors import SchemaRefused

try:  # the standard library's own parser of regular expressions
    from re import _parser  # type: ignore[attr-defined]  # has no type stubs
except ImportError:  # pragma: no cover - Python that hides it
    _parser = None

_MOST_REPEATS = 8
_CATEGORIES = {
    "CATEGORY_DIGIT": string.digits,
    "CATEGORY_WORD": string.ascii_letters + string.digits + "_",
    "CATEGORY_SPACE": " ",
}
_PRINTABLE = string.ascii_letters + string.digits + "-_"


def sample_text(pattern: str, rng: random.Random) -> str:
    """A text that matches, for the patterns people write: classes, repeats, groups, alternatives."""
    try:
        parsed = _parser.parse(pattern)
    except (re.error, AttributeError):
        raise SchemaRefused(f"no text could be invented for the pattern {pattern!r}.") from None
    return _sequence(parsed, rng)


def _sequence(parsed: Any, rng: random.Random) -> str:
    return "".join(_piece(str(kind), argument, rng) for kind, argument in parsed)


def _piece(kind: str, argument: Any, rng: random.Random) -> str:
    if kind == "LITERAL":
        return chr(argument)
    if kind == "ANY":
        return rng.choice(_PRINTABLE)
    if kind == "NOT_LITERAL":
        return rng.choice([c for c in _PRINTABLE if c != chr(argument)])
    if kind == "IN":
        return _from_class(argument, rng)
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        least, most, inner = argument
        count = rng.randint(least, max(least, min(int(most), least + _MOST_REPEATS)))
        return "".join(_sequence(inner, rng) for _ in range(count))
    if kind == "SUBPATTERN":
        return _sequence(argument[3], rng)
    if kind == "ATOMIC_GROUP":
        return _sequence(argument, rng)
    if kind == "BRANCH":
        return _sequence(rng.choice(argument[1]), rng)
    return ""  # anchors and look-arounds add no text; the validator has the last word


def _from_class(items: Any, rng: random.Random) -> str:
    allowed: set[str] = set()
    negated = False
    for kind, argument in items:
        name = str(kind)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            allowed.add(chr(argument))
        elif name == "RANGE":
            allowed.update(chr(code) for code in range(argument[0], min(argument[1], argument[0] + 255) + 1))
        elif name == "CATEGORY":
            allowed.update(_CATEGORIES.get(str(argument), _PRINTABLE))
    choices = [c for c in _PRINTABLE if c not in allowed] if negated else sorted(allowed)
    return rng.choice(choices or list(_PRINTABLE))

"""Comparison of attribute values with strings of a query, and with each other, ignoring case (FLAG-034 to 038)."""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any

from postroom.model.scalar_types import normal_timestamp

Key = tuple[Any, ...]

_NUMBER = re.compile(r"-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?\Z", re.ASCII)
_LONGEST_KEPT = 200
_STAR = re.compile(r"\\\*|\*")
RELATIVE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def order_key(value: Any) -> Key:
    """The sort key of a value: null first, then booleans, numbers, strings (FLAG-063)."""
    match value:
        case bool():
            return (1, value)
        case int() | float():
            return (2, Decimal(str(value)))
        case str():
            return (3, *string_key(value))
        case _:
            return (0,)


def string_key(text: str) -> Key:
    """The sort key of a string: punctuation, digits, letters, as in en-US; accents break ties, case never counts."""
    folded = _folded(text)
    plain = [char for char in unicodedata.normalize("NFKD", folded) if not unicodedata.combining(char)]
    return ([(_rank(char), char) for char in plain], folded)


def _folded(text: str) -> str:
    """A string without its case; a timestamp as its instant in UTC."""
    return _folded_once(text) if len(text) <= _LONGEST_KEPT else _fold(text)


def _fold(text: str) -> str:
    instant = normal_timestamp(text)
    return (text if instant is None else instant.removesuffix("Z")).casefold()


_folded_once = lru_cache(maxsize=1024)(_fold)  # the filters of a request compare the same few strings all the time


def _rank(char: str) -> int:
    return 2 if char.isalpha() else 1 if char.isnumeric() else 0


def compares(value: Any, sign: str, operand: str) -> bool:
    """Whether `value sign operand` holds for `<`, `<=`, `>`, `>=`; never for a value of another type."""
    wanted = _typed(value, operand)
    return wanted is not None and RELATIVE[sign](order_key(value), order_key(wanted))


def equals(value: Any, text: str) -> bool:
    """Whether a value equals an operand, in which `*` matches any characters of a string."""
    if text == "*":
        return True
    if isinstance(value, str) and has_wildcard(text):
        return matches_pattern(value.casefold(), text.casefold())
    plain = text.replace("\\*", "*")
    wanted = _typed(value, plain)
    if isinstance(wanted, str):
        return _folded(value) == _folded(wanted)
    return wanted is not None and order_key(value) == order_key(wanted)


@lru_cache(maxsize=1024)
def has_wildcard(text: str) -> bool:
    """Whether an operand has a `*` that is not escaped."""
    return any(found.group() == "*" for found in _STAR.finditer(text))


def _typed(value: Any, text: str) -> Any:
    """The operand as a value of the same type; None when it is none, or when the value is no scalar (FLAG-031)."""
    match value:
        case bool():
            return {"true": True, "false": False}.get(text)
        case int() | float():
            return _number(text)
        case str():
            return text
        case _:
            return None


def _number(text: str) -> int | float | None:
    if not _NUMBER.match(text):
        return None
    return int(text) if text.lstrip("-").isdigit() else float(text)


def matches_pattern(value: str, pattern: str) -> bool:
    """Whether a string matches a pattern with `*`, in one pass over it."""
    first, *rest = _literals(pattern)
    if not rest or not value.startswith(first):
        return value == first
    *middle, last = rest
    position = len(first)
    for literal in middle:
        found = value.find(literal, position)
        if found < 0:
            return False
        position = found + len(literal)
    return len(value) - len(last) >= position and value.endswith(last)


def _literals(pattern: str) -> list[str]:
    """The literal parts of a pattern, between its wildcards."""
    parts, start = [""], 0
    for found in _STAR.finditer(pattern):
        parts[-1] += pattern[start : found.start()]
        if found.group() == "*":
            parts.append("")
        else:
            parts[-1] += "*"
        start = found.end()
    parts[-1] += pattern[start:]
    return parts

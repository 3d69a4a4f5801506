"""Comparison of attribute values with strings of a query, and with each other, ignoring case (FLAG-034 to 038)."""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable, Iterable
from decimal import Decimal
from functools import lru_cache
from typing import Any

from postroom.model.scalar_types import normal_timestamp

Key = tuple[Any, ...]

_NUMBER = re.compile(r"-?\d{1,400}(?:\.\d{1,400})?(?:[eE][+-]?\d{1,4})?\Z", re.ASCII)
_LONGEST_KEPT = 200
BOOLEANS = {"true": True, "false": False}
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


class Operands:
    """Operands of `=`, of which a value may equal any; `*` in one of them matches any characters of a string.

    Those without a wildcard are looked up at once: a request may have hundreds, and compares them with everything.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        plain = [text.replace("\\*", "*") for text in texts if not has_wildcard(text)]
        numbers = (_number(text) for text in plain)
        self._takes_all = "*" in texts
        self._strings = frozenset(map(_folded, plain))
        self._others = frozenset({order_key(number) for number in numbers if number is not None})
        self._others |= {order_key(value) for text, value in BOOLEANS.items() if text in plain}
        self._patterns = [_literals(text.casefold()) for text in texts if has_wildcard(text)]

    def match(self, value: Any) -> bool:
        """Whether a value equals one of the operands."""
        if self._takes_all:
            return True
        if not isinstance(value, str):
            return isinstance(value, int | float) and order_key(value) in self._others
        if self._strings and _folded(value) in self._strings:
            return True
        if not self._patterns:
            return False
        folded = value.casefold()
        return any(_matches_literals(folded, literals) for literals in self._patterns)


def equals(value: Any, text: str) -> bool:
    """Whether a value equals one operand."""
    return _operand(text).match(value)


@lru_cache(maxsize=1024)
def _operand(text: str) -> Operands:
    return Operands((text,))


@lru_cache(maxsize=1024)
def has_wildcard(text: str) -> bool:
    """Whether an operand has a `*` that is not escaped."""
    return any(found.group() == "*" for found in _STAR.finditer(text))


def _typed(value: Any, text: str) -> Any:
    """The operand as a value of the same type; None when it is none, or when the value is no scalar (FLAG-031)."""
    match value:
        case bool():
            return BOOLEANS.get(text)
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
    return _matches_literals(value, _literals(pattern))


def _matches_literals(value: str, literals: list[str]) -> bool:
    first, *rest = literals
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

"""The regular expressions of XML Schema as automata of positions, so that no pattern can take exponential time.

Backtracking matchers are quick on patterns where the next character always decides; others are matched here, with the
set of positions a text can be at, in time that grows with the text only.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from elementpath.regex import RegexError, translate_pattern

from postroom.errors import SchemaRefused

try:  # the standard library's own parser of regular expressions
    from re import _parser  # type: ignore[attr-defined]  # has no type stubs
except ImportError:  # pragma: no cover - Python that hides it
    _parser = None

MOST_POSITIONS = 5_000
# Pairs of positions that may follow each other.
MOST_PAIRS = 300_000
MOST_CHOICES = 1_000
# The logarithm of far more choices.
_OUT_OF_REACH = 20.0
_LAST = 0x10FFFF
_PREFIX, _SUFFIX = "^(?:", r")$(?!\n\Z)"

Range = tuple[int, int]
_WORD: tuple[Range, ...] = ((48, 57), (65, 90), (95, 95), (97, 122), (128, _LAST))
_CATEGORIES: dict[str, tuple[tuple[Range, ...], Callable[[str], bool]]] = {
    "CATEGORY_DIGIT": (((48, 57), (128, _LAST)), str.isdecimal),
    "CATEGORY_SPACE": (((9, 10), (13, 13), (32, 32)), lambda c: c in " \t\r\n"),
    "CATEGORY_WORD": (_WORD, lambda c: re.match(r"\w", c) is not None),
    "CATEGORY_NOT_DIGIT": (((0, 47), (58, _LAST)), lambda c: not c.isdecimal()),
    "CATEGORY_NOT_SPACE": (((0, 8), (11, 12), (14, 31), (33, _LAST)), lambda c: c not in " \t\r\n"),
    "CATEGORY_NOT_WORD": (
        ((0, 47), (58, 64), (91, 94), (96, 96), (123, _LAST)),
        lambda c: re.match(r"\W", c) is not None,
    ),
}


class Characters(msgspec.Struct, frozen=True):
    """A set of characters: ranges that surely cover it, and the exact test."""

    ranges: tuple[Range, ...]
    holds: Callable[[str], bool]

    def meets(self, other: Characters) -> bool:
        """Whether a character may be in both sets."""
        return any(low <= top and bottom <= high for low, high in self.ranges for bottom, top in other.ranges)


class Automaton(msgspec.Struct):
    """The positions of a pattern, which may come first, which may follow which, and which may be last."""

    positions: list[Characters]
    follow: list[set[int]]
    first: set[int]
    last: set[int]
    nullable: bool
    doubled: bool

    def match(self, text: str) -> bool:
        """Whether the whole text fits."""
        if not text:
            return self.nullable
        current = self.first
        for index, character in enumerate(text):
            reached = {place for place in current if self.positions[place].holds(character)}
            if not reached:
                return False
            if index == len(text) - 1:
                return bool(reached & self.last)
            current = set().union(*(self.follow[place] for place in reached))
        return False

    def is_deterministic(self) -> bool:
        """Whether the next character always decides, also between ways that lead to the same position."""
        return not self.doubled and all(self._disjoint(places) for places in [self.first, *self.follow])

    def _disjoint(self, places: set[int]) -> bool:
        ranges = sorted(found for place in places for found in _merged(self.positions[place].ranges))
        return all(before[1] < after[0] for before, after in itertools.pairwise(ranges))


def python_pattern(pattern: str, version: str = "1.0") -> str:
    """The pattern in Python's notation, without anchors."""
    try:
        translated = translate_pattern(
            pattern, xsd_version=version, back_references=False, lazy_quantifiers=False, anchors=False
        )
    except (RegexError, re.error, ValueError, OverflowError) as error:
        raise SchemaRefused(f"the pattern {pattern[:200]!r} is not one of XML Schema: {error}.") from None
    except RecursionError:
        raise SchemaRefused(f"the pattern {pattern[:200]!r} is nested too deeply.") from None
    return translated.removeprefix(_PREFIX).removesuffix(_SUFFIX)


@functools.lru_cache(maxsize=2_000)
def automaton(pattern: str) -> Automaton:
    """The automaton of a pattern of XML Schema."""
    builder = _Builder()
    try:
        first, last, nullable = builder.sequence(_parsed(pattern))
    except RecursionError:
        raise SchemaRefused(f"the pattern {pattern[:200]!r} is nested too deeply.") from None
    return Automaton(builder.positions, builder.follow, first, last, nullable, builder.doubled)


@functools.lru_cache(maxsize=2_000)
def is_quick(pattern: str) -> bool:
    """Whether matchers that try one way after another take little time for this pattern."""
    parsed = _parsed(pattern)
    try:
        choices, endless = _choices(parsed)
        if choices <= MOST_CHOICES and endless <= 1:
            return True
        return automaton(pattern).is_deterministic()
    except (RecursionError, SchemaRefused):
        return False


def is_flat(pattern: str) -> bool:
    """Whether at most two repeats have no end and none stands inside of another, so that time is a small power."""
    choices, endless = _choices(_parsed(pattern))
    return choices <= MOST_CHOICES and endless <= 2


def _parsed(pattern: str) -> Any:
    try:
        return _parser.parse(python_pattern(pattern))
    except (re.error, AttributeError, OverflowError) as error:
        raise SchemaRefused(f"the pattern {pattern[:200]!r} cannot be read: {error}.") from None
    except RecursionError:
        raise SchemaRefused(f"the pattern {pattern[:200]!r} is nested too deeply.") from None


def _choices(parsed: Iterable[Any]) -> tuple[float, float]:
    """An upper bound of the ways through a pattern, and how many repeats have no end."""
    choices, endless = 1.0, 0.0
    for kind, argument in parsed:
        name = str(kind)
        if name == "MAX_REPEAT":
            inside, loops = _choices(argument[2])
            most = math.inf if argument[1] is _parser.MAXREPEAT else float(argument[1])
            if most == math.inf:
                endless += 1 + (math.inf if loops or inside > 1 else 0)
            else:
                choices *= math.exp(min(max(most, 1.0) * math.log(inside), _OUT_OF_REACH))
                choices *= most - argument[0] + 1
                endless += loops * most
        elif name == "SUBPATTERN":
            inside, loops = _choices(argument[3])
            choices, endless = choices * inside, endless + loops
        elif name == "BRANCH":
            ways = [_choices(branch) for branch in argument[1]]
            choices *= sum(way for way, _ in ways)
            endless += sum(loops for _, loops in ways)
    return choices, endless


class _Builder:
    def __init__(self) -> None:
        self.positions: list[Characters] = []
        self.follow: list[set[int]] = []
        self.doubled = False
        self.pairs = 0

    def join(self, ends: Iterable[int], heads: set[int]) -> None:
        """Let positions follow others. `(a+)+` leads from `a` to `a` in two ways, which only looks decided."""
        for place in ends:
            self.pairs += len(heads)
            if self.pairs > MOST_PAIRS:
                raise SchemaRefused("a pattern can go on in too many ways to be matched quickly.")
            self.doubled = self.doubled or not self.follow[place].isdisjoint(heads)
            self.follow[place] |= heads

    def sequence(self, parsed: Iterable[Any]) -> tuple[set[int], set[int], bool]:
        first: set[int] = set()
        last: set[int] = set()
        nullable = True
        for kind, argument in parsed:
            head, tail, empty = self.piece(str(kind), argument)
            self.join(last, head)
            first = first | head if nullable else first
            last = last | tail if empty else tail
            nullable = nullable and empty
        return first, last, nullable

    def piece(self, kind: str, argument: Any) -> tuple[set[int], set[int], bool]:
        if kind == "SUBPATTERN":
            return self.sequence(argument[3])
        if kind == "BRANCH":
            ways = [self.sequence(branch) for branch in argument[1]]
            return (
                set().union(*(way[0] for way in ways)),
                set().union(*(way[1] for way in ways)),
                any(way[2] for way in ways),
            )
        if kind == "MAX_REPEAT":
            return self.repeat(*argument)
        return self.character(_characters(kind, argument))

    def character(self, characters: Characters) -> tuple[set[int], set[int], bool]:
        if len(self.positions) >= MOST_POSITIONS:
            raise SchemaRefused(f"a pattern repeats more than {MOST_POSITIONS} characters, too many to match quickly.")
        self.positions.append(characters)
        self.follow.append(set())
        return {len(self.positions) - 1}, {len(self.positions) - 1}, False

    def repeat(self, least: int, most: Any, inner: Any) -> tuple[set[int], set[int], bool]:
        endless = most is _parser.MAXREPEAT
        copies = max(least, 1) if endless else int(most)
        first: set[int] = set()
        last: set[int] = set()
        ends: set[int] = set()
        nullable = True
        for copy in range(copies):
            head, tail, empty = self.sequence(inner)
            self.join(last, head)
            first = first | head if nullable else first
            last = last | tail if empty else tail
            if copy + 1 >= least or empty:
                ends |= last
            nullable = nullable and empty
        if endless and copies:
            self.join(tail, head)
        return first, ends or last, nullable or least == 0


def _characters(kind: str, argument: Any) -> Characters:
    if kind == "LITERAL":
        wanted = chr(argument)
        return Characters(((argument, argument),), lambda c: c == wanted)
    if kind == "NOT_LITERAL":
        unwanted = chr(argument)
        return Characters(_complement(((argument, argument),)), lambda c: c != unwanted)
    if kind == "ANY":
        return Characters(((0, 9), (11, _LAST)), lambda c: c != "\n")
    if kind == "IN":
        return _class(argument)
    raise SchemaRefused(f"a pattern uses {kind.lower()}, which XML Schema does not have.")


def _class(items: Any) -> Characters:
    ranges: list[Range] = []
    tests: list[Callable[[str], bool]] = []
    exact: list[Range] = []
    negated = False
    for kind, argument in items:
        name = str(kind)
        if name == "NEGATE":
            negated = True
        elif name == "LITERAL":
            exact.append((argument, argument))
        elif name == "RANGE":
            exact.append(argument)
        elif name == "CATEGORY":
            covered, test = _CATEGORIES[str(argument)]
            ranges += covered
            tests.append(test)
    merged = _merged([*exact])

    def holds(character: str) -> bool:
        code = ord(character)
        inside = any(low <= code <= high for low, high in merged) or any(test(character) for test in tests)
        return inside != negated

    if negated:
        # What a category surely leaves out is not known: only exact ranges are taken away.
        return Characters(_complement(merged), holds)
    return Characters(_merged([*exact, *ranges]), holds)


def _merged(ranges: Iterable[Range]) -> tuple[Range, ...]:
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def _complement(ranges: tuple[Range, ...]) -> tuple[Range, ...]:
    found: list[Range] = []
    start = 0
    for low, high in _merged(ranges):
        if low > start:
            found.append((start, low - 1))
        start = high + 1
    if start <= _LAST:
        found.append((start, _LAST))
    return tuple(found)

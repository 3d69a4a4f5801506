"""Patterns of XML Schema: which ones validators match quickly, and a linear-time matcher for the others.

Backtracking matchers are quick on patterns where the next character always decides, as the automaton of a pattern's
positions tells. Others are translated for the engine without backtracking of jsonschema-rs.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import jsonschema_rs
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
# What a pattern may take in the engine without backtracking.
MOST_BYTES = 1 << 25
# The logarithm of far more choices.
_OUT_OF_REACH = 20.0
_LAST = 0x10FFFF
_PREFIX, _SUFFIX = "^(?:", r")$(?!\n\Z)"

Range = tuple[int, int]
Ranges = tuple[Range, ...]
# What Python reads an escape as: its class in XML Schema, and ranges that surely cover what all engines take it for.
# Python's \w has "_" and no symbols; that of XML Schema, and of libxml2, is the other way round.
_ESCAPES: dict[str, tuple[str, Ranges]] = {
    "CATEGORY_DIGIT": (r"[\d]", ((48, 57), (128, _LAST))),
    "CATEGORY_SPACE": (r"[\s]", ((9, 10), (13, 13), (32, 32))),
    "CATEGORY_WORD": (
        r"[\w]",
        ((36, 36), (43, 43), (48, 57), (60, 62), (65, 90), (94, 122), (124, 124), (126, 126), (128, _LAST)),
    ),
    "CATEGORY_NOT_DIGIT": (r"[^\d]", ((0, 47), (58, _LAST))),
    "CATEGORY_NOT_SPACE": (r"[^\s]", ((0, 8), (11, 12), (14, 31), (33, _LAST))),
    "CATEGORY_NOT_WORD": (r"[^\w]", ((0, 47), (58, 64), (91, 96), (123, _LAST))),
}


class Automaton(msgspec.Struct):
    """The positions of a pattern, which may come first, which may follow which, and whether none is needed."""

    positions: list[Ranges]
    follow: list[set[int]]
    first: set[int]
    nullable: bool
    doubled: bool

    def is_deterministic(self) -> bool:
        """Whether the next character always decides, also between paths that lead to the same position."""
        return not self.doubled and all(self._disjoint(positions) for positions in [self.first, *self.follow])

    def _disjoint(self, positions: set[int]) -> bool:
        ranges = sorted(found for position in positions for found in _merged(self.positions[position]))
        return all(before[1] < after[0] for before, after in itertools.pairwise(ranges))


def python_pattern(pattern: str) -> str:
    """The pattern in Python's notation, without anchors."""
    try:
        translated = translate_pattern(pattern, back_references=False, lazy_quantifiers=False, anchors=False)
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
        first, _, nullable = builder.sequence(_parsed(pattern))
    except RecursionError:
        raise SchemaRefused(f"the pattern {pattern[:200]!r} is nested too deeply.") from None
    return Automaton(builder.positions, builder.follow, first, nullable, builder.doubled)


def linear_matcher(pattern: str) -> Callable[[str], bool]:
    """The function that says whether a whole text fits a pattern, in time that grows with the text only."""
    automaton(pattern)  # refuses what repeats too much
    linear = f"^(?:{_linear_pattern(_parsed(pattern))})$"
    try:
        options = jsonschema_rs.RegexOptions(size_limit=MOST_BYTES)
        found = jsonschema_rs.Draft202012Validator({"pattern": linear}, pattern_options=options)
    except (jsonschema_rs.ValidationError, ValueError):
        raise SchemaRefused(f"the pattern {pattern[:200]!r} repeats too much to be matched quickly.") from None
    is_valid: Callable[[str], bool] = found.is_valid
    return is_valid


@functools.lru_cache(maxsize=2_000)
def is_quick(pattern: str) -> bool:
    """Whether backtracking matchers take little time for this pattern."""
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
    """An upper bound of the paths through a pattern, and how many repeats have no end."""
    choices, endless = 1.0, 0.0
    for opcode, argument in parsed:
        name = str(opcode)
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
            branches = [_choices(branch) for branch in argument[1]]
            choices *= sum(found for found, _ in branches)
            endless += sum(loops for _, loops in branches)
    return choices, endless


class _Builder:
    def __init__(self) -> None:
        self.positions: list[Ranges] = []
        self.follow: list[set[int]] = []
        self.doubled = False
        self.pairs = 0

    def join(self, ends: Iterable[int], heads: set[int]) -> None:
        """Let positions follow others. `(a+)+` leads from `a` to `a` by two paths, which only looks decided."""
        for position in ends:
            self.pairs += len(heads)
            if self.pairs > MOST_PAIRS:
                raise SchemaRefused("a pattern can go on in too many ways to be matched quickly.")
            self.doubled = self.doubled or not self.follow[position].isdisjoint(heads)
            self.follow[position] |= heads

    def sequence(self, parsed: Iterable[Any]) -> tuple[set[int], set[int], bool]:
        first: set[int] = set()
        last: set[int] = set()
        nullable = True
        for opcode, argument in parsed:
            head, tail, empty = self.piece(str(opcode), argument)
            self.join(last, head)
            first = first | head if nullable else first
            last = last | tail if empty else tail
            nullable = nullable and empty
        return first, last, nullable

    def piece(self, opcode: str, argument: Any) -> tuple[set[int], set[int], bool]:
        if opcode == "SUBPATTERN":
            return self.sequence(argument[3])
        if opcode == "BRANCH":
            branches = [self.sequence(branch) for branch in argument[1]]
            return (
                set().union(*(branch[0] for branch in branches)),
                set().union(*(branch[1] for branch in branches)),
                any(branch[2] for branch in branches),
            )
        if opcode == "MAX_REPEAT":
            return self.repeat(*argument)
        return self.character(_characters(opcode, argument, covering=True))

    def character(self, characters: Ranges) -> tuple[set[int], set[int], bool]:
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


def _characters(opcode: str, argument: Any, covering: bool = False) -> Ranges:
    """The characters that a position takes, or, which are fewer ranges, some that surely cover them."""
    if opcode == "LITERAL":
        return ((argument, argument),)
    if opcode == "NOT_LITERAL":
        return _complement([(argument, argument)])
    if opcode == "ANY":
        return _complement([(10, 10)])
    if opcode != "IN":
        raise SchemaRefused(f"a pattern uses {opcode.lower()}, which XML Schema does not have.")
    ranges: list[Range] = []
    for name, item in argument:
        if str(name) == "CATEGORY":
            written, cover = _ESCAPES[str(item)]
            ranges += cover if covering else _characters("IN", _parsed(written)[0][1])
        elif str(name) != "NEGATE":
            ranges.append((item, item) if str(name) == "LITERAL" else item)
    # elementpath writes out escapes in brackets, except in [^\w\W], which is the empty class for all engines.
    return _complement(ranges) if str(argument[0][0]) == "NEGATE" else _merged(ranges)


def _linear_pattern(parsed: Iterable[Any]) -> str:
    """The pattern for jsonschema-rs, with every character written out."""
    return "".join(_linear_piece(str(opcode), argument) for opcode, argument in parsed)


def _linear_piece(opcode: str, argument: Any) -> str:
    if opcode == "SUBPATTERN":
        return f"(?:{_linear_pattern(argument[3])})"
    if opcode == "BRANCH":
        return f"(?:{'|'.join(map(_linear_pattern, argument[1]))})"
    if opcode == "MAX_REPEAT":
        least, most, inner = argument
        return f"(?:{_linear_pattern(inner)}){{{least},{'' if most is _parser.MAXREPEAT else most}}}"
    # Surrogates are no characters of a text.
    ranges = [
        found
        for low, high in _characters(opcode, argument)
        for found in ((low, min(high, 0xD7FF)), (max(low, 0xE000), high))
    ]
    members = "".join(f"{_escaped(low)}-{_escaped(high)}" for low, high in ranges if low <= high)
    return f"[{members}]" if members else r"[^\s\S]"


def _escaped(code: int) -> str:
    return f"\\x{code:02x}" if code < 128 else chr(code)


def _merged(ranges: Iterable[Range]) -> Ranges:
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def _complement(ranges: Iterable[Range]) -> Ranges:
    found: list[Range] = []
    start = 0
    for low, high in _merged(ranges):
        if low > start:
            found.append((start, low - 1))
        start = high + 1
    if start <= _LAST:
        found.append((start, _LAST))
    return tuple(found)

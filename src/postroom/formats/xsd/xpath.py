"""XPath expressions of XML Schema 1.1 (`assert`, `alternative`, `assertion`), run within a budget.

They may loop over a payload inside of loops over it, match patterns and count to numbers that a payload gives.
xmlschema evaluates them in plain Python, so that the interpreter's own hook for profilers counts all they do.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any

from elementpath.regex import translate_pattern
from elementpath.xpath_tokens import XPathToken

from postroom.errors import SchemaRefused
from postroom.formats.xsd import patterns
from postroom.formats.xsd.documents import SchemaPart
from postroom.formats.xsd.xml_names import xs

MOST_STEPS = 1_500_000
STEPS_PER_ELEMENT = 300
# What reading a large schema takes, beside its expressions.
BUILDING_ELEMENTS = 50_000
LONGEST_RANGE = 10_000
LONGEST_TEXT = 100_000
# Patterns where the next character decides may be searched for in longer texts than others.
LONGEST_QUICK, LONGEST_SLOW = 10_000, 200

_EXPRESSIONS = tuple(xs(name) for name in ("assert", "assertion", "alternative"))
_OPERANDS = XPathToken.get_operands.__code__
_TRANSLATION = translate_pattern.__code__
_RANGE = "evaluate__range_expression"
_TOO_MANY = "the expressions of the schema take too many steps"
_ENDLESS = re.compile(r"[*+]|\{\d+,\}")


class TooComplex(Exception):
    """An expression that would take more than its budget."""


class _Stopped(BaseException):
    # Not an Exception: no library on the way may take it for an error of its own and go on, uncounted.
    pass


def are_in(parts: Iterable[SchemaPart]) -> bool:
    """Whether a schema has expressions at all."""
    return any(True for part in parts for _ in part.root.iter(*_EXPRESSIONS))


class StepBudget:
    """A block that may take as many steps as a document of so many elements needs: more raise TooComplex."""

    def __init__(self, elements: int) -> None:
        self.left = MOST_STEPS + STEPS_PER_ELEMENT * elements

    def __enter__(self) -> None:
        self._before = sys.getprofile()
        sys.setprofile(self._count)

    def __exit__(self, error_type: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        sys.setprofile(self._before)
        if isinstance(error, _Stopped):
            raise TooComplex(str(error)) from None
        if error is None and self.left < 0:
            raise TooComplex(_TOO_MANY)

    def _count(self, frame: FrameType, event: str, arg: Any) -> None:
        self.left -= 1
        if self.left < 0 and _may_raise(frame, event, arg):
            raise _Stopped(_TOO_MANY)
        if event == "return":
            self._look_at_result(frame, arg)
        elif event == "call":
            if frame.f_code is _TRANSLATION:
                self._look_at_pattern(frame)
        elif type(arg.__self__) is str and event == "c_call":
            self.left -= len(arg.__self__) >> 10

    def _look_at_result(self, frame: FrameType, result: Any) -> None:
        if type(result) is str:
            self.left -= len(result) >> 10
            if len(result) > LONGEST_TEXT:
                raise _Stopped("the expressions of the schema make very long texts")
        elif frame.f_code is _OPERANDS and frame.f_back is not None and frame.f_back.f_code.co_name == _RANGE:
            first, last = result or (None, None)
            if isinstance(first, int) and isinstance(last, int) and last - first > LONGEST_RANGE:
                raise _Stopped(f"the expressions of the schema count over more than {LONGEST_RANGE} numbers")

    def _look_at_pattern(self, frame: FrameType) -> None:
        text = frame.f_back.f_locals.get("input_string") if frame.f_back is not None else None
        if isinstance(text, str) and len(text) > _longest(str(frame.f_locals.get("pattern"))):
            raise _Stopped("the expressions of the schema look for a pattern in a very long text")


def _may_raise(frame: FrameType, event: str, arg: Any) -> bool:
    """Whether somebody hears what is raised: not while the budget itself begins or ends, and not while a generator
    goes on or ends, which may be one that nobody holds any more.
    """
    is_turn = event in ("call", "return") and arg is None and frame.f_code.co_flags & inspect.CO_GENERATOR
    return not is_turn and frame.f_globals is not globals()


def _longest(pattern: str) -> int:
    """The length of texts that a pattern may be searched in."""
    bare = pattern.removeprefix("^")
    bare = bare[:-1] if bare.endswith("$") and not bare.endswith(r"\$") else bare
    try:
        if patterns.is_quick(bare):
            return LONGEST_QUICK
        return LONGEST_SLOW if patterns.is_flat(bare) else 0
    except SchemaRefused:
        # Reluctant repeats and references to groups, which XPath has and XML Schema has not.
        return 0 if _ENDLESS.search(pattern) else LONGEST_SLOW

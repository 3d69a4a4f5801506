"""The built-in functions: a table of their arguments and results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from postroom.replication.subscriptions.cesql.evaluation_context import HIGHEST, LOWEST, EvaluationContext
from postroom.replication.subscriptions.cesql.syntax_tree import Value


class Function(msgspec.Struct, frozen=True):
    """A function: the types of its parameters, of what it gives, and of any further arguments."""

    parameters: tuple[type[Value], ...]
    gives: type[Value]
    call: Callable[..., Any]
    more: type[Value] | None = None


def function(name: str, arguments: int) -> Function | None:
    """The function of that name for so many arguments."""
    for found in FUNCTIONS.get(name, ()):
        if len(found.parameters) == arguments or (found.more is not None and len(found.parameters) <= arguments):
            return found
    return None


def _absolute(scope: EvaluationContext, value: int) -> int:
    if value == LOWEST:
        scope.fail("math", f"the absolute value of {value} has no 32 bits")
        return HIGHEST
    return abs(value)


def _left(scope: EvaluationContext, text: str, length: int) -> str:
    return text[:length] if _is_length(scope, length) else text


def _right(scope: EvaluationContext, text: str, length: int) -> str:
    if not _is_length(scope, length):
        return text
    return text[max(0, len(text) - length) :]


def _is_length(scope: EvaluationContext, length: int) -> bool:
    if length < 0:
        scope.fail("functionEvaluation", f"a length cannot be {length}")
    return length >= 0


def _substring(scope: EvaluationContext, text: str, position: int, length: int | None = None) -> str:
    if position == 0:
        return ""
    if abs(position) > len(text):
        scope.fail("functionEvaluation", f"a text of {len(text)} characters has no position {position}")
        return ""
    if length is not None and not _is_length(scope, length):
        return ""
    start = position - 1 if position > 0 else len(text) + position
    return text[start:] if length is None else text[start : start + length]


def _joined(scope: EvaluationContext, delimiter: str, *texts: str) -> str:
    scope.spend(sum(map(len, texts)) + len(delimiter) * len(texts))
    return delimiter.join(texts)


FUNCTIONS: dict[str, tuple[Function, ...]] = {
    "INT": (Function((int,), int, lambda _, value: value),),
    "BOOL": (Function((bool,), bool, lambda _, value: value),),
    "STRING": (Function((str,), str, lambda _, value: value),),
    "ABS": (Function((int,), int, _absolute),),
    "LENGTH": (Function((str,), int, lambda _, text: len(text)),),
    "CONCAT": (Function((), str, lambda scope, *texts: _joined(scope, "", *texts), more=str),),
    "CONCAT_WS": (Function((str,), str, _joined, more=str),),
    "LOWER": (Function((str,), str, lambda _, text: text.lower()),),
    "UPPER": (Function((str,), str, lambda _, text: text.upper()),),
    "TRIM": (Function((str,), str, lambda _, text: text.strip()),),
    "LEFT": (Function((str, int), str, _left),),
    "RIGHT": (Function((str, int), str, _right),),
    "SUBSTRING": (Function((str, int), str, _substring), Function((str, int, int), str, _substring)),
}

"""Filters of subscriptions: which events a subscriber wants, in the dialects of the CloudEvents Subscriptions API."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from postroom.protocols.cloudevents import header_text
from postroom.replication.subscriptions.cesql.errors import ExpressionRefused
from postroom.replication.subscriptions.cesql.evaluate import BODY, passes
from postroom.replication.subscriptions.cesql.parser import LONGEST, parse_expression
from postroom.replication.subscriptions.cesql.syntax_tree import Node

Filter = Callable[[Mapping[str, Any]], bool]

DEEPEST = 32
MOST = 500
MOST_EXPRESSIONS = 20
"""Each of them may cost its work for each event."""
_ATTRIBUTE = re.compile(r"[a-z0-9]+\Z")


class FilterRefused(ValueError):
    """A filter that cannot be used: where it is (a JSON pointer), and a sentence."""

    def __init__(self, pointer: str, sentence: str) -> None:
        super().__init__(f"{pointer}: {sentence}")
        self.pointer = pointer
        self.sentence = sentence


def parse_filters(filters: Any, pointer: str = "/filters") -> Filter:
    """All filters of a subscription as one; none at all let everything pass."""
    if not isinstance(filters, list):
        raise FilterRefused(pointer, "filters are an array")
    return _every(_Reader().members(filters, pointer, 0))


class _Reader:
    """Counts the filters of a subscription while it reads them, so that no one has to evaluate too many."""

    def __init__(self) -> None:
        self._left = MOST
        self._expressions = MOST_EXPRESSIONS
        self._characters = LONGEST

    def expression(self, text: str, pointer: str) -> Node:
        self._expressions -= 1
        if self._expressions < 0:
            raise FilterRefused(pointer, f"there are more than {MOST_EXPRESSIONS} expressions")
        self._characters -= len(text)
        if self._characters < 0:
            raise FilterRefused(pointer, f"the expressions have more than {LONGEST} characters together")
        try:
            return parse_expression(text)
        except ExpressionRefused as refusal:
            raise FilterRefused(pointer, f"the expression cannot be read: {refusal}") from None

    def members(self, given: list[Any], pointer: str, depth: int) -> list[Filter]:
        return [self.filter(member, f"{pointer}/{number}", depth) for number, member in enumerate(given)]

    def filter(self, given: Any, pointer: str, depth: int) -> Filter:
        self._left -= 1
        if self._left < 0:
            raise FilterRefused(pointer, f"there are more than {MOST} filters")
        if depth > DEEPEST:
            raise FilterRefused(pointer, f"filters are nested deeper than {DEEPEST} levels")
        if not isinstance(given, dict) or len(given) != 1:
            raise FilterRefused(pointer, "a filter is an object with one member, its dialect")
        ((dialect, content),) = given.items()
        read = _DIALECTS.get(dialect)
        if read is None:
            known = ", ".join(_DIALECTS)
            raise FilterRefused(pointer, f"there is no dialect {dialect[:80]!r}; the dialects are {known}")
        return read(self, content, f"{pointer}/{dialect}", depth)


def _all(reader: _Reader, content: Any, pointer: str, depth: int) -> Filter:
    return _every(reader.members(_nested(content, pointer), pointer, depth + 1))


def _any(reader: _Reader, content: Any, pointer: str, depth: int) -> Filter:
    filters = reader.members(_nested(content, pointer), pointer, depth + 1)
    return lambda event: any(one(event) for one in filters)


def _not(reader: _Reader, content: Any, pointer: str, depth: int) -> Filter:
    inner = reader.filter(content, pointer, depth + 1)
    return lambda event: not inner(event)


def _sql(reader: _Reader, content: Any, pointer: str, _depth: int) -> Filter:
    if not isinstance(content, str):
        raise FilterRefused(pointer, "an expression is a text")
    expression = reader.expression(content, pointer)
    return lambda event: passes(expression, event)


def _comparing(compare: Callable[[str, str], bool]) -> Callable[[_Reader, Any, str, int], Filter]:
    def read(_reader: _Reader, content: Any, pointer: str, _depth: int) -> Filter:
        wanted = _attributes(content, pointer)

        def holds(event: Mapping[str, Any]) -> bool:
            return all(
                name in event and event[name] is not None and compare(header_text(event[name]), value)
                for name, value in wanted
            )

        return holds

    return read


def _every(filters: list[Filter]) -> Filter:
    return lambda event: all(one(event) for one in filters)


def _nested(content: Any, pointer: str) -> list[Any]:
    if not isinstance(content, list) or not content:
        raise FilterRefused(pointer, "this is an array of at least one filter")
    return content


def _attributes(content: Any, pointer: str) -> tuple[tuple[str, str], ...]:
    if not isinstance(content, dict) or not content:
        raise FilterRefused(pointer, "this is an object of at least one attribute and its text")
    for name, value in content.items():
        if not _ATTRIBUTE.match(name) or name in BODY:
            raise FilterRefused(
                pointer, f"{name[:80]!r} is no name of an attribute: those are lower-case letters and digits"
            )
        if not isinstance(value, str) or not value:
            raise FilterRefused(f"{pointer}/{name}", "the value is a text that is not empty")
    return tuple(content.items())


_DIALECTS: dict[str, Callable[[_Reader, Any, str, int], Filter]] = {
    "exact": _comparing(lambda found, wanted: found == wanted),
    "prefix": _comparing(str.startswith),
    "suffix": _comparing(str.endswith),
    "all": _all,
    "any": _any,
    "not": _not,
    "sql": _sql,
}

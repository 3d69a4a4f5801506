"""Paths in dot notation: `labels['my.key']`, `reviewers[0]`, `addresses.*.state` (core, xRegistry Dot Notation)."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from enum import Enum
from typing import Any

MAX_STEPS = 64

_NAME = re.compile(r"[^.\[\]'\"]+")
_BRACKET = re.compile(r"\[(?:'([^']+)'|\"([^\"]+)\"|(\d{1,9})|(\*))\]", re.ASCII)
_PLAIN = re.compile(r"[A-Za-z0-9_:\-$@~ ]+\Z")


class PathWildcard(Enum):
    """Wildcards of a path: each member of an object, each item of an array."""

    MEMBER = "*"
    ITEM = "[*]"


Step = str | int | PathWildcard
Path = tuple[Step, ...]


class BadPath(ValueError):
    """A string that is no dot notation; the message says why."""


def parse_path(text: str, wildcards: bool = False) -> Path:
    """Parse a path; wildcards are allowed in filters only."""
    steps: list[Step] = []
    position = 0
    while position < len(text):
        step, position = _step(text, position, is_first=not steps)
        if isinstance(step, PathWildcard) and not wildcards:
            raise BadPath(f"a wildcard cannot be used in {text[:80]!r}")
        steps.append(step)
        if len(steps) > MAX_STEPS:
            raise BadPath(f"the path has more than {MAX_STEPS} steps")
    if not steps:
        raise BadPath("a name is missing")
    return tuple(steps)


def _step(text: str, position: int, is_first: bool) -> tuple[Step, int]:
    if text[position] == "[":
        found = _BRACKET.match(text, position)
        if found is None:
            raise BadPath(f"the bracket at position {position + 1} of {text[:80]!r} is not closed or not understood")
        return _bracketed(found), found.end()
    start = position + (text[position] == ".")
    named = _NAME.match(text, start)
    if named is None or (start == position and not is_first):
        raise BadPath(f"a name is missing at position {start + 1} of {text[:80]!r}")
    name = named.group()
    if "*" in name and name != "*":
        raise BadPath(f"in {name[:80]!r} a wildcard stands for a part of a name; it can only stand for all of it")
    return (PathWildcard.MEMBER if name == "*" else name), named.end()


def _bracketed(found: re.Match[str]) -> Step:
    single, double, index, wildcard = found.groups()
    if wildcard:
        return PathWildcard.ITEM
    return int(index) if index is not None else single or double


@functools.lru_cache(maxsize=1024)
def write_path(path: Path) -> str:
    """Write a path so that it parses to the same steps."""
    return "".join(_written(step) for step in path).removeprefix(".")


def _written(step: Step) -> str:
    match step:
        case PathWildcard.MEMBER:
            return ".*"
        case PathWildcard.ITEM:
            return "[*]"
        case int():
            return f"[{step}]"
        case _ if _PLAIN.match(step):
            return f".{step}"
        case _:
            return f'["{step}"]' if "'" in step else f"['{step}']"


def values_at(value: Any, path: Path) -> Iterator[Any]:
    """All values at a path that are not null."""
    if not path:
        if value is not None:
            yield value
        return
    for member in _members(value, path[0]):
        yield from values_at(member, path[1:])


def _members(value: Any, step: Step) -> Iterator[Any]:
    match step:
        case PathWildcard.MEMBER if isinstance(value, dict):
            yield from value.values()
        case PathWildcard.ITEM if isinstance(value, list):
            yield from value
        case int() if isinstance(value, list) and step < len(value):
            yield value[step]
        case str() if isinstance(value, dict) and step in value:
            yield value[step]

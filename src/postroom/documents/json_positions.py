"""Where the members of a JSON text stand: for sentences that name a line, and for reports that mark one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

Steps = tuple[str | int, ...]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|[^\s{}\[\],:"]+', re.DOTALL)


def members(text: str) -> Iterator[tuple[Steps, int]]:
    """The way to every member and item of a valid JSON text, and where it begins; repeated members come again."""
    way: list[Any] = []
    kinds: list[str] = []
    naming = False
    for token in _TOKEN.finditer(text):
        first = token[0][0]
        if first == "," and kinds:
            naming = kinds[-1] == "{"
            if not naming:
                way[-1] += 1
            continue
        if first in "}]":
            naming = False
            kinds.pop()
            way.pop()
            continue
        if naming:
            way[-1] = json.loads(token[0])
            naming = False
            yield tuple(way), token.start()
            continue
        if kinds and kinds[-1] == "[":
            yield tuple(way), token.start()
        if first in "{[":
            kinds.append(first)
            naming = first == "{"
            way.append(None if naming else 0)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Both counted from one."""
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def repeated_member(text: str) -> tuple[str, int] | None:
    """The first member that an object has twice, and where it is the second time."""
    seen: set[Steps] = set()
    for steps, offset in members(text):
        if isinstance(steps[-1], str) and steps in seen:
            return steps[-1], offset
        seen.add(steps)
    return None

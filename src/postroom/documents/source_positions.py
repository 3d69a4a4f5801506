"""Positions in JSON and YAML text: the line and column of a JSON pointer."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any

from postroom.model.json_pointers import pointer

Steps = tuple[str | int, ...]
Position = tuple[int, int]

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],]|[^\s{}\[\],:"]+', re.DOTALL)


def members(text: str) -> Iterator[tuple[Steps, int]]:
    """The path of every member and item of a valid JSON text, and its offset; repeated members come again."""
    path: list[Any] = []
    brackets: list[str] = []
    is_name_next = False
    for token in _TOKEN.finditer(text):
        first = token[0][0]
        if first == "," and brackets:
            is_name_next = brackets[-1] == "{"
            if not is_name_next:
                path[-1] += 1
            continue
        if first in "}]":
            is_name_next = False
            brackets.pop()
            path.pop()
            continue
        if is_name_next:
            path[-1] = json.loads(token[0])
            is_name_next = False
            yield tuple(path), token.start()
            continue
        if brackets and brackets[-1] == "[":
            yield tuple(path), token.start()
        if first in "{[":
            brackets.append(first)
            is_name_next = first == "{"
            path.append(None if is_name_next else 0)


def positions(text: str, pointers: Iterable[str], *, is_yaml: bool) -> dict[str, Position]:
    """The positions that pointers lead to; one that leads too far has the position of its last step that is there."""
    found = dict(_in_yaml(text) if is_yaml else _in_json(text))
    return {one: _nearest(found, one) for one in pointers}


def _nearest(found: dict[str, Position], json_pointer: str) -> Position:
    while json_pointer and json_pointer not in found:
        json_pointer = json_pointer.rpartition("/")[0]
    return found.get(json_pointer, (1, 1))


def _in_json(text: str) -> Iterator[tuple[str, Position]]:
    ends = [found.start() for found in re.finditer("\n", text)]
    for steps, offset in members(text):
        line = bisect_left(ends, offset)
        yield pointer(steps), (line + 1, offset - (ends[line - 1] if line else -1))


def _in_yaml(text: str) -> Iterator[tuple[str, Position]]:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    waiting: list[tuple[Steps, yaml.Node | None]] = [((), yaml.compose(text, Loader=loader))]
    seen: set[int] = set()
    while waiting:
        steps, node = waiting.pop()
        if id(node) in seen:  # an alias: what it stands for has its position already
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                below = (*steps, str(key.value))
                yield pointer(below), (key.start_mark.line + 1, key.start_mark.column + 1)
                waiting.append((below, value))
        elif isinstance(node, yaml.SequenceNode):
            for number, item in enumerate(node.value):
                yield pointer((*steps, number)), (item.start_mark.line + 1, item.start_mark.column + 1)
                waiting.append(((*steps, number), item))

"""Lines and columns of JSON pointers in a JSON or YAML file."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from pathlib import Path

from postroom.documents.json_positions import Steps, members
from postroom.documents.read_files import YAML_SUFFIXES
from postroom.model.json_pointers import pointer

Position = tuple[int, int]


def positions(path: Path, pointers: Iterable[str]) -> dict[str, Position]:
    """Where pointers lead in a file; one that leads too far has the place of what it starts from."""
    text = path.read_text(encoding="utf-8-sig")
    found = dict(_in_yaml(text) if path.suffix in YAML_SUFFIXES else _in_json(text))
    return {one: _nearest(found, one) for one in pointers}


def _nearest(found: dict[str, Position], place: str) -> Position:
    while place and place not in found:
        place = place.rpartition("/")[0]
    return found.get(place, (1, 1))


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
        if id(node) in seen:  # an alias: what it stands for has its place already
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

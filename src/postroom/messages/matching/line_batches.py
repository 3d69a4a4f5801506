"""Batches of lines: which definitions they fit, for those who need no values."""

from __future__ import annotations

from collections.abc import Iterator

from postroom.deadlines import check_deadline
from postroom.messages.engine import Engine, match_of
from postroom.messages.matching.columnar import LandedEvents
from postroom.messages.matching.outcome import Match

_MOST_TOGETHER = 5_000


def match_lines(engine: Engine, lines: list[bytes]) -> list[list[Match]]:
    """The matches of each line, as `Engine.match_line` finds them."""
    found: list[list[Match]] = []
    for start in range(0, len(lines), _MOST_TOGETHER):
        found += _match_batch(engine, lines[start : start + _MOST_TOGETHER])
    return found


def _match_batch(engine: Engine, lines: list[bytes]) -> list[list[Match]]:
    found: dict[int, list[Match]] = {}
    remaining = engine.match_by_column(lines, lambda landed: found.update(_matches(landed)))
    for row in remaining:
        check_deadline()
        found[row] = engine.match_line(lines[row])
    return [found[row] for row in range(len(lines))]


def _matches(landed: LandedEvents) -> Iterator[tuple[int, list[Match]]]:
    """The matches of events, by row."""
    names = tuple(landed.variables)
    values = zip(*landed.variables.values(), strict=True) if names else ((),) * len(landed.rows)
    for row, some in zip(landed.rows, values, strict=True):
        bound = {name: value for name, value in zip(names, some, strict=True) if value is not None}
        yield row, [match_of(landed.definition, bound)]

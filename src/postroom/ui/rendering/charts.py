"""Charts as numbers for SVG: where each bar stands and how high it is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

WIDTH, HEIGHT = 600, 40
MOST_BARS = 90
_UNITS = (86400, 3600)
_SMALLEST = 60


class Bar(msgspec.Struct, frozen=True):
    """A bar, in units of the picture, with what it counts."""

    x: float
    y: float
    width: float
    height: float
    count: int
    moment: str


class TimeChart(msgspec.Struct, frozen=True):
    """Counts over time, from the first moment to the last."""

    bars: list[Bar]
    first: str
    last: str
    width: int = WIDTH
    height: int = HEIGHT


def time_charts(several: Sequence[Sequence[tuple[int, int]]]) -> list[TimeChart]:
    """Charts of counts by second, all over the same time, so that they can be compared."""
    seconds = [second for points in several for second, _ in points]
    if not seconds:
        return [TimeChart([], "", "") for _ in several]
    unit = next((unit for unit in _UNITS if all(second % unit == 0 for second in seconds)), _SMALLEST)
    first, steps = min(seconds), (max(seconds) - min(seconds)) // unit + 1
    unit *= -(-steps // MOST_BARS)
    steps = (max(seconds) - first) // unit + 1
    return [_chart(points, first, unit, steps) for points in several]


def _chart(points: Sequence[tuple[int, int]], first: int, unit: int, steps: int) -> TimeChart:
    counts: dict[int, int] = {}
    for second, count in points:
        step = (second - first) // unit
        counts[step] = counts.get(step, 0) + count
    # A single bar is no wall.
    width = min(WIDTH / steps, WIDTH / 24)
    most = max(counts.values(), default=1)
    bars = [
        Bar(
            round(step * width, 2),
            round(HEIGHT - max(2.0, HEIGHT * count / most), 2),
            round(max(width - 1, 1), 2),
            round(max(2.0, HEIGHT * count / most), 2),
            count,
            _moment(first + step * unit),
        )
        for step, count in sorted(counts.items())
    ]
    return TimeChart(bars, _moment(first), _moment(first + (steps - 1) * unit))


def _moment(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).isoformat().replace("+00:00", "Z")

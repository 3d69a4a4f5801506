"""Metrics in the text format of Prometheus (version 0.0.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

import msgspec

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LabelValues = tuple[str, ...]
MetricType = Literal["counter", "gauge", "histogram"]

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


class MetricFamily(msgspec.Struct, frozen=True, kw_only=True):
    """A metric: its name, what it counts, and the names of its labels."""

    name: str
    type: MetricType
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    """The upper bounds of a histogram's buckets, without infinity."""


def render_values(family: MetricFamily, values: Mapping[LabelValues, float]) -> Iterator[str]:
    """The lines of a counter or a gauge."""
    yield from _head(family)
    for labels, number in sorted(values.items()):
        yield f"{family.name}{_labels(family.labels, labels)} {_number(number)}"


def render_histogram(family: MetricFamily, rows: Mapping[LabelValues, Sequence[float]]) -> Iterator[str]:
    """The lines of a histogram. A row holds the counts of the buckets, that of what is above all, and the sum."""
    yield from _head(family)
    names = (*family.labels, "le")
    bounds = (*map(_number, family.buckets), "+Inf")
    for labels, row in sorted(rows.items()):
        total = 0
        for bound, count in zip(bounds, row, strict=False):
            total += int(count)
            yield f"{family.name}_bucket{_labels(names, (*labels, bound))} {total}"
        yield f"{family.name}_sum{_labels(family.labels, labels)} {_number(row[-1])}"
        yield f"{family.name}_count{_labels(family.labels, labels)} {total}"


def joined(lines: Iterable[str]) -> str:
    """The text of all lines."""
    return "".join(f"{line}\n" for line in lines)


def _head(family: MetricFamily) -> Iterator[str]:
    yield f"# HELP {family.name} {family.help}"
    yield f"# TYPE {family.name} {family.type}"


def _labels(names: Sequence[str], values: LabelValues) -> str:
    pairs = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in zip(names, values, strict=True))
    return f"{{{pairs}}}" if pairs else ""


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(float(value))

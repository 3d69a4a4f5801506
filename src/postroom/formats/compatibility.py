"""Compatibility of schema versions: the modes of the specification, by the comparison that each format offers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from postroom.formats.schema import Verdict
from postroom.formats.work_budget import work_limit

# What each mode asks: can data of the older version be read with the newer one, the other way round, or both?
BACKWARD, FORWARD = "backward", "forward"
_DIRECTIONS = {"none": (), "backward": (BACKWARD,), "forward": (FORWARD,), "full": (BACKWARD, FORWARD)}
_TRANSITIVE = "_transitive"
MODES = ("none", *(mode + suffix for mode in ("backward", "forward", "full") for suffix in ("", _TRANSITIVE)))

COMPATIBLE = Verdict(answer="compatible")

# Compares a document of the writer with one of the reader.
Readable = Callable[[Any, Any], Verdict]


def is_transitive(mode: str) -> bool:
    """Whether a mode concerns all ancestors rather than the nearest."""
    return mode.lower().endswith(_TRANSITIVE)


def compatible(older: Sequence[Any], newer: Any, mode: str, readable: Readable) -> Verdict:
    """Whether a document may follow its ancestors, nearest first: the first incompatible verdict, else the first
    undecided one, else the first compatible one with a remark. All comparisons share one budget."""
    with work_limit():
        return _combine(older, newer, mode, readable)


def _combine(older: Sequence[Any], newer: Any, mode: str, readable: Readable) -> Verdict:
    undecided: Verdict | None = None
    remarked: Verdict | None = None
    for ancestor in older if is_transitive(mode) else older[:1]:
        for direction in _DIRECTIONS[mode.lower().removesuffix(_TRANSITIVE)]:
            pair = (ancestor, newer) if direction == BACKWARD else (newer, ancestor)
            verdict = readable(*pair)
            if verdict.answer == "incompatible":
                return verdict
            if verdict.answer == "undecided":
                undecided = undecided or verdict
            elif verdict.reason:
                remarked = remarked or verdict
    return undecided or remarked or COMPATIBLE

"""The cost of matching a regular expression, estimated from its pattern.

An engine without backtracking takes a step for each character and each state of the pattern. Counted repeats multiply
the states.
"""

from __future__ import annotations

import functools
import re

_COUNTED = re.compile(r"\{(\d+)(?:,(\d*))?\}")
_COUNTED_GROUP = re.compile(r"\)" + _COUNTED.pattern)
# Look-around and back references.
BACKTRACKS = re.compile(r"\(\?<?[=!]|\\[1-9]")
_REPEATED_GROUP = re.compile(r"\)[*+{]")
_LONG_PATTERN = 256
_MOST_STATES = 1_000_000
_MOST_STEPS = 5_000_000


@functools.lru_cache(maxsize=1024)
def states(pattern: str) -> int:
    """How many states of a pattern may be active at once; 0 for plain patterns."""
    # Long patterns have many states without repeats; an anchored pattern with one repeat has one active state.
    found = len(pattern) if len(pattern) > _LONG_PATTERN else 0
    counts = [_most(*bounds) for bounds in _COUNTED.findall(pattern)]
    if len(counts) > 1 or not pattern.startswith("^"):
        found += sum(counts)
    # Repeats of repeats multiply.
    for bounds in _COUNTED_GROUP.findall(pattern):
        found = min(found * max(_most(*bounds), 1), _MOST_STATES)
    return found


def affordable(pattern: str, text: str) -> bool:
    """Whether a text can be matched within a fraction of a second."""
    return len(text) * states(pattern) <= _MOST_STEPS


@functools.lru_cache(maxsize=1024)
def backtracks(pattern: str) -> bool:
    """Whether a pattern cannot be matched in linear time."""
    return BACKTRACKS.search(pattern) is not None


def repeats_groups(pattern: str) -> bool:
    """Whether a pattern has nested repeats, so that backtracking may take exponential time."""
    return _REPEATED_GROUP.search(pattern) is not None


def _most(least: str, most: str) -> int:
    return min(int((most or least)[:7]), _MOST_STATES)

"""Many texts read at a time, without a step of ours for each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

UNREADABLE = (ValueError, RecursionError)
"""What decoders raise: those of JSON and of UTF-8 are ValueErrors."""


def read_all(
    read: Callable[[Any], Any],
    texts: Iterable[Any],
    doubts: set[int],
    errors: tuple[type[Exception], ...] = UNREADABLE,
) -> list[Any]:
    """Read many texts; the places of those that cannot be read are added to `doubts`, and None stands for them."""
    found: list[Any] = []
    rest = iter(texts)
    while True:
        try:
            found.extend(map(read, rest))  # what was read before an exception is kept
        except errors:
            doubts.add(len(found))
            found.append(None)
        else:
            return found

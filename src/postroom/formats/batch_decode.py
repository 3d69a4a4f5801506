"""Many texts read at a time, without a step of ours for each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
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


class Members:
    """Values of a struct, member by member: a column for each, in which None stands for what is absent."""

    def __init__(self, names: tuple[str, ...], columns: Sequence[Sequence[Any]], count: int) -> None:
        self.names = names
        self.columns = columns
        self._count = count

    @classmethod
    def of_rows(cls, names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Members:
        """The members of values that are tuples of them."""
        return cls(names, list(zip(*rows, strict=True)) if rows else [()] * len(names), len(rows))

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, place: int) -> dict[str, Any]:
        """One of the values, as everywhere else: without what is absent."""
        found = zip(self.names, (column[place] for column in self.columns), strict=True)
        return {name: value for name, value in found if value is not None}

    def without(self, places: list[int]) -> Members:
        """The same without some places, which are few and in order."""
        columns = [without(column, places) for column in self.columns]
        return Members(self.names, columns, self._count - len(places))


def without(column: Sequence[Any], places: list[int]) -> list[Any]:
    """A column without some places, which are few and in order."""
    kept: list[Any] = []
    start = 0
    for place in places:
        kept += column[start:place]
        start = place + 1
    kept += column[start:]
    return kept

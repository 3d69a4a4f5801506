"""Decoding many payloads at a time, without a Python-level step for each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

DECODE_ERRORS = (ValueError, RecursionError)
"""What decoders raise: errors of JSON and of UTF-8 are ValueErrors."""


def decode_all(
    decode: Callable[[Any], Any],
    payloads: Iterable[Any],
    failed: set[int],
    errors: tuple[type[Exception], ...] = DECODE_ERRORS,
) -> list[Any]:
    """Decode many payloads; the indexes of those that cannot be decoded are added to `failed`, and None stands for
    them."""
    found: list[Any] = []
    rest = iter(payloads)
    while True:
        try:
            found.extend(map(decode, rest))  # what was decoded before an exception is kept
        except errors:
            failed.add(len(found))
            found.append(None)
        else:
            return found


class MemberColumns:
    """Decoded objects, transposed: one column for each member, in which None stands for what is absent."""

    def __init__(self, names: tuple[str, ...], columns: Sequence[Sequence[Any]], count: int) -> None:
        self.names = names
        self.columns = columns
        self._count = count

    @classmethod
    def of_rows(cls, names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> MemberColumns:
        """Transpose rows, which are tuples of members."""
        return cls(names, list(zip(*rows, strict=True)) if rows else [()] * len(names), len(rows))

    @classmethod
    def of_parts(cls, parts: Sequence[tuple[Sequence[int], MemberColumns]], count: int) -> MemberColumns:
        """Put objects of the same members together, each at its index, where the last part counts; the others have no
        members."""
        total = sum(len(part) for _, part in parts)
        order = [total] * count
        start = 0
        for indexes, part in parts:
            for number, index in enumerate(indexes, start):
                order[index] = number
            start += len(part)
        names = parts[0][1].names
        columns = []
        for number in range(len(names)):
            values = [value for _, part in parts for value in part.columns[number]]
            values.append(None)
            columns.append(list(map(values.__getitem__, order)))
        return cls(names, columns, count)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: int) -> dict[str, Any]:
        """One of the objects, without its absent members."""
        found = zip(self.names, (column[index] for column in self.columns), strict=True)
        return {name: value for name, value in found if value is not None}

    def drop_rows(self, indexes: list[int]) -> MemberColumns:
        """All rows except those at some indexes, which are few and in order."""
        columns = [drop_rows(column, indexes) for column in self.columns]
        return MemberColumns(self.names, columns, self._count - len(indexes))


def drop_rows(column: Sequence[Any], indexes: list[int]) -> list[Any]:
    """All values of a column except those at some indexes, which are few and in order."""
    kept: list[Any] = []
    start = 0
    for index in indexes:
        kept += column[start:index]
        start = index + 1
    kept += column[start:]
    return kept

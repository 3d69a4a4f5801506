"""Lifting: moves members that were undeclared when their payload landed into columns that were added since.

Undeclared members are JSON as `undeclared_members.py` writes it. A member that has a column now, and no value in it,
is lifted; one that its column cannot hold stays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from postroom.formats.column_types import ColumnType, ListOf, MapOf, StructOf
from postroom.formats.fill_columns import ColumnMismatch, filler
from postroom.formats.time_text import inexact_times, time_values
from postroom.formats.undeclared_members import Undeclared, add_members, items_of, join_json, members_of

Path = tuple[str, ...]
_filler = functools.lru_cache(maxsize=1024)(filler)
_undeclared = functools.lru_cache(maxsize=1024)(Undeclared)
# Decodes a member of a payload, found by its path, as its format does; raises ColumnMismatch.
ReadMember = Callable[[Path, Any], Any]


class Lifted(msgspec.Struct, frozen=True):
    """The data of a row after lifting, what remains undeclared, and how many members fitted and did not."""

    data: Any
    remaining: str | None
    members: int
    misfits: int


class Lifter:
    """Lifts members into the columns of a schema."""

    def __init__(self, column: ColumnType, read: ReadMember | None = None) -> None:
        self._column = column
        self._undeclared = Undeclared(column)
        self._read = read

    def concerns(self, text: str) -> bool:
        """Whether an undeclared member has a column now."""
        try:
            return self._undeclared.extract(text.encode()) != text
        except msgspec.ValidationError:  # a value that is no object, where the column is a struct
            return True

    def lift(self, text: str, data: Any) -> Lifted:
        """Move undeclared members into the data of their row, given as Arrow's Python values."""
        lift = _Lift(self._read)
        value, remaining = lift.value(self._column, text.encode(), data, ())
        return Lifted(value, remaining.decode() if remaining else None, lift.members, lift.misfits)


class _Lift:
    def __init__(self, read: ReadMember | None) -> None:
        self._read = read
        self.members = 0
        self.misfits = 0

    def value(self, column: ColumnType, text: Any, present: Any, path: Path) -> tuple[Any, bytes]:
        """The value of a column after lifting, and what remains undeclared."""
        if present is None:
            return self._whole(column, text, path)
        if isinstance(column, StructOf):
            return self._struct(column, text, present, path)
        if isinstance(column, ListOf):
            return self._list(column, text, present, path)
        if isinstance(column, MapOf):
            return self._map(column, text, present, path)
        self.misfits += 1  # there is a value already
        return present, bytes(text)

    def _whole(self, column: ColumnType, text: Any, path: Path) -> tuple[Any, bytes]:
        try:
            value = msgspec.json.decode(text)
            if self._read is not None and value is not None:
                value = self._read(path, value)
            filled = _filler(column)(value)
        except (ColumnMismatch, msgspec.DecodeError):  # 1e400 is JSON, but no number that anybody has
            self.misfits += 1
            return None, bytes(text)
        inexact, filled = inexact_times(column, filled), time_values(column, filled)
        self.misfits += inexact is not None
        self.members += inexact is None or filled is not None
        return filled, add_members((_undeclared(column).extract(text) or "").encode(), inexact)

    def _struct(self, column: StructOf, text: Any, present: dict[str, Any], path: Path) -> tuple[Any, bytes]:
        fields = {field.source: field for field in column.fields}
        value, remaining = dict(present), []
        for name, member in members_of(text).items():
            field = fields.get(name)
            rest = bytes(member)
            if field is not None:
                value[field.name], rest = self.value(field.type, member, present.get(field.name), (*path, name))
            if rest:
                remaining.append((name, rest))
        return value, join_json(remaining)

    def _list(self, column: ListOf, text: Any, present: list[Any], path: Path) -> tuple[Any, bytes]:
        value, remaining = list(present), []
        for number, item in enumerate(items_of(text)):
            rest = b""
            if bytes(item) != b"null":
                value[number], rest = self.value(column.item, item, present[number], (*path, ""))
            remaining.append(rest)
        return value, join_json(remaining)

    def _map(self, column: MapOf, text: Any, present: Any, path: Path) -> tuple[Any, bytes]:
        value, remaining = dict(_pairs(present)), []
        for name, member in members_of(text).items():
            value[name], rest = self.value(column.value, member, value.get(name), (*path, ""))
            if rest:
                remaining.append((name, rest))
        return list(value.items()), join_json(remaining)


def _pairs(present: Any) -> Iterator[tuple[str, Any]]:
    yield from present.items() if isinstance(present, dict) else present

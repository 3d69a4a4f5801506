"""Lifting: members of payloads that were undeclared when they landed, into the columns that they have by now.

What is left of a payload is what `undeclared` makes of it. A member that has a column now, and no value in it, is
lifted; one that its column cannot hold stays.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from postroom.formats.column_types import ColumnType, ListOf, MapOf, StructOf
from postroom.formats.fill_columns import ColumnMismatch, filler
from postroom.formats.undeclared_members import Undeclared, items_of, members_of, written

Path = tuple[str, ...]
_filler = functools.lru_cache(maxsize=1024)(filler)
_undeclared = functools.lru_cache(maxsize=1024)(Undeclared)
# How a format reads a member of a payload, found by its path; raises ColumnMismatch.
ReadMember = Callable[[Path, Any], Any]


class Lifted(msgspec.Struct, frozen=True):
    """The data of a row with what was lifted into it, what is left undeclared, and how many members fit and did not."""

    data: Any
    left: str | None
    members: int
    misfits: int


class Lifter:
    """Lifts members into the columns of a schema."""

    def __init__(self, column: ColumnType, read: ReadMember | None = None) -> None:
        self._column = column
        self._undeclared = Undeclared(column)
        self._read = read

    def concerns(self, text: str) -> bool:
        """Whether something that was undeclared has a column now."""
        try:
            return self._undeclared.found(text.encode()) != text
        except msgspec.ValidationError:  # a value that is no object, where the column is a struct
            return True

    def lift(self, text: str, data: Any) -> Lifted:
        """Lift what is possible out of undeclared members into the data of their row, as Arrow has it in Python."""
        work = _Work(self._read)
        value, left = work.value(self._column, text.encode(), data, ())
        return Lifted(value, left.decode() if left else None, work.members, work.misfits)


class _Work:
    def __init__(self, read: ReadMember | None) -> None:
        self._read = read
        self.members = 0
        self.misfits = 0

    def value(self, column: ColumnType, text: Any, present: Any, path: Path) -> tuple[Any, bytes]:
        """The value of a column after lifting, and what stays."""
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
        self.members += 1
        return filled, (_undeclared(column).found(text) or "").encode()

    def _struct(self, column: StructOf, text: Any, present: dict[str, Any], path: Path) -> tuple[Any, bytes]:
        fields = {field.source: field for field in column.fields}
        value, left = dict(present), []
        for name, member in members_of(text).items():
            field = fields.get(name)
            stays = bytes(member)
            if field is not None:
                value[field.name], stays = self.value(field.type, member, present.get(field.name), (*path, name))
            if stays:
                left.append((name, stays))
        return value, written(left)

    def _list(self, column: ListOf, text: Any, present: list[Any], path: Path) -> tuple[Any, bytes]:
        value, left = list(present), []
        for number, item in enumerate(items_of(text)):
            stays = b""
            if bytes(item) != b"null":
                value[number], stays = self.value(column.item, item, present[number], (*path, ""))
            left.append(stays)
        return value, written(left)

    def _map(self, column: MapOf, text: Any, present: Any, path: Path) -> tuple[Any, bytes]:
        value, left = dict(_pairs(present)), []
        for name, member in members_of(text).items():
            value[name], stays = self.value(column.value, member, value.get(name), (*path, ""))
            if stays:
                left.append((name, stays))
        return list(value.items()), written(left)


def _pairs(present: Any) -> Iterator[tuple[str, Any]]:
    yield from present.items() if isinstance(present, dict) else present

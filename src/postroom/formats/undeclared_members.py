"""What a payload in JSON has and its columns do not: members that no schema declares.

They are shown as the payload would be that had nothing else: `{"note": 1, "lines": [null, {"colour": "red"}]}` has a
member of the payload and one of the second line, which is an object with declared members. Items of a list with nothing
undeclared are `null`, so that every path into the payload is a path into what is left of it. Values are the text that
they came as: no number loses a digit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from functools import singledispatch
from typing import Any, Union

import msgspec

from postroom.formats.batch_decode import UNREADABLE, read_all
from postroom.formats.column_types import ColumnType, ListOf, MapOf, StructOf

# The text of what is left of a value, empty for nothing.
Find = Callable[[Any], bytes]

_members = msgspec.json.Decoder(dict[str, msgspec.Raw] | None).decode
_items = msgspec.json.Decoder(list[msgspec.Raw] | None).decode
_encode = msgspec.json.Encoder().encode
_NULL, _NOTHING = b"null", msgspec.Raw(b"")


class Undeclared:
    """Finds the undeclared members of payloads in JSON that fit a schema with these columns."""

    def __init__(self, column: ColumnType) -> None:
        self._column = column
        self._find = _finder(column)

    @property
    def is_possible(self) -> bool:
        """Whether there are members that columns might not have; not for a number, a text or a free-form value."""
        return self._find is not None

    def of(self, payload: Any) -> str | None:
        """The undeclared members of a payload as JSON text; None where there are none."""
        if self._find is None:
            return None
        try:
            self._skim(payload)
        except UNREADABLE:
            return self.found(payload)
        return None

    def found(self, payload: Any) -> str | None:
        """The same, where it is known that there are some."""
        left = b"" if self._find is None else self._find(payload)
        return left.decode() if left else None

    def of_all(self, payloads: Sequence[Any], doubtful: Iterable[int], kept: dict[int, str]) -> None:
        """Put those of many payloads into `kept` by place; the doubtful ones are passed over."""
        if self._find is None:
            return
        suspects: set[int] = set()
        read_all(self._skim, payloads, suspects)
        for place in suspects.difference(doubtful):
            left = self.found(payloads[place])
            if left is not None:
                kept[place] = left

    @functools.cached_property
    def _skim(self) -> Callable[[Any], Any]:
        """Passes over a payload without reading its values, and raises where there is a member without a column."""
        return msgspec.json.Decoder(_skimmed(self._column)).decode


def _skimmed(column: ColumnType) -> Any:
    if _finder(column) is None:
        return msgspec.Raw
    if isinstance(column, StructOf):
        fields = [(f"f{number}", _skimmed(field.type), _NOTHING) for number, field in enumerate(column.fields)]
        rename = {f"f{number}": field.source for number, field in enumerate(column.fields)}
        made: Any = msgspec.defstruct("Skimmed", fields, rename=rename, forbid_unknown_fields=True, gc=False)
    elif isinstance(column, ListOf):
        made = list[_skimmed(column.item)]  # type: ignore[misc]  # made at run time
    else:
        made = dict[str, _skimmed(column.value)]  # type: ignore[misc, union-attr]  # made at run time
    return Union[made, None]  # noqa: UP007 - made at run time


@singledispatch
def _finder(column: Any) -> Find | None:
    """The function that finds what is left of a value; None where its column has all of it."""
    return None


@_finder.register
def _(column: StructOf) -> Find | None:
    known = {field.source: _finder(field.type) for field in column.fields}

    def find(text: Any) -> bytes:
        left: list[tuple[str, bytes]] = []
        for name, value in members_of(text).items():
            inner = known.get(name, bytes)
            found = b"" if inner is None else inner(value)
            if found:
                left.append((name, found))
        return written(left)

    return find


@_finder.register
def _(column: MapOf) -> Find | None:
    inner = _finder(column.value)
    if inner is None:
        return None

    def find(text: Any) -> bytes:
        found = ((name, inner(value)) for name, value in members_of(text).items())
        return written([(name, one) for name, one in found if one])

    return find


@_finder.register
def _(column: ListOf) -> Find | None:
    inner = _finder(column.item)
    if inner is None:
        return None

    def find(text: Any) -> bytes:
        return written([inner(item) for item in items_of(text)])

    return find


def left_of(column: ColumnType, value: Any) -> Any:
    """What a decoded value has and its column does not, in the same form; None for nothing."""
    if isinstance(column, StructOf) and isinstance(value, dict):
        types = {field.source: field.type for field in column.fields}
        found = {name: left_of(types[name], one) if name in types else one for name, one in value.items()}
        return {name: one for name, one in found.items() if one is not None} or None
    if isinstance(column, MapOf) and isinstance(value, dict):
        found = {name: left_of(column.value, one) for name, one in value.items()}
        return {name: one for name, one in found.items() if one is not None} or None
    if isinstance(column, ListOf) and isinstance(value, list):
        items = [left_of(column.item, one) for one in value]
        return items if any(item is not None for item in items) else None
    return None


def members_of(text: Any) -> dict[str, msgspec.Raw]:
    """The members of an object in JSON, as they are written; none of null."""
    return _members(text) or {}


def items_of(text: Any) -> list[msgspec.Raw]:
    """The items of a list in JSON, as they are written; none of null."""
    return _items(text) or []


def written(left: list[tuple[str, bytes]] | list[bytes]) -> bytes:
    """What is left of an object, or of a list with nothing of some items, as JSON; empty for nothing at all."""
    pairs = [_encode(part[0]) + b":" + part[1] for part in left if isinstance(part, tuple)]
    items = [part for part in left if isinstance(part, bytes)]
    while items and not items[-1]:
        items.pop()
    if pairs:
        return b"{" + b",".join(pairs) + b"}"
    return b"[" + b",".join(item or _NULL for item in items) + b"]" if items else b""

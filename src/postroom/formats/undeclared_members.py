"""Undeclared members: what a JSON payload has and its columns do not.

They are written as the payload would be if it had nothing else: `{"note": 1, "lines": [null, {"colour": "red"}]}` has a
member of the payload and one of the second line, which is an object with declared members. Items of a list with nothing
undeclared are `null`, so that every path into the payload is a path into its undeclared part. Values keep their JSON
text: no number loses a digit.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from functools import singledispatch
from itertools import zip_longest
from typing import Any, Union

import msgspec

from postroom.formats.batch_decode import DECODE_ERRORS, decode_all
from postroom.formats.column_types import ColumnType, ListOf, MapOf, StructOf

# Returns the undeclared part of a value as JSON, empty for none.
Find = Callable[[Any], bytes]

_members = msgspec.json.Decoder(dict[str, msgspec.Raw] | None).decode
_items = msgspec.json.Decoder(list[msgspec.Raw] | None).decode
_encode = msgspec.json.Encoder().encode
_NULL, _NOTHING = b"null", msgspec.Raw(b"")


class Undeclared:
    """Finds the undeclared members of valid JSON payloads of a schema with these columns."""

    def __init__(self, column: ColumnType) -> None:
        self._column = column
        self._find = _finder(column)

    def find(self, payload: Any) -> str | None:
        """The undeclared members of a payload as JSON; None for none."""
        if self._find is None:
            return None
        try:
            self._skim(payload)
        except DECODE_ERRORS:
            return self.extract(payload)
        return None

    def extract(self, payload: Any) -> str | None:
        """The undeclared members of a payload that is known, or likely, to have some; slower than `find` if not."""
        left = b"" if self._find is None else self._find(payload)
        return left.decode() if left else None

    def find_all(self, payloads: Sequence[Any], fallback: Iterable[int], undeclared: dict[int, str]) -> None:
        """Collect the undeclared members of many payloads by index, except of those in `fallback`."""
        if self._find is None:
            return
        suspects: set[int] = set()
        decode_all(self._skim, payloads, suspects)
        for index in suspects.difference(fallback):
            found = self.extract(payloads[index])
            if found is not None:
                undeclared[index] = found

    @functools.cached_property
    def _skim(self) -> Callable[[Any], Any]:
        """Skips through a payload without decoding its values, and raises where a member has no column."""
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
    """The function that returns the undeclared part of a value; None where its column holds all of it."""
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
        return join_json(left)

    return find


@_finder.register
def _(column: MapOf) -> Find | None:
    inner = _finder(column.value)
    if inner is None:
        return None

    def find(text: Any) -> bytes:
        found = ((name, inner(value)) for name, value in members_of(text).items())
        return join_json([(name, one) for name, one in found if one])

    return find


@_finder.register
def _(column: ListOf) -> Find | None:
    inner = _finder(column.item)
    if inner is None:
        return None

    def find(text: Any) -> bytes:
        return join_json([inner(item) for item in items_of(text)])

    return find


def undeclared_value(column: ColumnType, value: Any) -> Any:
    """The undeclared part of a decoded value, in the same form; None for none."""
    if isinstance(column, StructOf) and isinstance(value, dict):
        types = {field.source: field.type for field in column.fields}
        found = {name: undeclared_value(types[name], one) if name in types else one for name, one in value.items()}
        return {name: one for name, one in found.items() if one is not None} or None
    if isinstance(column, MapOf) and isinstance(value, dict):
        found = {name: undeclared_value(column.value, one) for name, one in value.items()}
        return {name: one for name, one in found.items() if one is not None} or None
    if isinstance(column, ListOf) and isinstance(value, list):
        items = [undeclared_value(column.item, one) for one in value]
        return items if any(item is not None for item in items) else None
    return None


def add_members(text: bytes, more: Any) -> bytes:
    """Encoded undeclared members with others, in the same form but decoded, added to them."""
    if isinstance(more, dict):
        members = {name: bytes(value) for name, value in members_of(text or _NULL).items()}
        members |= {name: add_members(members.get(name, b""), value) for name, value in more.items()}
        return join_json(list(members.items()))
    if isinstance(more, list):
        items = (bytes(item) for item in items_of(text or _NULL))
        return join_json([add_members(b"" if i in (None, _NULL) else i, one) for i, one in zip_longest(items, more)])
    return text if more is None else _encode(more)


def members_of(text: Any) -> dict[str, msgspec.Raw]:
    """The members of a JSON object, each still encoded; none for null."""
    return _members(text) or {}


def items_of(text: Any) -> list[msgspec.Raw]:
    """The items of a JSON list, each still encoded; none for null."""
    return _items(text) or []


def join_json(parts: list[tuple[str, bytes]] | list[bytes]) -> bytes:
    """Join encoded members into an object, or encoded items into a list with null for empty ones; empty for none."""
    pairs = [_encode(part[0]) + b":" + part[1] for part in parts if isinstance(part, tuple)]
    items = [part for part in parts if isinstance(part, bytes)]
    while items and not items[-1]:
        items.pop()
    if pairs:
        return b"{" + b",".join(pairs) + b"}"
    return b"[" + b",".join(item or _NULL for item in items) + b"]" if items else b""

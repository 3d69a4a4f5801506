"""Pages of a collection. A cursor names the entity before the page, so that writes in between do not shift it."""

from __future__ import annotations

import base64
import binascii
import bisect
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from postroom.registry.paths import EntityPath
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.compare_values import Key
from postroom.registry.query.sort import Sort, sort_key
from postroom.registry.transaction_interface import Transaction

SortPosition = tuple[Any, str]
"""The value that an entity is sorted by, and its id."""
ReadPositions = Callable[[SortPosition | None, int, bool], list[SortPosition]]
"""Reads up to so many positions after one (None: from the start), or before it, nearest first."""


class Cursor(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Where a page starts: next to an entity, which may have been deleted since."""

    limit: int
    count: int
    value: str | int | float | bool | None
    id: str
    backwards: bool = False

    def token(self) -> str:
        """The cursor as an opaque string for clients."""
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).decode().rstrip("=")


class Page(msgspec.Struct, frozen=True):
    """The ids of a page, the number of ids on all pages, and the cursors of the next and the previous page."""

    ids: list[str]
    count: int
    next: Cursor | None = None
    prev: Cursor | None = None


def read_cursor(token: str, path: EntityPath) -> Cursor:
    """Decode a cursor; `bad_request` when this server did not make it."""
    try:
        text = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        cursor = msgspec.json.decode(text, type=Cursor)
    except (binascii.Error, msgspec.DecodeError, UnicodeError, ValueError):
        cursor = None
    if cursor is None or cursor.limit < 1 or cursor.count < 0:
        detail = "the cursor is not one that this server made"
        raise RegistryProblem("bad_request", path.xid, error_detail=detail)
    return cursor


def read_page(read: ReadPositions, limit: int, cursor: Cursor | None, count: Callable[[], int]) -> Page:
    """Read the page at a cursor, or the first one."""
    backwards = cursor is not None and cursor.backwards
    positions = read((cursor.value, cursor.id) if cursor else None, limit + 1, backwards)
    is_more, positions = len(positions) > limit, positions[:limit]
    total = cursor.count if cursor else count()
    if not positions:
        return Page([], total)
    if backwards:
        positions.reverse()
    first, last = positions[0], positions[-1]
    has_prev = is_more if backwards else cursor is not None and bool(read(first, 1, True))
    has_next = bool(read(last, 1, False)) if backwards else is_more
    return Page(
        [entity_id for _, entity_id in positions],
        total,
        next=Cursor(limit, total, *last) if has_next else None,
        prev=Cursor(limit, total, *first, backwards=True) if has_prev else None,
    )


def by_id(tx: Transaction, collection: str, descending: bool) -> ReadPositions:
    """Positions read from the store, for collections in the order of their ids."""

    def read(position: SortPosition | None, limit: int, backwards: bool) -> list[SortPosition]:
        ids = tx.ids(collection, position[1] if position else "", limit, backwards != descending) if collection else []
        return [(None, entity_id) for entity_id in ids]

    return read


def by_value(positions: Iterable[SortPosition], order: Sort) -> ReadPositions:
    """Positions of a collection that was read as a whole, in the order of an attribute."""
    sorted_positions = sorted(positions, key=_key)
    keys: list[Key] = [_key(position) for position in sorted_positions]

    def read(position: SortPosition | None, limit: int, backwards: bool) -> list[SortPosition]:
        if backwards != order.descending:
            end = bisect.bisect_left(keys, _key(position)) if position else len(keys)
            return sorted_positions[max(0, end - limit) : end][::-1]
        start = bisect.bisect_right(keys, _key(position)) if position else 0
        return sorted_positions[start : start + limit]

    return read


def _key(position: SortPosition) -> Key:
    return sort_key(*position)

"""Pages of a collection: each starts beside an entity, by sort value and id, so writes in between do no harm."""

from __future__ import annotations

import base64
import binascii
import bisect
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from postroom.registry.paths import Place
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.compare_values import Key
from postroom.registry.query.sort import Sort, sort_key
from postroom.registry.transaction import Transaction

SortPosition = tuple[Any, str]
"""Where an entity stands: the value it is sorted by, and its id."""
ReadPositions = Callable[[SortPosition | None, int, bool], list[SortPosition]]
"""Up to so many marks after one (None: from the start), or before it, nearest first."""


class Cursor(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """Where a page starts: beside an entity that may be gone by now."""

    limit: int
    count: int
    value: str | int | float | bool | None
    id: str
    backwards: bool = False

    def token(self) -> str:
        """The cursor as clients see it."""
        return base64.urlsafe_b64encode(msgspec.json.encode(self)).decode().rstrip("=")


class Page(msgspec.Struct, frozen=True):
    """The ids of a page, how many there are on all pages, and the cursors of the pages beside it."""

    ids: list[str]
    count: int
    next: Cursor | None = None
    prev: Cursor | None = None


def read_cursor(token: str, place: Place) -> Cursor:
    """The cursor of a token; a token that was not made here is a bad request."""
    try:
        text = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        cursor = msgspec.json.decode(text, type=Cursor)
    except (binascii.Error, msgspec.DecodeError, UnicodeError, ValueError):
        cursor = None
    if cursor is None or cursor.limit < 1 or cursor.count < 0:
        detail = "the cursor is not one that this server made"
        raise RegistryProblem("bad_request", place.xid, error_detail=detail)
    return cursor


def read_page(take: ReadPositions, limit: int, cursor: Cursor | None, count: Callable[[], int]) -> Page:
    """The page that a cursor leads to, or the first one."""
    backwards = cursor is not None and cursor.backwards
    marks = take((cursor.value, cursor.id) if cursor else None, limit + 1, backwards)
    is_more, marks = len(marks) > limit, marks[:limit]
    total = cursor.count if cursor else count()
    if not marks:
        return Page([], total)
    if backwards:
        marks.reverse()
    first, last = marks[0], marks[-1]
    has_prev = is_more if backwards else cursor is not None and bool(take(first, 1, True))
    has_next = bool(take(last, 1, False)) if backwards else is_more
    return Page(
        [entity_id for _, entity_id in marks],
        total,
        next=Cursor(limit, total, *last) if has_next else None,
        prev=Cursor(limit, total, *first, backwards=True) if has_prev else None,
    )


def by_id(tx: Transaction, collection: str, descending: bool) -> ReadPositions:
    """Marks straight from the store, for collections in the order of their ids."""

    def take(mark: SortPosition | None, limit: int, backwards: bool) -> list[SortPosition]:
        ids = tx.ids(collection, mark[1] if mark else "", limit, backwards != descending) if collection else []
        return [(None, entity_id) for entity_id in ids]

    return take


def by_value(marks: Iterable[SortPosition], order: Sort) -> ReadPositions:
    """Marks of a collection that was read, in the order of an attribute."""
    sorted_marks = sorted(marks, key=_key)
    keys: list[Key] = [_key(mark) for mark in sorted_marks]

    def take(mark: SortPosition | None, limit: int, backwards: bool) -> list[SortPosition]:
        if backwards != order.descending:
            end = bisect.bisect_left(keys, _key(mark)) if mark else len(keys)
            return sorted_marks[max(0, end - limit) : end][::-1]
        start = bisect.bisect_right(keys, _key(mark)) if mark else 0
        return sorted_marks[start : start + limit]

    return take


def _key(mark: SortPosition) -> Key:
    return sort_key(*mark)

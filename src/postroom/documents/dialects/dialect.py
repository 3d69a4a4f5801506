"""What a dialect is: two plain functions between its documents and the 1.0-rc4 tree, and reasons for what is lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

Tree = dict[str, Any]


class Note(msgspec.Struct, frozen=True):
    """Something a reader understood differently from how it is written."""

    place: str
    sentence: str


class Loss(msgspec.Struct, frozen=True):
    """Something a dialect cannot carry: the place in the 1.0-rc4 tree, what is there, why it is lost."""

    place: str
    what: str
    why: str


class Dialect(msgspec.Struct, frozen=True):
    """One dialect. `shaped` gives the one form that is written, where several are read;
    `collections` pairs its collection names with those of 1.0-rc4; `reasons` are tried in order."""

    name: str
    title: str
    to_rc4: Callable[[Tree], tuple[Tree, list[Note]]]
    from_rc4: Callable[[Tree], Tree]
    shaped: Callable[[Tree], Tree] = lambda document: document
    collections: dict[str, str] = {}
    reasons: tuple[tuple[re.Pattern[str], str], ...] = ()

    def why(self, place: str) -> str:
        """Why the member of a tree at a place is lost in this dialect; empty where no rule names it."""
        return next((reason for pattern, reason in self.reasons if pattern.search(place)), "")


def reasons(*pairs: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    """The table of reasons, with the patterns of places compiled."""
    return tuple((re.compile(pattern), reason) for pattern, reason in pairs)

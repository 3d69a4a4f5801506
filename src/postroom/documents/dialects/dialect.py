"""Dialects: for each, functions between its documents and the 1.0-rc4 tree, and the reasons for what is lost."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from postroom.model.json_pointers import pointer

Tree = dict[str, Any]
SHOWN = 60


class ReadNote(msgspec.Struct, frozen=True):
    """Something a reader understood differently from how it is written."""

    place: str
    sentence: str


class Loss(msgspec.Struct, frozen=True):
    """Something a dialect cannot carry: the path to it in the 1.0-rc4 tree, the value there, why it is lost.

    A large catalog loses tens of thousands of members, of which people see a few: strings are made on demand.
    """

    steps: tuple[Any, ...]
    value: Any
    why: str

    @property
    def place(self) -> str:
        """The pointer to it."""
        return pointer(self.steps)

    @property
    def what(self) -> str:
        """What is there, shortened."""
        text = msgspec.json.encode(self.value).decode()
        return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"

    def report(self) -> dict[str, str]:
        """All of it for programs."""
        return {"place": self.place, "what": self.what, "why": self.why}


class Dialect(msgspec.Struct, frozen=True):
    """One dialect. `canonical` turns a document into the one form that is written, where several are read; `trim`
    takes from a tree what the dialect implies; `collections` pairs its collection names with those of 1.0-rc4;
    `entity_id` and `own_id` translate ids, to 1.0-rc4 and back; `reasons` are tried in order."""

    name: str
    title: str
    to_rc4: Callable[[Tree], tuple[Tree, list[ReadNote]]]
    from_rc4: Callable[[Tree], Tree]
    canonical: Callable[[Tree], Tree] = lambda document: document
    trim: Callable[[Tree], Tree] = lambda tree: tree
    collections: dict[str, str] = {}
    entity_id: Callable[[str], str] = str
    own_id: Callable[[str], str] = str
    reasons: tuple[tuple[re.Pattern[str], str], ...] = ()

    def why(self, place: str) -> str:
        """Why the member at a pointer is lost in this dialect; empty where no pattern matches."""
        return next((reason for pattern, reason in self.reasons if pattern.search(place)), "")


def reasons(*pairs: tuple[str, str]) -> tuple[tuple[re.Pattern[str], str], ...]:
    """The table of reasons, with the patterns of pointers compiled."""
    return tuple((re.compile(pattern), reason) for pattern, reason in pairs)

"""One HTTP request as a plain value, and the answer to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol
from urllib.parse import parse_qsl

import msgspec


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A request: nothing in it depends on the server that took it."""

    method: str
    path: str
    base: str
    query: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    actor: str = ""
    """Who asks, where a trusted proxy says so."""
    keeps_json: bool = False
    """Whether the answer has to hold a JSON value rather than its text, because somebody will translate it."""

    def header(self, name: str) -> str | None:
        """The first header of that (lower-case) name."""
        return next((value for key, value in self.headers if key == name), None)


class Piece(msgspec.Struct, frozen=True, kw_only=True):
    """A part of an answer that goes on."""

    data: bytes
    more: bool = False
    """Whether there is more to send at once."""
    ends: bool = False


class Stream(Protocol):
    """An answer that goes on; `pull` may take its time in a thread."""

    def pull(self) -> Piece:
        """What is to be sent now, perhaps nothing."""

    def beat(self) -> bytes:
        """What is sent when nothing happened for a while."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What goes back: a JSON value, or bytes."""

    status: int = 200
    headers: dict[str, str] = {}
    json: Any = msgspec.UNSET
    content: bytes = b""
    cacheable: bool = True
    """Whether the answer to a GET depends on nothing but the store's state."""
    stream: Stream | None = None
    """What follows the head, piece by piece, instead of a body."""
    pieces: Iterator[bytes] | None = None
    """The body, made while it is sent, instead of `content`; what it raises before the first piece is a problem."""
    after: Callable[[Answer], Answer] | None = None
    """What completes the answer once the transaction is over: fetching from elsewhere must not hold it."""


def parse_query(text: str) -> tuple[tuple[str, str], ...]:
    """The parameters of a query string, in order."""
    return tuple(parse_qsl(text, keep_blank_values=True))

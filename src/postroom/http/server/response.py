"""An HTTP response as a plain value: a whole body, a body in chunks, or a stream that goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import msgspec


class StreamChunk(msgspec.Struct, frozen=True, kw_only=True):
    """A part of an answer that goes on."""

    data: bytes
    more: bool = False
    """Whether there is more to send at once."""
    ends: bool = False


class Stream(Protocol):
    """An answer that goes on; `pull` may take its time in a thread."""

    def pull(self) -> StreamChunk:
        """What is to be sent now, perhaps nothing."""

    def beat(self) -> bytes:
        """What is sent when nothing happened for a while."""


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """What goes back: a JSON value, or bytes."""

    status: int = 200
    headers: dict[str, str] = {}
    json: Any = msgspec.UNSET
    content: bytes = b""
    cacheable: bool = True
    """Whether the answer to a GET depends on nothing but the store's state."""
    part: str = ""
    """The part of the registry that the answer depends on (`change_follower.part_of`); any, where it is empty."""
    root_link: bool = True
    """Whether it links to the root of the registry, as all answers of 1.0 do."""
    more_links: tuple[str, ...] = ()
    """Further links, each in a header of its own behind the others: many clients read the first one only."""
    cookies: tuple[str, ...] = ()
    """Cookies to set, each in a header of its own."""
    stream: Stream | None = None
    """What follows the head, piece by piece, instead of a body."""
    pieces: Iterator[bytes] | None = None
    """The body, made while it is sent, instead of `content`; what it raises before the first piece is a problem."""
    after: Callable[[Response], Response] | None = None
    """What completes the answer once the transaction is over: fetching from elsewhere must not hold it."""

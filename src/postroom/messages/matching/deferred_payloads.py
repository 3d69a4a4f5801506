"""Payloads that are left unread, to be checked together with others where nobody asks for their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from postroom.messages.matching.payload_decoders import Kept, Writers


class Unread(msgspec.Struct, frozen=True, gc=False):
    """A payload as it came."""

    body: bytes
    contenttype: str


class Unreader:
    """Takes the place of a decoder in the express lane."""

    def one(self, body: Any, contenttype: str) -> tuple[Any, bool] | None:
        """The payload, and True."""
        return _unread(body, contenttype), True

    def all(
        self, bodies: Sequence[Any], contenttypes: list[str], bad: set[int], writers: Writers, kept: Kept = None
    ) -> list[Any]:
        """The same for many; those in `bad` are passed over."""
        pairs = enumerate(zip(bodies, contenttypes, strict=True))
        return [None if place in bad else _unread(*pair) for place, pair in pairs]


def _unread(body: Any, contenttype: str) -> Unread:
    return Unread(body.encode() if type(body) is str else bytes(body), contenttype)

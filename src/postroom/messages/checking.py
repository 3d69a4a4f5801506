"""Checking: payloads of one definition that fit, for the express lane, where nobody asks for their values."""

from __future__ import annotations

from typing import Any

from postroom.formats.schema import CheckingSchema
from postroom.messages.express import Decoder


class CheckingDecoder:
    """Checks payloads together; those that come one by one, or are of different kinds, are decoded."""

    def __init__(self, schema: CheckingSchema, exact: Decoder) -> None:
        self._accepts_all = schema.accepts_all
        self._exact = exact

    def one(self, body: Any, contenttype: str) -> tuple[Any, bool] | None:
        """The value of a payload and True; None when it does not fit."""
        return self._exact.one(body, contenttype)

    def all(self, bodies: list[Any], contenttypes: list[str], bad: set[int]) -> list[Any]:
        """Nothing for each payload; the places of those in doubt are added to `bad`."""
        kinds = set(contenttypes)
        if len(kinds) != 1:
            return self._exact.all(bodies, contenttypes, bad)
        payloads = [b"" if place in bad else _bytes(body) for place, body in enumerate(bodies)]
        self._accepts_all(payloads, kinds.pop(), bad)
        return [None] * len(bodies)


def _bytes(body: Any) -> bytes:
    return body.encode() if type(body) is str else bytes(body)

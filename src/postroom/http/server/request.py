"""An HTTP request as a plain value."""

from __future__ import annotations

from urllib.parse import parse_qsl

import msgspec

from postroom.registry.permissions import UNRESTRICTED, Permissions


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request: nothing in it depends on the server that took it."""

    method: str
    path: str
    base: str
    query: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    actor: str = ""
    """Who asks, where a trusted proxy says so."""
    address: str = ""
    """Where the request came from, where access is on."""
    permissions: Permissions = UNRESTRICTED
    """What may be read and written; where access is off, everything."""
    id: str = ""
    """By which the request is found in the access log, where there is one."""
    keeps_json: bool = False
    """Whether the answer has to hold a JSON value rather than its text, because somebody will translate it."""

    def header(self, name: str) -> str | None:
        """The first header of that (lower-case) name."""
        return next((value for key, value in self.headers if key == name), None)


def parse_query(text: str) -> tuple[tuple[str, str], ...]:
    """The parameters of a query string, in order."""
    return tuple(parse_qsl(text, keep_blank_values=True))

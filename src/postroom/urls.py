"""URLs from outside, parsed and joined: what is no URL gives None instead of an exception."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urljoin, urlsplit, urlunsplit

import msgspec

STORE_SCHEMES = ("sqlite", "postgresql", "postgres")
"""The schemes of catalog sources that are stores."""
_HOST_AND_PORT = re.compile(r"(?:\[(?P<address>[^\[\]]*)\]|[^\[\]:]*)(?::[0-9]*)?\Z")


class Url(msgspec.Struct, frozen=True):
    """A URL in its parts."""

    scheme: str
    netloc: str
    """User, host and port as they were written."""
    host: str
    """In lower case, without the brackets of an address; empty where there is none."""
    port: int | None
    path: str
    query: str
    has_user: bool
    has_password: bool

    @property
    def host_and_port(self) -> str:
        """Host and port as they were written, without the user."""
        return self.netloc.rpartition("@")[2]


def parse_url(text: str) -> Url | None:
    """The parts of a URL; None when it has brackets that do not close, a port that is none, or the like."""
    try:
        parts = urlsplit(text)
        port = parts.port
        match = _HOST_AND_PORT.match(parts.netloc.rpartition("@")[2])
        if match is None:
            return None
        if match["address"] is not None:
            ipaddress.IPv6Address(match["address"])
    except ValueError:
        return None
    return Url(
        scheme=parts.scheme,
        netloc=parts.netloc,
        host=parts.hostname or "",
        port=port,
        path=parts.path,
        query=parts.query,
        has_user=parts.username is not None,
        has_password=parts.password is not None,
    )


def is_plain(text: str) -> bool:
    """Whether a URL has only characters that may be in one; anything else might be read in two ways."""
    return text.isascii() and text.isprintable() and not set(text) & set(' "<>\\^`{|}')


def join_url(base: str, reference: str) -> str | None:
    """A reference seen from a base; None when one of them is no URL."""
    try:
        return urljoin(base, reference)
    except ValueError:
        return None


def scheme_of(source: str) -> str:
    """The scheme of an address in lower case; empty for a path."""
    before, separator, _ = source.partition("://")
    return before.lower() if separator else ""


def masked(address: str) -> str:
    """An address without user and password, and without its query, which may hold a token."""
    parts = parse_url(address)
    if parts is None:
        scheme, separator, rest = address.partition("://")
        return scheme + separator + rest.rpartition("@")[2].partition("?")[0]
    if not parts.netloc:
        return address.partition("?")[0] if "://" in address else address
    return urlunsplit((parts.scheme, parts.host_and_port, parts.path, "", ""))

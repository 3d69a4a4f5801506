"""Request targets: whatever bytes a client put into its request line, as a path and a query of printable ASCII."""

from __future__ import annotations

import re

# Printable ASCII. A fragment has no place in a request, so its mark is a character like any other.
_UNUSUAL = re.compile(rb"[^!-\"$-~]")
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]")
_ABSOLUTE = re.compile(rb"https?://([^/?#]*)(.*)\Z", re.IGNORECASE | re.DOTALL)


def origin_form(target: bytes) -> tuple[bytes, bytes]:
    """The authority of an absolute target (otherwise nothing), and the path with its query.

    What is no printable ASCII is percent-encoded: bare UTF-8 means what it means when a client encodes it properly.
    """
    authority = b""
    if not target.startswith(b"/") and target != b"*":
        absolute = _ABSOLUTE.match(target)
        authority, rest = absolute.groups() if absolute else (b"", target)
        target = rest if rest.startswith(b"/") else b"/" + rest
    return authority, _UNUSUAL.sub(_encoded, target)


def with_encoded_line(data: bytes) -> bytes:
    """The beginning of a request with the bytes beyond ASCII in its first line encoded: parsers refuse them."""
    line, end, rest = data.partition(b"\n")
    return data if line.isascii() else _BEYOND_ASCII.sub(_encoded, line) + end + rest


def _encoded(found: re.Match[bytes]) -> bytes:
    return b"%%%02X" % found[0][0]

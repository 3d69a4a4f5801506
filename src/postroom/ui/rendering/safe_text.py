"""Text of users on pages: nothing in it is hidden, and none of its links does something else than lead to a page."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

LONGEST_TEXT = 20_000
"""More characters of one value are not shown on a page."""
HIDDEN = "\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff"
"""Marks that change the direction of text, or cannot be seen at all: ranges of characters."""
_HIDDEN = re.compile(f"[{HIDDEN}]")
_LINKED = frozenset({"http", "https"})


def visible(text: str) -> str:
    """A text of limited length in which nothing is hidden."""
    if len(text) > LONGEST_TEXT:
        text = f"{text[:LONGEST_TEXT]}…"
    return _HIDDEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text) if _HIDDEN.search(text) else text


def safe_link(url: object) -> str:
    """A URL that a page may link to; empty for one that would do something else than lead to a page."""
    if not isinstance(url, str) or len(url) > 2000:
        return ""
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return ""
    return url if parts.scheme.lower() in _LINKED and parts.netloc else ""

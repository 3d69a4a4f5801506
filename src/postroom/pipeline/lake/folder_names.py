"""Ids as folder names of a lake, and back."""

from __future__ import annotations

import hashlib
import re

_SPECIAL_IN_FOLDER = re.compile(r"[~:@%/\\\x00-\x1F\x7F]|^[_.]")
_ESCAPED = re.compile(r"~(?!7F)([2-7][0-9A-F])")

# File systems take 255 bytes, and `@n` may follow.
LONGEST = 240


def folder_of(identifier: str) -> str:
    """An id as a folder name: `~`, `:`, `@`, `%` and a leading `_` or `.` become `~XX`; nothing is percent-encoded.

    Ids that a registry would not take have folders as well: control characters and slashes are written so too, and of a
    name that is too long the digest of the id takes the end.
    """
    name = _SPECIAL_IN_FOLDER.sub(lambda found: f"~{ord(found[0]):02X}", identifier) or "~"
    if len(name.encode()) <= LONGEST:
        return name
    end = f"~.{hashlib.sha256(identifier.encode()).hexdigest()[:16]}"
    return name.encode()[: LONGEST - len(end)].decode(errors="ignore") + end


def id_of(folder: str) -> str:
    """The id that a folder name stands for, as a name in SQL, where control characters stay as they are written."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), folder)

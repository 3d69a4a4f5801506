"""Ids as folder names of a lake, and back."""

from __future__ import annotations

import re

_SPECIAL_IN_FOLDER = re.compile(r"[~:@%/\\]|^[_.]")
_ESCAPED = re.compile(r"~([0-9A-F]{2})")


def folder_of(identifier: str) -> str:
    """An id as a folder name: `~`, `:`, `@`, `%` and a leading `_` or `.` become `~XX`; nothing is percent-encoded."""
    return _SPECIAL_IN_FOLDER.sub(lambda found: f"~{ord(found[0]):02X}", identifier)


def id_of(folder: str) -> str:
    """The id that a folder name stands for."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), folder)

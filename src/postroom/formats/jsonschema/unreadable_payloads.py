"""Payloads that are not JSON, or too deep, with the reason."""

from __future__ import annotations

import codecs
from collections.abc import Iterable
from typing import Any

from postroom.formats.jsonschema.violations import first_line
from postroom.formats.schema import Violation

# Later readers of a value recurse, from a deeper stack than ours.
DEEPEST = 400
# So short that it cannot be deep; asked before every payload is looked through.
SHALLOW = 2 * DEEPEST
TOO_DEEP = Violation("", "payload_too_deep", f"JSON of at most {DEEPEST} levels", "JSON nested deeper")
_MARKS = (
    (codecs.BOM_UTF8, "text with a byte order mark, which JSON forbids"),
    (codecs.BOM_UTF16_LE, "UTF-16 text, not UTF-8"),
    (codecs.BOM_UTF16_BE, "UTF-16 text, not UTF-8"),
)


def unreadable(payload: bytes, error: Exception) -> Violation:
    """Why a payload could not be decoded."""
    if isinstance(error, RecursionError):
        return TOO_DEEP
    if "out of range" in str(error):
        # Valid JSON, but no double, or an integer of more than 4,300 digits.
        return Violation("", "payload_out_of_range", "JSON with numbers that can be held", first_line(error))
    return Violation("", "payload_not_json", "JSON", _reason(payload, error))


def is_text(payload: bytes) -> bool:
    """Whether a payload is UTF-8, also where decoders skip parts of it."""
    if payload.isascii():
        return True
    try:
        payload.decode()
    except UnicodeDecodeError:
        return False
    return True


def may_be_deep(payload: bytes) -> bool:
    """Whether a payload has enough brackets to be too deep: a quick look before `deeper`."""
    return payload.count(b"{") + payload.count(b"[") > DEEPEST


def deeper(value: Any) -> bool:
    """Whether a value is nested deeper than we accept."""
    level = [value]
    for _ in range(DEEPEST):
        level = inside(level)
        if not level:
            return False
    return True


def inside(level: list[Any]) -> list[Any]:
    """The objects and lists that are directly in some values."""
    return [item for node in level for item in _items(node) if isinstance(item, list | dict)]


def _items(node: Any) -> Iterable[Any]:
    return node if isinstance(node, list) else node.values() if isinstance(node, dict) else ()


def _reason(payload: bytes, error: Exception) -> str:
    if not payload.strip():
        return "nothing"
    for mark, reason in _MARKS:
        if payload.startswith(mark):
            return reason
    # UTF-16 without a mark: every other byte of ASCII text is zero.
    return "UTF-16 text, not UTF-8" if b"\0" in payload[:2] else first_line(error)

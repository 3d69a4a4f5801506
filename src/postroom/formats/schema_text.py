"""Loads schema documents that are given as a JSON value, text, or bytes."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from postroom.errors import SchemaRefused


def load_json(document: Any) -> Any:
    """The JSON value of a document that may be text or bytes; SchemaRefused, with line and column, for other text."""
    if not isinstance(document, str | bytes):
        return document
    try:
        return msgspec.json.decode(document)
    except RecursionError:
        raise SchemaRefused("the document is nested too deeply.") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SchemaRefused(f"this is not JSON: {_sentence(error)}.", place=_line_and_column(document)) from None


def load_text(document: Any) -> str:
    """The text of a document; a JSON value is not a text."""
    if isinstance(document, str):
        return document
    if not isinstance(document, bytes):
        raise SchemaRefused("the document is a JSON value where the format asks for text.")
    try:
        return document.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SchemaRefused(
            f"the document is not UTF-8 text: byte {error.start} is {document[error.start]:#04x}."
        ) from None


def _sentence(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".")


def _line_and_column(document: str | bytes) -> str:
    # msgspec names a byte offset at best; the standard parser, used on this path only, knows lines.
    try:
        json.loads(document)
    except json.JSONDecodeError as error:
        return f"{error.lineno}:{error.colno}"
    except (UnicodeDecodeError, RecursionError, ValueError):
        return ""
    return ""

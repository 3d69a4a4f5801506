"""Shows values in error messages: as JSON, shortened."""

from __future__ import annotations

from typing import Any

import msgspec

LONGEST = 200
_MOST_MEMBERS = 40


def shorten(text: str) -> str:
    """Cut a long string."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def show_value(value: Any) -> str:
    """A value as JSON; the type of one that is large, or has no JSON form."""
    if isinstance(value, str):
        value = value[: LONGEST + 1]
    elif isinstance(value, list) and len(value) > _MOST_MEMBERS:
        return f"a list of {len(value)} items"
    elif isinstance(value, dict) and len(value) > _MOST_MEMBERS:
        return f"an object of {len(value)} members"
    try:
        return shorten(msgspec.json.encode(value, enc_hook=str).decode())
    except (TypeError, ValueError, OverflowError):  # texts with lone surrogates, for example
        return f"some {type(value).__name__}"
    except RecursionError:
        return "a value nested very deeply"

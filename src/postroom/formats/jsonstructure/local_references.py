"""References inside a document: JSON pointers as URI fragments."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from postroom.errors import SchemaRefused


def steps(reference: Any, at: str) -> list[str]:
    """The steps of a reference like `#/definitions/Order`; SchemaRefused for one that leaves the document."""
    if not isinstance(reference, str):
        raise SchemaRefused("a reference is text like #/definitions/Order.", place=at)
    if reference in ("#", "#/"):
        return []
    if not reference.startswith("#/"):
        raise SchemaRefused(
            f"the reference {reference[:200]!r} does not stay in the document.",
            place=at,
            remedy="References look like #/definitions/Order; $import brings in other documents.",
        )
    return [unquote(step).replace("~1", "/").replace("~0", "~") for step in reference[2:].split("/")]


def follow(document: dict[str, Any], path: list[str], at: str) -> dict[str, Any]:
    """What the steps lead to; SchemaRefused when that is nothing or no object."""
    found: Any = document
    for step in path:
        found = found.get(step) if isinstance(found, dict) else None
    if not isinstance(found, dict):
        raise SchemaRefused(f"nothing stands at #/{'/'.join(path)} of the document.", place=at)
    return found

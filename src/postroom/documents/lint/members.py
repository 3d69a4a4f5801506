"""Reading members of objects whose shape nobody vouches for."""

from __future__ import annotations

from typing import Any

from postroom.messages.definitions.catalog_tree import Tree


def text(holder: Any, name: str) -> str:
    """A member that is a text; anything else counts as absent."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, str) else ""


def section(holder: Any, name: str) -> Tree:
    """A member that is an object; anything else counts as empty."""
    value = holder.get(name) if isinstance(holder, dict) else None
    return value if isinstance(value, dict) else {}

"""References that a schema states: names that its document uses for other schemas, each with the path that is meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

References = tuple[tuple[str, str], ...]


def stated_references(version: Mapping[str, Any]) -> References:
    """The names and paths in the attribute `references` of a Version."""
    given = version.get("references")
    entries = [one for one in given if isinstance(one, dict)] if isinstance(given, list) else []
    named = [(one.get("name"), one.get("xid")) for one in entries]
    return tuple((name, xid) for name, xid in named if isinstance(name, str) and isinstance(xid, str))

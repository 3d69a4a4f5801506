"""Changes between two catalogs: where, what happened, whom it breaks, and why."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Impact = Literal["editorial", "compatible", "breaking for consumers", "breaking for producers", "breaking for both"]
Action = Literal["added", "removed", "changed"]

NOTHING: Any = object()
BOTH: Impact = "breaking for both"
CONSUMERS: Impact = "breaking for consumers"
PRODUCERS: Impact = "breaking for producers"


class CatalogChange(msgspec.Struct, frozen=True):
    """One change. Consumers are broken by messages they do not expect, producers by demands they do not meet."""

    place: str
    change: Action
    kind: Impact
    reason: str

    @property
    def breaks(self) -> bool:
        """Whether somebody has to do something."""
        return self.kind.startswith("breaking")


def action(before: Any, after: Any) -> Action:
    """What happened to a member, NOTHING standing for one that is not there."""
    return "added" if before is NOTHING else "removed" if after is NOTHING else "changed"


def entity_change(place: str, noun: str, gone: bool) -> CatalogChange:
    """An entity that one of the catalogs does not have."""
    if gone:
        return CatalogChange(place, "removed", BOTH, f"the {noun} is not there any more.")
    return CatalogChange(place, "added", "compatible", f"a new {noun}.")

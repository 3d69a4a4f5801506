"""Changes: where, what happened, whom it breaks, and why."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Kind = Literal["editorial", "compatible", "breaking for consumers", "breaking for producers", "breaking for both"]
What = Literal["added", "removed", "changed"]

NOTHING: Any = object()
BOTH: Kind = "breaking for both"
CONSUMERS: Kind = "breaking for consumers"
PRODUCERS: Kind = "breaking for producers"


class Change(msgspec.Struct, frozen=True):
    """One change. Consumers are broken by messages they do not expect, producers by demands they do not meet."""

    place: str
    change: What
    kind: Kind
    reason: str

    @property
    def breaks(self) -> bool:
        """Whether somebody has to do something."""
        return self.kind.startswith("breaking")


def what(before: Any, after: Any) -> What:
    """What happened to a member, NOTHING standing for one that is not there."""
    return "added" if before is NOTHING else "removed" if after is NOTHING else "changed"


def come_or_gone(place: str, noun: str, gone: bool) -> Change:
    """An entity that one of the catalogs does not have."""
    if gone:
        return Change(place, "removed", BOTH, f"the {noun} is not there any more.")
    return Change(place, "added", "compatible", f"a new {noun}.")

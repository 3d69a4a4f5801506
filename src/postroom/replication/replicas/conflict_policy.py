"""The conflict policy for a unit that two catalogs have: authority decides, then how new it is.

| here | coming in | what happens |
|---|---|---|
| was written here | anything | ours stays; another home's claim is a collision |
| came from elsewhere | from the same home, newer, or from the home itself | it is taken |
| came from elsewhere | from the same home, older, on a longer way | ours stays |
| came from elsewhere | from another home | ours stays; a collision |
| came from elsewhere, edited or deleted here | as it came before | taken again, or kept as a flagged divergence |
| was deleted | no newer than what was deleted | it stays away, unless the home itself has it |
| nothing | written here once | it was deleted here, and stays away |
"""

from __future__ import annotations

from typing import Literal

import msgspec

from postroom.replication.replicas.origins import UnitOrigin
from postroom.replication.replicas.replica_unit import Stamp, UnitEntry

Decision = Literal["take", "same", "ours", "older", "collision", "edited"]


class ConflictPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """How one link decides."""

    adopts: bool = False
    """Whether what was written here yields, too: for a catalog that becomes a replica, or is to be restored."""
    keeps_edits: bool = False
    """Whether an edit of a foreign unit stays until its home changes it; otherwise it is undone."""


def decide(incoming: UnitEntry, local: str, origin: UnitOrigin | None, here: str, policy: ConflictPolicy) -> Decision:
    """What becomes of a unit that comes in; `local` is the digest of what is here, empty for nothing."""
    if origin is not None and not origin.deleted:
        return _replica(incoming, local, origin, policy)
    if policy.adopts:
        return "take"
    if incoming.home == here:
        return "same" if local == incoming.digest else "ours"
    if local:
        return "same" if local == incoming.digest else "collision"
    if origin is None or origin.home != incoming.home or not incoming.imported:
        return "take"
    return "take" if incoming.stamp > origin.stamp else "older"


def _replica(incoming: UnitEntry, local: str, origin: UnitOrigin, policy: ConflictPolicy) -> Decision:
    if incoming.home != origin.home:
        return "same" if incoming.digest == local else "collision"
    is_edited = local != origin.local
    if incoming.digest == origin.digest:
        return "same" if not is_edited else "edited" if policy.keeps_edits else "take"
    if incoming.imported and incoming.stamp <= origin.stamp:
        return "older"
    return "take"


def decide_gone(origin: UnitOrigin | None, local: str, link: str, policy: ConflictPolicy) -> Decision:
    """What becomes of a unit that is not at the source any more: it goes if it came from there by this link."""
    if origin is None or origin.deleted or origin.link != link:
        return "ours"
    return "edited" if policy.keeps_edits and local != origin.local else "take"


def stamp_after(incoming: UnitEntry, origin: UnitOrigin | None) -> Stamp:
    """The stamp of what was taken: a home that went back in time outdoes what it had before."""
    if origin is None or incoming.stamp > origin.stamp:
        return incoming.stamp
    is_later = incoming.stamp.time > origin.stamp.time
    return Stamp(origin.stamp.generation + (0 if is_later else 1), incoming.stamp.time)

"""Verification and status of a link: digests of Groups are compared, and those of units only where they differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from postroom.replication.replicas.link import Link, LinkState, read_state
from postroom.replication.replicas.peers.peer import UNKNOWN, Overview, ReplicaSource, ReplicaTarget
from postroom.replication.replicas.pull import portions
from postroom.replication.replicas.replica_unit import UnitEntry, group_xid
from postroom.replication.replicas.scope import LinkScope


class UnitDifference(msgspec.Struct, frozen=True):
    """A unit that is not the same on both sides."""

    xid: str
    why: str
    """`missing`, `different`, `edited` (at the target, by somebody else than its home), or `surplus`."""


class GroupStatus(msgspec.Struct, frozen=True):
    """A Group whose content differs in any way, also where it may."""

    xid: str
    source: int
    target: int


class LinkReport(msgspec.Struct, kw_only=True):
    """How far a link is."""

    link: str
    source: str
    target: str
    state: LinkState
    pending: int | None = None
    """How many changes the source has that the target has not seen; None when that is not known."""
    units: int = 0
    differing: list[GroupStatus] = []
    uncompared: list[str] = []
    """Groups of which a side has no digest: to say whether they differ, they have to be read."""

    def document(self) -> dict[str, Any]:
        """The status as JSON."""
        return {
            "link": self.link,
            "source": self.source,
            "target": self.target,
            "at": self.state.at or None,
            "cursor": self.state.cursor or None,
            "pending": self.pending,
            "units": self.units,
            "resyncs": self.state.resyncs,
            "refused": self.state.refused,
            "kept": self.state.kept,
            "differing": [msgspec.to_builtins(one) for one in self.differing],
            "uncompared": self.uncompared,
        }


def differences(source: ReplicaSource, target: ReplicaTarget, link: Link) -> Iterator[UnitDifference]:
    """What differs, Group by Group; nothing is read of Groups that have the same digest on both sides."""
    there, here = _overview(source, link.scope), _overview(target, LinkScope())
    scope, state = link.scope, read_state(target.state(link.id))
    groups = [xid for xid in _groups(there, here, scope) if not _is_in_step(xid, there, here, scope, state)]
    for some in portions(groups, there.groups):
        theirs = {xid: one for xid, one in source.entries(some).items() if scope.covers(xid)}
        target_groups = dict.fromkeys(
            [*map(scope.to_target, some), *(group_xid(scope.to_target(xid)) for xid in theirs)]
        )
        ours = target.entries(list(target_groups))
        yield from _differing(theirs, ours, link, set(some))


def status_of(source: ReplicaSource, target: ReplicaTarget, link: Link) -> LinkReport:
    """How far a link is."""
    there, here = _overview(source, link.scope), _overview(target, LinkScope())
    state = read_state(target.state(link.id))
    status = LinkReport(link=link.id, source=source.name, target=target.name, state=state)
    pending = source.changes(state.cursor, link.scope, 0) if state.cursor else None
    status.pending = pending.count if pending is not None else None
    for xid in _groups(there, here, link.scope):
        theirs, ours = there.groups.get(xid), here.groups.get(link.scope.to_target(xid))
        status.units += max(theirs.count, 0) if theirs else 0
        if UNKNOWN in (theirs, ours) and theirs is not None and ours is not None:
            status.uncompared.append(xid)
        elif theirs is None or ours is None or theirs.digest != ours.digest:
            status.differing.append(GroupStatus(xid, theirs.count if theirs else 0, ours.count if ours else 0))
    return status


def _differing(
    theirs: dict[str, UnitEntry], ours: dict[str, UnitEntry], link: Link, groups: set[str]
) -> Iterator[UnitDifference]:
    for xid, entry in theirs.items():
        local = ours.get(link.scope.to_target(xid))
        if local is None:
            yield UnitDifference(xid, "missing")
        elif not link.scope.is_only_container(xid) and entry.digest not in (local.digest, local.taken):
            is_edited = local.imported and not local.taken and local.home == entry.home
            yield UnitDifference(xid, "edited" if is_edited else "different")
    for xid, entry in ours.items():
        source = link.scope.to_source(xid)
        is_gone = source not in theirs and group_xid(source) in groups and not link.scope.is_only_container(source)
        if is_gone and entry.link == link.id:
            yield UnitDifference(xid, "surplus")


def _overview(side: ReplicaSource, scope: LinkScope) -> Overview:
    found = side.overview(scope)
    return found if found is not None else Overview(home="", authority="")


def _groups(there: Overview, here: Overview, scope: LinkScope) -> list[str]:
    back = (scope.to_source(xid) for xid in here.groups)
    return list(dict.fromkeys((*there.groups, *(xid for xid in back if scope.covers(xid)))))


def _is_in_step(xid: str, there: Overview, here: Overview, scope: LinkScope, state: LinkState) -> bool:
    theirs, ours = there.groups.get(xid), here.groups.get(scope.to_target(xid))
    if theirs is not None and ours is not None and theirs.digest and theirs.digest == ours.digest:
        return True
    return state.groups.get(xid) == (theirs.digest if theirs else "", ours.digest if ours else "")

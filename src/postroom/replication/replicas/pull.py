"""Pulling units from a source: all that differ by their digests, or those that are known to have changed.

Units are taken in batches. Each batch is taken whole or not at all, the last one together with the link's state; a
process that dies in between leaves a target that the next pull completes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from postroom.errors import SourceChanged
from postroom.registry.write.unit_of_work import timestamp
from postroom.replication.replicas.apply_units import BatchResult, ReplicaBatch
from postroom.replication.replicas.digests import GroupDigest, root_digest
from postroom.replication.replicas.link import Link, LinkState, read_state
from postroom.replication.replicas.peers.peer import Overview, ReplicaSource, ReplicaTarget
from postroom.replication.replicas.replica_unit import Unit, UnitEntry, group_xid
from postroom.replication.replicas.scope import LinkScope

BATCH_UNITS = 500
BATCH_BYTES = 6_000_000
LISTED_AT_ONCE = 5000


class PullReport(msgspec.Struct, kw_only=True):
    """What a pull did."""

    outcome: BatchResult = msgspec.field(default_factory=BatchResult)
    unchanged: bool = False
    requests: int = 0
    state: LinkState = msgspec.field(default_factory=LinkState)


class Pull:
    """One pull over one link; who knows its state need not ask the target for it."""

    def __init__(
        self, source: ReplicaSource, target: ReplicaTarget, link: Link, state: LinkState | None = None
    ) -> None:
        self.source = source
        self.target = target
        self.link = link
        self.scope: LinkScope = link.scope
        self.report = PullReport(state=state or read_state(target.state(link.id)))
        self._batch = _BatchBuilder(self)
        self._here = ""

    @property
    def state(self) -> LinkState:
        """How far the link is."""
        return self.report.state

    def by_difference(self) -> PullReport:
        """Take over everything that differs."""
        began = self.source.requests
        here = self._overview(self.target)
        self._here = here.home
        there = self.source.overview(self.scope, self.state.digest if self._is_as_it_was(here) else "")
        if there is None:
            self.report.unchanged = True
        else:
            self._check_home(there)
            self._compare(there, here)
        self.report.requests = self.source.requests - began
        return self.report

    def by_xids(self, xids: Iterable[str], cursor: str, home: str = "") -> PullReport:
        """Take over some units of which it is known that they changed; not those whose home the target itself is."""
        began = self.source.requests
        wanted = [xid for xid in dict.fromkeys(xids) if self.scope.covers(xid)]
        wanted = self._without_containers(wanted)
        found = set()
        for unit in self._units(wanted):
            found.add(unit.xid)
            if not home or unit.entry.home != home or self.link.policy.adopts:
                self._batch.add(unit)
        self._batch.drop(self.scope.to_target(xid) for xid in wanted if xid not in found)
        self.state.cursor, self.state.at = cursor, timestamp()
        self.state.groups = {}  # what belonged together has changed, and a state that is written often has to be small
        self._batch.flush(self.state)
        if self.report.outcome.kept or self.report.outcome.refused:
            self._batch.flush(self.state)
        self.report.requests = self.source.requests - began
        return self.report

    def _units(self, wanted: list[str]) -> Iterator[Unit]:
        """Units of the source, and none that nobody asked for."""
        asked = set(wanted)
        return (unit for unit in self.source.units(wanted) if unit.xid in asked)

    def _without_containers(self, wanted: list[str]) -> list[str]:
        containers = [xid for xid in wanted if self.scope.is_only_container(xid)]
        present = self.target.entries([self.scope.to_target(xid) for xid in containers]) if containers else {}
        return [xid for xid in wanted if xid not in containers or self.scope.to_target(xid) not in present]

    def _overview(self, side: ReplicaSource) -> Overview:
        found = side.overview(LinkScope())
        return found if found is not None else Overview(home="", authority="")

    def _is_as_it_was(self, here: Overview) -> bool:
        if (self.state.kept or self.state.refused) and not all(one.digest for one in here.groups.values()):
            return False  # the target cannot tell whether it would take now what it did not take then
        return bool(self.state.mine) and self.state.mine == fingerprint(here) and not self.link.policy.adopts

    def _check_home(self, there: Overview) -> None:
        if self.state.home and self.state.home != there.home:
            raise SourceChanged(
                f"this was the registry {self.state.home} and is now {there.home}.",
                place=self.source.name,
                remedy="Remove the link and make it anew if that is right; nothing was changed.",
            )
        self.state.home, self.state.source = there.home, self.source.name

    def _compare(self, there: Overview, here: Overview) -> None:
        theirs, ours = there.groups, here.groups
        groups = dict.fromkeys((*theirs, *(self.scope.to_source(xid) for xid in ours if self._is_ours(xid))))
        self.state.kept, self.state.refused, self.state.left_out = {}, {}, 0
        for some in portions([xid for xid in groups if not self._is_in_step(xid, theirs, ours)], theirs):
            self._compare_groups(some)
        self._batch.flush(None)
        self._retry()
        here = self._overview(self.target)
        self.state.groups = self._pairs(groups, theirs, here.groups)
        self.state.digest, self.state.cursor, self.state.mine = there.digest, there.cursor, fingerprint(here)
        self.state.at = timestamp()
        self._batch.flush(self.state)

    def _retry(self) -> None:
        """Try again what was refused, as long as that helps: it may have missed something that came after it."""
        outcome = self.report.outcome
        while outcome.refused:
            before, outcome.refused, self.state.refused, self.state.left_out = outcome.refused, {}, {}, 0
            for unit in self._units([self.scope.to_source(xid) for xid in before]):
                self._batch.add(unit)
            self._batch.flush(None)
            if len(outcome.refused) >= len(before):
                return

    def _is_ours(self, xid: str) -> bool:
        """Whether a Group of the target may hold what came by this link."""
        return self.scope.covers(self.scope.to_source(xid))

    def _is_in_step(self, xid: str, theirs: dict[str, GroupDigest], ours: dict[str, GroupDigest]) -> bool:
        if not self.state.at:
            return False  # a new link looks at everything once, also to see what came by others
        pair = self._pair(xid, theirs, ours)
        is_settled = self.state.groups.get(xid) == pair and not self.link.policy.adopts
        return is_settled or pair[0] == pair[1] != ""

    def _pair(self, xid: str, theirs: dict[str, GroupDigest], ours: dict[str, GroupDigest]) -> tuple[str, str]:
        source, target = theirs.get(xid), ours.get(self.scope.to_target(xid))
        if source is not None and not source.digest:
            return "?", target.digest if target else ""
        return source.digest if source else "", target.digest if target else ""

    def _pairs(
        self, groups: Iterable[str], theirs: dict[str, GroupDigest], ours: dict[str, GroupDigest]
    ) -> dict[str, tuple[str, str]]:
        """What belongs together; a Group in which something was refused or kept is looked at again."""
        if self.state.left_out:
            return {}
        open_cases = {self.scope.to_source(group_xid(xid)) for xid in (*self.state.kept, *self.state.refused)}
        found = {xid: self._pair(xid, theirs, ours) for xid in groups if xid not in open_cases}
        return {xid: pair for xid, pair in found.items() if pair[0] != pair[1] and pair[0] != "?"}

    def _compare_groups(self, groups: Sequence[str]) -> None:
        theirs = {xid: one for xid, one in self.source.entries(groups).items() if self.scope.covers(xid)}
        target_groups = dict.fromkeys(
            [*map(self.scope.to_target, groups), *(group_xid(self.scope.to_target(xid)) for xid in theirs)]
        )
        ours = self.target.entries(list(target_groups))
        wanted = [xid for xid, entry in theirs.items() if self._is_wanted(xid, entry, ours)]
        wanted = [xid for xid in wanted if not self._is_echo(theirs[xid])]
        self._batch.drop(self._gone(theirs, ours, groups))
        self._batch.claim(self._claims(theirs, ours))
        for unit in self._units(wanted):
            self._batch.add(unit)

    def _is_wanted(self, xid: str, entry: UnitEntry, ours: dict[str, UnitEntry]) -> bool:
        local = ours.get(self.scope.to_target(xid))
        if local is None:
            return True
        if self.scope.is_only_container(xid):
            return False
        return entry.digest != (local.taken or local.digest)

    def _claims(self, theirs: dict[str, UnitEntry], ours: dict[str, UnitEntry]) -> dict[str, bool]:
        """What is here already by another link: by whatever link it came, it has to go when its home drops it."""
        claims = {}
        for xid, entry in theirs.items():
            local = ours.get(self.scope.to_target(xid))
            if local is None or not local.imported or local.link == self.link.id or local.home != entry.home:
                continue
            if entry.digest == (local.taken or local.digest):
                claims[self.scope.to_target(xid)] = not entry.imported
        return claims

    def _is_echo(self, entry: UnitEntry) -> bool:
        """Whether a unit has its home at the target: what the source has of it is never news."""
        return entry.imported and entry.home == self._here and not self.link.policy.adopts

    def _gone(self, theirs: dict[str, UnitEntry], ours: dict[str, UnitEntry], groups: Sequence[str]) -> Iterator[str]:
        for xid, entry in ours.items():
            source = self.scope.to_source(xid)
            if entry.link != self.link.id or source in theirs or group_xid(source) not in groups:
                continue
            if not self.scope.is_only_container(source):
                yield xid


class _BatchBuilder:
    """A batch that is applied when it is full."""

    def __init__(self, pull: Pull) -> None:
        self._pull = pull
        self._units: list[Unit] = []
        self._gone: list[str] = []
        self._claims: dict[str, bool] = {}
        self._size = 0

    def add(self, unit: Unit) -> None:
        """Add a unit, called as it is at the source."""
        renamed = self._pull.scope.renamed(unit)
        size = len(msgspec.json.encode(renamed))
        if self._units and (len(self._units) >= BATCH_UNITS or self._size + size > BATCH_BYTES):
            self.flush(None)
        self._size += size
        self._units.append(renamed)

    def drop(self, xids: Iterable[str]) -> None:
        """Add units that are gone, called as they are at the target."""
        for xid in xids:
            self._gone.append(xid)
            if len(self._gone) >= BATCH_UNITS:
                self.flush(None)

    def claim(self, claims: dict[str, bool]) -> None:
        """Add units that are here already."""
        self._claims |= claims

    def flush(self, state: LinkState | None) -> None:
        """Apply what is there, and keep the state."""
        if not (self._units or self._gone or self._claims or state):
            return
        batch = ReplicaBatch(
            link=self._pull.link.id,
            units=tuple(self._units),
            gone=tuple(self._gone),
            claims=self._claims,
            policy=self._pull.link.policy,
            state=msgspec.json.encode(state).decode() if state else "",
        )
        self._units, self._gone, self._claims, self._size = [], [], {}, 0
        outcome = self._pull.target.apply(batch)
        self._pull.report.outcome.add(outcome)
        self._pull.state.note(outcome)


def fingerprint(overview: Overview) -> str:
    """Of a target: another one means that it may need, or take, something else than before."""
    return f"{root_digest(overview.groups)}.{overview.rules}"


def portions(groups: Sequence[str], sizes: dict[str, GroupDigest]) -> Iterator[list[str]]:
    """Groups to be listed together: as many as one answer can hold; one at a time where nobody knows how large."""
    portion: list[str] = []
    total = 0
    for xid in groups:
        count = sizes[xid].count if xid in sizes else 1
        if portion and (count < 0 or total + count > LISTED_AT_ONCE):
            yield portion
            portion, total = [], 0
        portion.append(xid)
        total += LISTED_AT_ONCE if count < 0 else count
    if portion:
        yield portion

"""The interface of the endpoints of a link: sources and targets of units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import msgspec

from postroom.replication.replicas.apply_units import BatchResult, ReplicaBatch
from postroom.replication.replicas.digests import GroupDigest
from postroom.replication.replicas.replica_unit import Unit, UnitEntry
from postroom.replication.replicas.scope import LinkScope

UNKNOWN = GroupDigest("", -1)
"""Stands for a Group of a side that has no digests: it has to be read to be compared."""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """What a side has, in short."""

    home: str
    """The id of its registry."""
    authority: str
    """Who is responsible for what was written there and says nothing else."""
    digest: str = ""
    """Of everything in the scope; empty when the side has no digests."""
    cursor: str = ""
    """The cursor at the end of its change log; empty when it has none to offer."""
    rules: str = ""
    """Another value means that it may take what it refused before."""
    groups: dict[str, GroupDigest] = {}


class ChangedUnits(msgspec.Struct, frozen=True, kw_only=True):
    """What changed after a cursor."""

    xids: tuple[str, ...]
    cursor: str
    count: int = 0


class ReplicaSource(Protocol):
    """Where units come from."""

    name: str
    """Its address without secrets."""

    @property
    def requests(self) -> int:
        """How many requests it took so far."""

    def overview(self, scope: LinkScope, known: str = "") -> Overview | None:
        """What it has; None when that is what has the known digest."""

    def entries(self, groups: Sequence[str]) -> dict[str, UnitEntry]:
        """The entries of some Groups and of what is in them."""

    def units(self, xids: Sequence[str]) -> Iterator[Unit]:
        """Some units; those that are gone are left out."""

    def changes(self, after: str, scope: LinkScope, wait: float) -> ChangedUnits | None:
        """The units that changed after a cursor, waiting a while for some; None when it does not know."""

    def close(self) -> None:
        """Give back what is open."""


class ReplicaTarget(ReplicaSource, Protocol):
    """Where units go."""

    def state(self, link: str) -> bytes:
        """What was kept for a link; empty when nothing was."""

    def apply(self, batch: ReplicaBatch) -> BatchResult:
        """Take a batch in; its state is kept with it."""

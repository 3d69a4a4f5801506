"""Links between two catalogs, and the state of each."""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

from postroom.replication.replicas.apply_units import BatchResult
from postroom.replication.replicas.conflict_policy import ConflictPolicy
from postroom.replication.replicas.scope import LinkScope

Mode = Literal["pull", "push", "follow"]
MOST_NAMED = 100
"""So many xids are kept by name in a state; the rest is only counted."""


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """One direction between two catalogs."""

    id: str
    scope: LinkScope = LinkScope()
    policy: ConflictPolicy = ConflictPolicy()


class LinkState(msgspec.Struct, kw_only=True, omit_defaults=True):
    """How far a link is. It is kept at the target, in the transaction that brings the units."""

    home: str = ""
    """The registry at the source: another one at the same address is a mistake until somebody says otherwise."""
    source: str = ""
    digest: str = ""
    """Of the source when everything had been taken."""
    mine: str = ""
    """Of the target at that time."""
    cursor: str = ""
    groups: dict[str, tuple[str, str]] = {}
    """Digests of Groups at the source and here that belong together although they differ."""
    at: str = ""
    """When the source was last seen to be fully here."""
    resyncs: int = 0
    """How often the change log of the source did not reach back far enough."""
    kept: dict[str, str] = {}
    refused: dict[str, str] = {}
    left_out: int = 0
    """How many more there are that are kept or refused."""

    def note(self, outcome: BatchResult) -> None:
        """Note what somebody should know of what became of a batch."""
        for xid in (*outcome.taken, *outcome.deleted):
            self.kept.pop(xid, None)
            self.refused.pop(xid, None)
        self._name(self.kept, {xid: decision for xid, decision in outcome.kept.items() if decision in REPORTED})
        self._name(self.refused, outcome.refused)

    def _name(self, names: dict[str, str], found: dict[str, str]) -> None:
        for xid, why in found.items():
            if xid in names or len(names) < MOST_NAMED:
                names[xid] = why
            else:
                self.left_out += 1


REPORTED = frozenset({"collision", "edited"})
"""What somebody should know of; that an older copy is passed over is nothing special."""


def link_id(source: str, target: str, scope: LinkScope) -> str:
    """The id of a link that nobody gave a name: the same for the same ends and the same scope."""
    text = msgspec.json.encode([source, target, scope])
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def read_state(stored: bytes) -> LinkState:
    """A state as it was kept; one that cannot be read is as good as none."""
    try:
        return msgspec.json.decode(stored, type=LinkState) if stored else LinkState()
    except msgspec.DecodeError:
        return LinkState()

"""What one principal may do where: roles on prefixes of xids. Transactions and units of work hold requests to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

import msgspec

from postroom.model.names import is_entity_id
from postroom.registry.problems import RegistryProblem

ROOT = "/"
ANONYMOUS = "anonymous"
"""The principal of requests without credentials."""
METRICS = "/-/metrics"
"""What somebody may read who reads the numbers of the service and nothing else: a prefix that is no entity's."""
LAKE = "/-/lake"
"""What somebody may read who sees the rows and the dead letters of the lake of the pages; whoever may read all
definitions may not, for these are about people."""
ANY = "*"
DEEPEST = 4
"""Prefixes end at a Resource: its Versions are read and written with it."""

AFTER = " "
"""Between an id and all that are longer: no character of an id comes before it."""
IdRange = tuple[str, str]
"""Ids, in lower case, from the first on and before the second."""


class PrefixRefused(ValueError):
    """A prefix that names nothing in a registry."""


class Prefixes:
    """A set of parts of the registry: everything, Groups or Resources with all that is below them.

    A prefix is `/`, a collection (`/messagegroups`), an entity (`/messagegroups/fleet`), or ids of a collection that
    begin alike (`/messagegroups/fleet.*`). Case is ignored, as it is when ids are compared for being unique: whoever
    may use one spelling of an id knows of all.
    """

    __slots__ = ("_entities", "_on_the_way", "_ranges", "_starts", "is_everything", "patterns")

    def __init__(self, patterns: Iterable[str]) -> None:
        self.patterns = tuple(sorted({normal_prefix(pattern) for pattern in patterns}))
        self._entities = frozenset(one for one in self.patterns if not one.endswith(ANY))
        self._on_the_way = frozenset("/".join(one.split("/")[:3]) for one in self.patterns if one.count("/") == DEEPEST)
        self.is_everything = ROOT in self._entities
        """Whether the whole registry is covered."""
        starts: dict[str, list[str]] = {}
        ranges: dict[str, list[IdRange]] = {}
        for xid in self._entities | self._on_the_way:
            collection, _, entity_id = xid.rpartition("/")
            ranges.setdefault(collection, []).append((entity_id, entity_id + AFTER))
        for pattern in self.patterns:
            if pattern.endswith(ANY):
                collection, _, start = pattern.removesuffix(ANY).rpartition("/")
                starts.setdefault(collection, []).append(start)
                if start:
                    ranges.setdefault(collection, []).append((start, start[:-1] + chr(ord(start[-1]) + 1)))
        self._starts = {collection: tuple(several) for collection, several in starts.items()}
        self._ranges = {collection: _disjoint(several) for collection, several in ranges.items()}

    @classmethod
    def union(cls, *several: Prefixes) -> Self:
        """What any of them covers."""
        return cls(pattern for one in several for pattern in one.patterns)

    def covers(self, xid: str) -> bool:
        """Whether an entity, or the entity that a collection belongs to, is in one of the parts."""
        if self.is_everything:
            return True
        parts = xid.lower().split("/", DEEPEST + 1)
        if len(parts) < 3:
            return False
        return self._names(f"/{parts[1]}", parts[2]) or (
            len(parts) > DEEPEST and self._names(f"/{parts[1]}/{parts[2]}/{parts[3]}", parts[4])
        )

    def shows(self, xid: str) -> bool:
        """Whether an entity is covered, or is the Registry or a Group on the way to something that is."""
        return xid == ROOT or self.covers(xid) or xid.lower() in self._on_the_way

    def ids(self, collection: str) -> list[IdRange] | None:
        """Which members of a collection are shown, in order and without overlap; None when all of them are."""
        folded = collection.lower()
        if self.covers(folded) or "" in self._starts.get(folded, ()):
            return None
        return self._ranges.get(folded, [])

    def _names(self, collection: str, entity_id: str) -> bool:
        """Whether one of the prefixes ends at this entity."""
        if f"{collection}/{entity_id}" in self._entities:
            return True
        starts = self._starts.get(collection)
        return starts is not None and entity_id.startswith(starts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prefixes) and self.patterns == other.patterns

    def __hash__(self) -> int:
        return hash(self.patterns)

    def __repr__(self) -> str:
        return f"Prefixes({list(self.patterns)})"


def normal_prefix(pattern: str) -> str:
    """A prefix in its one spelling: lower case, collections as all of their ids. PrefixRefused for anything else."""
    if pattern in (ROOT, METRICS, LAKE):
        return pattern
    parts = pattern.removesuffix("/").split("/")
    if parts[0] or not 2 <= len(parts) <= DEEPEST + 1:
        raise PrefixRefused(
            f"{pattern!r} is no prefix: write /, /GROUPS, /GROUPS/ID, /GROUPS/ID/RESOURCES or /GROUPS/ID/RESOURCES/ID"
        )
    if len(parts) % 2 == 0:
        parts.append(ANY)
    for position, part in enumerate(parts[1:], start=1):
        name = part.removesuffix(ANY) if position == len(parts) - 1 else part
        if (not is_entity_id(name) and part != ANY) or (part == ANY and position != len(parts) - 1):
            raise PrefixRefused(f"{pattern!r} is no prefix: {part!r} is no id, and only the last part may end in *")
    return "/".join(parts).lower()


def _disjoint(ranges: list[IdRange]) -> list[IdRange]:
    merged: list[IdRange] = []
    for low, high in sorted(ranges):
        if merged and low < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return merged


EVERYWHERE = Prefixes([ROOT])
NOWHERE = Prefixes([])


class Permissions(msgspec.Struct, frozen=True, kw_only=True):
    """What one principal may read, write and let others use, and whether they administer the registry.

    `read` holds what `write` holds, and `write` what `own` holds.
    """

    principal: str = ""
    """The name that changes are logged with; empty for nobody in particular."""
    read: Prefixes = NOWHERE
    write: Prefixes = NOWHERE
    own: Prefixes = NOWHERE
    is_admin: bool = False

    @property
    def is_named(self) -> bool:
        """Whether it is somebody in particular, to whom things can belong."""
        return self.principal not in ("", ANONYMOUS)

    @property
    def administers(self) -> bool:
        """Whether they may change the model, which changes entities everywhere, and what services keep."""
        return self.is_admin and self.write.is_everything and self.read.is_everything

    def require_write(self, xid: str) -> None:
        """Refuse a write, with the grant that is missing; Versions and meta are written with their Resource."""
        if not self.write.covers(xid):
            raise _forbidden(xid, f"write on {'/'.join(xid.split('/')[: DEEPEST + 1])}")

    def require_read(self, xid: str) -> None:
        """Refuse to show something that everybody knows to be there."""
        if not self.read.covers(xid):
            raise _forbidden(xid, f"read on {xid}")

    @property
    def sees_lake(self) -> bool:
        """Whether they may see what is in the lake: administrators, and those with a grant for just that."""
        return self.administers or LAKE in self.read.patterns

    def require_lake(self) -> None:
        """Refuse to show what is in the lake."""
        if not self.sees_lake:
            raise _forbidden(LAKE, f"read on {LAKE}")

    def require_admin(self, subject: str) -> None:
        """Refuse what only administrators may do."""
        if not self.administers:
            raise _forbidden(subject, f"admin on {ROOT}")


def _forbidden(subject: str, grant: str) -> RegistryProblem:
    detail = "Whoever owns that part of the registry, or an administrator, can grant it."
    return RegistryProblem("forbidden", subject, detail=detail, grant=grant)


UNRESTRICTED = Permissions(read=EVERYWHERE, write=EVERYWHERE, own=EVERYWHERE, is_admin=True)
"""What everybody may do where access is off, and what the service itself may do."""

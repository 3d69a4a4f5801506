"""What was written to a store since one looked last, by whatever process: for those who keep what they made of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from postroom.registry.entities import Change
from postroom.registry.permissions import DEEPEST, ROOT
from postroom.registry.transaction_interface import Transaction
from postroom.store.interface import Store

MOST_ROWS = 1000
"""With more rows of the change log than that, everything counts as changed."""
MOST_RESOURCES = 100
"""With more changed Resources than that, nobody asks which others refer to each of them."""
BELOW = "/*"


class Changed(msgspec.Struct, frozen=True):
    """What has changed: everything, or some parts of the registry, or nothing of the entities."""

    everything: bool = False
    parts: frozenset[str] = frozenset()


def part_of(xid: str, is_whole: bool) -> str:
    """The part of a registry that an answer about an entity or a collection shows.

    Of the Registry or a Group that is the entity itself with the sizes of its collections, or, where `is_whole`,
    everything below as well. A Resource, its meta and its Versions are one part.
    """
    if xid == ROOT:
        return BELOW if is_whole else ROOT
    parts = xid.split("/")
    is_group = len(parts) == 3
    return xid if is_group and not is_whole else "/".join(parts[: DEEPEST + 1]) + BELOW


class ChangeFollower:
    """Follows the change log. Everything that entities show is in it; what services keep beside them is not."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._last: Change | None = None
        self._looked = False
        self.version = 0
        """The store's, as of the last look."""

    @property
    def sequence(self) -> int:
        """That of the newest row of the change log, as of the last look."""
        return self._last.sequence if self._last else 0

    def look(self) -> Changed | None:
        """What has changed since the last look, or more than that; None when nothing at all was committed."""
        version = self._store.version()
        if version == self.version and self._looked:
            return None
        with self._store.watch() as tx:
            changed = self._changed(tx) if self._looked else Changed(everything=True)
            if changed.everything:
                self._last = tx.last_change()
        self.version, self._looked = version, True
        return changed

    def _changed(self, tx: Transaction) -> Changed:
        known = self._last
        rows = tx.changes(known.sequence - 1 if known else 0, MOST_ROWS)
        if known is not None:
            if not rows or rows[0] != known:  # the log was cut, or is that of another database
                return Changed(everything=True)
            rows = rows[1:]
        if len(rows) >= MOST_ROWS - 1 or any(map(_concerns_all, rows)):
            return Changed(everything=True)
        resources = {resource for row in rows if (resource := _resource(row.xid))}
        if len(resources) > MOST_RESOURCES:
            return Changed(everything=True)
        if rows:
            self._last = rows[-1]
        return Changed(parts=frozenset(_parts(rows, resources | _referrers(tx, resources))))


def _concerns_all(row: Change) -> bool:
    """Whether a row is about the configuration, a new registry, or a Group that went with all that was in it."""
    slashes = row.xid.count("/")
    if row.xid == ROOT:
        return row.action == "created"
    return slashes == 1 or (slashes == 2 and row.action == "deleted")


def _resource(xid: str) -> str:
    """The Resource that a row is about, or about a part of; empty for others."""
    parts = xid.split("/")
    return "/".join(parts[: DEEPEST + 1]) if len(parts) > DEEPEST else ""


def _referrers(tx: Transaction, resources: Iterable[str]) -> set[str]:
    """The Resources that show others; one that has ceased to do so has a row of its own."""
    return {referrer.xid for referrer in tx.referrers(*resources)}


def _parts(rows: Iterable[Change], resources: Iterable[str]) -> Iterator[str]:
    yield BELOW
    for resource in resources:
        _, groups, group, plural, _ = resource.split("/")
        yield resource + BELOW
        yield f"/{groups}/{group}/{plural}{BELOW}"
        yield f"/{groups}/{group}{BELOW}"
        yield f"/{groups}{BELOW}"
    for row in rows:
        owner, _, _ = row.xid.rpartition("/")[0].rpartition("/")
        if row.action in ("created", "deleted"):  # the owner counts its members
            yield owner or ROOT
        if row.xid.count("/") == 2:
            yield row.xid
            yield row.xid + BELOW
            yield f"{row.xid.rpartition('/')[0]}{BELOW}"
        elif row.xid == ROOT:
            yield ROOT

"""Rows of a write transaction that are not in the database yet: they go there together, by few statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

Row = tuple[Any, ...]
SendRows = Callable[[str, Iterable[Row]], None]
"""Runs a statement once for each row."""

MOST_PENDING = 1000
"""How many rows wait before they are sent."""
ATTRIBUTES = 4
"""Where the attributes are in the row of an entity."""
REFERENCE = b'"xref"'
MOST_READ = 50_000
"""How many rows of entities that were read are kept in memory; those that were written are all kept."""


class Rows(Protocol):
    """What a statement finds."""

    def fetchone(self) -> Row | None:
        """The next row."""

    def __iter__(self) -> Iterator[Row]:
        """All rows."""


class PendingRows:
    """What a transaction writes, and the rows of entities that it has seen, so that nothing is asked for twice."""

    def __init__(self) -> None:
        self._entities: dict[str, Row] = {}
        self._changes: list[Row] = []
        self._history: list[Row] = []
        self._known: dict[str, Row | None] = {}
        self._names: dict[tuple[str, str], str] = {}
        self._created: set[str] = set()
        self._members: dict[str, set[str]] = {}
        self._referrers: dict[str, list[Row]] = {}
        self.has_references = True
        """Whether any Resource may refer to another."""
        self.newest_change: Row | None = None
        """The newest row of the change log, where it is known."""

    @property
    def is_full(self) -> bool:
        """Whether it is time to send the rows."""
        return len(self._entities) + len(self._changes) + len(self._history) >= MOST_PENDING

    def __bool__(self) -> bool:
        """Whether rows wait."""
        return bool(self._entities or self._changes or self._history)

    def knows(self, xid: str) -> bool:
        """Whether the state of an entity is known."""
        return xid in self._known or self.knows_members(xid.rpartition("/")[0])

    def row(self, xid: str) -> Row | None:
        """The row of an entity whose state is known; None when it does not exist."""
        return self._known.get(xid)

    def note(self, xid: str, row: Row | None) -> None:
        """Keep what the database has."""
        if len(self._known) < MOST_READ:
            self._known[xid] = row

    def knows_members(self, collection: str) -> bool:
        """Whether all members of a collection are known: the entity that it belongs to is new, and so are they."""
        return collection.rpartition("/")[0] in self._created

    def note_members(self, collection: str, rows: Iterable[Row]) -> None:
        """Keep all members that a collection has; more than fit are asked for again."""
        rows = list(rows)
        for row in rows:
            self.note(row[0], row)
        if len(self._known) < MOST_READ:
            self._members[collection] = {row[0] for row in rows}

    def members(self, collection: str) -> list[Row] | None:
        """The rows of a collection that was read, in the order of their ids, with what was written since."""
        xids = self._members.get(collection)
        if xids is None:
            return None
        rows = [row for xid in xids if (row := self._known[xid]) is not None]
        return sorted(rows, key=lambda row: str(row[0]).rpartition("/")[2].casefold())

    def note_referrers(self, xid: str, rows: list[Row]) -> None:
        """Keep which Resources refer to one."""
        self._referrers[xid] = rows

    def referrers(self, xid: str) -> list[Row] | None:
        """The rows that refer to a Resource, where they are known and nothing was written that might change them."""
        return self._referrers.get(xid)

    def sibling(self, collection: str, folded: str) -> str | None:
        """The xid of an entity that was written, by its collection and its id without case."""
        return self._names.get((collection, folded))

    def put(self, row: Row, place: tuple[str, str], xref: str | None) -> None:
        """Create or replace an entity, whose place is its collection and its id without case."""
        xid = row[0]
        self.has_references = self.has_references or xref is not None
        before = self._known.get(xid)
        if self.knows(xid) and before is None:
            self._created.add(xid)
        if place[0] in self._members:
            self._members[place[0]].add(xid)
        if self._referrers and (xref is not None or before is None or REFERENCE in before[ATTRIBUTES]):
            self._referrers.clear()
        self._known[xid] = row
        self._names[place] = xid
        self._entities[xid] = (*row, *place, xref)

    def forget(self, xid: str, place: tuple[str, str]) -> None:
        """Note that an entity is deleted."""
        self._known[xid] = None
        self._names.pop(place, None)
        self._referrers.clear()

    def append_change(self, row: Row) -> None:
        """Add a row to the change log."""
        self._changes.append(row)
        self.newest_change = row

    def append_history(self, row: Row) -> None:
        """Keep a superseded body."""
        self._history.append(row)

    def send(self, send: SendRows, put_entity: str, insert_change: str, insert_history: str) -> None:
        """Send all rows, with the statements for their tables."""
        for statement, rows in (
            (put_entity, self._entities.values()),
            (insert_change, self._changes),
            (insert_history, self._history),
        ):
            if rows:
                send(statement, rows)
        self._entities.clear()
        self._changes.clear()
        self._history.clear()

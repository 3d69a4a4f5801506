"""A transaction in SQL that SQLite and PostgreSQL share, and entities and changes as its rows."""

from __future__ import annotations

import functools
import itertools
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import msgspec

from postroom.model.source import build_model
from postroom.model.types import Model
from postroom.registry.entities import Change, Document, Entity
from postroom.registry.permissions import AFTER, UNRESTRICTED, IdRange
from postroom.registry.rules import Rules
from postroom.store.pending_rows import PendingRows, Row, Rows
from postroom.store.search_rows import SearchRows
from postroom.store.tables import Table, upsert

ENTITY_COLUMNS = "xid, epoch, createdat, modifiedat, attributes, content, url, text, counter"
OUTLINE_COLUMNS = (
    "xid, epoch, createdat, modifiedat, CASE xid WHEN ? THEN attributes ELSE '{}' END, NULL, NULL, 0, counter"
)
"""ENTITY_COLUMNS without documents, and with the attributes of one entity only."""
CHANGE_COLUMNS = "xid, action, epoch, changed, actor, correlation, time, sequence"
REFERRERS = f"SELECT {ENTITY_COLUMNS} FROM entity WHERE xref IN (%s)"  # noqa: S608
ANY_REFERENCE = "SELECT xid FROM entity WHERE xref IS NOT NULL LIMIT 1"
MANY_WANTED = 3
"""A transaction that asks for the referrers of so many Resources one by one is told first whether there are any."""
LAST_CHANGE = f"SELECT {CHANGE_COLUMNS} FROM change ORDER BY sequence DESC LIMIT 1"  # noqa: S608
PUT_ENTITY = upsert("entity", f"{ENTITY_COLUMNS}, collection, folded, xref", "xid")
INSERT_CHANGE = f"INSERT INTO change ({CHANGE_COLUMNS}) VALUES ({', '.join('?' * 8)})"  # noqa: S608
INSERT_HISTORY = f"INSERT INTO history ({ENTITY_COLUMNS}, sequence) VALUES ({', '.join('?' * 10)})"  # noqa: S608
PUT_CONFIGURATION = upsert("configuration", "name, value", "name")
PUT_RECORD = upsert("record", "kind, id, body", "kind, id")
MOST_NAMES = 500
"""How many ids are looked up by one statement."""
NEAR = 20
"""How many rows per wanted one are scanned before the index on xids is used."""
CHANGES_BELOW = (
    "sequence IN (SELECT sequence FROM change WHERE xid = ? AND sequence > ? "
    "UNION ALL SELECT sequence FROM change WHERE xid > ? AND xid < ? AND sequence > ?)"
)


class SqlTransaction(SearchRows):
    """A transaction on one connection; see registry.transaction_interface for what each method is for.

    Statements have a question mark for each value. What the two databases say differently is left to their classes.
    """

    permissions = UNRESTRICTED
    changes_near: ClassVar[str] = "sequence > ? AND sequence <= ? AND (xid = ? OR (xid > ? AND xid < ?))"
    """The rows of an entity and of what is below it among those between two sequences."""

    def __init__(self, rules: Rules, *, writes: bool, written: list[tuple[str, Entity | None]] | None) -> None:
        super().__init__()
        self.rules = rules
        self._writes = writes
        self._written = written
        self._pending = PendingRows()
        self._last_sequence: int | None = None
        self._referrers_wanted = 0
        """For how many Resources one by one."""
        self._model: Model | None = None
        self._configured: dict[str, bytes] = {}
        """Values of the configuration that were read together; empty where none were."""
        self.appended = 0
        """How many rows this transaction added to the change log."""

    @abstractmethod
    def _read_last_sequence(self) -> int:
        """The last sequence that a row of the change log has, or had before it was forgotten."""

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> Rows:
        """Run a statement on what the database has and what waits to be written."""
        self.flush()
        return self._run(statement, values)

    def flush(self) -> None:
        """Send what waits to be written."""
        if self._pending:
            self._pending.send(self._run_many, PUT_ENTITY, INSERT_CHANGE, INSERT_HISTORY)
        self._send_entries()

    def _start_over(self) -> None:
        """Send what waits, and forget what was known of the tables, which are changed as they are."""
        self.flush()
        self._pending, self._last_sequence = PendingRows(), None
        self._configured.clear()

    def _flush_when_full(self) -> None:
        if self._pending.is_full:
            self.flush()

    def entity(self, xid: str) -> Entity | None:
        """The entity with exactly this xid; a transaction that writes asks the database once for it."""
        if self._writes and self._pending.knows(xid):
            row = self._pending.row(xid)
        else:
            row = self._run(f"SELECT {ENTITY_COLUMNS} FROM entity WHERE xid = ?", (xid,)).fetchone()  # noqa: S608
            if self._writes:
                self._pending.note(xid, row)
        return entity_of(row) if row else None

    def entities(self, collection: str, within: Sequence[IdRange] | None = None) -> list[Entity]:
        """The members of a collection, in the order of their ids."""
        query = f"SELECT {ENTITY_COLUMNS} FROM entity WHERE collection = ?%s ORDER BY folded"  # noqa: S608
        if not self._writes or within is not None:
            return [entity_of(row) for row in self._members(query, collection, within)]
        rows = self._pending.members(collection)
        if rows is None:
            rows = list(self._members(query, collection, within))
            self._pending.note_members(collection, rows)
        return [entity_of(row) for row in rows]

    def entities_by_xid(self, xids: Sequence[str]) -> dict[str, Entity]:
        """Those of some entities that exist."""
        query = f"SELECT {ENTITY_COLUMNS} FROM entity WHERE xid IN (%s)"  # noqa: S608
        return {str(row[0]): entity_of(row) for row in self._among(query, xids)}

    def counts(self, collections: Sequence[str]) -> dict[str, int]:
        """How many members each of some collections has; the index alone tells."""
        query = "SELECT collection, count(*) FROM entity WHERE collection IN (%s) GROUP BY collection"
        return {str(row[0]): int(row[1]) for row in self._among(query, collections)}

    def _among(self, query: str, values: Sequence[str]) -> Iterator[Row]:
        for start in range(0, len(values), MOST_NAMES):
            some = values[start : start + MOST_NAMES]
            yield from self._execute(query % ", ".join("?" * len(some)), some)

    def below(self, xid: str) -> list[Entity]:
        """Everything below an entity: "0" is the character after "/", so this is a range of the primary key."""
        prefix = xid.rstrip("/")
        query = f"SELECT {ENTITY_COLUMNS} FROM entity WHERE xid > ? AND xid < ? ORDER BY xid"  # noqa: S608
        return [entity_of(row) for row in self._execute(query, (prefix + "/", prefix + "0"))]

    @abstractmethod
    def expect(self, path: str) -> None:
        """Hear what a write is about."""

    def count(self, collection: str, within: Sequence[IdRange] | None = None) -> int:
        """How many members a collection has; the index alone tells."""
        known = self._pending.members(collection) if within is None else None
        if known is not None:
            return len(known)
        query = "SELECT count(*) FROM entity WHERE collection = ?%s"
        return sum(int(row[0]) for row in self._members(query, collection, within))

    def ids(
        self,
        collection: str,
        after: str,
        limit: int,
        backwards: bool = False,
        within: Sequence[IdRange] | None = None,
    ) -> list[str]:
        """A run of ids: a range of the index on (collection, folded), or some."""
        order = "DESC" if backwards else "ASC"
        query = f"SELECT xid FROM entity WHERE collection = ?%s ORDER BY folded {order} LIMIT ?"  # noqa: S608
        found: list[str] = []
        for condition, values in _conditions(within, after.casefold(), backwards):
            parameters = (collection, *values, min(limit, 2**62) - len(found))
            found += [str(row[0]).rpartition("/")[2] for row in self._execute(query % condition, parameters)]
            if len(found) >= limit:
                break
        return found

    def _members(self, query: str, collection: str, within: Sequence[IdRange] | None) -> Iterator[Row]:
        if within is None:
            return iter(self._execute(query % "", (collection,)))
        return itertools.chain.from_iterable(
            self._execute(query % condition, (collection, *values)) for condition, values in _conditions(within)
        )

    def xids(self) -> Iterator[str]:
        """The xids of all entities."""
        return (str(row[0]) for row in self._execute("SELECT xid FROM entity"))

    def size(self, xid: str) -> int:
        """How many entities are below one."""
        prefix = xid.rstrip("/")
        query = "SELECT count(*) FROM entity WHERE xid > ? AND xid < ?"
        return sum(int(row[0]) for row in self._execute(query, (prefix + "/", prefix + "0")))

    def sibling(self, collection: str, entity_id: str) -> str | None:
        """The id that equals this one when case is ignored."""
        folded = entity_id.casefold()
        found = self._pending.sibling(collection, folded)
        if found is None and not self._pending.knows_members(collection):
            query = "SELECT xid FROM entity WHERE collection = ? AND folded = ?"
            row = self._run(query, (collection, folded)).fetchone()
            found = str(row[0]) if row else None
        return found.rpartition("/")[2] if found else None

    def referrers(self, *xids: str) -> list[Entity]:
        """The Resources whose `xref` is one of these xids."""
        if len(xids) == 1 and (known := self._known_referrers(xids[0])) is not None:
            return [entity_of(row) for row in known]
        return [entity_of(row) for row in self._among(REFERRERS, xids)]

    def _known_referrers(self, xid: str) -> list[Row] | None:
        """Those of one Resource, if no statement is needed for them: most registries have no references at all."""
        known = self._pending.referrers(xid)
        if known is None and self._writes:
            self._referrers_wanted += 1
            if self._referrers_wanted == MANY_WANTED:
                self._pending.has_references = self._execute(ANY_REFERENCE).fetchone() is not None
            if not self._pending.has_references:
                return []
        return known

    def put(self, entity: Entity) -> None:
        """Create or replace an entity."""
        if self._written is not None:
            self._written.append((entity.xid, entity))
        self._flush_when_full()
        self._pending.put(entity_values(entity), _collection_and_id(entity.xid), _xref(entity))

    def delete(self, xid: str) -> None:
        """Remove one entity."""
        if self._written is not None:
            self._written.append((xid, None))
        self._execute("DELETE FROM entity WHERE xid = ?", (xid,))
        self._pending.forget(xid, _collection_and_id(xid))

    def append_change(self, change: Change) -> int:
        """Add a row to the change log."""
        self._flush_when_full()
        if self._last_sequence is None:
            self._last_sequence = self._read_last_sequence()
        self._last_sequence += 1
        self._pending.append_change(
            (
                change.xid,
                change.action,
                change.epoch,
                msgspec.json.encode(change.changed),
                change.actor,
                change.correlation,
                change.time,
                self._last_sequence,
            )
        )
        self.appended += 1
        return self._last_sequence

    def append_history(self, entity: Entity, sequence: int) -> None:
        """Keep a superseded body."""
        self._flush_when_full()
        self._pending.append_history((*entity_values(entity), sequence))

    def change(self, sequence: int) -> Change | None:
        """One row of the change log."""
        found = self._changes("sequence = ?", (sequence,), 1)
        return found[0] if found else None

    def changes(self, after: int, limit: int, xid: str = "/") -> list[Change]:
        """Rows of the change log after a sequence.

        Those of one entity are scanned for nearby first: the index on (xid, sequence) finds all that follow, which
        would be most of the log when many concern the entity.
        """
        if xid == "/":
            return self._changes("sequence > ?", (after,), limit)
        end = after + NEAR * min(limit, 2**40)
        span = (f"{xid}/", f"{xid}0")  # "0" is the character after "/"
        found = self._changes(self.changes_near, (after, end, xid, *span), limit)
        if len(found) < limit:
            found += self._changes(CHANGES_BELOW, (xid, end, *span, end), limit - len(found))
        return found

    def _changes(self, where: str, values: tuple[str | int, ...], limit: int) -> list[Change]:
        query = f"SELECT {CHANGE_COLUMNS} FROM change WHERE {where} ORDER BY sequence LIMIT ?"  # noqa: S608
        return [change_of(row) for row in self._execute(query, (*values, limit))]

    def last_change(self) -> Change | None:
        """The newest row of the change log; a transaction that writes has asked the database once for it."""
        newest = self._pending.newest_change
        if newest is None:
            newest = self._run(LAST_CHANGE).fetchone()
            if self._writes:
                self._pending.newest_change = newest
        return change_of(newest) if newest else None

    def forget_changes(self, last: int) -> None:
        """Remove the oldest rows of the change log."""
        self._execute(
            "DELETE FROM change WHERE sequence <= ? AND sequence < (SELECT max(sequence) FROM change)", (last,)
        )

    def forget_history(self, states: Iterable[tuple[str, int]]) -> int:
        """Remove superseded bodies."""
        rows = list(states)
        self.flush()
        self._run_many("DELETE FROM history WHERE xid = ? AND sequence = ?", rows)
        return len(rows)

    def history_after(self, after: tuple[str, int], limit: int) -> list[tuple[str, int]]:
        """A part of the primary key of the history."""
        query = "SELECT xid, sequence FROM history WHERE (xid, sequence) > (?, ?) ORDER BY xid, sequence LIMIT ?"
        return [(str(xid), int(sequence)) for xid, sequence in self._execute(query, (*after, limit))]

    def superseded(self, xid: str, after: int) -> tuple[int, Entity] | None:
        """The first superseded body after a sequence."""
        query = f"SELECT {ENTITY_COLUMNS}, sequence FROM history WHERE xid = ? AND sequence > ? ORDER BY sequence"  # noqa: S608
        row = self._execute(query + " LIMIT 1", (xid, after)).fetchone()
        return (int(row[-1]), entity_of(row[:-1])) if row else None

    def history(self, xid: str) -> list[Entity]:
        """Superseded bodies of an entity, oldest first."""
        query = f"SELECT {ENTITY_COLUMNS} FROM history WHERE xid = ? ORDER BY sequence"  # noqa: S608
        return [entity_of(row) for row in self._execute(query, (xid,))]

    def history_below(self, xid: str) -> list[tuple[int, Entity]]:
        """Superseded bodies of an entity, and what was below it: two ranges of the primary key."""
        query = f"SELECT {OUTLINE_COLUMNS}, sequence FROM history WHERE xid = ? OR (xid > ? AND xid < ?)"  # noqa: S608
        rows = self._execute(query + " ORDER BY sequence", (xid, xid, f"{xid}/", f"{xid}0"))
        return [(int(row[-1]), entity_of(row[:-1])) for row in rows]

    def model(self) -> Model:
        """The full model in force."""
        if self._model is None:
            self._model = _compiled(self._configuration("modelexpanded") or self._configuration("modelsource") or b"{}")
        return self._model

    def modelsource(self) -> dict[str, Any]:
        """The model as the user gave it."""
        source: dict[str, Any] = msgspec.json.decode(self._configuration("modelsource") or b"{}")
        return source

    def put_modelsource(self, source: dict[str, Any], expanded: dict[str, Any]) -> None:
        """Replace the model."""
        self._model = None
        self._configure("modelsource", source)
        self._configure("modelexpanded", expanded)

    def capabilities(self) -> dict[str, Any] | None:
        """The capabilities as they were set."""
        stored = self._configuration("capabilities")
        return msgspec.json.decode(stored, type=dict[str, Any]) if stored else None

    def put_capabilities(self, capabilities: dict[str, Any]) -> None:
        """Replace the capabilities."""
        self._configure("capabilities", capabilities)

    def records(self, kind: str, after: str = "", limit: int = 2**62) -> list[tuple[str, bytes]]:
        """The records of a kind that follow an id, in the order of their ids."""
        query = "SELECT id, body FROM record WHERE kind = ? AND id > ? ORDER BY id LIMIT ?"
        return [(str(row[0]), bytes(row[1])) for row in self._run(query, (kind, after, limit))]

    def record(self, kind: str, record_id: str) -> bytes | None:
        """One record."""
        row = self._run("SELECT body FROM record WHERE kind = ? AND id = ?", (kind, record_id)).fetchone()
        return bytes(row[0]) if row else None

    def put_record(self, kind: str, record_id: str, body: bytes) -> None:
        """Create or replace a record."""
        self._run(PUT_RECORD, (kind, record_id, body))

    def delete_record(self, kind: str, record_id: str) -> None:
        """Remove a record."""
        self._run("DELETE FROM record WHERE kind = ? AND id = ?", (kind, record_id))

    @abstractmethod
    def rows(self, table: Table) -> Iterator[Row]:
        """All rows of a table, in the order of its key, read as they are asked for."""

    @abstractmethod
    def insert_rows(self, table: Table, rows: Iterable[Row]) -> None:
        """Add rows to a table as they are, few at a time."""

    def delete_rows(self, table: Table) -> None:
        """Empty a table."""
        self._start_over()
        self._run(f"DELETE FROM {table.name}")  # noqa: S608

    def _configure(self, name: str, value: dict[str, Any]) -> None:
        self._configured.clear()
        self._run(PUT_CONFIGURATION, (name, msgspec.json.encode(value)))

    def _configuration(self, name: str) -> bytes:
        if name in self._configured:
            return self._configured[name]
        row = self._run("SELECT value FROM configuration WHERE name = ?", (name,)).fetchone()
        return bytes(row[0]) if row else b""


def _conditions(
    within: Sequence[IdRange] | None, after: str = "", backwards: bool = False
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Conditions on ids, in order, that together hold for those in the ranges that follow one (backwards: precede it).

    Single ids share a statement, without that one: SQLite would walk through all that follow it instead.
    """
    sign = "<" if backwards else ">"
    bound, mark = (f" AND folded {sign} ?", (after,)) if after else ("", ())
    if within is None:
        yield bound, mark
        return
    named = itertools.groupby(reversed(within) if backwards else within, key=lambda one: one[1] == one[0] + AFTER)
    for are_single, ranges in named:
        if not are_single:
            yield from ((f"{bound} AND folded >= ? AND folded < ?", (*mark, *one)) for one in ranges)
            continue
        names = tuple(name for name, _ in ranges if not after or (name < after if backwards else name > after))
        for start in range(0, len(names), MOST_NAMES):
            some = names[start : start + MOST_NAMES]
            yield f" AND folded IN ({', '.join('?' * len(some))})", some


def _collection_and_id(xid: str) -> tuple[str, str]:
    collection, _, entity_id = xid.rpartition("/")
    return (collection, entity_id.casefold()) if xid != "/" else ("", "/")


def _xref(entity: Entity) -> str | None:
    """The xref of a Resource; in another entity an attribute of that name means nothing."""
    is_resource = entity.xid.count("/") == 4
    return entity.attributes.get("xref") if is_resource else None


@functools.lru_cache(maxsize=8)
def _compiled(source: bytes) -> Model:
    return build_model(msgspec.json.decode(source))


def entity_values(entity: Entity) -> Row:
    """The values of ENTITY_COLUMNS."""
    document = entity.document
    return (
        entity.xid,
        entity.epoch,
        entity.createdat,
        entity.modifiedat,
        msgspec.json.encode(entity.attributes),
        document.content if document else None,
        document.url if document else None,
        int(document.text) if document else 0,
        entity.counter,
    )


def entity_of(row: Row) -> Entity:
    """The entity of a row of ENTITY_COLUMNS."""
    xid, epoch, createdat, modifiedat, attributes, content, url, text, counter = row
    return Entity(
        xid=xid,
        epoch=epoch,
        createdat=createdat,
        modifiedat=modifiedat,
        attributes=msgspec.json.decode(attributes),
        document=None if content is None else Document(content=content, url=url, text=bool(text)),
        counter=counter,
    )


def change_of(row: Row) -> Change:
    """The change of a row of CHANGE_COLUMNS."""
    xid, action, epoch, changed, actor, correlation, time, sequence = row
    return Change(
        xid=xid,
        action=action,
        epoch=epoch,
        changed=_names(changed),
        actor=actor,
        correlation=correlation,
        time=time,
        sequence=sequence,
    )


@functools.lru_cache(maxsize=4096)
def _names(changed: bytes) -> tuple[str, ...]:
    """Decode the names of changed attributes; most rows have the same few."""
    return msgspec.json.decode(changed, type=tuple[str, ...])

"""The search index in SQL: the entries of a registry, their words, and the properties of its schemas.

Words are indexed by FTS5 in SQLite and by a `tsvector` in PostgreSQL. Both are given words that are made already, and
queries of these words alone, so nothing that is searched for is an operator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Any, ClassVar

import msgspec

from postroom.registry.search.index_rows import EntryQuery, EntryRow, PropertyRow
from postroom.registry.search.search_entry import SearchEntry
from postroom.registry.search.search_query import Term
from postroom.registry.search.words import GAP, indexed_words
from postroom.store.pending_rows import MOST_PENDING, Row, Rows

ENTRY_COLUMNS = "xid, kind, grp, format, envelope, protocol, schema, base, title, words"
_FACET_COLUMNS = {"group": "grp"}
_WORDS_OF_PATH = 64
_ADD_PROPERTY = "INSERT INTO search_property (path, words) VALUES (?, ?) ON CONFLICT (path) DO NOTHING"
_ADD_USE = """
    INSERT INTO search_use (property, entry, type) SELECT search_property.id, search_entry.id, ?
    FROM search_property, search_entry WHERE %ssearch_property.path = ? AND search_entry.xid = ?
"""
_FORGET_USES = "DELETE FROM search_use WHERE entry IN (SELECT id FROM search_entry WHERE %sxid = ?)"
_USES = """
    SELECT entry, xid, path, type FROM search_use JOIN search_entry ON search_entry.id = entry
    JOIN search_property ON search_property.id = property
"""


class EntrySource(msgspec.Struct, frozen=True):
    """Tables, and conditions with their values, that find entries by their words; and the column with their numbers."""

    tables: str
    conditions: tuple[str, ...]
    values: tuple[str, ...]
    number: str = "id"


class SearchRows(ABC):
    """The part of a transaction in SQL that keeps the search index and looks into it."""

    contains: ClassVar[str]
    """Whether a line contains a text."""
    present: ClassVar[str] = ""
    """A condition on entries that count, where there are others; to be followed by more."""

    def __init__(self) -> None:
        self._entries: dict[str, SearchEntry | None] = {}

    @abstractmethod
    def _run(self, statement: str, values: Sequence[Any] = ()) -> Rows:
        """Run a statement on what the database has."""

    @abstractmethod
    def _execute(self, statement: str, values: Sequence[Any] = ()) -> Rows:
        """Run a statement on what the database has and what waits to be written."""

    @abstractmethod
    def _run_many(self, statement: str, rows: Iterable[Row]) -> None:
        """Run a statement for each row."""

    @abstractmethod
    def flush(self) -> None:
        """Send what waits to be written."""

    @abstractmethod
    def _put_entries(self, entries: Sequence[SearchEntry]) -> None:
        """Put entries that are new, or replace those that are there."""

    @abstractmethod
    def _remove_entries(self, xids: Sequence[str]) -> None:
        """Remove entries that may be there."""

    @abstractmethod
    def _clear_words(self) -> None:
        """Empty what the database keeps of words beside the tables."""

    @abstractmethod
    def _sources(self, query: EntryQuery) -> Iterable[EntrySource]:
        """Where entries with the terms of a query are."""

    def put_search_entry(self, entry: SearchEntry) -> None:
        """Put an entry into the index, or replace it."""
        self._entries[entry.xid] = entry
        if len(self._entries) >= MOST_PENDING:
            self.flush()

    def delete_search_entry(self, xid: str) -> None:
        """Remove an entry from the index."""
        self._entries[xid] = None
        if len(self._entries) >= MOST_PENDING:
            self.flush()

    def clear_search_index(self) -> None:
        """Empty the index."""
        self._entries.clear()
        self._clear_words()
        for name in TABLES:
            self._execute(f"DELETE FROM {name}")  # noqa: S608

    def _send_entries(self) -> None:
        """Send the entries that wait to be written."""
        if not self._entries:
            return
        put = [entry for entry in self._entries.values() if entry is not None]
        gone = [xid for xid, entry in self._entries.items() if entry is None]
        self._run_many(_FORGET_USES % self.present, [(xid,) for xid in self._entries])
        self._entries = {}
        if gone:
            self._remove_entries(gone)
        if put:
            self._put_entries(put)
        uses = [(type_name, path, entry.xid) for entry in put for path, type_name in entry.properties]
        if uses:
            paths = dict.fromkeys(path for _, path, _ in uses)
            self._run_many(_ADD_PROPERTY, [(path, indexed_words([path], _WORDS_OF_PATH)) for path in paths])
            self._run_many(_ADD_USE % self.present, uses)

    def find_entries(self, query: EntryQuery, after: int, limit: int) -> list[EntryRow]:
        """Entries that fit, in the order of their numbers, after one of them."""
        score, values = self._score(query.terms)
        facets = [(f"{_FACET_COLUMNS.get(name, name)} = ?", value) for name, value in query.facets]
        rows: list[EntryRow] = []
        for source in self._sources(query):
            conditions = [*source.conditions, f"{source.number} > ?", *(condition for condition, _ in facets)]
            statement = f"""
                SELECT id, xid, kind, grp, format, envelope, protocol, {score}, length(search_entry.title)
                FROM {source.tables} WHERE {" AND ".join(conditions)} ORDER BY {source.number} LIMIT ?
            """  # noqa: S608
            parameters = (*values, *source.values, after, *(value for _, value in facets), limit)
            rows += (EntryRow(*row) for row in self._execute(statement, parameters))
        return sorted(rows, key=attrgetter("number"))[:limit]

    def _score(self, terms: Sequence[Term]) -> tuple[str, list[str]]:
        """How well an entry fits: what the whole query names, then words of titles, then words of values."""
        if not terms:
            return "0", []
        query = "".join(f" {' '.join(term.words)}" for term in terms)
        title, words = (self.contains % f"search_entry.{name}" for name in ("title", "words"))
        whole = self.contains % f"'{GAP}' || search_entry.title || '{GAP}'"
        parts, values = [f"CASE WHEN {whole} THEN 40 ELSE 0 END"], [f"{GAP}{query} {GAP}"]
        for term in terms:
            parts.append(
                f"CASE WHEN {title} THEN 12 WHEN {title} THEN 9 WHEN {words} THEN 4 WHEN {words} THEN 3 ELSE 1 END"
            )
            values += [term.exact_line, term.line, term.exact_line, term.line]
        return " + ".join(parts), values

    def find_properties(self, terms: Sequence[Term], shared: bool, after: str, limit: int) -> list[str]:
        """Paths of properties in which all terms are found, in order, after one; `shared` by several schemas."""
        condition = "path > ?" + " AND search_property.words LIKE ?" * len(terms)
        if shared:
            used = "SELECT 1 FROM search_use WHERE property = search_property.id LIMIT 2"
            condition += f" AND (SELECT count(*) FROM ({used}) AS used) = 2"  # noqa: S608
        statement = f"SELECT path FROM search_property WHERE {condition} ORDER BY path LIMIT ?"  # noqa: S608
        return [str(row[0]) for row in self._execute(statement, (after, *map(_pattern, terms), limit))]

    def property_uses(self, path: str, after: int, limit: int) -> list[PropertyRow]:
        """The schemas that have a property, in the order of their numbers, after one of them."""
        statement = f"{_USES} WHERE {self.present}path = ? AND entry > ? ORDER BY entry LIMIT ?"
        return [PropertyRow(*row) for row in self._execute(statement, (path, after, limit))]

    def properties_found(self, xids: Sequence[str], terms: Sequence[Term], limit: int) -> list[PropertyRow]:
        """The properties of some schemas in which one of the terms is found."""
        marks, found = ", ".join("?" * len(xids)), " OR ".join(["search_property.words LIKE ?"] * len(terms))
        statement = f"{_USES} WHERE {self.present}xid IN ({marks}) AND ({found}) ORDER BY entry, path LIMIT ?"
        rows = self._execute(statement, (*xids, *map(_pattern, terms), limit)) if xids and terms else ()
        return [PropertyRow(*row) for row in rows]

    def payload_users(self, schemas: Sequence[str]) -> Iterator[tuple[str, str]]:
        """The messages whose payloads follow some schemas: each schema with a message."""
        marks = ", ".join("?" * len(schemas))
        statement = f"SELECT schema, xid FROM search_entry WHERE {self.present}schema IN ({marks}) ORDER BY schema, xid"  # noqa: S608
        return ((str(row[0]), str(row[1])) for row in (self._execute(statement, tuple(schemas)) if schemas else ()))


def entry_values(entry: SearchEntry) -> Row:
    """The values of ENTRY_COLUMNS."""
    return (
        entry.xid,
        entry.kind,
        entry.group,
        entry.format,
        entry.envelope,
        entry.protocol,
        entry.schema,
        entry.base,
        entry.title,
        entry.words,
    )


def _pattern(term: Term) -> str:
    """No word has a character that LIKE understands."""
    return f"%{term.line}%"


TABLES = ("search_use", "search_property", "search_entry")

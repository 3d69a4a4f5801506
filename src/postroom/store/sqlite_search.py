"""The search index in SQLite.

FTS5 writes some pages with every commit, so it does not get the words of an entry at once: entries that wait are looked
through one by one, and go into FTS5 many together.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from postroom.registry.search.index_rows import EntryQuery
from postroom.registry.search.search_entry import SearchEntry
from postroom.store.search_rows import ENTRY_COLUMNS, EntrySource, SearchRows, entry_values

MOST_WAITING = 400
"""How many entries wait, or are still in FTS5 and no longer there."""
INDEXED, WAITING, GONE = 0, 1, 2
"""The states of an entry: in FTS5; not yet in FTS5; in FTS5, deleted or replaced by another row."""
_PRESENT = f"state < {GONE} AND "
"""In these words, so that the index on xids, which has no others, is used."""
_LINES = "title, words, description, fields"
_TEXT = " || ".join(f"search_entry.{name}" for name in _LINES.split(", "))
_COLUMNS = f"{ENTRY_COLUMNS}, description, fields"
_PUT = f"""
    INSERT INTO search_entry ({_COLUMNS}, state) VALUES ({", ".join("?" * len(_COLUMNS.split(", ")))}, {WAITING})
    ON CONFLICT (xid) WHERE state < {GONE} DO UPDATE SET
    {", ".join(f"{name} = excluded.{name}" for name in _COLUMNS.split(", ")[1:])}
"""  # noqa: S608
_REPLACE = f"UPDATE search_entry SET state = {GONE} WHERE {_PRESENT}xid = ? AND state = {INDEXED}"  # noqa: S608
_FORGET = f"DELETE FROM search_entry WHERE {_PRESENT}xid = ? AND state = {WAITING}"  # noqa: S608
_COUNT = f"SELECT count(*) FROM search_entry WHERE state > {INDEXED}"  # noqa: S608
_FOLD = (
    f"DELETE FROM search_text WHERE rowid IN (SELECT id FROM search_entry WHERE state = {GONE})",  # noqa: S608
    f"DELETE FROM search_entry WHERE state = {GONE}",  # noqa: S608
    f"INSERT INTO search_text (rowid, {_LINES}) SELECT id, {_LINES} FROM search_entry WHERE state = {WAITING}",  # noqa: S608
    f"UPDATE search_entry SET state = {INDEXED} WHERE state = {WAITING}",  # noqa: S608
)


class SqliteSearch(SearchRows):
    """The part of a transaction on SQLite that keeps the search index and looks into it."""

    contains = "instr(%s, ?) > 0"
    present = _PRESENT

    def _put_entries(self, entries: Sequence[SearchEntry]) -> None:
        self._run_many(_REPLACE, [(entry.xid,) for entry in entries])
        self._run_many(_PUT, [(*entry_values(entry), entry.description, entry.fields) for entry in entries])
        self._fold()

    def _remove_entries(self, xids: Sequence[str]) -> None:
        for statement in (_REPLACE, _FORGET):
            self._run_many(statement, [(xid,) for xid in xids])
        self._fold()

    def _fold(self) -> None:
        """Bring FTS5 up to date once it is worth it."""
        if next(iter(self._run(_COUNT)))[0] > MOST_WAITING:
            for statement in _FOLD:
                self._run(statement)

    def _clear_words(self) -> None:
        self._execute("INSERT INTO search_text (search_text) VALUES ('delete-all')")

    def _sources(self, query: EntryQuery) -> Iterable[EntrySource]:
        """FTS5 gets phrases in quotes, with a star behind the beginning of a word; lines that wait contain a text."""
        if not query.terms:
            yield EntrySource("search_entry", (f"state < {GONE}",), ())
            return
        phrases = " AND ".join(f'"{" ".join(term.words)}"{" *" if term.is_prefix else ""}' for term in query.terms)
        yield EntrySource(
            "search_text JOIN search_entry ON id = search_text.rowid",
            ("search_text MATCH ?", f"state = {INDEXED}"),
            (f"{{title}} : ({phrases})" if query.in_title else phrases,),
            number="search_text.rowid",
        )
        line = self.contains % ("search_entry.title" if query.in_title else f"({_TEXT})")
        # By the few that wait: for the order of numbers, SQLite would rather look at all that there are.
        yield EntrySource(
            "search_entry INDEXED BY search_entry_by_state",
            (f"state > {INDEXED}", f"state = {WAITING}", *[line] * len(query.terms)),
            tuple(term.line for term in query.terms),
        )

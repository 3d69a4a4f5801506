"""The search index in PostgreSQL: a `tsvector` of words that are made here, so that no configuration matters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from postroom.registry.search.index_rows import EntryQuery
from postroom.registry.search.search_entry import SearchEntry
from postroom.registry.search.search_query import Term
from postroom.registry.search.words import GAP
from postroom.store.search_rows import ENTRY_COLUMNS, EntrySource, SearchRows, entry_values
from postroom.store.tables import upsert

_TITLE = "A"
"""The weight of words in the id or the name."""
_PUT = upsert("search_entry", f"{ENTRY_COLUMNS}, terms", "xid")


class PostgresSearch(SearchRows):
    """The part of a transaction on PostgreSQL that keeps the search index and looks into it."""

    contains = "strpos(%s, ?) > 0"

    def _put_entries(self, entries: Sequence[SearchEntry]) -> None:
        self._run_many(_PUT, [(*entry_values(entry), _vector(entry)) for entry in entries])

    def _remove_entries(self, xids: Sequence[str]) -> None:
        self._run_many("DELETE FROM search_entry WHERE xid = ?", [(xid,) for xid in xids])

    def _clear_words(self) -> None:
        """They are in the tables."""

    def _sources(self, query: EntryQuery) -> Iterable[EntrySource]:
        weight = _TITLE if query.in_title else ""
        match = " & ".join(_phrase(term, weight) for term in query.terms)
        condition = ("terms @@ CAST(? AS tsquery)",) if match else ()
        return [EntrySource("search_entry", condition, (match,) if match else ())]


def _phrase(term: Term, weight: str) -> str:
    """Lexemes that follow each other, with a star behind the beginning of a word."""
    *before, last = (f"'{word}':{weight}" for word in term.words)
    last = f"'{term.words[-1]}':*{weight}" if term.is_prefix else last
    return f"({' <-> '.join(one.removesuffix(':') for one in (*before, last))})"


def _vector(entry: SearchEntry) -> str:
    """All words with their positions, and a weight for those of the title."""
    places: dict[str, list[str]] = {}
    words = GAP.join((entry.title, entry.words, entry.description, entry.fields)).split()
    titles = len(entry.title.split())
    for place, word in enumerate(words, start=1):
        if word != GAP:
            places.setdefault(word, []).append(f"{place}{_TITLE if place <= titles else ''}")
    return " ".join(f"'{word}':{','.join(found)}" for word, found in places.items())

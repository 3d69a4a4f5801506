"""Search a registry: what fits a query, the best first, with what was found in it and with counts by facet.

Only what the transaction shows is looked at, so that hits, counts and their order tell nothing of anything else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from operator import attrgetter

import msgspec

from postroom.registry.entities import Entity
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.dot_notation import write_path
from postroom.registry.search.index_rows import FACETS, EntryQuery, EntryRow
from postroom.registry.search.search_entry import searched_id, texts_of
from postroom.registry.search.search_query import Term, parse_query
from postroom.registry.search.words import find_compounds, find_words, has_parts, without_nul
from postroom.registry.transaction_interface import Transaction

SUBJECT = "/-/search"
USUAL, MOST = 20, 100
"""How many hits a page has, unless it is said, and at most."""
MOST_COUNTED = 5000
"""How many hits are counted, and put into order; of more, those with all words in their titles come first."""
MOST_VALUES = 50
MOST_HIGHLIGHTS, MOST_MARKS = 6, 20
SHOWN_TEXT, BEFORE_MARK = 240, 60


class SearchRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What is searched for, which values the facets of hits must have, and which page of the hits is wanted."""

    q: str = ""
    facets: dict[str, str] = {}
    limit: int = USUAL
    offset: int = 0


class Highlight(msgspec.Struct, frozen=True):
    """A text in which something was found, shortened, and where in it: pairs of positions, counted in characters."""

    path: str
    """The attribute in dot notation, or the property of the schema."""
    text: str
    marks: tuple[tuple[int, int], ...]
    is_property: bool = False


class SearchHit(msgspec.Struct, frozen=True):
    """A Group or a Resource that was found."""

    xid: str
    kind: str
    group: str
    id: str
    name: str
    description: str
    format: str
    envelope: str
    protocol: str
    deprecated: bool
    highlights: tuple[Highlight, ...]


class FacetValue(msgspec.Struct, frozen=True):
    """A value of a facet, and how many hits would have it if this facet were not restricted."""

    value: str
    count: int


class SearchResult(msgspec.Struct, frozen=True):
    """A page of hits, how many there are on all pages, and the values of facets, the most frequent first."""

    q: str
    total: int
    is_complete: bool
    """Whether there are no more than were counted."""
    hits: tuple[SearchHit, ...]
    facets: dict[str, tuple[FacetValue, ...]]


def search(tx: Transaction, request: SearchRequest) -> SearchResult:
    """The hits of a page."""
    _check(request)
    terms = parse_query(request.q, SUBJECT)
    if not terms and request.q.strip():  # there is something, and no word in it
        return SearchResult(request.q, 0, True, (), dict.fromkeys(FACETS, ()))
    facets = {name: without_nul(value) for name, value in request.facets.items()}
    rows, is_complete = _rows(tx, terms, facets)
    wanted = [row for row in rows if _fits(row, facets)]
    wanted.sort(key=lambda row: (-row.score, row.length if terms else 0, row.xid))
    page = wanted[request.offset : request.offset + request.limit]
    return SearchResult(
        q=request.q,
        total=len(wanted),
        is_complete=is_complete,
        hits=tuple(_hits(tx, page, terms)),
        facets={name: _values(rows, name, facets) for name in FACETS},
    )


def _check(request: SearchRequest) -> None:
    detail = ""
    if not 1 <= request.limit <= MOST:
        detail = f"limit must be a number from 1 to {MOST}"
    elif not 0 <= request.offset <= MOST_COUNTED:
        detail = f"offset must be a number from 0 to {MOST_COUNTED}; say more words to find what comes later"
    elif unknown := request.facets.keys() - set(FACETS):
        detail = f"there is no facet {min(unknown)}, only {', '.join(FACETS)}"
    if detail:
        raise RegistryProblem("bad_request", SUBJECT, error_detail=detail)


def _rows(tx: Transaction, terms: tuple[Term, ...], facets: dict[str, str]) -> tuple[list[EntryRow], bool]:
    """What is counted: everything that is found, or, where that is too much, what is asked for, titles first."""
    rows = tx.find_entries(EntryQuery(terms=terms), 0, MOST_COUNTED + 1)
    if len(rows) <= MOST_COUNTED:
        return rows, True
    chosen = tuple(facets.items())
    rows = tx.find_entries(EntryQuery(terms=terms, facets=chosen), 0, MOST_COUNTED + 1) if chosen else rows
    if len(rows) <= MOST_COUNTED or not terms:
        return rows[:MOST_COUNTED], len(rows) <= MOST_COUNTED
    titled = tx.find_entries(EntryQuery(terms=terms, in_title=True, facets=chosen), 0, MOST_COUNTED)
    found = {row.number: row for row in (*titled, *rows)}
    return list(found.values())[:MOST_COUNTED], False


def _fits(row: EntryRow, facets: dict[str, str], but: str = "") -> bool:
    return all(getattr(row, name) == value for name, value in facets.items() if name != but)


def _values(rows: list[EntryRow], name: str, facets: dict[str, str]) -> tuple[FacetValue, ...]:
    others = facets.keys() - {name}
    counted: Iterable[EntryRow] = (row for row in rows if _fits(row, facets, but=name)) if others else rows
    counts = Counter(map(attrgetter(name), counted))
    del counts[""]
    values = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    chosen = [one for one in values[MOST_VALUES:] if one[0] == facets.get(name)]
    return tuple(FacetValue(*one) for one in (*values[:MOST_VALUES], *chosen))


def _hits(tx: Transaction, page: list[EntryRow], terms: tuple[Term, ...]) -> Iterator[SearchHit]:
    found = tx.entities_by_xid([row.xid for row in page])
    page = [row for row in page if row.xid in found]
    defaults = {xid: f"{xid}/versions/{one.attributes.get('defaultversionid')}" for xid, one in found.items()}
    versions = tx.entities_by_xid([defaults[row.xid] for row in page if row.xid != row.group])
    schemas = [row.xid for row in page if row.xid != row.group]
    properties: dict[str, list[Highlight]] = {}
    for one in tx.properties_found(schemas, terms, MOST * MOST_HIGHLIGHTS):
        if marked := _highlight(one.path, one.path, terms, is_property=True):
            properties.setdefault(one.xid, []).append(marked)
    for row in page:
        meta = found[row.xid]
        shown = versions.get(defaults[row.xid], meta)
        highlights = (*_highlights(shown, terms), *properties.get(row.xid, ()))
        yield SearchHit(
            xid=row.xid,
            kind=row.kind,
            group=row.group,
            id=searched_id(row.xid),
            name=_text(shown, "name"),
            description=_text(shown, "description"),
            format=row.format,
            envelope=row.envelope,
            protocol=row.protocol,
            deprecated=bool(meta.attributes.get("deprecated")),
            highlights=highlights[:MOST_HIGHLIGHTS],
        )


def _text(entity: Entity, name: str) -> str:
    value = entity.attributes.get(name)
    return value[:SHOWN_TEXT] if isinstance(value, str) else ""


def _highlights(entity: Entity, terms: tuple[Term, ...]) -> Iterator[Highlight]:
    if not terms:
        return
    unit = entity.xid.rpartition("/versions/")[0] or entity.xid
    if marked := _highlight("id", searched_id(unit), terms):
        yield marked
    for found in texts_of(entity):
        if marked := _highlight(write_path(found.path), found.text, terms):
            yield marked


def _highlight(path: str, text: str, terms: tuple[Term, ...], is_property: bool = False) -> Highlight | None:
    """What of a text is found by any of the terms; None when nothing is."""
    spans = sorted(find_spans(text, terms))
    if not spans:
        return None
    start = max(0, spans[0][0] - BEFORE_MARK) if len(text) > SHOWN_TEXT else 0
    end = start + SHOWN_TEXT
    marks = [(low - start, min(high, end) - start) for low, high in _merged(spans) if start <= low < end]
    return Highlight(path, text[start:end], tuple(marks[:MOST_MARKS]), is_property)


def find_spans(text: str, terms: tuple[Term, ...]) -> set[tuple[int, int]]:
    """Where any of the terms stands in a text."""
    if text.isascii():  # its words are parts of it in lower case: most texts of a hit are done with
        lower = text.lower()
        possible = [term for term in terms if term.words[0] in lower]
        if not possible:
            return set()
        patterns = [term.plain for term in possible]
        if all(patterns) and not has_parts(text):
            return {found.span() for pattern in patterns if pattern for found in pattern.finditer(lower)}
    lines = [list(find_words(text)), *find_compounds(text)]
    return {span for words in lines for term in terms for span in term.spans(words)}


def _merged(spans: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    low, high = -1, -1
    for start, end in spans:
        if start > high:
            if high >= 0:
                yield low, high
            low, high = start, end
        high = max(high, end)
    yield low, high

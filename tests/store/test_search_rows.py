"""The index of SQLite while entries wait for FTS5: nothing is found twice, or by words that it no longer has."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from postroom.catalog.open_store import open_store
from postroom.registry.search.index_rows import EntryQuery
from postroom.registry.search.search_entry import SearchEntry
from postroom.registry.search.search_query import Term, parse_query
from postroom.registry.search.words import indexed_words
from postroom.store import sqlite_search

WORDS = ("alpha", "alps", "beta", "gamma", "delta")


def entry(name: str, rng: random.Random) -> SearchEntry:
    line = indexed_words([" ".join(rng.choices(WORDS, k=3))], 10)
    return SearchEntry(
        xid=f"/messagegroups/{name}",
        kind="messagegroups",
        group=f"/messagegroups/{name}",
        format="",
        envelope="",
        protocol="",
        schema="",
        base="",
        title=indexed_words([name], 10),
        words=line,
        description=indexed_words([rng.choice(WORDS)], 10),
        fields="",
        properties=tuple((word, "string") for word in dict.fromkeys(line.split())),
    )


def holds(one: SearchEntry, terms: tuple[Term, ...]) -> bool:
    return all(any(term.line in line for line in (one.title, one.words, one.description)) for term in terms)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.sqlite
def test_entries_are_found_whether_or_not_they_wait(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_search, "MOST_WAITING", 3)
    rng, known = random.Random(seed), dict[str, SearchEntry]()
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store:
        for _ in range(60):
            with store.write() as tx:
                for name in rng.sample("abcdefgh", rng.randrange(1, 4)):
                    made = entry(name, rng)
                    if rng.random() < 0.3:
                        tx.delete_search_entry(made.xid)
                        known.pop(made.xid, None)
                    else:
                        tx.put_search_entry(made)
                        known[made.xid] = made
            with store.read() as tx:
                for q in ("alp", '"alps"', "alpha beta", '"alpha beta"', '"beta" gam', "a", "delta h"):
                    terms = parse_query(q, "/")
                    rows = tx.find_entries(EntryQuery(terms=terms), 0, 100)
                    expected = {xid for xid, one in known.items() if holds(one, terms)}
                    assert sorted(row.xid for row in rows) == sorted(expected), q
                    assert [row.number for row in rows] == sorted(row.number for row in rows)
                assert len(tx.find_entries(EntryQuery(), 0, 100)) == len(known)
                for word in WORDS:
                    having = {xid for xid, one in known.items() if (word, "string") in one.properties}
                    assert {row.xid for row in tx.property_uses(word, 0, 100)} == having
    with closing(sqlite3.connect(tmp_path / "registry.db")) as file:
        assert file.execute("SELECT count(*) FROM search_entry WHERE state > 0").fetchone()[0] <= 3
        file.execute("INSERT INTO search_text (search_text) VALUES ('integrity-check')")

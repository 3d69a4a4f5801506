"""Words of texts, as they are indexed and as they are searched for."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from postroom.registry.search.search import find_spans
from postroom.registry.search.search_query import parse_query
from postroom.registry.search.words import GAP, LONGEST_WORD, find_compounds, find_words, indexed_words

TEXTS = st.text(max_size=60) | st.text(alphabet="abAB12_-. ", max_size=30)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("OrderPlaced.v1", "order placed v1"),
        ("order_placed-2", "order placed 2"),
        ("HTTPServer", "http server"),
        ("IMEI, V2, 3f", "imei v2 3f"),
        ("Zürich CAFÉ", "zurich cafe"),
        ("Straße", "strasse"),
        ("注文しました", "注 文 し ま し た"),
        ("заказ", "заказ"),
        ("¦‖ … 🚚", ""),
        ("x" * 100, "x" * LONGEST_WORD),
    ],
)
def test_the_words_of_a_text(text: str, words: str) -> None:
    assert " ".join(one.word for one in find_words(text)) == words


@given(TEXTS)
@example("AB2c A2b 2V ABc aB")
def test_the_index_has_the_words_of_a_text_and_its_compounds(text: str) -> None:
    words = [one.word for one in find_words(text)]
    compounds = [word for chunk in find_compounds(text) for word in (GAP, *(one.word for one in chunk))]
    assert indexed_words([text], 1000).split() == words + compounds


@given(TEXTS)
def test_words_stand_where_they_are_said_to_stand(text: str) -> None:
    for words in (list(find_words(text)), *find_compounds(text)):
        assert all(0 <= one.start < one.end <= len(text) for one in words)
        assert all(before.end <= after.start for before, after in itertools.pairwise(words))


@given(TEXTS)
def test_words_hold_nothing_that_a_database_understands(text: str) -> None:
    for one in find_words(text):
        assert one.word.isalnum()
        assert one.word == one.word.casefold() or not one.word.isascii()
        assert len(one.word) <= LONGEST_WORD


@given(TEXTS, st.text(alphabet='abAB12_-. "ü', max_size=12))
@example("abc ab ABC bab ab", "ab")
@example("ab abc", '"ab"')
@example("ab ab ab", '"ab ab"')
@example("x" * (LONGEST_WORD + 1), '"' + "x" * (LONGEST_WORD + 2) + '"')
@example("x" * LONGEST_WORD, '"' + "x" * (LONGEST_WORD - 1) + '"')
def test_terms_stand_where_the_words_of_a_text_say(text: str, query: str) -> None:
    terms = parse_query(query, "/-/search")
    lines = [list(find_words(text)), *find_compounds(text)]
    assert find_spans(text, terms) == {span for words in lines for term in terms for span in term.spans(words)}

"""The next version is after the one before it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from postroom.http.v0_5.entity_views import following_version, version_number, version_order
from postroom.model.names import is_entity_id

IDS = st.from_regex(r"\A[A-Za-z0-9_][A-Za-z0-9_.\-~:@]{0,126}\Z") | st.from_regex(r"\A[0-9]{1,20}(\.[0-9]{1,3}){0,3}\Z")


@given(IDS)
def test_the_next_one_is_larger(latest: str) -> None:
    assert version_order(following_version(latest)) > version_order(latest)
    assert is_entity_id(following_version(latest))


@given(st.lists(IDS, min_size=2, max_size=2))
def test_the_order_is_that_of_padded_texts(pair: list[str]) -> None:
    width = max(map(len, pair))
    padded = [one.rjust(width) for one in pair]
    assert (version_order(pair[0]) < version_order(pair[1])) == (padded[0] < padded[1])


@given(st.integers(0, 10**30))
def test_numbers_are_numbers(number: int) -> None:
    assert version_number(str(number)) == number
    assert version_number(f"0{number}") == f"0{number}"

"""Comparing values with texts: wildcards against regular expressions, orders that are orders."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.registry.query.compare_values import RELATIVE, Operands, compares, equals, has_wildcard, order_key

ALPHABET = st.sampled_from("aAbB*\\.%é")


def as_regex(pattern: str) -> str:
    parts = re.split(r"(\\\*|\*)", pattern)
    return "".join({"*": ".*", "\\*": r"\*"}.get(part, re.escape(part)) for part in parts)


@pytest.mark.feature("FLAG-036", "FLAG-037", "FLAG-038")
@given(st.text(ALPHABET, max_size=8), st.text(ALPHABET, max_size=8))
def test_wildcards_mean_any_characters(value: str, pattern: str) -> None:
    expected = re.fullmatch(as_regex(pattern.casefold()), value.casefold(), re.DOTALL) is not None
    assert equals(value, pattern) == expected


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=6))


@given(SCALARS, SCALARS, SCALARS)
def test_values_have_one_order(a: Any, b: Any, c: Any) -> None:
    keys = sorted([order_key(a), order_key(b), order_key(c)])
    assert keys[0] <= keys[1] <= keys[2]
    assert keys[0] <= keys[2]


@pytest.mark.feature("FLAG-033", "FLAG-034", "FLAG-035", "FLAG-036")
@given(SCALARS.filter(lambda value: value is not None), SCALARS.filter(lambda value: value is not None))
def test_signs_agree_with_each_other(value: Any, other: Any) -> None:
    text = str(other).lower() if isinstance(other, bool) else str(other)
    held = {sign for sign in RELATIVE if compares(value, sign, text)}
    plain = equals(value, text.replace("*", "\\*")) if not has_wildcard(text.replace("*", "\\*")) else None
    assert held in ({"<", "<="}, {">", ">="}, {"<=", ">="}, set())
    if held:
        assert plain is (held == {"<=", ">="})


@pytest.mark.parametrize(
    ("value", "sign", "text"),
    [
        (3, "<", "10"),
        (2**70, ">", str(2**70 - 1)),
        (0.1, "<", "0.2"),
        ("9", ">", "10"),
        ("b", ">", "A"),
        (False, "<", "true"),
        ("2026-01-01T00:00:00Z", "<", "2026-01-01T00:00:00.1Z"),
        ("2026-01-01T00:00:00Z", ">", "2026-01-01T00:30:00+01:00"),
    ],
)
def test_orders_follow_the_type(value: Any, sign: str, text: str) -> None:
    assert compares(value, sign, text)
    assert not compares(value, {"<": ">=", ">": "<="}[sign], text)


@pytest.mark.feature("FLAG-031")
@pytest.mark.parametrize("value", [{}, [], {"a": 1}, ["x"], None])
def test_only_scalars_compare(value: Any) -> None:
    assert not equals(value, "x")
    assert not any(compares(value, sign, "x") for sign in RELATIVE)


@pytest.mark.parametrize("text", ["nan", "inf", "1e99999", "0x10", "1_000", "9" * 500, "--1", "1.", "٣"])
def test_odd_numbers_are_no_numbers(text: str) -> None:
    assert not equals(3, text)
    assert not any(compares(3, sign, text) for sign in RELATIVE)


TEXTS = st.one_of(st.text(ALPHABET, max_size=4), st.sampled_from(["true", "1", "1.0", "-2", "1e0", "*", "x"]))


@given(st.one_of(SCALARS, st.text(ALPHABET, max_size=4)), st.lists(TEXTS, max_size=6))
def test_several_operands_are_compared_as_each_of_them(value: Any, texts: list[str]) -> None:
    assert Operands(texts).match(value) == any(equals(value, text) for text in texts)

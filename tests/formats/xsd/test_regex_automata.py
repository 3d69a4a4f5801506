"""Patterns: which ones validators match quickly, and the matcher for the others."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.xsd.regex_automata import automaton, is_quick


@pytest.mark.parametrize(
    "pattern",
    [
        r"\d+(\.\d+)?",
        "[^@]+@[^@]+",
        "[A-Z]{2,3}[A-Z0-9]{5}",
        r"\i\c*",
        "a|b|",
        "",
        "[0-9a-f]{8}(-[0-9a-f]{4}){3}",
        "(ab)+",
    ],
)
def test_patterns_that_people_write_are_quick(pattern: str) -> None:
    assert is_quick(pattern)


@pytest.mark.parametrize(
    "pattern", ["(a+)+b", "(a*)*b", "(a|a)*b", "(a|ab)(c|bcd)*d*e*", "(a{1,30}){1,30}b", "(.*a){20}", "(x+x+)+y"]
)
def test_patterns_with_too_many_ways_are_not(pattern: str) -> None:
    assert not is_quick(pattern) or automaton(pattern).is_deterministic()
    assert not automaton(pattern).match("a" * 2_000 + "!")


@given(
    st.sampled_from(
        ["(a+)+b", "(a?){3}a{2}", "[a-c]{2,3}x*", "(ab|a){2}", "a|b|", "(a|b)*abb", "[^a]b?", "((a|b)c?)*", "a{0}b"]
    ),
    st.text("abcx", max_size=7),
)
def test_the_matcher_agrees_with_pythons(pattern: str, text: str) -> None:
    assert automaton(pattern).match(text) == (re.fullmatch(pattern, text) is not None)


@pytest.mark.parametrize(
    "pattern", ["(", "[z-a]", "(?=a)", "a{1,999999}", "(a{1,1000}){1,1000}", "(" * 3_000 + ")" * 3_000]
)
def test_patterns_that_cannot_be_matched_are_refused(pattern: str) -> None:
    with pytest.raises(SchemaRefused):
        automaton(pattern)


@pytest.mark.parametrize("pattern", ["((a?){50}){50}", "((a|b){60}){60}", "((a?){0}){50}", "((a*){50}){63}"])
def test_counting_ways_never_overflows(pattern: str) -> None:
    assert is_quick(pattern) in (True, False)


def test_patterns_that_go_on_in_very_many_ways_are_refused() -> None:
    with pytest.raises(SchemaRefused, match="too many ways"):
        automaton("((a?){50}){50}")

"""Patterns: which ones validators match quickly, and the matcher for the others."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from lxml import etree

from postroom.errors import SchemaRefused
from postroom.formats.xsd.patterns import automaton, is_quick, linear_matcher, python_pattern


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
    "pattern",
    [
        *("(a+)+b", "(a*)*b", "(a|a)*b", "(a|ab)(c|bcd)*d*e*", "(a{1,30}){1,30}b", "(.*a){20}", "(x+x+)+y"),
        *(r"(\w+=)+!", r"(\W+_)+x", r"\w+([-+.']\w+)*@\w+([-.]\w+)*"),  # = and + are in \w, _ is in \W
    ],
)
def test_patterns_with_too_many_paths_are_not_quick_and_matched_in_linear_time(pattern: str) -> None:
    assert not is_quick(pattern) or automaton(pattern).is_deterministic()
    matches = linear_matcher(pattern)
    assert not any(matches(repeated * 2_000 + "?") for repeated in ("a", "=", "_", "a+"))


@pytest.mark.parametrize("pattern", [r"(\w+=)+!", r"(\W+_)+x", r"\w+([-+.']\w+)*@\w+([-.]\w+)*"])
def test_symbols_that_libxml2_takes_for_word_characters_make_a_pattern_ambiguous(pattern: str) -> None:
    assert not is_quick(pattern)


ATOMS = [
    *("a", "b", "x", ".", "-", "&", "~", "#", " ", ":", "$", "^", "é", "😀", r"\.", r"\-", r"\\", r"\n", r"\t"),
    *(r"\d", r"\D", r"\i", r"\c", r"\I", r"\C", r"\p{L}", r"\P{L}", r"\p{Nd}", r"\p{So}", r"\p{IsBasicLatin}"),
    *("[a-c]", "[^a]", "[abc-[b]]", r"[\w-[\d]]", r"[^\d]", r"[\i-[:]]", "[+--]", "[&&]", "[~~]", r"[a\-z]", "[a|b]"),
    *(r"[\[\]]", "[à-ü]", "[😀-😄]", r"[^\n]", r"[\s\S]", "[!-/]", "[^-a]", "[a-[a]]", r"[\w]", r"[\W]"),
]
PATTERNS = st.recursive(
    st.sampled_from(ATOMS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda branches: f"({'|'.join(branches)})"),
        st.builds(
            lambda piece, repeat: f"({piece}){repeat}",
            inner,
            st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,3}", "{2,}", "{0}"]),
        ),
    ),
    max_leaves=6,
)


@given(PATTERNS, st.lists(st.text("abcx.-1٣ \t\n:_é😀$+²\u0301^&~[]|\\", max_size=5), min_size=1, max_size=20))
def test_the_linear_matcher_agrees_with_pythons(pattern: str, texts: list[str]) -> None:
    try:
        matches = linear_matcher(pattern)
    except SchemaRefused:
        assume(False)  # XML Schema knows no such range as that of `[+--]`
    expected = re.compile(python_pattern(pattern))
    assert [matches(text) for text in texts] == [expected.fullmatch(text) is not None for text in texts]


@pytest.mark.parametrize("pattern", [r"\w", r"\W", r"[\w]", r"\d", r"\s", r"\S", "."])
def test_the_linear_matcher_agrees_with_libxml2_on_escapes(pattern: str) -> None:
    restriction = f'<xs:restriction base="xs:string"><xs:pattern value="{pattern}"/></xs:restriction>'
    document = f"""<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
        <xs:element name="a"><xs:simpleType>{restriction}</xs:simpleType></xs:element></xs:schema>"""
    schema, matches = etree.XMLSchema(etree.fromstring(document)), linear_matcher(pattern)
    for character in "a1_$+-=^\u0301٣²\xa0\u3000\n\t €Ⅰ":
        element = etree.Element("a")
        element.text = character
        assert matches(character) == schema.validate(element), character


@pytest.mark.parametrize(
    "pattern",
    ["(", "[z-a]", "(?=a)", "a{1,999999}", "(a{1,1000}){1,1000}", "(" * 3_000 + ")" * 3_000, r"(\p{L}{1,4900}x?)*"],
)
def test_patterns_that_cannot_be_matched_are_refused(pattern: str) -> None:
    with pytest.raises(SchemaRefused):
        linear_matcher(pattern)


@pytest.mark.parametrize("pattern", ["((a?){50}){50}", "((a|b){60}){60}", "((a?){0}){50}", "((a*){50}){63}"])
def test_counting_paths_never_overflows(pattern: str) -> None:
    assert is_quick(pattern) in (True, False)


def test_patterns_that_go_on_in_very_many_ways_are_refused() -> None:
    with pytest.raises(SchemaRefused, match="too many ways"):
        linear_matcher("((a?){50}){50}")

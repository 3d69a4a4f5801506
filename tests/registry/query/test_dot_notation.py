"""Dot notation: texts, steps and the values they lead to."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.registry.query.dot_notation import (
    MAX_STEPS,
    BadPath,
    Path,
    PathWildcard,
    parse_path,
    values_at,
    write_path,
)

MEMBER, ITEM = PathWildcard.MEMBER, PathWildcard.ITEM


@pytest.mark.feature("FLAG-039", "FLAG-040")
@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("name", ("name",)),
        (".name", ("name",)),
        ("['my.name']", ("my.name",)),
        ('["birth.date"]', ("birth.date",)),
        ("stack[3]", ("stack", 3)),
        ("[2]", (2,)),
        ('["2"]', ("2",)),
        ("labels.2", ("labels", "2")),
        ("employee['joe'].addresses[0].state", ("employee", "joe", "addresses", 0, "state")),
        ("labels.*", ("labels", MEMBER)),
        ("labels['*']", ("labels", "*")),
        ("tags[*].x", ("tags", ITEM, "x")),
        ("a['it\"s']", ("a", 'it"s')),
    ],
)
def test_paths_are_read_and_written(text: str, path: Path) -> None:
    assert parse_path(text, wildcards=True) == path
    assert parse_path(write_path(path), wildcards=True) == path


@pytest.mark.parametrize(
    "text",
    ["", ".", "..", "a..b", "a.", "a[", "a[]", "a['']", "a[-1]", "a['x]", "a]b", "a'b", "[0]a", "a" + ".b" * MAX_STEPS],
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(BadPath):
        parse_path(text, wildcards=True)


def test_wildcards_are_for_filters() -> None:
    for text in ("a.*", "a[*]", "*"):
        with pytest.raises(BadPath):
            parse_path(text)


NAMES = st.text(st.characters(exclude_characters="'\"", exclude_categories=["Cs"]), min_size=1, max_size=8)
STEPS = st.one_of(NAMES, st.integers(0, 99), st.sampled_from([MEMBER, ITEM]))


@given(st.lists(STEPS, min_size=1, max_size=8).map(tuple))
def test_any_path_survives_writing(path: Path) -> None:
    assert parse_path(write_path(path), wildcards=True) == path


@given(st.text(max_size=40))
def test_any_text_is_a_path_or_refused(text: str) -> None:
    try:
        path = parse_path(text, wildcards=True)
    except BadPath:
        return
    assert parse_path(write_path(path), wildcards=True) == path


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("a",), [1]),
        (("none",), []),
        (("null",), []),
        (("list", 1), [3]),
        (("list", 7), []),
        (("list", "1"), []),
        (("list", ITEM), [2, 3]),
        (("list", MEMBER), []),
        (("map", MEMBER, "x"), [4, 5]),
        (("map", "*", "x"), [6]),
        (("a", "b"), []),
    ],
)
def test_values(path: Path, expected: list[Any]) -> None:
    value = {"a": 1, "null": None, "list": [2, 3], "map": {"p": {"x": 4}, "q": {"x": 5}, "r": {}}}
    if "*" in path:
        value["map"] = {"*": {"x": 6}}
    assert list(values_at(value, path)) == expected

"""URI templates, level 1: the public suite of cases, and extraction as the inverse of expansion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from postroom.messages.definitions.templates import Template

NAMES = ("a", "b", "c")
values = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
separators = st.sampled_from(["/", "?", "#", "/x/", "?q="])  # what a value never holds unencoded


def level_one(suite: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    groups = [group for group in suite.values() if group.get("level") == 1]
    cases = [(group["variables"], *case) for group in groups for case in group["testcases"]]
    return [(template, expected, variables) for variables, template, expected in cases if "{" in template]


def test_expansion_passes_the_public_suite(shared: Path) -> None:
    folder = shared / "suites" / "uritemplate-test"
    cases = [
        case
        for name in ("spec-examples.json", "spec-examples-by-section.json", "extended-tests.json")
        for case in level_one(json.loads((folder / name).read_text()))
    ]
    assert len(cases) >= 2
    for text, expected, variables in cases:
        template = Template(text)
        given_values = {name: str(variables[name]) for name in template.names}
        # A placeholder alone goes into headers and keys, and is inserted as it is.
        filled = template.expand(given_values) if not template.alone else Template(text + "/").expand(given_values)[:-1]
        assert filled == expected


@given(st.lists(values, min_size=3, max_size=3), separators, separators, st.sampled_from(["", "/", "/end"]))
def test_extraction_is_the_inverse_for_any_separators(texts: list[str], first: str, second: str, last: str) -> None:
    template = Template(f"/x/{{a}}{first}{{b}}{second}{{c}}{last}")
    bound = dict(zip(NAMES, texts, strict=True))
    assert template.extract(template.expand(bound)) == bound


@given(st.lists(values, min_size=2, max_size=2), st.sampled_from(["/café/", "/a b/", "/1|2/%20", "/naïve?"]))
def test_literals_are_encoded_in_a_uri_and_read_either_way(texts: list[str], first: str) -> None:
    template = Template(f"{first}{{a}}/{{b}}")
    bound = dict(zip(NAMES, texts, strict=False))
    made = template.expand(bound)
    assert made.isascii()
    assert " " not in made
    as_written = Template(f"{first}{{a}}/{{b}}", is_uri=False).expand(bound)
    assert as_written.startswith(first)
    assert [template.extract(text) for text in (made, as_written)] == [bound, bound]

"""Every pointer into a text has its line, in JSON and in YAML."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.documents.source_positions import members, positions

JSON = """{
  "ovens": [{"hot": true},
    {"a/b": "x:,{\\"", "cold" : null}
  ],
  "last": {}
}"""
YAML = "ovens:\n  - hot: true\n  - {a/b: &it x, cold: *it}\nlast: {}\n"
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=3), below, max_size=3),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("text", "pointer", "position"),
    [
        (JSON, "/ovens", (2, 3)),
        (JSON, "/ovens/0/hot", (2, 14)),
        (JSON, "/ovens/1", (3, 5)),
        (JSON, "/ovens/1/a~1b", (3, 6)),
        (JSON, "/ovens/1/cold/too/far", (3, 23)),
        (JSON, "/last", (5, 3)),
        (JSON, "", (1, 1)),
        (YAML, "/ovens/0/hot", (2, 5)),
        (YAML, "/ovens/1/a~1b", (3, 6)),
        (YAML, "/ovens/1/cold", (3, 18)),
        (YAML, "/last", (4, 1)),
    ],
)
def test_a_pointer_has_a_line_and_a_column(text: str, pointer: str, position: tuple[int, int]) -> None:
    assert positions(text, [pointer], is_yaml=text is YAML) == {pointer: position}


def walk(value: Any, steps: tuple[Any, ...] = ()) -> Any:
    for step, below in (
        value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ())
    ):
        yield (*steps, step)
        yield from walk(below, (*steps, step))


@given(value=VALUES, indent=st.sampled_from([None, 1]), ascii_only=st.booleans())
def test_every_member_of_any_json_is_found(value: Any, indent: int | None, ascii_only: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
    assert [steps for steps, _ in members(text)] == list(walk(value))

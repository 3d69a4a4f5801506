"""Every pointer into a file has its line, in JSON and in YAML."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.documents.json_positions import members
from postroom.documents.source_positions import positions

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
    ("name", "text", "place", "position"),
    [
        ("a.json", JSON, "/ovens", (2, 3)),
        ("a.json", JSON, "/ovens/0/hot", (2, 14)),
        ("a.json", JSON, "/ovens/1", (3, 5)),
        ("a.json", JSON, "/ovens/1/a~1b", (3, 6)),
        ("a.json", JSON, "/ovens/1/cold/too/far", (3, 23)),
        ("a.json", JSON, "/last", (5, 3)),
        ("a.json", JSON, "", (1, 1)),
        ("a.yaml", YAML, "/ovens/0/hot", (2, 5)),
        ("a.yaml", YAML, "/ovens/1/a~1b", (3, 6)),
        ("a.yaml", YAML, "/ovens/1/cold", (3, 18)),
        ("a.yaml", YAML, "/last", (4, 1)),
    ],
)
def test_lines_and_columns(tmp_path: Path, name: str, text: str, place: str, position: tuple[int, int]) -> None:
    file = tmp_path / name
    file.write_text(text)
    assert positions(file, [place]) == {place: position}


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

"""Documents as commands write them."""

import json
from typing import Any

import pytest
import yaml

from postroom.cli.document_output import document_text, form_of


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"a": [], "b": {}, "c": [1, 2.5, None, True, 'ä\n"x"']},
        {"big": 123456789012345678901234567890},
        {"no": "no", "time": "12:30", "date": "2026-11-15", "empty": "", "null": "null"},
    ],
)
@pytest.mark.parametrize("form", ["json", "yaml"])
def test_what_is_written_can_be_read(document: Any, form: str) -> None:
    text = document_text(document, form)
    assert (json.loads if form == "json" else yaml.safe_load)(text) == document
    assert text.endswith("\n")


def test_yaml_has_no_anchors() -> None:
    shared = {"x": [1]}
    assert "&" not in document_text({"a": shared, "b": shared}, "yaml")


def test_json_is_indented() -> None:
    assert document_text({"a": {"b": 1}}, "json") == '{\n  "a": {\n    "b": 1\n  }\n}\n'


@pytest.mark.parametrize(
    ("form", "output", "expected"),
    [(None, None, "json"), (None, "a.cereg.yml", "yaml"), ("json", "a.yaml", "json"), ("yaml", "a.json", "yaml")],
)
def test_the_form_is_asked_for_or_follows_from_the_name(form: str | None, output: str | None, expected: str) -> None:
    assert form_of(form, output) == expected

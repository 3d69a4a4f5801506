"""Attributes in headers: what goes out comes back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.http.v0_5.requests import TEXT_SCHEMA, V05Client, registry_headers

NOTE = "/schemaGroups/payloads/schemas/note"
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)


@pytest.mark.feature("D5R-022", "D5R-024")
@pytest.mark.parametrize(
    "text",
    ["plain text", "100 %", "ünïcödé", "☃", " spaces ", '"quoted"', "a\nb\x00", "%25", "a,b;c", "null", "x" * 2000],
)
def test_texts_survive(notes: V05Client, text: str) -> None:
    notes.put(f"{NOTE}?meta", {"description": text})
    headers = registry_headers(notes.ask("GET", NOTE))
    assert headers["description"].isascii()
    assert headers["description"].isprintable()
    notes.put(f"{NOTE}?meta", {})
    notes.put(NOTE, TEXT_SCHEMA, description=headers["description"])
    assert notes.get(f"{NOTE}?meta")["description"] == text


@given(text=TEXTS)
def test_any_text_survives(text: str) -> None:
    from postroom.http.v0_5.attribute_headers import _encoded
    from postroom.http.xregistry.attribute_headers import decode

    assert decode(_encoded("name", text), "registry-name", "/") == text


@pytest.mark.feature("D5R-022")
def test_only_what_fits_into_a_header_is_one(notes: V05Client) -> None:
    attributes: dict[str, Any] = {"list": [1], "object": {"a": 1}, "number": 7, "flag": True, "fraction": 1.5}
    notes.put(f"{NOTE}?meta", attributes)
    headers = registry_headers(notes.ask("GET", NOTE))
    assert {"number": "7", "flag": "true", "fraction": "1.5"}.items() <= headers.items()
    assert not {"list", "object"} & headers.keys()
    # What no header carries is not touched by headers.
    assert notes.put(NOTE, TEXT_SCHEMA, flag="").status == 200
    found = notes.get(f"{NOTE}?meta")
    assert (found["list"], found["object"], "flag" in found) == ([1], {"a": 1}, False)

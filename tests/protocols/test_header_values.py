"""Percent-encoding does what `urllib` does."""

from __future__ import annotations

from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from postroom.protocols.header_values import decoded, encoded, percent_encoder

UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~"
texts = st.text(st.characters(codec="utf-8"))


@given(text=texts, safe=st.sampled_from(["", "/", "!#$&'()*+,/:;=?@[]"]))
def test_it_does_what_urllib_does(text: str, safe: str) -> None:
    assert percent_encoder(UNRESERVED + safe)(text) == quote(text, safe=safe)


@given(text=texts)
def test_a_header_gives_its_text_back(text: str) -> None:
    assert encoded(text).isascii()
    assert decoded(encoded(text)) == text

"""Invented values."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.filling import filler
from tests.formats.protobuf.documents import ORDER, OVEN, proto2, schema
from tests.formats.protobuf.inventing import documents


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6), which=st.sampled_from([(ORDER, "Order"), (OVEN, "Oven"), (OVEN, "Shelf")]))
def test_invented_values_fit_and_fill_their_columns(seed: int, which: tuple[str, str]) -> None:
    parsed = schema(*which)
    payload = parsed.encode(parsed.sample(random.Random(seed)))
    value, violations = parsed.judge(payload)
    assert violations == []
    assert parsed.accepts(payload) == []
    assert parsed.judge(parsed.encode(value)) == (value, [])
    filler(parsed.columns())(value)


@settings(max_examples=60, deadline=None)
@given(text=documents(), seed=st.integers(0, 1000))
def test_values_of_random_schemas_fit_and_come_back(text: str, seed: int) -> None:
    parsed = schema(text, "Root")
    value, violations = parsed.judge(parsed.encode(parsed.sample(random.Random(seed))))
    assert violations == []
    assert parsed.judge(parsed.encode(value)) == (value, [])
    filler(parsed.columns())(value)


@pytest.mark.parametrize(
    "text",
    [
        proto2("message Egg { required Hen hen = 1; } message Hen { required Egg egg = 1; }"),
        proto2(
            "".join(
                f"message M{i} {{ {''.join(f'required M{i + 1} a{n} = {n};' for n in range(1, 9))} }}"
                for i in range(20)
            )
            + "message M20 {}"
        ),
    ],
    ids=["endless", "too many"],
)
def test_what_requires_too_much_has_no_sample(text: str) -> None:
    name = "Egg" if "Egg" in text else "M0"
    with pytest.raises(SchemaRefused, match="--data"):
        schema(text, name).sample(random.Random(1))

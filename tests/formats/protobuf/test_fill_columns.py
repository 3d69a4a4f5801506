"""The short way into columns makes what reading and filling make, and of nothing else."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.fill_columns import filler
from postroom.formats.protobuf.format import Protobuf
from postroom.formats.schema import FastSchema
from tests.formats.protobuf.documents import ORDER, OVEN, proto3, schema
from tests.formats.protobuf.random_messages import documents
from tests.formats.protobuf.test_batch_check import TRIP, fields

SCHEMAS = [(ORDER, "Order"), (OVEN, "Oven"), (TRIP, "Trip")]
HEADER = b"\x00\x00\x00\x00\x07\x00"


def assert_filled_rightly(parsed: Protobuf, payload: bytes) -> bool:
    """Hold the short way to the long one; whether it was taken."""
    filled, sure = parsed.fill(payload)
    if sure:
        value, violations = parsed.validate(payload)
        assert violations == []
        assert repr(filled) == repr(reordered(filled, filler(parsed.columns())(value)))  # NaN equals nothing
    return sure


def reordered(like: Any, value: Any) -> Any:
    """A value with its members in the order of another."""
    if isinstance(value, dict) and isinstance(like, dict):
        assert value.keys() == like.keys()
        return {name: reordered(like[name], value[name]) for name in like}
    if isinstance(value, list) and isinstance(like, list) and len(like) == len(value):
        return [reordered(one, other) for one, other in zip(like, value, strict=True)]
    return value


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6), which=st.sampled_from(SCHEMAS), extra=fields(2))
def test_payloads_are_filled_as_they_are_judged(seed: int, which: tuple[str, str], extra: bytes) -> None:
    parsed = schema(*which)
    payload = parsed.encode(parsed.sample(random.Random(seed)))
    assert assert_filled_rightly(parsed, payload)
    assert_filled_rightly(parsed, payload + extra)
    assert_filled_rightly(parsed, extra)


@settings(max_examples=60, deadline=None)
@given(text=documents(), seed=st.integers(0, 1000))
def test_payloads_of_random_schemas_are_filled_as_they_are_judged(text: str, seed: int) -> None:
    parsed = schema(text, "Root")
    try:
        payload = parsed.encode(parsed.sample(random.Random(seed)))
    except SchemaRefused:
        return
    assert assert_filled_rightly(parsed, payload)


def test_many_payloads_are_filled_at_once() -> None:
    oven = schema(OVEN, "Oven")
    doubtful: set[int] = set()
    values = oven.fill_all([b"\x0a\x01x", b"", b"\x0a\x05x", b"\x0a\x01y\x10\x07", b"\x0a\x01z"], doubtful)
    assert doubtful == {1, 2, 3}
    assert [None if value is None else value["name"] for value in values] == ["x", None, None, None, "z"]


def test_headers_are_left_to_those_who_know_the_versions() -> None:
    order = schema(ORDER, "Order")
    assert order.fill(HEADER + b"\x0a\x01x") == (None, False)
    assert order.strip_header(HEADER + b"\x0a\x01x", 5) == b"\x0a\x01x"
    assert order.strip_header(b"\x00\x00\x00\x00\x07\x02\x02", 5) is None


@pytest.mark.parametrize(
    ("body", "value", "filled"),
    [
        ("map<string, B> a = 1;", {"a": {"k": {"u": 5}}}, {"a": {"k": {"u": 5}}}),
        ("repeated B a = 1;", {"a": [{"u": 5}, {}]}, {"a": [{"u": 5}, {"u": 0}]}),
        ("int32 Name = 1; int32 name = 2;", {"Name": 1, "name": 2}, None),
        ("google.protobuf.Value a = 1;", {"a": None}, {}),
        ("repeated google.protobuf.Value a = 1;", {"a": [None, 5]}, {"a": [None, "5"]}),
    ],
)
def test_what_is_left_to_do_is_done(body: str, value: Any, filled: Any) -> None:
    text = f'import "google/protobuf/struct.proto"; message A {{ {body} }} message B {{ uint64 u = 1; }}'
    parsed = schema(proto3(text), "A")
    assert assert_filled_rightly(parsed, parsed.encode(value))
    if filled is not None:
        assert parsed.fill(parsed.encode(value)) == (filled, True)


@pytest.mark.parametrize(("contenttype", "quickly"), [("", True), ("application/protobuf", True), ("a/b+json", False)])
def test_the_short_way_is_for_binary_payloads(contenttype: str, quickly: bool) -> None:
    order: FastSchema = schema(ORDER, "Order")
    assert order.has_fast_path(contenttype) == quickly

"""Invented values."""

from __future__ import annotations

import random

import msgspec
import pytest
from google.protobuf import json_format
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.fill_columns import filler
from postroom.formats.protobuf.compile_schema import compile_schema
from postroom.formats.protobuf.fields import message_class
from postroom.formats.schema import SchemaDocument
from tests.formats.protobuf.documents import ORDER, OVEN, proto2, schema
from tests.formats.protobuf.random_messages import documents


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6), which=st.sampled_from([(ORDER, "Order"), (OVEN, "Oven"), (OVEN, "Shelf")]))
def test_invented_values_fit_and_fill_their_columns(seed: int, which: tuple[str, str]) -> None:
    parsed = schema(*which)
    payload = parsed.encode(parsed.sample(random.Random(seed)))
    value, violations = parsed.validate(payload)
    assert violations == []
    assert parsed.validate(parsed.encode(value)) == (value, [])
    filler(parsed.columns())(value)


@settings(max_examples=60, deadline=None)
@given(text=documents(), seed=st.integers(0, 1000))
def test_values_of_random_schemas_fit_and_come_back(text: str, seed: int) -> None:
    parsed = schema(text, "Root")
    value, violations = parsed.validate(parsed.encode(parsed.sample(random.Random(seed))))
    assert violations == []
    assert parsed.validate(parsed.encode(value)) == (value, [])
    filler(parsed.columns())(value)


ODD = [
    """edition = "2023"; option features.utf8_validation = NONE; message A {
      string text = 1 [features.utf8_validation = NONE]; int32 must = 2 [features.field_presence = LEGACY_REQUIRED];
      B part = 3 [features.message_encoding = DELIMITED]; int32 plain = 4 [features.field_presence = IMPLICIT];
      repeated int32 loose = 6 [features.repeated_field_encoding = EXPANDED]; E closed = 5;
      message B { int32 x = 1; } enum E { option features.enum_type = CLOSED; X = 0; } }""",
    """syntax = "proto2"; message A { optional string text = 1 [ctype = CORD, deprecated = true]; extensions 100 to max;
      repeated E e = 3 [packed = true]; oneof o { group G = 5 { optional string x = 1; } string y = 7; }
      optional B b = 2 [lazy = true]; optional string named = 8 [json_name = "NAMED"];
      message B { required string z = 1; repeated group H = 2 { required string q = 1; } }
      enum E { option allow_alias = true; P = 0; Q = 1; R = 1; N = -5; } }""",
    """syntax = "proto2"; import "google/protobuf/descriptor.proto";
      message A { optional string text = 1 [(note) = "x"];
      optional google.protobuf.FileDescriptorProto file = 2; }
      extend google.protobuf.FieldOptions { optional string note = 50000; }""",
    """syntax = "proto3"; message A { string text = 1; int32 None = 3; bool in = 6; optional bool is = 7;
      repeated int32 lambda = 8; map<string, int32> yield = 9; A if = 10; repeated A else = 11; }""",
]


@pytest.mark.parametrize("text", ODD, ids=["edition", "proto2", "custom options", "keywords"])
def test_odd_but_legal_schemas_are_served(text: str) -> None:
    parsed, rng = schema(text, "A"), random.Random(2)
    for _ in range(20):
        value, violations = parsed.validate(parsed.encode(parsed.sample(rng)))
        assert violations == []
        assert parsed.validate(parsed.encode(value)) == (value, [])
        assert parsed.validate(msgspec.json.encode(value), "application/json") == (value, [])
        filler(parsed.columns())(value)
    assert [violation.at for violation in parsed.validate(b"\x0a\x01\xff")[1]] == ["/text"]


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), has_names=st.booleans())
def test_the_json_of_the_runtime_reads_as_the_binary_form(seed: int, has_names: bool) -> None:
    parsed = schema(ORDER, "Order")
    # The runtime writes the paths of a field mask in another spelling, which is not always reversible.
    value = {name: item for name, item in parsed.sample(random.Random(seed)).items() if name != "replaces"}
    payload = parsed.encode({**value, "changed": ["line.sku"], "extra": {"@type": "x/shop.Line", "sku": "a"}})
    descriptors = compile_schema(SchemaDocument(document=ORDER))
    message = message_class(descriptors.pool.FindMessageTypeByName("shop.Order")).FromString(payload)
    text = json_format.MessageToJson(
        message, preserving_proto_field_name=has_names, descriptor_pool=descriptors.pool
    ).encode()
    assert parsed.validate(text, "application/json") == parsed.validate(payload)


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

"""Checking many payloads at once accepts only what judging each of them takes."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.fill_columns import filler
from postroom.formats.protobuf.format import Protobuf
from tests.formats.protobuf.documents import ORDER, OVEN, proto2, proto3, schema
from tests.formats.protobuf.random_messages import documents

TRIP = """
syntax = "proto3";
import "google/protobuf/duration.proto";
import "google/protobuf/struct.proto";
import "google/protobuf/timestamp.proto";
message Trip {
  string id = 1;
  Stop from = 2;
  repeated Stop stops = 3;
  map<string, Stop> named = 4;
  oneof end { Stop reached = 5; string reason = 6; }
  google.protobuf.Timestamp started = 7;
  repeated google.protobuf.Duration breaks = 8;
  map<int32, google.protobuf.Timestamp> seen = 9;
  google.protobuf.Struct notes = 10;
  repeated int32 codes = 11;
  optional bool paid = 12;
  Trip before = 13;
}
message Stop { string name = 1; double lat = 2; Stop next = 3; }
"""


def doubtful(parsed: Protobuf, payloads: list[bytes], contenttype: str = "") -> set[int]:
    found: set[int] = set()
    parsed.accepts_all(payloads, contenttype, found)
    return found


def varint(number: int) -> bytes:
    made = b""
    while number > 0x7F:
        made, number = made + bytes([number & 0x7F | 0x80]), number >> 7
    return made + bytes([number])


def fields(depth: int = 3) -> st.SearchStrategy[bytes]:
    """Bytes that look like the fields of a message: numbers and wire types at will, messages inside of messages."""
    scalars = st.one_of(
        st.tuples(st.just(0), st.sampled_from([0, 1, 2, 7, 2**32, 2**63, 2**64 - 1]).map(varint)),
        st.tuples(st.just(1), st.binary(min_size=8, max_size=8)),
        st.tuples(st.just(5), st.binary(min_size=4, max_size=4)),
        st.tuples(st.just(2), st.binary(max_size=6).map(lambda body: varint(len(body)) + body)),
    )
    inner = fields(depth - 1).map(lambda body: (2, varint(len(body)) + body)) if depth else scalars
    numbers = st.sampled_from([*range(1, 14), 100, 101, 1000])
    one = st.tuples(numbers, st.one_of(scalars, inner, inner)).map(
        lambda field: varint(field[0] << 3 | field[1][0]) + field[1][1]
    )
    return st.lists(one, max_size=5).map(b"".join)


def assert_rightly_accepted(parsed: Protobuf, payloads: list[bytes]) -> None:
    fill = filler(parsed.columns())
    refused = doubtful(parsed, payloads)
    for place, payload in enumerate(payloads):
        if place not in refused:
            value, violations = parsed.validate(payload)
            assert violations == []
            fill(value)
    event("accepted" if len(refused) < len(payloads) else "all in doubt")


def sample(parsed: Protobuf, rng: random.Random) -> bytes:
    try:
        return parsed.encode(parsed.sample(rng))
    except SchemaRefused:
        assume(False)
        raise


@settings(max_examples=150, deadline=None)
@given(payloads=st.lists(fields(), min_size=1, max_size=6), kind=st.sampled_from(["Trip", "Oven"]), seed=st.integers())
def test_nothing_is_accepted_that_judging_refuses(payloads: list[bytes], kind: str, seed: int) -> None:
    parsed = schema(TRIP if kind == "Trip" else OVEN, kind)
    good = sample(parsed, random.Random(seed))
    assert_rightly_accepted(parsed, [*payloads, good])
    assert_rightly_accepted(parsed, [good + payload for payload in payloads])


@settings(max_examples=100, deadline=None)
@given(
    text=documents(),
    seed=st.integers(0, 10**6),
    damage=st.lists(st.tuples(st.integers(0, 300), st.integers(0, 255)), max_size=4),
    extra=st.lists(fields(2), max_size=3),
)
def test_damaged_payloads_of_any_schema_are_accepted_only_if_they_fit(
    text: str, seed: int, damage: list[tuple[int, int]], extra: list[bytes]
) -> None:
    parsed, rng = schema(text, "Root"), random.Random(seed)
    good = [sample(parsed, rng) for _ in range(3)]
    assert doubtful(parsed, good) == set()
    bad = [bytearray(payload) for payload in good if payload]
    for at, byte in damage:
        for payload in bad:
            payload[at % len(payload)] = byte
    cut = [payload[: at % len(payload)] for (at, _), payload in zip(damage, good, strict=False) if payload]
    assert_rightly_accepted(parsed, [*good, *map(bytes, bad), *cut, *(good[0] + one for one in extra)])


STOP = b"\x0a\x01x"
WRONG = b"\x08\x01"  # the name of a stop as a number


@pytest.mark.parametrize(
    "payload",
    [
        b"\x08\x01",
        b"\x0a\x01\xff",
        b"\x0a\x05x",
        b"\x12\x02" + WRONG,
        b"\x1a\x03" + STOP + b"\x1a\x02" + WRONG + b"\x1a\x00",
        b"\x22\x07\x0a\x01k\x12\x02" + WRONG,
        b"\x22\x05\x0a\x01k\x18\x05",
        b"\x2a\x02" + WRONG,
        b"\x3a\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\x3a\x06\x10\xff\xff\xff\xff\x0f",
        b"\x4a\x0e\x08\x01\x12\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
        b"\x42\x0b\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        b"\x6a\x04\x12\x02" + WRONG,
    ],
)
def test_one_bad_payload_is_found_among_good_ones(payload: bytes) -> None:
    parsed = schema(TRIP, "Trip")
    good = [parsed.encode({"id": "a", "stops": [{"name": "x"}], "reason": "rain", "started": "2026-01-02T03:04:05Z"})]
    payloads = [*good * 300, payload, *good * 300]
    assert doubtful(parsed, payloads) == {300}
    assert doubtful(parsed, [payload]) == {0}


@pytest.mark.parametrize("payload", [b"", b"\x0a\x01x", b"\xf8\x7f\x05", b"\x12\x03\xf8\x7f\x05", b"\x32\x01r\x2a\x00"])
def test_what_nobody_declared_is_accepted(payload: bytes) -> None:
    parsed = schema(TRIP, "Trip")
    assert parsed.validate(payload)[1] == []
    assert doubtful(parsed, [payload] * 3) == set()


def test_each_payload_has_what_is_required() -> None:
    oven = schema(OVEN, "Oven")
    whole, lacking = b"\x0a\x00\x1a\x02\x08\x01", b"\x0a\x00\x1a\x00"
    assert doubtful(oven, [whole, lacking, whole, b""]) == {1, 3}


def test_a_member_of_a_choice_does_not_hide_another() -> None:
    parsed = schema(proto3("message A { oneof b { C c = 1; C d = 2; } } message C { int32 e = 1; }"), "A")
    assert doubtful(parsed, [b"\x0a\x02\x0a\x00", b"\x12\x02\x08\x01", b"\x12\x00"]) == {0}


def test_closed_enums_are_held_to_their_numbers() -> None:
    parsed = schema(
        proto2("enum E { X = 0; Y = 5; } message A { repeated B b = 1; } message B { optional E e = 1; }"), "A"
    )
    assert doubtful(parsed, [b"\x0a\x02\x08\x05", b"\x0a\x02\x08\x04\x0a\x02\x08\x05"]) == {1}


def test_payloads_in_json_and_those_that_hold_anything_are_in_doubt() -> None:
    trip, order = schema(TRIP, "Trip"), schema(ORDER, "Order")
    assert doubtful(trip, [b"{}", b"{}"], "application/json") == {0, 1}
    assert doubtful(order, [b""]) == {0}
    assert doubtful(trip, []) == set()


def test_large_payloads_are_checked_a_few_at_a_time() -> None:
    parsed = schema(TRIP, "Trip")
    large = parsed.encode({"id": "x" * 3_000_000})
    assert doubtful(parsed, [large, large[:-1], large]) == {1}


def test_names_of_the_runtime_are_good_names_of_fields() -> None:
    names: dict[str, Any] = {"ListFields": 1, "MergeFromString": 2, "DESCRIPTOR": 3, "IsInitialized": 4}
    members = " ".join(f"required A2 {name} = {number};" for name, number in names.items())
    parsed = schema(proto2(f"message A {{ {members} }} message A2 {{ optional int32 DESCRIPTOR = 1; }}"), "A")
    assert doubtful(parsed, [parsed.encode({name: {} for name in names}), b""]) == {1}


@pytest.mark.parametrize(
    "text",
    [
        'edition = "2023"; %s message A { Time time = 1 [features.message_encoding = DELIMITED]; Time two = 2; }',
        'syntax = "proto2"; %s message A { repeated group B = 1 { optional Time c = 2; } required Time two = 2; }',
        'edition = "2023"; %s message A { Time two = 2 [features.field_presence = LEGACY_REQUIRED]; }',
    ],
)
def test_old_and_new_syntax_is_checked(text: str) -> None:
    imported = 'import "google/protobuf/timestamp.proto";'
    parsed = schema(text.replace("Time ", "google.protobuf.Timestamp ") % imported, "A")
    good = parsed.encode({"two": "2026-01-02T03:04:05Z"})
    assert doubtful(parsed, [good, b"\x12\x06\x10\xff\xff\xff\xff\x0f", good]) == {1}

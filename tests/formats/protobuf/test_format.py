"""Judging and encoding payloads."""

from __future__ import annotations

import datetime
import decimal
import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.fill_columns import filler
from postroom.formats.schema import SchemaDocument
from tests.formats.protobuf.documents import ORDER, OVEN, proto2, proto3, schema

JSON = "application/json; charset=utf-8"


@pytest.fixture(scope="module")
def order() -> Any:
    return schema(ORDER, "Order")


@pytest.fixture(scope="module")
def oven() -> Any:
    return schema(OVEN, "Oven")


@pytest.mark.parametrize(
    ("value", "read"),
    [
        ({"id": "A-1"}, {"id": "A-1"}),
        ({"total": 2**64 - 1}, {"total": 2**64 - 1}),
        ({"total": "18446744073709551615"}, {"total": 2**64 - 1}),
        ({"total": decimal.Decimal(7)}, {"total": 7}),
        ({"total": 7.0}, {"total": 7}),
        ({"seal": b"\x00\xff"}, {"seal": b"\x00\xff"}),
        ({"seal": "AP8="}, {"seal": b"\x00\xff"}),
        ({"seal": "-_8"}, {"seal": b"\xfb\xff"}),
        ({"status": "OPEN"}, {"status": "OPEN"}),
        ({"status": 2}, {"status": "CLOSED"}),
        ({"status": "7"}, {"status": "7"}),
        ({"status": -1}, {"status": "-1"}),
        ({"history": ["OPEN", 9]}, {"history": ["OPEN", "9"]}),
        ({"by_number": {"-5": "x"}}, {"by_number": {"-5": "x"}}),
        ({"flags": {"true": 1}}, {"flags": {"true": 1.0}}),
        ({"states": {"a": "OPEN"}}, {"states": {"a": "OPEN"}}),
        ({"byName": {"a": {"sku": "x"}}}, {"by_name": {"a": {"sku": "x", "count": 0, "tags": []}}}),
        ({"discount": 0}, {"discount": 0}),
        ({"card": ""}, {"card": ""}),
        ({"voucher": {}}, {"voucher": {"sku": "", "count": 0, "tags": []}}),
        ({"placed": "2026-01-02T03:04:05.123456789+01:00"}, {"placed": "2026-01-02T02:04:05.123456789Z"}),
        ({"placed": "0001-01-01T00:00:00Z"}, {"placed": "0001-01-01T00:00:00Z"}),
        ({"placed": "9999-12-31T23:59:59.999999999Z"}, {"placed": "9999-12-31T23:59:59.999999999Z"}),
        ({"placed": datetime.datetime(2026, 1, 2, tzinfo=datetime.UTC)}, {"placed": "2026-01-02T00:00:00Z"}),
        ({"took": "1.5s"}, {"took": "1.500s"}),
        ({"took": "-0.000000001s"}, {"took": "-0.000000001s"}),
        ({"took": "3s"}, {"took": "3s"}),
        ({"notes": {"a": [1, 2.5, None, True, {"b": "c"}]}}, {"notes": {"a": [1, 2.5, None, True, {"b": "c"}]}}),
        ({"answer": None}, {"answer": None}),
        ({"answer": "yes"}, {"answer": "yes"}),
        ({"answers": []}, {"answers": []}),
        ({"points": 5}, {"points": 5}),
        ({"points": 0}, {"points": 0}),
        ({"scan": "AA=="}, {"scan": b"\x00"}),
        ({"changed": ["a.b_c", "D"]}, {"changed": ["a.b_c", "D"]}),
        ({"changed": "a.bC,d"}, {"changed": ["a.b_c", "d"]}),
        ({"height": 0.5, "weight": "Infinity"}, {"height": 0.5, "weight": math.inf}),
        ({"class": True}, {"class": True}),
        ({"nothing": {}}, {"nothing": {}}),
        ({"visits": ["2026-01-02T00:00:00Z"]}, {"visits": ["2026-01-02T00:00:00Z"]}),
        (
            {"extra": {"@type": "x/shop.Line", "sku": "y"}},
            {"extra": {"@type": "x/shop.Line", "sku": "y", "count": 0, "tags": []}},
        ),
        (
            {"extra": {"@type": "x/google.protobuf.Duration", "value": "1s"}},
            {"extra": {"@type": "x/google.protobuf.Duration", "value": "1s"}},
        ),
        ({"extra": {"@type": "x/no.Such", "value": "AP8="}}, {"extra": {"@type": "x/no.Such", "value": b"\x00\xff"}}),
    ],
)
def test_values_come_back_in_plain_form(order: Any, value: Any, read: Any) -> None:
    found, violations = order.validate(order.encode(value))
    assert violations == []
    assert found == {**order.validate(b"")[0], **read}
    assert order.validate(order.encode(found)) == (found, [])
    filler(order.columns())(found)


def test_members_without_presence_have_their_default_and_others_are_missing(order: Any) -> None:
    assert order.validate(b"") == (
        {
            "id": "",
            "total": 0,
            "seal": b"",
            "status": "UNKNOWN",
            "lines": [],
            "by_name": {},
            "by_number": {},
            "weight": 0.0,
            "height": 0.0,
            "class": False,
            "history": [],
            "counts": [],
            "flags": {},
            "states": {},
            "visits": [],
            "visitors": 0,
        },
        [],
    )


def test_proto2_groups_extensions_and_defaults(oven: Any) -> None:
    value = {
        "name": "AEG",
        "door": {"open": True},
        "packed": [1, 2],
        "loose": [3],
        "heat": "HOT",
        "[maker]": "x",
        "[spare]": [{"level": 2}],
        "shelves": [],
        "named": {"top": {"level": 1}},
    }
    assert oven.validate(oven.encode(value)) == (value, [])


@pytest.mark.parametrize(
    ("payload", "at", "code", "words"),
    [
        (b"\x0a\x05ab", "", "payload_not_protobuf", "an end after 4 bytes"),
        (b"\x0a\x02\xff\xfe", "/id", "payload_not_text", "0xff"),
        (b"\x08\x01", "/id", "payload_wire_type", "a varint"),
        (b"\x2a\x02\x08\x01", "/lines/0/sku", "payload_wire_type", "a varint"),
        (b"\x32\x07\x0a\x01k\x12\x02\x08\x01", "/by_name/k/sku", "payload_wire_type", "a varint"),
        (b"\x32\x02\x08\x01", "/by_name/", "payload_wire_type", "a varint"),
        (b"\x32\x03\x0a\x01\xff", "/by_name/0", "payload_not_text", "0xff"),
        (b"\x32\x05\x0a\x01k\x18\x01", "/by_name/k", "payload_map_entry", "a field 3"),
        (b"\x30\x01", "/by_name/0", "payload_wire_type", "a varint"),
        (b"\x2a\x00\x2a\x02\x0a\x09", "/lines/1", "payload_not_protobuf", "an end"),
        (b"\x10" + b"\xff" * 10 + b"\x01", "", "payload_not_protobuf", "more than 10 bytes"),
        (b"\x10", "", "payload_not_protobuf", "inside a number"),
        (b"\x0f", "", "payload_not_protobuf", "wire type 7"),
        (b"\x0c", "", "payload_not_protobuf", "wire type 4"),
        (b"\x0b\x08", "", "payload_not_protobuf", "inside a number"),
        (b"\x0b\x14", "", "payload_not_protobuf", "another group"),
        (b"\x0b", "", "payload_not_protobuf", "does not end"),
        (b"\x00\x01", "", "payload_not_protobuf", "field number 0"),
        (b"\xca\x01\x01\xff", "/counts/0", "payload_not_protobuf", "inside a number"),
        (b"\x5a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x10", "/placed", "payload_not_protobuf", "inside a number"),
        (b"\x5a\x0a\x08\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "/placed", "payload_range", "since 1970"),
        (b"\x5a\x06\x10\xff\xff\xff\xff\x0f", "/placed", "payload_range", "-1 ns"),
        (b"\x62\x0d\x08\x01\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "/took", "payload_range", "-1 ns"),
        (b"\x00\x00\x00\x00\x07\x02\x02", "", "payload_wire_header", "shop.Nothing"),
        (b"\x00\x00\x00\x00\x07\x02\x40", "", "payload_wire_header", "no message"),
        (b"\x00\x00\x00\x00\x07\x00\x08\x01", "/id", "payload_wire_type", "a varint"),
        (b"\x00" * 5000, "", "payload_not_protobuf", "field number 0"),
    ],
)
def test_violations_have_a_code_and_a_pointer(order: Any, payload: bytes, at: str, code: str, words: str) -> None:
    violations = order.validate(payload)[1]
    assert (violations[0].at, violations[0].code) == (at, code)
    assert words in violations[0].found


@pytest.mark.parametrize(
    ("payload", "at", "code", "expected"),
    [
        (b"", "", "payload_required", "name"),
        (b"\x0a\x00\x1a\x00\x1a\x02\x08\x01", "/shelves/0", "payload_required", "level"),
        (b"\x0a\x00\x1a\x04\x08\x01\x12\x00", "/shelves/0/inside", "payload_required", "name"),
        (b"\x0a\x00\x42\x03\x0a\x01k", "/named/k", "payload_required", "level"),
        (b"\x0a\x00\x10\x07", "/heat", "payload_enum", "one of COLD, HOT"),
        (b"\x0a\x01\xff", "/name", "payload_not_text", "UTF-8 text"),
        (b"\x0a\x00\x2a\x00", "/door", "payload_wire_type", "a group"),
    ],
)
def test_proto2_is_held_to_what_it_requires(oven: Any, payload: bytes, at: str, code: str, expected: str) -> None:
    (violation,) = oven.validate(payload)[1]
    assert (violation.at, violation.code, violation.expected) == (at, code, expected)


@pytest.mark.parametrize(
    "payload",
    [
        b"\x00\x00\x00\x00\x07\x00\x0a\x01x",
        b"\x00\x00\x00\x00\x07\x02\x00\x0a\x01x",
        b"\x0a\x01x\xfa\x7f\x03abc",
        b"\x0a\x01x\xf8\x7f\x05",
        b"\x0a\x01y\x0a\x01x",
        b"\xfb\x7f\x08\x01\xfc\x7f\x0a\x01x",
    ],
    ids=["header", "header with indexes", "unknown text", "unknown number", "last wins", "unknown group"],
)
def test_headers_and_unknown_fields_are_taken(order: Any, payload: bytes) -> None:
    value, violations = order.validate(payload)
    assert (value["id"], violations) == ("x", [])


@pytest.mark.parametrize(
    ("payload", "at", "code"),
    [
        (b"{", "", "payload_not_json"),
        (b"\xff", "", "payload_not_json"),
        (b'{"id":"a","id":"b"}', "", "payload_not_json"),
        (b'{"weight":NaN}', "", "payload_not_json"),
        (b"1" * 5000, "", "payload_not_json"),
        (b"[" * 100_000, "", "payload_not_json"),
        (b"[]", "", "payload_type"),
        (b"null", "", "null_not_allowed"),
        (b'{"id":5}', "/id", "payload_type"),
        (b'{"id":"\\ud800"}', "/id", "payload_not_text"),
        (b'{"total":-1}', "/total", "payload_range"),
        (b'{"total":1.5}', "/total", "payload_type"),
        (b'{"height":1e39}', "/height", "payload_range"),
        (b'{"weight":' + b"9" * 400 + b"}", "/weight", "payload_range"),
        (b'{"class":"true"}', "/class", "payload_type"),
        (b'{"seal":"*"}', "/seal", "payload_type"),
        (b'{"status":"NONE"}', "/status", "payload_enum"),
        (b'{"lines":[null]}', "/lines/0", "null_not_allowed"),
        (b'{"lines":{}}', "/lines", "payload_type"),
        (b'{"flags":{"maybe":1}}', "/flags/maybe", "payload_type"),
        (b'{"byNumber":{"x":"y"}}', "/byNumber/x", "payload_type"),
        (b'{"states":{"x":null}}', "/states/x", "null_not_allowed"),
        (b'{"card":"x","voucher":{}}', "/voucher", "payload_one_of"),
        (b'{"byName":{},"by_name":{}}', "/by_name", "payload_one_of"),
        (b'{"colour":1}', "", "payload_additional_properties"),
        (b'{"placed":"yesterday"}', "/placed", "payload_format"),
        (b'{"placed":"2026-02-30T00:00:00Z"}', "/placed", "payload_format"),
        (b'{"placed":"0001-01-01T00:00:00+01:00"}', "/placed", "payload_format"),
        (b'{"took":"9999999999999s"}', "/took", "payload_format"),
        (b'{"extra":{"sku":"x"}}', "/extra", "payload_type"),
        (b'{"extra":{"@type":"x/no.Such","sku":"x"}}', "/extra", "payload_any"),
        (b'{"replaces":' * 200 + b"{}" + b"}" * 200, "/replaces" * 101, "payload_nesting"),
    ],
)
def test_violations_of_json_payloads(order: Any, payload: bytes, at: str, code: str) -> None:
    violations = order.validate(payload, JSON)[1]
    assert [(violation.at, violation.code) for violation in violations] == [(at, code)]


def test_json_payloads_read_as_binary_ones_do(order: Any) -> None:
    value = {"id": "x", "byNumber": {"1": "y"}, "total": "5", "placed": None, "status": 1}
    binary = order.encode({"id": "x", "by_number": {"1": "y"}, "total": 5, "status": "OPEN"})
    assert order.validate(json.dumps(value).encode(), JSON) == order.validate(binary, "application/x-protobuf")
    assert order.validate(json.dumps(value).encode(), "application/vnd.shop+json")[1] == []


def test_a_required_member_counts_in_json_too(oven: Any) -> None:
    assert [violation.expected for violation in oven.validate(b"{}", JSON)[1]] == ["name"]


def test_there_are_never_more_than_twenty_violations(order: Any) -> None:
    assert len(order.validate(b"\x2a\x02\x08\x01" * 500)[1]) == 20
    assert len(order.validate(json.dumps({"counts": [None] * 500}).encode(), JSON)[1]) == 20
    assert (
        len(
            schema(proto2("message A { repeated B b = 1; } message B { required int32 c = 1; }")).validate(
                b"\x0a\x00" * 500
            )[1]
        )
        == 20
    )


@pytest.mark.parametrize("depth", [99, 101, 5000])
def test_deep_payloads_end_in_a_violation(order: Any, depth: int) -> None:
    payload = b""
    for _ in range(depth):
        length, prefix = len(payload), b"\xa2\x01"
        while length > 0x7F:
            prefix, length = prefix + bytes([length & 0x7F | 0x80]), length >> 7
        payload = prefix + bytes([length]) + payload
    assert [violation.code for violation in order.validate(payload)[1]] == ([] if depth < 100 else ["payload_nesting"])


def test_any_inside_any_has_an_end(order: Any) -> None:
    value: Any = {"@type": "x/shop.Line"}
    for _ in range(60):
        value = {"@type": "x/google.protobuf.Any", "value": value}
    assert order.validate(order.encode({"extra": value}))[1] == []
    payload = b""
    for _ in range(3000):
        url = b"x/google.protobuf.Any"
        size, length = b"", len(payload)
        while length > 0x7F:
            size, length = size + bytes([length & 0x7F | 0x80]), length >> 7
        payload = b"\x0a" + bytes([len(url)]) + url + b"\x12" + size + bytes([length]) + payload
    parsed = schema(proto3('import "google/protobuf/any.proto"; message A { google.protobuf.Any any = 1; }'))
    length = len(payload)
    prefix = b"\x0a" + bytes([length & 0x7F | 0x80, length >> 7 & 0x7F | 0x80, length >> 14])
    assert [violation.code for violation in parsed.validate(prefix + payload)[1]] == ["payload_nesting"]


@pytest.mark.parametrize(
    ("value", "place"), [({"id": 5}, "/id"), ([], "/"), ({"lines": [{"count": "x"}]}, "/lines/0/count")]
)
def test_what_no_message_can_hold_is_not_encoded(order: Any, value: Any, place: str) -> None:
    with pytest.raises(SchemaRefused) as caught:
        order.encode(value)
    assert caught.value.place == place


def test_equal_names_in_different_schemas_do_not_meet() -> None:
    one, other = schema(proto3("message A { int32 a = 1; }")), schema(proto3("message A { string a = 1; }"))
    assert (one.validate(b"\x08\x01")[0], other.validate(b"\x0a\x01x")[0]) == ({"a": 1}, {"a": "x"})


def test_names_of_the_runtime_are_good_names_of_fields() -> None:
    names = [
        "class",
        "__class__",
        "HasField",
        "FromString",
        "DESCRIPTOR",
        "Extensions",
        "__init__",
        "unknown",
        "m",
        "d",
    ]
    fields = "".join(f"optional int32 {name} = {number};" for number, name in enumerate(names, 1))
    parsed = schema(
        proto2(
            f"message A {{ {fields} required A2 SetInParent = 99; }} message A2 {{ optional int32 SetInParent = 1; }}"
        ),
        "A",
    )
    value = {**{name: number for number, name in enumerate(names)}, "SetInParent": {"SetInParent": 5}}
    assert parsed.validate(parsed.encode(value)) == (value, [])


@settings(max_examples=300, deadline=None)
@given(
    payload=st.binary(max_size=80), contenttype=st.sampled_from(["", JSON]), prefix=st.sampled_from([b"", b"\x0a\x00"])
)
def test_no_bytes_make_it_raise(payload: bytes, contenttype: str, prefix: bytes) -> None:
    for text, name in ((ORDER, "Order"), (OVEN, "Oven")):
        parsed = schema(text, name)
        value, violations = parsed.validate(prefix + payload, contenttype)
        if not violations:
            filler(parsed.columns())(value)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6), cut=st.integers(0, 400), byte=st.integers(0, 255))
def test_damaged_payloads_are_judged_not_fatal(seed: int, cut: int, byte: int) -> None:
    parsed = schema(ORDER, "Order")
    payload = bytearray(parsed.encode(parsed.sample(random.Random(seed))))
    if payload:
        payload[cut % len(payload)] = byte
    parsed.validate(bytes(payload))
    parsed.validate(bytes(payload[:cut]))


@settings(max_examples=200, deadline=None)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["id", "lines", "by_name", "sku", "placed", "extra", "@type", "value", "answer", "x"]),
                inner,
                max_size=4,
            )
        ),
        max_leaves=10,
    )
)
def test_any_value_is_encoded_or_refused(value: Any) -> None:
    parsed = schema(ORDER, "Order")
    try:
        payload = parsed.encode(value)
    except SchemaRefused:
        return
    assert parsed.validate(payload)[1] == []


def test_the_schemas_of_real_catalogs_are_read(shared: Path) -> None:
    found = 0
    for file in sorted((shared / "catalogs").rglob("*.json")):
        for text, version in _texts(json.loads(file.read_bytes())):
            schema(text, version=version)
            found += 1
    assert found >= 12


def _texts(value: Any) -> Any:
    if isinstance(value, dict):
        name = str(value.get("format") or value.get("dataschemaformat") or "")
        for text in (value.get("schema"), value.get("dataschema")):
            if name.lower().startswith("proto") and isinstance(text, str):
                yield text, name.partition("/")[2].removesuffix(".0")
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _texts(item)


def test_documents_are_values() -> None:
    assert schema(ORDER, "Line").validate(b"") == schema(ORDER.encode(), "Line").validate(b"")
    assert SchemaDocument(document=ORDER).fragment == ""

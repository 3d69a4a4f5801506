"""Avro's JSON encoding, and plain JSON by an Avro schema."""

import datetime
import decimal
import json
import math
from typing import Any

import pytest

from postroom.formats.format_table import parse_schema

D = decimal.Decimal
MODE = {"type": "enum", "name": "kitchen.Mode", "symbols": ["GRILL", "FAN"]}
KNOB = {"type": "record", "name": "Knob", "namespace": "kitchen", "fields": [{"name": "turn", "type": "int"}]}
PRICE = {"type": "bytes", "logicalType": "decimal", "precision": 6, "scale": 2}
DAY = {"type": "int", "logicalType": "date"}
MILLIS = {"type": "long", "logicalType": "timestamp-millis"}
UUID = "6f1d7a52-5b0e-4c0a-9f58-2f4bde0c1a77"
SEALED = {
    **KNOB,
    "fields": [{"name": "a", "type": ["null", "int"]}, {"name": "b", "type": "bytes", "default": "\u00ff"}],
}
NOON = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC)

READ: list[tuple[Any, Any, Any]] = [
    ("null", None, None),
    ("int", 5, 5),
    ("int", 5.0, 5),
    ("long", 2**62, 2**62),
    ("long", str(2**62), 2**62),
    ("double", 5, 5.0),
    ("double", "Infinity", math.inf),
    ("string", "a", "a"),
    ("bytes", "\u00ff\u0000", b"\xff\x00"),
    ({"type": "fixed", "name": "Key", "size": 2}, "ab", b"ab"),
    (MODE, "FAN", "FAN"),
    ({"type": "array", "items": "int"}, [1, 2], [1, 2]),
    ({"type": "map", "values": ["null", "int"]}, {"a": {"int": 1}, "b": None, "c": 3}, {"a": 1, "b": None, "c": 3}),
    # Unions: under the name of a branch first, then plain.
    (["null", "string"], None, None),
    (["null", "string"], {"string": "a"}, "a"),
    (["null", "string"], "a", "a"),
    (["null", KNOB], {"kitchen.Knob": {"turn": 1}}, {"turn": 1}),
    (["null", KNOB], {"Knob": {"turn": 1}}, {"turn": 1}),
    (["null", KNOB], {"turn": 1}, {"turn": 1}),
    (["null", MODE, "string"], "FAN", "FAN"),
    (["int", "double"], 1.5, 1.5),
    (["double", "int"], 1, 1),
    (["bytes", "string"], "a", "a"),
    (["null", {"type": "map", "values": "int"}], {"map": {"map": 1}}, {"map": 1}),
    (["null", {"type": "map", "values": "int"}], {"map": 1}, {"map": 1}),
    (["null", DAY, "string"], "2026-01-31", "2026-01-31"),
    # Members may be left out where they have a default or may be null.
    (SEALED, {}, {"a": None, "b": b"\xff"}),
    # Logical types: as Avro writes them, and as people do.
    (DAY, 20484, datetime.date(2026, 1, 31)),
    (DAY, "2026-01-31", datetime.date(2026, 1, 31)),
    (MILLIS, 1769860800000, NOON),
    (MILLIS, "2026-01-31T12:00:00Z", NOON),
    (MILLIS, "2026-01-31T13:00:00+01:00", NOON),
    (MILLIS, "2026-01-31T12:00:00.000001Z", NOON + datetime.timedelta(microseconds=1)),
    (["null", MILLIS], {"long": 1769860800000}, NOON),
    (["null", MILLIS], "2026-01-31T12:00:00Z", NOON),
    ({"type": "int", "logicalType": "time-millis"}, 1500, "00:00:01.500"),
    ({"type": "int", "logicalType": "time-millis"}, "00:00:01.5", "00:00:01.500"),
    (PRICE, "\u0001\u0000", D("2.56")),
    (PRICE, 2.56, D("2.56")),
    (PRICE, "2.56", D("2.56")),
    (PRICE, "1", D("0.49")),
    ({"type": "string", "logicalType": "uuid"}, UUID, UUID),
    ({"type": "fixed", "name": "Id", "size": 16, "logicalType": "uuid"}, UUID, UUID),
    ({"type": "fixed", "name": "Span", "size": 12, "logicalType": "duration"}, "P1M2DT3.004S", "P1M2DT3.004S"),
]


@pytest.mark.parametrize(("document", "payload", "value"), READ)
def test_json_is_read(document: Any, payload: Any, value: Any) -> None:
    judged = parse_schema("Avro", document).validate(json.dumps(payload).encode(), "application/json")
    assert judged == (value, [])
    assert type(judged[0]) is type(value)


@pytest.mark.parametrize(
    "contenttype",
    [
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/vnd.oven+json",
        "avro/json",
    ],
)
def test_the_content_type_says_that_it_is_json(contenttype: str) -> None:
    assert parse_schema("Avro", "int").validate(b"49", contenttype) == (49, [])


@pytest.mark.parametrize("contenttype", ["", "application/avro", "application/octet-stream", "text/jsonish", "json"])
def test_anything_else_is_binary(contenttype: str) -> None:
    assert parse_schema("Avro", "int").validate(b"1", contenttype) == (-25, [])


OVEN = {
    **KNOB,
    "name": "Oven",
    "fields": [{"name": "mode", "type": MODE}, {"name": "knobs", "type": {"type": "array", "items": KNOB}}],
}
TWO_PROBLEMS = [("/mode", "payload_enum"), ("/knobs/1/turn", "null_not_allowed")]

REFUSED: list[tuple[Any, bytes, list[tuple[str, str]]]] = [
    ("int", b"{", [("", "payload_not_json")]),
    ("int", b"\xff", [("", "payload_not_json")]),
    ("int", b"1.5", [("", "payload_type")]),
    ("int", b"true", [("", "payload_type")]),
    ("int", b'"1"', [("", "payload_type")]),
    ("int", b"2147483648", [("", "payload_type")]),
    ("long", b'"99999999999999999999"', [("", "payload_type")]),
    ("int", b"null", [("", "null_not_allowed")]),
    ("float", b"1e300", [("", "payload_range")]),
    ("boolean", b"0", [("", "payload_type")]),
    ("string", b"5", [("", "payload_type")]),
    ("bytes", '"€"'.encode(), [("", "payload_type")]),
    (["int", "string"], b"null", [("", "null_not_allowed")]),
    (["null", "int", "string"], b"true", [("", "payload_union")]),
    (["null", "int"], b'"a"', [("", "payload_type")]),
    (["null", KNOB], b'{"kitchen.Knob": {"turn": "x"}}', [("/kitchen.Knob/turn", "payload_type")]),
    (["null", KNOB], b'{"turn": "x"}', [("/turn", "payload_type")]),
    (OVEN, b"[]", [("", "payload_type")]),
    (OVEN, b'{"mode": "FAN"}', [("", "payload_required")]),
    (OVEN, b'{"mode": "FAN", "knobs": [], "door": 1}', [("", "payload_additional_properties")]),
    (OVEN, b'{"mode": "x", "knobs": [{"turn": 1}, {"turn": null}]}', TWO_PROBLEMS),
    (DAY, b'"2026-02-29"', [("", "payload_date")]),
    (DAY, b'"tomorrow"', [("", "payload_date")]),
    (MILLIS, b'"2026-01-31T25:00:00Z"', [("", "payload_time")]),
    (PRICE, b"0.001", [("", "payload_precision")]),
    (PRICE, b"1000000", [("", "payload_precision")]),
    ({"type": "string", "logicalType": "uuid"}, b'"six"', [("", "payload_uuid")]),
]


@pytest.mark.parametrize(("document", "payload", "problems"), REFUSED)
def test_other_json_is_refused_with_its_place(document: Any, payload: bytes, problems: list[tuple[str, str]]) -> None:
    _, violations = parse_schema("Avro", document).validate(payload, "application/json")
    assert [(violation.at, violation.code) for violation in violations] == problems


def test_only_so_many_violations_are_reported() -> None:
    payload = json.dumps(["x"] * 1000).encode()
    assert len(parse_schema("Avro", {"type": "array", "items": "int"}).validate(payload, "application/json")[1]) == 20


NODE = {"type": "record", "name": "Node", "fields": [{"name": "n", "type": ["null", "Node"]}]}


@pytest.mark.parametrize("depth", [101, 400, 100_000])
def test_deep_json_is_refused(depth: int) -> None:
    payload = b'{"n":' * depth + b"null" + b"}" * depth
    _, violations = parse_schema("Avro", NODE).validate(payload, "application/json")
    assert [violation.code for violation in violations] == ["payload_depth"]


def test_unions_that_cannot_be_told_apart_end() -> None:
    second = {**NODE, "name": "B", "fields": [{"name": "n", "type": ["null", "A", "B"]}]}
    first = {**NODE, "name": "A", "fields": [{"name": "n", "type": ["null", "A", second]}]}
    payload = b'{"n":' * 80 + b'"neither"' + b"}" * 80
    _, violations = parse_schema("Avro", first).validate(payload, "application/json")
    assert [violation.code for violation in violations] == ["payload_union"]


def test_wide_records_take_no_quadratic_time() -> None:
    fields = [{"name": f"f{index}", "type": ["null", "int"], "default": None} for index in range(20_000)]
    schema = parse_schema("Avro", {**KNOB, "fields": fields})
    value, violations = schema.validate(b"{}", "application/json")
    assert (len(value), violations) == (20_000, [])
    others = json.dumps({f"g{index}": index for index in range(20_000)}).encode()
    _, violations = schema.validate(others, "application/json")
    assert [violation.code for violation in violations] == ["payload_additional_properties"]


def test_a_payload_with_nulls_can_be_written_without_them() -> None:
    document = {
        **KNOB,
        "fields": [{"name": "turn", "type": "int", "default": 5}, {"name": "a", "type": ["null", "int"]}],
    }
    schema = parse_schema("Avro", document)
    value, violations = schema.validate(b'{"turn": null, "a": {"int": 1}}', "application/json")
    assert [violation.code for violation in violations] == ["null_not_allowed"]
    del value["turn"]
    written = schema.encode(value, "application/json")
    assert schema.validate(written, "application/json") == ({"turn": 5, "a": 1}, [])

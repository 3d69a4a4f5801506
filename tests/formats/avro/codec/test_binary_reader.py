"""The binary encoding: what is read, and what is wrong with the rest."""

import struct
from typing import Any

import pytest

from postroom.formats.avro.codec.varints import read_long, write_long
from postroom.formats.format_table import parse_schema

LIST = {"type": "array", "items": "int"}
NOTE = ["null", "string"]
MODE = {"type": "enum", "name": "Mode", "symbols": ["GRILL", "FAN"]}
KEY = {"type": "fixed", "name": "Key", "size": 3}
OVEN = {
    "type": "record",
    "name": "Oven",
    "fields": [{"name": "heat", "type": "int"}, {"name": "modes", "type": {"type": "array", "items": MODE}}],
}
NODE = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"]}]}

READ: list[tuple[Any, bytes, Any]] = [
    ("null", b"", None),
    ("boolean", b"\x00", False),
    ("boolean", b"\x01", True),
    ("int", b"\x01", -1),
    ("int", b"\xff\xff\xff\xff\x0f", -(2**31)),
    ("int", b"\xfe\xff\xff\xff\x0f", 2**31 - 1),
    ("long", b"\x80\x01", 64),
    ("long", b"\x80\x80\x01", 8192),
    ("long", b"\xfe" + b"\xff" * 8 + b"\x01", 2**63 - 1),
    ("long", b"\xff" * 9 + b"\x01", -(2**63)),
    ("float", struct.pack("<f", 0.5), 0.5),
    ("double", struct.pack("<d", -0.1), -0.1),
    ("bytes", b"\x04\x00\xff", b"\x00\xff"),
    ("string", b"\x06\xe2\x82\xac", "€"),
    ("string", b"\xc8\x01" + b"a" * 100, "a" * 100),
    (KEY, b"abc", b"abc"),
    (MODE, b"\x02", "FAN"),
    (NOTE, b"\x00", None),
    (NOTE, b"\x02\x02a", "a"),
    (LIST, b"\x00", []),
    (LIST, b"\x04\x02\x04\x00", [1, 2]),
    (LIST, b"\x02\x02\x02\x04\x00", [1, 2]),
    (LIST, b"\x03\x04\x02\x04\x00", [1, 2]),
    ({"type": "map", "values": "int"}, b"\x04\x02a\x02\x02b\x04\x00", {"a": 1, "b": 2}),
    (OVEN, b"\x14\x04\x00\x02\x00", {"heat": 10, "modes": ["GRILL", "FAN"]}),
    (NODE, b"\x02" * 99 + b"\x00", None),
    ({"type": "array", "items": "null"}, b"\x06\x00", [None, None, None]),
]


@pytest.mark.parametrize(("document", "payload", "value"), READ)
def test_payloads_are_read(document: Any, payload: bytes, value: Any) -> None:
    found, violations = parse_schema("Avro", document).validate(payload)
    assert violations == []
    assert document is NODE or found == value


REFUSED: list[tuple[Any, bytes, str, str]] = [
    ("boolean", b"", "", "payload_truncated"),
    ("boolean", b"\x02", "", "payload_type"),
    ("int", b"\x80", "", "payload_truncated"),
    ("int", b"\x80\x80\x80\x80\x10", "", "payload_range"),
    ("long", b"\xff" * 10 + b"\x01", "", "payload_range"),
    ("long", b"\xff" * 9 + b"\x02", "", "payload_range"),
    ("long", b"\xff" * 1000, "", "payload_range"),
    ("float", b"123", "", "payload_truncated"),
    ("double", b"1234567", "", "payload_truncated"),
    ("string", b"\x06ab", "", "payload_truncated"),
    ("string", b"\x05abc", "", "payload_length"),
    ("string", b"\xfe" + b"\xff" * 8 + b"\x01", "", "payload_truncated"),
    ("string", b"\x04\xff\xfe", "", "payload_utf8"),
    ("bytes", b"\x01", "", "payload_length"),
    (KEY, b"ab", "", "payload_truncated"),
    (MODE, b"\x04", "", "payload_enum"),
    (MODE, b"\x01", "", "payload_enum"),
    (NOTE, b"\x04", "", "payload_union"),
    (NOTE, b"\x01", "", "payload_union"),
    (LIST, b"\x04\x02", "/1", "payload_truncated"),
    (LIST, b"\x03\x01\x02\x04\x00", "/0", "payload_length"),
    (LIST, b"\xfe" + b"\xff" * 8 + b"\x01", "/0", "payload_truncated"),
    ({"type": "map", "values": MODE}, b"\x02\x06a/b\x09", "/a~1b", "payload_enum"),
    (OVEN, b"\x14\x04\x00\x06\x00", "/modes/1", "payload_enum"),
    (OVEN, b"\x14\x04\x00", "/modes/1", "payload_truncated"),
    (OVEN, b"", "/heat", "payload_truncated"),
    (OVEN, b"\x14\x00\x00", "", "payload_trailing_bytes"),
    ("null", b"a", "", "payload_trailing_bytes"),
    # Things that cost a payload nothing are counted before they are made.
    ({"type": "array", "items": "null"}, b"\xfe" + b"\xff" * 8 + b"\x01\x00", "/0", "payload_items"),
    ({"type": "array", "items": {**OVEN, "fields": []}}, b"\xfe\xff\xff\xff\x0f\x00", "/0", "payload_items"),
    (NODE, b"\x02" * 100 + b"\x00", "/next" * 100, "payload_depth"),
    (NODE, b"\x02" * 1_000_000, "/next" * 100, "payload_depth"),
    ({**NODE, "fields": [{"name": "next", "type": "Node"}]}, b"", "/next" * 100, "payload_depth"),
]


@pytest.mark.parametrize(("document", "payload", "at", "code"), REFUSED)
def test_broken_payloads_are_refused_with_their_place(document: Any, payload: bytes, at: str, code: str) -> None:
    value, violations = parse_schema("Avro", document).validate(payload)
    assert value is None
    assert [(violation.at, violation.code) for violation in violations] == [(at, code)]


def test_a_long_way_around_a_cycle_ends_as_well() -> None:
    document: Any = ["null", "R0"]
    for index in reversed(range(40)):
        document = {"type": "record", "name": f"R{index}", "fields": [{"name": "a", "type": document}]}
    _, violations = parse_schema("Avro", document).validate(b"\x02" * 10_000)
    assert [violation.code for violation in violations] == ["payload_depth"]


@pytest.mark.parametrize("number", [0, -1, 63, 64, -65, 8191, 8192, 2**20, 2**21, -(2**35), 2**63 - 1, -(2**63)])
def test_integers_of_every_length(number: int) -> None:
    written = write_long(number)
    assert read_long(written, 0) == (number, len(written))

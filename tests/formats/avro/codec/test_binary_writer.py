"""Writing values, also those that people write in JSON."""

from typing import Any

import pytest

from postroom.errors import SchemaRefused
from postroom.formats.format_table import parse_schema

KNOB = {"type": "record", "name": "Knob", "fields": [{"name": "turn", "type": "int"}]}
DEFAULTS = {
    "type": "record",
    "name": "Oven",
    "fields": [
        {"name": "heat", "type": "int", "default": 5},
        {"name": "note", "type": ["null", "string"]},
        {"name": "seal", "type": "bytes", "default": "\u00ff"},
    ],
}

WRITTEN: list[tuple[Any, Any, bytes]] = [
    ("int", 5.0, b"\x0a"),
    ("double", 1, b"\0\0\0\0\0\0\xf0\x3f"),
    ("float", "NaN", b"\0\0\xc0\x7f"),
    ("bytes", "\u00ff", b"\x02\xff"),
    ("string", "€", b"\x06\xe2\x82\xac"),
    (["null", "string"], None, b"\x00"),
    (["null", "string"], "a", b"\x02\x02a"),
    (["null", "string"], {"string": "a"}, b"\x02\x02a"),
    (["null", KNOB], {"Knob": {"turn": 1}}, b"\x02\x02"),
    (["float", "double"], 0.1, b"\x02\x9a\x99\x99\x99\x99\x99\xb9\x3f"),
    (["float", "double"], 0.5, b"\x00\0\0\0\x3f"),
    (["int", "long"], 2**40, b"\x02\x80\x80\x80\x80\x80\x40"),
    (["string", "bytes"], b"a", b"\x02\x02a"),
    (["double", "int"], 1, b"\x02\x02"),
    ([{"type": "int", "logicalType": "date"}, "long"], 5, b"\x02\x0a"),
    ([{"type": "map", "values": "int"}, KNOB], {"turn": 1}, b"\x00\x02\x08turn\x02\x00"),
    ([KNOB, {"type": "map", "values": "int"}], {"turn": 1, "more": 2}, b"\x02\x04\x08turn\x02\x08more\x04\x00"),
    (DEFAULTS, {}, b"\x0a\x00\x02\xff"),
    (DEFAULTS, {"heat": 1, "note": "a", "seal": b""}, b"\x02\x02\x02a\x00"),
    ({"type": "array", "items": "int"}, [], b"\x00"),
    ({"type": "array", "items": "int"}, (1, 2), b"\x04\x02\x04\x00"),
]


@pytest.mark.parametrize(("document", "value", "payload"), WRITTEN)
def test_values_are_written(document: Any, value: Any, payload: bytes) -> None:
    assert parse_schema("Avro", document).encode(value) == payload


@pytest.mark.parametrize(
    ("document", "value", "sentence"),
    [
        ("int", "5", 'it must be int but is "5"'),
        ("int", 2**31, "it must be int"),
        ("int", True, "it must be int but is true"),
        ("float", 1e300, "a float"),
        ("string", None, "it must be string but is null"),
        ("string", "\ud800", "lone surrogates"),
        ("bytes", "€", "a character for each byte"),
        ({"type": "fixed", "name": "Key", "size": 2}, b"abc", "2 bytes but is 3 bytes long"),
        ({"type": "enum", "name": "Mode", "symbols": ["FAN"]}, "GRILL", "a symbol of Mode"),
        (KNOB, {}, "/turn must be int but is missing"),
        (KNOB, {"turn": 1, "more": 2}, "more"),
        (KNOB, [], "the record Knob"),
        ({"type": "array", "items": KNOB}, [{"turn": 1}, {"turn": "a"}], "/1/turn must be int"),
        ({"type": "map", "values": "int"}, {"a": "b"}, "/a must be int"),
        (["null", KNOB], {"turn": "a"}, "/turn must be int"),
        (["null", "int", "string"], True, "one of null, int, string"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(document: Any, value: Any, sentence: str) -> None:
    with pytest.raises(SchemaRefused, match=sentence):
        parse_schema("Avro", document).encode(value)


def test_data_nested_without_end_is_refused() -> None:
    node = {"type": "record", "name": "Node", "fields": [{"name": "n", "type": {"type": "array", "items": "Node"}}]}
    value: dict[str, Any] = {"n": []}
    value["n"].append(value)
    with pytest.raises(SchemaRefused, match="nested too deeply"):
        parse_schema("Avro", node).encode(value)

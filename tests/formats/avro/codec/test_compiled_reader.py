"""The function that is written for a record takes the short way wherever there is one."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.formats.fill_columns import filler
from postroom.formats.format_table import parse_schema

EVERYTHING: dict[str, Any] = {
    "type": "record",
    "name": "Everything",
    "fields": [
        {"name": "text", "type": "string"},
        {"name": "a b", "type": "bytes"},
        {"name": "small", "type": "int"},
        {"name": "large", "type": "long"},
        {"name": "single", "type": "float"},
        {"name": "double", "type": "double"},
        {"name": "yes", "type": "boolean"},
        {"name": "nothing", "type": "null"},
        {"name": "key", "type": {"type": "fixed", "name": "Key", "size": 3}},
        {"name": "colour", "type": {"type": "enum", "name": "Colour", "symbols": ["RED", "GREEN"]}},
        {"name": "perhaps", "type": ["null", "string"]},
        {"name": "rarely", "type": ["long", "null"]},
        {"name": "either", "type": ["long", "string"]},
        {"name": "when", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "codes", "type": {"type": "array", "items": "int"}},
        {"name": "labels", "type": {"type": "map", "values": "string"}},
        {
            "name": "place",
            "type": {"type": "record", "name": "Place", "fields": [{"name": "lat", "type": ["null", "double"]}]},
        },
    ],
}
VALUE: dict[str, Any] = {
    "text": "ä" * 100,
    "a b": b"\x00\xff",
    "small": -1,
    "large": 2**62,
    "single": 0.5,
    "double": -1.25,
    "yes": True,
    "nothing": None,
    "key": b"abc",
    "colour": "GREEN",
    "perhaps": "",
    "rarely": None,
    "either": "x",
    "when": 1_700_000_000_123,
    "codes": [1, 2, 300],
    "labels": {"city": "Oslo"},
    "place": {"lat": 59.9},
}


def everything(**changes: Any) -> tuple[Any, bytes]:
    document = {**EVERYTHING, "fields": [{**f, "name": f["name"].replace(" ", "_")} for f in EVERYTHING["fields"]]}
    schema: Any = parse_schema("Avro", document)
    value = {name.replace(" ", "_"): member for name, member in (VALUE | changes).items()}
    return schema, schema.encode(value)


@pytest.mark.parametrize("changes", [{}, {"perhaps": None, "rarely": 7}, {"place": {"lat": None}}])
def test_a_record_of_all_types_is_read_the_short_way(changes: dict[str, Any]) -> None:
    schema, payload = everything(**changes)
    quick, sure = schema.fill(payload)
    assert sure
    assert quick == filler(schema.columns())(schema.validate(payload)[0])


def test_every_cut_and_every_byte_more_is_left_to_the_exact_way() -> None:
    schema, payload = everything()
    assert [schema.fill(payload[:end]) for end in range(len(payload))] == [(None, False)] * len(payload)
    assert schema.fill(payload + b"\0") == (None, False)


def test_what_was_wrong_leaves_nothing_behind() -> None:
    """An exception that is raised over and over must not grow."""
    schema, payload = everything()
    doubtful: set[int] = set()
    values = schema.fill_all([payload, b"\xff", payload, b"", payload[:-1]], doubtful)
    assert doubtful == {1, 3, 4}
    assert [bool(values[place]) for place in range(5)] == [True, False, True, False, False]


def test_the_frame_of_single_objects_comes_before_the_plain_encoding() -> None:
    """A payload may be both; the exact way says which."""
    schema: Any = parse_schema(
        "Avro",
        {"type": "record", "name": "R", "fields": [{"name": "a", "type": "long"}, {"name": "b", "type": "string"}]},
    )
    assert schema.fill(b"\xc3\x01\x02a") == (None, False)  # as plain, the number -162 and "a"
    assert schema.validate(b"\xc3\x01\x02a")[1] == []


@pytest.mark.parametrize("document", ["string", {"type": "array", "items": "int"}])
def test_what_is_no_record_is_read_the_exact_way(document: Any) -> None:
    schema: Any = parse_schema("Avro", document)
    assert schema.fill(b"\x02\x02\x00") == (None, False)
    doubtful: set[int] = set()
    assert schema.fill_all([b"", b""], doubtful) == [None, None]
    assert doubtful == {0, 1}


@pytest.mark.parametrize(("contenttype", "quickly"), [("", True), ("avro/binary", True), ("application/json", False)])
def test_the_short_way_is_for_binary_payloads(contenttype: str, quickly: bool) -> None:
    schema, _ = everything()
    assert schema.has_fast_path(contenttype) is quickly


@pytest.mark.parametrize("bits", range(64))
def test_numbers_of_every_length_are_read(bits: int) -> None:
    document = {
        "type": "record",
        "name": "R",
        "fields": [{"name": "yes", "type": "boolean"}, {"name": "a", "type": "long"}, {"name": "b", "type": "int"}],
    }
    schema: Any = parse_schema("Avro", document)
    for number in {2**bits - 1, -(2**bits), 2**bits // 3, -(2**bits // 5)}:
        value = {"yes": True, "a": number, "b": max(-(2**31), min(2**31 - 1, number))}
        assert schema.fill(schema.encode(value)) == (value, True)

"""The function that is written for two versions of a record reads what the exact one reads, or leaves it to that."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given

from postroom.errors import SchemaRefused
from postroom.formats.avro.format import Avro, ResolvedReader
from postroom.formats.fill_columns import ColumnMismatch, filler
from postroom.formats.format_table import parse_schema
from postroom.formats.schema import FramedReader
from tests.formats.avro.evolutions import evolutions

LAT = {"name": "lat", "type": "double"}
PLACE = {"type": "record", "name": "Place", "fields": [LAT]}
WRITER: dict[str, Any] = {
    "type": "record",
    "name": "Ride",
    "fields": [
        {"name": "gone", "type": {"type": "array", "items": "string"}},
        {"name": "id", "type": "string"},
        {"name": "count", "type": "int"},
        {"name": "perhaps", "type": ["string", "null"]},
        {"name": "sure", "type": "long"},
        {"name": "colour", "type": {"type": "enum", "name": "Colour", "symbols": ["RED", "GREEN"]}},
        {"name": "place", "type": PLACE},
        {"name": "old", "type": "boolean"},
    ],
}
READER: dict[str, Any] = {
    "type": "record",
    "name": "Ride",
    "fields": [
        {"name": "added", "type": {"type": "array", "items": "int"}, "default": [1, 2]},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "id", "type": "string"},
        {"name": "count", "type": "double"},
        {"name": "perhaps", "type": ["null", "string"]},
        {"name": "sure", "type": ["null", "long"]},
        {"name": "colour", "type": {"type": "enum", "name": "Colour", "symbols": ["BLUE", "GREEN", "RED"]}},
        {
            "name": "place",
            "type": {**PLACE, "fields": [{"name": "lon", "type": "int", "default": 3}, *PLACE["fields"]]},
        },
        {"name": "new", "aliases": ["old"], "type": "boolean"},
    ],
}
VALUE: dict[str, Any] = {
    "gone": ["a", "b"],
    "id": "x",
    "count": 7,
    "perhaps": "y",
    "sure": 8,
    "colour": "GREEN",
    "place": {"lat": 1.5},
    "old": True,
}


def readers(writer: Any, reader: Any) -> tuple[Avro, Avro, ResolvedReader]:
    first, second = parse_schema("Avro", writer), parse_schema("Avro", reader)
    assert isinstance(first, Avro)
    assert isinstance(second, Avro)
    found: FramedReader | None = second.reader_for(first)
    assert isinstance(found, ResolvedReader)
    return first, second, found


@pytest.mark.parametrize("changes", [{}, {"perhaps": None, "colour": "RED"}, {"gone": []}])
def test_two_versions_of_a_record_are_read_the_short_way(changes: dict[str, Any]) -> None:
    first, second, reading = readers(WRITER, READER)
    payload = first.encode({**VALUE, **changes})
    fallback: set[int] = set()
    found = reading.fill_all([payload, payload[:-1], payload + b"\0"], fallback)
    assert fallback == {1, 2}
    exact, violations = reading.validate_framed(payload, 0, "")
    assert violations == []
    assert found[0] == {k: v for k, v in filler(second.columns())(exact).items() if v is not None}
    assert found[0]["added"] == [1, 2]
    assert reading.may_drop()


def test_a_version_whose_members_all_have_columns_drops_nothing() -> None:
    members = [field for field in WRITER["fields"] if field["name"] != "gone"]
    reading = readers({**WRITER, "fields": members}, READER)[2]
    assert reading.has_fast_path("application/avro")
    assert not reading.may_drop()


def test_what_a_default_holds_is_made_anew_for_each_record() -> None:
    first, _, reading = readers(WRITER, READER)
    payload = first.encode(VALUE)
    one, other = (reading.fill_all([payload, payload], set())[number] for number in (0, 1))
    assert one["added"] == other["added"]
    assert one["added"] is not other["added"]


@given(evolutions(records=True))
def test_what_it_reads_is_what_the_exact_reader_reads(pair: tuple[Any, Any]) -> None:
    try:
        first, second, reading = readers(*pair)
        payload = first.encode(first.sample(random.Random(1)))
    except SchemaRefused:
        return
    if not reading.has_fast_path(""):
        return
    fallback: set[int] = set()
    found = reading.fill_all([payload], fallback)
    value, violations = reading.validate_framed(payload, 0, "")
    try:
        exact = None if violations else filler(second.columns())(value)
    except ColumnMismatch:
        exact = None
    if not fallback:
        assert exact is not None
        assert found[0] == {name: member for name, member in exact.items() if member is not None}

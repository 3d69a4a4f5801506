"""Writing Avro's own JSON encoding."""

import json
import random
from typing import Any

import fastavro
import pytest

from postroom.errors import SchemaRefused
from postroom.formats.avro.format import parse
from postroom.formats.avro.render_schema import render_schema
from postroom.formats.schema import SchemaDocument

KNOB = {"type": "record", "name": "Knob", "namespace": "kitchen", "fields": [{"name": "turn", "type": "int"}]}
MODE = {"type": "enum", "name": "Mode", "symbols": ["FAN"]}
OVEN = {
    "type": "record",
    "name": "Oven",
    "fields": [
        {"name": "knob", "type": ["null", KNOB, "string"]},
        {"name": "seal", "type": "bytes"},
        {"name": "since", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]},
        {"name": "heats", "type": {"type": "array", "items": "double"}},
        {"name": "more", "type": {"type": "map", "values": ["null", MODE]}},
        {"name": "key", "type": {"type": "fixed", "name": "Key", "size": 2}},
    ],
}
VALUE = {
    "knob": {"turn": 1},
    "seal": b"\xff",
    "since": "2026-01-31T12:00:00Z",
    "heats": [1, float("inf")],
    "more": {"a": "FAN", "b": None},
    "key": "ab",
}


def test_unions_are_tagged_and_logical_types_plain() -> None:
    schema = parse(SchemaDocument(document=OVEN))
    assert json.loads(schema.encode(VALUE, "application/json")) == {
        "knob": {"kitchen.Knob": {"turn": 1}},
        "seal": "\u00ff",
        "since": {"long": 1769860800000},
        "heats": [1.0, "Infinity"],
        "more": {"a": {"Mode": "FAN"}, "b": None},
        "key": "ab",
    }


@pytest.mark.parametrize("seed", range(20))
def test_json_says_the_same_as_binary(seed: int) -> None:
    schema = parse(SchemaDocument(document=OVEN))
    value = schema.sample(random.Random(seed))
    written = schema.encode(value, "application/json")
    assert schema.validate(written, "application/json") == (value, [])
    assert schema.validate(schema.encode(value)) == (value, [])


def test_fastavro_reads_it() -> None:
    schema = parse(SchemaDocument(document=OVEN))
    written = schema.encode({**VALUE, "heats": []}, "application/json").decode()
    found: list[Any] = list(fastavro.json_reader(iter([written]), render_schema(schema.type)))
    assert found[0]["knob"] == {"turn": 1}
    assert found[0]["seal"] == b"\xff"


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(SchemaRefused, match="does not fit"):
        parse(SchemaDocument(document="int")).encode("a", "application/json")

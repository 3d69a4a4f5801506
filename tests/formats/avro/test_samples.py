"""Invented values, for every kind of schema."""

import random
from typing import Any

import pytest

from postroom.errors import SchemaRefused
from postroom.formats.format_table import parse_schema


def record(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": key, "type": kind} for key, kind in fields.items()]}


@pytest.mark.parametrize(
    "document",
    [
        record("Node", next=["Node", "null"]),
        record("Tree", left=["null", "Tree"], right=["null", "Tree"], more={"type": "array", "items": "Tree"}),
        record("Tree", children={"type": "map", "values": "Tree"}),
        record("A", b=record("B", a=["null", "A"], c=["B", "int"])),
        {"type": "array", "items": record("Endless", me="Endless")},
    ],
)
def test_records_in_themselves_come_to_an_end(document: Any) -> None:
    schema = parse_schema("Avro", document)
    for seed in range(30):
        value = schema.sample(random.Random(seed))
        assert schema.validate(schema.encode(value)) == (value, [])


def test_the_same_seed_gives_the_same_value() -> None:
    schema = parse_schema("Avro", record("Oven", maker="string", heat=["null", "double"]))
    assert schema.sample(random.Random(7)) == schema.sample(random.Random(7))


def doubled() -> Any:
    inner: Any = record("R0", a="boolean")
    for index in range(1, 40):
        inner = record(f"R{index}", a=inner, b=f"R{index - 1}")
    return inner


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ([], "no fitting data"),
        (record("Endless", me="Endless"), "no fitting data"),
        (record("Node", next=["Node"]), "no fitting data"),
        ({"type": "enum", "name": "None_", "symbols": []}, "no fitting data"),
        ({"type": "fixed", "name": "Much", "size": 2**30}, "too large"),
        (doubled(), "too large"),
    ],
)
def test_types_without_values_are_refused(document: Any, sentence: str) -> None:
    with pytest.raises(SchemaRefused, match=sentence):
        parse_schema("Avro", document).sample(random.Random(1))

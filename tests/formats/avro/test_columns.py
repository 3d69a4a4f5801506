"""Which column a type gets."""

import random
from typing import Any

import pytest

from postroom.formats.column_types import (
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    DURATION_TEXT,
    INT64,
    JSON_TEXT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_TEXT,
    ColumnType,
    Decimal,
    Field,
    ListOf,
    MapOf,
    StructOf,
)
from postroom.formats.fill_columns import filler
from postroom.formats.format_table import parse_schema


def on(kind: str, logical: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": logical, **more}


def record(*fields: dict[str, Any], name: str = "Oven") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields)}


INT_HEAT = Field("heat", "heat", INT64)
HEAT = {"name": "heat", "type": "int"}
TABLE: list[tuple[Any, ColumnType]] = [
    ("null", JSON_TEXT),
    ("boolean", BOOLEAN),
    ("int", INT64),
    ("long", INT64),
    ("float", DOUBLE),
    ("double", DOUBLE),
    ("bytes", BINARY),
    ("string", STRING),
    ({"type": "fixed", "name": "Key", "size": 3}, BINARY),
    ({"type": "enum", "name": "Mode", "symbols": ["FAN"]}, STRING),
    (on("int", "date"), DATE),
    (on("int", "time-millis"), STRING),
    (on("long", "time-micros"), STRING),
    (on("long", "timestamp-millis"), TIMESTAMP),
    (on("long", "timestamp-micros"), TIMESTAMP),
    (on("long", "timestamp-nanos"), TIMESTAMP_TEXT),
    (on("long", "local-timestamp-millis"), STRING),
    (on("long", "local-timestamp-micros"), STRING),
    (on("long", "local-timestamp-nanos"), STRING),
    (on("string", "uuid"), STRING),
    (on("fixed", "uuid", name="Id", size=16), STRING),
    (on("fixed", "duration", name="Span", size=12), DURATION_TEXT),
    (on("bytes", "decimal", precision=38, scale=9), Decimal(38, 9)),
    (on("bytes", "decimal", precision=39, scale=9), STRING),
    (on("bytes", "big-decimal"), STRING),
    ({"type": "array", "items": "int"}, ListOf(INT64)),
    ({"type": "map", "values": ["null", "double"]}, MapOf(DOUBLE)),
    (["null", "int"], INT64),
    (["int", "null"], INT64),
    (["int"], INT64),
    (["null", "int", "string"], JSON_TEXT),
    (["null"], JSON_TEXT),
    ([], JSON_TEXT),
    (record(), JSON_TEXT),
    (record({**HEAT, "doc": "In °C."}), StructOf((Field("heat", "heat", INT64, "In °C."),))),
    (record(HEAT, {"name": "HEAT", "type": "int"}), StructOf((INT_HEAT, Field("HEAT~~2", "HEAT", INT64)))),
    (record({"name": "in", "type": ["null", "Oven"]}, HEAT), StructOf((Field("in", "in", JSON_TEXT), INT_HEAT))),
    (record({"name": "in", "type": record(name="Knob")}), StructOf((Field("in", "in", JSON_TEXT),))),
]


@pytest.mark.parametrize(("document", "column"), TABLE)
def test_every_type_has_its_column(document: Any, column: ColumnType) -> None:
    schema = parse_schema("Avro", document)
    assert schema.columns() == column
    if document not in ([], ["null"]):
        value, violations = schema.validate(schema.encode(schema.sample(random.Random(1))))
        assert violations == []
        filler(schema.columns())(value)


def test_types_that_multiply_become_json_text() -> None:
    inner: Any = record(HEAT, name="R0")
    for index in range(1, 30):
        members = [{"name": "a", "type": {"type": "array", "items": inner}}]
        members.append({"name": "b", "type": {"type": "array", "items": f"R{index - 1}"}})
        inner = record(*members, name=f"R{index}")
    assert parse_schema("Avro", record({"name": "much", "type": inner}, HEAT)).columns() == StructOf(
        (Field("much", "much", JSON_TEXT), Field("heat", "heat", INT64))
    )

"""Types and the columns they become."""

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
    TIMESTAMP_TEXT,
    ColumnType,
    Decimal,
    Field,
    ListOf,
    MapOf,
    StructOf,
)
from postroom.formats.fill_columns import filler
from tests.formats.jsonstructure.schemas import DEFINITIONS, structure

COLUMNS: list[tuple[dict[str, Any], ColumnType]] = [
    *(({"type": kind}, INT64) for kind in ("int8", "uint8", "int16", "uint16", "int32", "integer", "uint32", "int64")),
    ({"type": "uint64"}, Decimal(20, 0)),
    ({"type": "int128"}, STRING),
    ({"type": "uint128"}, STRING),
    *(({"type": kind}, DOUBLE) for kind in ("float8", "float", "double", "number")),
    ({"type": "decimal"}, Decimal(34, 7)),
    ({"type": "decimal", "precision": 10, "scale": 2}, Decimal(10, 2)),
    ({"type": "decimal", "precision": 10}, Decimal(17, 7)),
    ({"type": "decimal", "scale": 2}, Decimal(34, 2)),
    ({"type": "decimal", "precision": 50, "scale": 2}, STRING),
    ({"type": "boolean"}, BOOLEAN),
    ({"type": "string"}, STRING),
    ({"type": "string", "enum": ["red"]}, STRING),
    ({"type": "date"}, DATE),
    *(({"type": kind}, STRING) for kind in ("time", "uuid", "uri", "jsonpointer")),
    ({"type": "datetime"}, TIMESTAMP_TEXT),
    ({"type": "duration"}, DURATION_TEXT),
    ({"type": "binary"}, BINARY),
    ({"type": "null"}, JSON_TEXT),
    ({"type": "any"}, JSON_TEXT),
    ({"type": ["int32", "null"]}, INT64),
    ({"type": ["null", {"$ref": "#/definitions/Colour"}]}, STRING),
    ({"type": ["int32", "string"]}, JSON_TEXT),
    ({"type": "array", "items": {"type": "date"}}, ListOf(DATE)),
    ({"type": "set", "items": {"type": "int64"}}, ListOf(INT64)),
    ({"type": "map", "values": {"type": "binary"}}, MapOf(BINARY)),
    ({"type": "tuple", "properties": {"x": {"type": "int8"}}, "tuple": ["x"]}, JSON_TEXT),
    ({"type": {"$ref": "#/definitions/AnyVehicle"}}, JSON_TEXT),
    (
        {"type": {"$ref": "#/definitions/Truck"}},
        StructOf((Field("vin", "vin", STRING), Field("built", "built", DATE), Field("load", "load", Decimal(8, 2)))),
    ),
    (
        {"type": {"$ref": "#/definitions/Node"}},
        StructOf(
            (
                Field("value", "value", INT64),
                Field("next", "next", JSON_TEXT),
                Field("children", "children", ListOf(JSON_TEXT)),
            )
        ),
    ),
    ({"type": "object", "minProperties": 1}, JSON_TEXT),
    (
        {"type": "object", "properties": {"Vin": {"type": "int8", "description": "Chassis"}, "vin": {"type": "int8"}}},
        StructOf((Field("Vin", "Vin", INT64, "Chassis"), Field("vin~~2", "vin", INT64))),
    ),
    (
        {"type": "object", "properties": {"a": {"type": "int8"}}, "oneOf": [{"required": ["a"]}]},
        StructOf((Field("a", "a", INT64),)),
    ),
]


@pytest.mark.parametrize(("schema", "column"), COLUMNS)
def test_the_table_of_columns(schema: dict[str, Any], column: ColumnType) -> None:
    assert structure(schema, DEFINITIONS).columns() == column


def test_values_fill_their_columns() -> None:
    node = structure({"type": {"$ref": "#/definitions/Node"}}, DEFINITIONS)
    value, _ = node.validate(b'{"value": "9223372036854775807", "next": {"value": "1"}}')
    filled = filler(node.columns())(value)
    assert (filled["value"], filled["next"], filled.get("children")) == (2**63 - 1, '{"value":1}', None)


def test_graphs_that_unfold_without_end_stay_small() -> None:
    definitions = {
        f"T{number}": {
            "type": "object",
            "properties": {name: {"type": {"$ref": f"#/definitions/T{number + 1}"}} for name in ("left", "right")},
        }
        for number in range(40)
    }
    definitions["T40"] = {"type": "object", "properties": {"leaf": {"type": "string"}}}
    assert structure({"type": {"$ref": "#/definitions/T0"}}, definitions).columns() != JSON_TEXT

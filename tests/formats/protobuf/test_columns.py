"""Columns of Protobuf schemas."""

from __future__ import annotations

import pytest

from postroom.formats.column_types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    DURATION_TEXT,
    INT64,
    JSON_TEXT,
    STRING,
    TIMESTAMP_TEXT,
    ColumnType,
    Decimal,
    ListOf,
    MapOf,
    StructOf,
)
from postroom.formats.fill_columns import filler
from tests.formats.protobuf.documents import ORDER, proto2, proto3, schema

LINE = {"sku": STRING, "count": INT64, "tags": ListOf(STRING)}


def members(column: ColumnType) -> dict[str, ColumnType]:
    assert isinstance(column, StructOf)
    return {field.source: field.type for field in column.fields}


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        *(
            (kind, INT64)
            for kind in ("int32", "sint32", "sfixed32", "uint32", "fixed32", "int64", "sint64", "sfixed64")
        ),
        *((kind, Decimal(20, 0)) for kind in ("uint64", "fixed64", "google.protobuf.UInt64Value")),
        *((kind, DOUBLE) for kind in ("double", "float", "google.protobuf.FloatValue")),
        ("bool", BOOLEAN),
        ("google.protobuf.BoolValue", BOOLEAN),
        ("string", STRING),
        ("bytes", BINARY),
        ("google.protobuf.BytesValue", BINARY),
        ("Colour", STRING),
        ("google.protobuf.Timestamp", TIMESTAMP_TEXT),
        ("google.protobuf.Duration", DURATION_TEXT),
        ("google.protobuf.FieldMask", ListOf(STRING)),
        ("google.protobuf.Any", JSON_TEXT),
        ("google.protobuf.Struct", JSON_TEXT),
        ("google.protobuf.Value", JSON_TEXT),
        ("google.protobuf.ListValue", JSON_TEXT),
        ("Nothing", JSON_TEXT),
        ("Oven", JSON_TEXT),
        ("repeated Oven", ListOf(JSON_TEXT)),
        ("repeated int32", ListOf(INT64)),
        ("optional int32", INT64),
        ("map<string, double>", MapOf(DOUBLE)),
        ("map<string, Oven>", MapOf(JSON_TEXT)),
        ("map<int32, double>", JSON_TEXT),
        ("map<bool, double>", JSON_TEXT),
    ],
)
def test_the_column_of_each_type(kind: str, column: ColumnType) -> None:
    known = ("any", "duration", "field_mask", "struct", "timestamp", "wrappers")
    imports = "".join(f'import "google/protobuf/{name}.proto";' for name in known)
    text = proto3(f"{imports} message Oven {{ {kind} it = 1; }} message Nothing {{}} enum Colour {{ RED = 0; }}")
    assert members(schema(text, "Oven").columns()) == {"it": column}


def test_the_columns_of_an_order() -> None:
    found = members(schema(ORDER, "Order").columns())
    lines = found["lines"]
    assert isinstance(lines, ListOf)
    assert members(lines.item) == LINE
    assert members(found["voucher"]) == LINE
    assert found["replaces"] == JSON_TEXT


def test_comments_describe_columns() -> None:
    text = proto3(
        """message Oven {
          // The name
          // on the door.
          string name = 1;
          int32 degrees = 2; // Celsius.
          Shelf shelf = 3;
          message Shelf {
            int32 level = 1; /* From below. */
          }
        }"""
    )
    column = schema(text).columns()
    assert isinstance(column, StructOf)
    assert [field.description for field in column.fields] == ["The name on the door.", "Celsius.", ""]
    shelf = column.fields[2].type
    assert isinstance(shelf, StructOf)
    assert shelf.fields[0].description == "From below."


def test_names_that_differ_by_case_get_columns_of_their_own() -> None:
    column = schema(proto3("message A { int32 it = 1; int32 It = 2; }")).columns()
    assert isinstance(column, StructOf)
    assert [field.name for field in column.fields] == ["it", "It~~2"]


def test_a_new_member_changes_no_other_column() -> None:
    old = members(schema(ORDER, "Order").columns())
    new = members(
        schema(ORDER.replace("uint32 visitors = 30;", "uint32 visitors = 30; Line gift = 31;"), "Order").columns()
    )
    assert {name: new[name] for name in old} == old


def test_types_that_fan_out_end_as_json_text() -> None:
    text = proto3("".join(f"message M{i} {{ M{i + 1} a = 1; M{i + 1} b = 2; }}" for i in range(40)) + "message M40 {}")
    parsed = schema(text, "M0")
    filler(parsed.columns())(parsed.validate(b"\x0a\x00")[0])


def test_extensions_have_columns() -> None:
    text = proto2("message A { extensions 5 to 9; } extend A { optional int32 size = 5; }")
    assert members(schema(text).columns()) == {"[size]": INT64}

from typing import Any

import pytest

from postroom.formats.column_types import (
    BOOLEAN,
    DATE_TEXT,
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
from postroom.formats.fill_columns import ColumnMismatch, filler
from postroom.formats.format_table import parse_schema


def columns(document: Any, version: str = "draft-07") -> ColumnType:
    return parse_schema(f"JsonSchema/{version}", document).columns()


def struct(column: ColumnType) -> dict[str, ColumnType]:
    assert isinstance(column, StructOf)
    return {field.source: field.type for field in column.fields}


@pytest.mark.parametrize(
    ("document", "column"),
    [
        ({"type": "string"}, STRING),
        ({"type": "integer"}, INT64),
        ({"type": "number"}, DOUBLE),
        ({"type": "boolean"}, BOOLEAN),
        ({"type": ["string", "null"]}, STRING),
        ({"type": ["string", "integer"]}, JSON_TEXT),
        ({"enum": ["a", "b"]}, STRING),
        ({"const": "a"}, STRING),
        ({"enum": [1, "b"]}, JSON_TEXT),
        ({"type": "array", "items": {"type": "integer"}}, ListOf(INT64)),
        ({"type": "array"}, JSON_TEXT),
        ({"type": "object"}, JSON_TEXT),
        ({"type": "object", "properties": {}}, JSON_TEXT),
        ({"type": "object", "additionalProperties": {"type": "number"}}, MapOf(DOUBLE)),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, STRING),
        ({"anyOf": [{"type": "string"}, {"type": "integer"}]}, JSON_TEXT),
        ({"allOf": [{"type": "string"}]}, STRING),
        ({"allOf": [{"type": "number"}, {"type": "integer"}]}, INT64),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, JSON_TEXT),
        ({"type": "string", "anyOf": [{"minLength": 3}, {"pattern": "^x"}]}, STRING),
        ({"type": "string", "if": {"minLength": 3}, "then": {"pattern": "^x"}}, STRING),
        ({"if": {"type": "string"}, "then": {"pattern": "^x"}}, JSON_TEXT),
        ({"enum": [1, 2]}, INT64),
        ({"enum": [1, 2.5, None]}, DOUBLE),
        ({"const": True}, BOOLEAN),
        ({"enum": [2**70]}, Decimal(38, 0)),
        ({"type": "number", "enum": [1, 2]}, DOUBLE),
        ({"type": "number", "multipleOf": 1}, DOUBLE),
        ({"type": "integer", "minimum": 0, "maximum": 2**63 - 1}, INT64),
        ({"type": "integer", "minimum": 0, "maximum": 2**64 - 1}, Decimal(38, 0)),
        ({"type": "integer", "minimum": -(10**20)}, Decimal(38, 0)),
        ({"type": "integer", "maximum": 10**40}, JSON_TEXT),
        ({"type": "string", "format": "date-time"}, TIMESTAMP_TEXT),
        ({"type": ["string", "null"], "format": "date"}, DATE_TEXT),
        ({"type": "string", "format": "duration"}, DURATION_TEXT),
        ({"type": "string", "format": "time"}, STRING),
        ({"format": "date"}, JSON_TEXT),
        ({"allOf": [{"type": "string", "format": "date"}, {"format": "uri"}]}, STRING),
        ({"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]}, DATE_TEXT),
        ({"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]}, STRING),
        ({"type": "string", "contentEncoding": "base64"}, STRING),
        ({"type": "array", "items": [{"type": "string"}]}, JSON_TEXT),
        ({"type": "object", "additionalProperties": True}, JSON_TEXT),
        (
            {"type": "object", "patternProperties": {"^a": {"type": "number"}}, "additionalProperties": False},
            MapOf(DOUBLE),
        ),
        ({"type": "object", "patternProperties": {"^a": {"type": "number"}}}, JSON_TEXT),
        (
            {
                "type": "object",
                "patternProperties": {"^a": {"type": "number"}},
                "additionalProperties": {"type": "string"},
            },
            MapOf(JSON_TEXT),
        ),
        (False, JSON_TEXT),
        ({"$ref": "#/definitions/x", "definitions": {"x": {"type": "integer"}}}, INT64),
        (True, JSON_TEXT),
        ({}, JSON_TEXT),
    ],
)
def test_schemas_have_these_columns(document: Any, column: ColumnType) -> None:
    assert columns(document) == column


def test_nested_objects_are_structs_and_recursion_ends_as_json_text() -> None:
    tree = {"type": "object", "properties": {"name": {"type": "string"}, "child": {"$ref": "#"}}}
    members = struct(columns(tree))
    assert members["name"] == STRING
    assert struct(members["child"])["child"] == JSON_TEXT


@pytest.mark.parametrize(
    ("document", "value", "filled"),
    [
        ({"type": "integer"}, 1.0, 1),
        ({"type": "number"}, 1, 1.0),
        ({}, {"a": [1]}, '{"a":[1]}'),
        ({}, {"a": 2**70}, '{"a":1180591620717411303424}'),
        (
            {"type": "object", "properties": {"a b": {"type": "string"}, "c": {}}},
            {"a b": "x"},
            {"a~20b": "x"},
        ),
        ({"type": "array", "items": {"type": "string"}}, ["a", None], ["a", None]),
    ],
)
def test_values_fill_these_columns(document: Any, value: Any, filled: Any) -> None:
    found = filler(columns(document))(value)
    assert found == filled
    assert type(found) is type(filled)


@pytest.mark.parametrize(
    ("document", "value", "at"),
    [
        ({"type": "integer"}, 2**63, ""),
        ({"type": "integer", "maximum": 10**30}, 10**50, ""),
        ({"properties": {"a": {"type": "integer"}}}, {"a": 2**70}, "/a"),
        ({"properties": {"a": {}}}, "text", ""),
        ({"type": "array", "items": {"properties": {"a": {"type": "integer"}}}}, [{}, {"a": 2**70}], "/1/a"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"x": 1, "y": 2**70}, "/y"),
        ({"type": "number"}, 10**400, ""),
    ],
)
def test_a_value_that_a_column_cannot_hold_is_reported(document: Any, value: Any, at: str) -> None:
    with pytest.raises(ColumnMismatch) as caught:
        filler(columns(document))(value)
    assert caught.value.at == at


def test_conjunctions_of_objects_are_one_struct() -> None:
    document = {
        "allOf": [
            {"$ref": "#/definitions/named"},
            {"type": "object", "properties": {"speed": {"type": "number"}, "name": {"minLength": 1}}},
        ],
        "properties": {"id": {"type": "integer"}},
        "definitions": {"named": {"type": "object", "properties": {"name": {"type": "string"}}}},
    }
    assert struct(columns(document)) == {"id": INT64, "name": STRING, "speed": DOUBLE}


def test_keywords_beside_a_reference_count_in_newer_drafts_only() -> None:
    document = {"$ref": "#/$defs/x", "properties": {"b": {"type": "string"}}, "$defs": {"x": {"properties": {"a": {}}}}}
    assert list(struct(columns(document, "draft-07"))) == ["a"]
    assert list(struct(columns(document, "draft/2020-12"))) == ["b", "a"]


def test_dynamic_references_are_json_text() -> None:
    assert columns({"$dynamicRef": "#node", "$dynamicAnchor": "node"}, "draft/2020-12") == JSON_TEXT
    assert columns({"type": "array", "prefixItems": [{}], "items": {"type": "string"}}, "draft/2020-12") == JSON_TEXT


def test_named_members_are_columns_whatever_else_may_come() -> None:
    document = {
        "type": "object",
        "properties": {"a": {"type": "string", "description": "First letter"}},
        "additionalProperties": {"type": "integer"},
        "oneOf": [{"required": ["a"]}, {"required": ["b"]}],
    }
    column = columns(document)
    assert struct(column) == {"a": STRING}
    assert isinstance(column, StructOf)
    assert column.fields[0].description == "First letter"


def test_a_new_optional_member_only_appends_a_column() -> None:
    old = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "object", "properties": {"c": {}}}}}
    new = {**old, "properties": {**old["properties"], "d": {"type": "integer"}}}  # type: ignore[dict-item]
    assert list(struct(columns(new)).items())[:2] == list(struct(columns(old)).items())


def test_shared_definitions_do_not_grow_without_end() -> None:
    steps = {
        f"s{i}": {
            "type": "object",
            "properties": {"x": {"$ref": f"#/$defs/s{i + 1}"}, "y": {"$ref": f"#/$defs/s{i + 1}"}},
        }
        for i in range(30)
    }
    assert isinstance(columns({"$ref": "#/$defs/s0", "$defs": {**steps, "s30": {"type": "string"}}}), StructOf)

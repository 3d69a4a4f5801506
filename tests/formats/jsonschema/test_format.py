import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.errors import FormatUnknown, SchemaRefused
from postroom.formats.columns import (
    BOOLEAN,
    DOUBLE,
    INT64,
    JSON_TEXT,
    STRING,
    ColumnType,
    ListOf,
    MapOf,
    StructOf,
)
from postroom.formats.filling import ColumnMismatch, filler
from postroom.formats.jsonschema.columns import columns
from postroom.formats.patterns import sample_text
from postroom.formats.schema import PayloadSchema
from postroom.formats.table import parse_schema


def schema(document: Any, version: str = "draft-07", fragment: str = "") -> PayloadSchema:
    return parse_schema(f"JsonSchema/{version}", document, fragment)


@pytest.mark.parametrize(
    "name", ["JsonSchema/draft-07", "JSONSchema/Draft-07", "jsonschema/draft/2020-12", "JsonSchema"]
)
def test_format_names_ignore_case(name: str) -> None:
    assert parse_schema(name, {"type": "integer"}).judge(b"1") == (1, [])


@pytest.mark.parametrize("name", ["", "Thrift/1", "Cobol"])
def test_an_unknown_format_is_named(name: str) -> None:
    with pytest.raises(FormatUnknown, match="not one we read"):
        parse_schema(name, {})


@pytest.mark.parametrize(
    "document", ["{", "[]", [1], 5, {"type": "nonsense"}, {"pattern": "("}, {"$ref": "#/definitions/none"}]
)
def test_unusable_schemas_are_refused_with_a_sentence(document: Any) -> None:
    with pytest.raises(SchemaRefused):
        schema(document)


def test_integers_keep_every_digit() -> None:
    assert schema({}).judge(b"1180591620717411303424") == (2**70, [])


def test_nothing_is_fetched() -> None:
    with pytest.raises(SchemaRefused):
        schema({"$ref": "http://127.0.0.1:9/schema.json"})


def test_the_draft_decides() -> None:
    tuple_schema = {"prefixItems": [{"type": "string"}]}
    assert schema(tuple_schema, "draft-07").judge(b"[1]")[1] == []
    assert schema(tuple_schema, "draft/2020-12").judge(b"[1]")[1] != []


def test_a_fragment_picks_a_definition() -> None:
    document = {"type": "string", "definitions": {"Speed": {"type": "number"}}}
    assert schema(document, fragment="/definitions/Speed").judge(b"1.5") == (1.5, [])


@pytest.mark.parametrize(
    ("payload", "code", "at"),
    [
        (b"{", "payload_not_json", ""),
        (b"", "payload_not_json", ""),
        (b"\xff", "payload_not_json", ""),
        (b'{"a": NaN}', "payload_not_json", ""),
        (b'{"a/b": {"c~d": [1, "x"]}}', "payload_type", "/a~1b/c~0d/1"),
        (b'{"a/b": null}', "null_not_allowed", "/a~1b"),
        (b'{"kind": "z"}', "payload_enum", "/kind"),
        (b'{"n": 5}', "payload_maximum", "/n"),
        (b'{"u": 5}', "payload_any_of", "/u"),
    ],
)
def test_violations_have_a_code_and_a_pointer(payload: bytes, code: str, at: str) -> None:
    document = {
        "properties": {
            "a/b": {"type": "object", "properties": {"c~d": {"type": "array", "items": {"type": "integer"}}}},
            "kind": {"enum": ["x", "y"]},
            "n": {"maximum": 3},
            "u": {"anyOf": [{"type": "string"}, {"maximum": 1}]},
        }
    }
    (violation,) = schema(document).judge(payload)[1]
    assert (violation.code, violation.at) == (code, at)


@pytest.mark.parametrize(
    ("document", "value", "expected"),
    [
        ({"type": ["null", "string"]}, 5, "null or string"),
        ({"enum": ["a", 1, None]}, 5, 'one of "a", 1, null'),
        ({"const": "a"}, 5, '"a"'),
        ({"required": ["vin"]}, {}, "vin"),
        ({"properties": {"p": {}}, "additionalProperties": False}, {"q": 1, "r": 2}, "q, r"),
        ({"properties": {"p": False}}, {"p": 1}, "absent"),
        ({"pattern": "^a"}, "b", "text like ^a"),
        ({"minimum": 3}, 1, "at least 3"),
        ({"exclusiveMaximum": 3}, 3, "less than 3"),
        ({"multipleOf": 2}, 3, "a multiple of 2"),
        ({"minLength": 3}, "x", "text of at least 3 characters"),
        ({"maxItems": 1}, [1, 2], "a list of at most 1 items"),
        ({"not": {}}, 1, "valid under not"),
    ],
)
def test_violations_say_what_was_expected(document: Any, value: Any, expected: str) -> None:
    parsed = schema(document)
    (violation,) = parsed.judge(parsed.encode(value))[1]
    assert violation.expected == expected


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
        ({"allOf": [{"type": "string"}]}, JSON_TEXT),
        ({"$ref": "#/definitions/x", "definitions": {"x": {"type": "integer"}}}, INT64),
        ({"$ref": "#/definitions/none"}, JSON_TEXT),
        (True, JSON_TEXT),
        ({}, JSON_TEXT),
    ],
)
def test_columns(document: Any, column: ColumnType) -> None:
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
            {"a~20b": "x", "c": None},
        ),
        ({"type": "array", "items": {"type": "string"}}, ["a", None], ["a", None]),
    ],
)
def test_filling(document: Any, value: Any, filled: Any) -> None:
    found = filler(columns(document))(value)
    assert found == filled
    assert type(found) is type(filled)


@pytest.mark.parametrize(
    ("document", "value", "at"),
    [
        ({"type": "integer"}, 2**63, ""),
        ({"properties": {"a": {"type": "integer"}}}, {"a": 2**70}, "/a"),
        ({"properties": {"a": {}}}, "text", ""),
        ({"type": "array", "items": {"properties": {"a": {"type": "integer"}}}}, [{}, {"a": 2**70}], "/1/a"),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, {"x": 1, "y": 2**70}, "/y"),
        ({"type": "number"}, 10**400, ""),
    ],
)
def test_what_a_column_cannot_hold_is_said(document: Any, value: Any, at: str) -> None:
    with pytest.raises(ColumnMismatch) as caught:
        filler(columns(document))(value)
    assert caught.value.at == at


_LEAVES = st.sampled_from(
    [
        {"type": "string", "minLength": 2, "maxLength": 5},
        {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"},
        {"type": "string", "format": "date-time"},
        {"type": "integer", "minimum": -5, "maximum": 5},
        {"type": "integer", "multipleOf": 7},
        {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
        {"type": "boolean"},
        {"enum": ["a", 1, None]},
        {"const": {"x": 1}},
        {"type": ["integer", "null"]},
        {"$ref": "#/definitions/money"},
    ]
)
_SCHEMAS = st.recursive(
    _LEAVES,
    lambda inner: (
        st.builds(
            lambda i, n: {"type": "array", "items": i, "minItems": n, "maxItems": n + 2}, inner, st.integers(0, 2)
        )
        | st.builds(
            lambda members: {"type": "object", "properties": members, "required": sorted(members)[:2]},
            st.dictionaries(st.text("abc", min_size=1, max_size=3), inner, max_size=4),
        )
        | st.builds(lambda a, b: {"anyOf": [a, b]}, inner, inner)
    ),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(document=_SCHEMAS, seed=st.integers(0, 1000))
def test_invented_values_validate_and_fill_their_columns(document: dict[str, Any], seed: int) -> None:
    money = {"type": "object", "required": ["cents"], "properties": {"cents": {"type": "integer", "minimum": 0}}}
    parsed = schema(
        {**document, "definitions": {"money": money}}
        if "$ref" not in document
        else {"allOf": [document], "definitions": {"money": money}}
    )
    value = parsed.sample(random.Random(seed))
    decoded, violations = parsed.judge(parsed.encode(value))
    assert violations == []
    filler(parsed.columns())(decoded)


def test_impossible_schemas_say_so() -> None:
    with pytest.raises(SchemaRefused, match="--data"):
        schema({"type": "string", "minLength": 5, "maxLength": 3}).sample(random.Random(1))


@pytest.mark.parametrize(
    "pattern", ["^[A-Z]{3}[0-9]+$", "(cat|dog)s?", r"\d{4}-\d{2}", "[^a-z]", r"\w+@\w+\.com", "x.z"]
)
def test_texts_for_patterns(pattern: str) -> None:
    parsed = schema({"type": "string", "pattern": pattern})
    rng = random.Random(5)
    for _ in range(20):
        assert parsed.judge(parsed.encode(sample_text(pattern, rng)))[1] == []


@settings(max_examples=100, deadline=None)
@given(payload=st.binary(max_size=60))
def test_no_bytes_make_it_raise(payload: bytes) -> None:
    schema({"type": "object"}).judge(payload)


def test_deep_payloads_are_refused_not_fatal() -> None:
    _, violations = schema({"type": "array"}).judge(b"[" * 100_000 + b"]" * 100_000)
    assert [violation.code for violation in violations] == ["payload_not_json"]

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.fill_columns import filler
from postroom.formats.format_table import parse_schema
from postroom.formats.jsonschema.format import parse
from postroom.formats.jsonschema.samples.sample_strings import FORMATS
from postroom.formats.regex_samples import sample_string
from postroom.formats.schema import PayloadSchema, SchemaDocument


def schema(document: Any, version: str = "draft-07") -> PayloadSchema:
    return parse_schema(f"JsonSchema/{version}", document)


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
def test_sample_values_are_valid_and_fill_their_columns(document: dict[str, Any], seed: int) -> None:
    money = {"type": "object", "required": ["cents"], "properties": {"cents": {"type": "integer", "minimum": 0}}}
    parsed = schema(
        {**document, "definitions": {"money": money}}
        if "$ref" not in document
        else {"allOf": [document], "definitions": {"money": money}}
    )
    value = parsed.sample(random.Random(seed))
    decoded, violations = parsed.validate(parsed.encode(value))
    assert violations == []
    filler(parsed.columns())(decoded)


def test_impossible_schemas_say_so() -> None:
    with pytest.raises(SchemaRefused, match="--data"):
        schema({"type": "string", "minLength": 5, "maxLength": 3}).sample(random.Random(1))


@pytest.mark.parametrize(
    "pattern", ["^[A-Z]{3}[0-9]+$", "(cat|dog)s?", r"\d{4}-\d{2}", "[^a-z]", r"\w+@\w+\.com", "x.z"]
)
def test_sample_strings_match_their_patterns(pattern: str) -> None:
    parsed = schema({"type": "string", "pattern": pattern})
    rng = random.Random(5)
    for _ in range(20):
        assert parsed.validate(parsed.encode(sample_string(pattern, rng)))[1] == []


@pytest.mark.parametrize(
    "document",
    [
        {"allOf": [{"type": "integer", "minimum": 3}, {"maximum": 4}, {"multipleOf": 2}]},
        {"type": "number", "multipleOf": 0.01, "exclusiveMinimum": 0, "exclusiveMaximum": 0.03},
        {"type": "number", "minimum": 0.1234567, "maximum": 0.1234569},
        {"type": "integer", "exclusiveMinimum": -2, "exclusiveMaximum": 0},
        {"type": "integer", "maximum": -1000},
        {"type": "integer", "minimum": 10**30},
        {"if": {"properties": {"kind": {"const": "a"}}, "required": ["kind"]}, "then": {"required": ["x"]}},
        {
            "properties": {"kind": {"enum": ["a", "b"]}},
            "required": ["kind"],
            "type": "object",
            "if": {"properties": {"kind": {"const": "a"}}},
            "then": {"required": ["x"], "properties": {"x": {"type": "integer"}}},
            "else": {"required": ["y"], "properties": {"y": {"type": "string", "format": "uuid"}}},
        },
        {"type": "object", "minProperties": 3, "propertyNames": {"pattern": "^[a-z]{5}$"}},
        {
            "type": "object",
            "minProperties": 2,
            "patternProperties": {"^x-": {"type": "integer"}},
            "additionalProperties": False,
        },
        {"type": "object", "required": ["x-a"], "patternProperties": {"^x-": {"type": "integer"}}},
        {"type": "object", "required": ["a"], "dependentRequired": {"a": ["b"], "b": ["c"]}},
        {
            "type": "object",
            "required": ["a"],
            "dependentSchemas": {"a": {"required": ["b"], "properties": {"b": {"const": 1}}}},
        },
        {"type": "object", "properties": {"a": False, "b": {"type": "string"}}, "maxProperties": 1},
        {"type": "array", "minItems": 4, "uniqueItems": True, "items": {"enum": [1, 2, 3, 4, 5]}},
        {"type": "array", "contains": {"const": 7}, "minContains": 2, "items": {"type": "integer"}},
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 2},
        {"type": "string", "pattern": "^[A-Z]+$", "minLength": 20, "maxLength": 25},
        {"type": "string", "pattern": r"^\p{Lu}(?<tail>[a-z]{2})-\1$"},
        {"type": "string", "pattern": r"^(?=.*[A-Z])(?=.*\d).{8,}$"},
        {"type": "string", "minLength": 300},
        {"anyOf": [{"$ref": "#"}, {"type": "string"}]},
        {"type": "object", "properties": {"next": {"$ref": "#"}}, "required": []},
        {"oneOf": [{"type": "object", "properties": {"next": {"$ref": "#"}}, "required": ["next"]}, {"type": "null"}]},
        {"not": {"type": "string"}, "type": ["string", "integer"]},
        {"type": "null"},
        {"minLength": 3},
        {"unevaluatedProperties": False, "allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}]},
        True,
    ],
)
def test_samples_satisfy_every_keyword(document: Any) -> None:
    parsed = schema(document, "draft/2020-12")
    for seed in range(5):
        assert parsed.validate(parsed.encode(parsed.sample(random.Random(seed))))[1] == []


def test_sample_strings_satisfy_their_formats() -> None:
    for name in FORMATS:
        source = SchemaDocument(document={"type": "string", "format": name}, version="draft/2020-12")
        asserting = parse(msgspec.structs.replace(source, assert_formats=True))
        asserting.sample(random.Random(3))


@pytest.mark.parametrize("document", [False, {"type": "string", "minLength": 10**9}, {"enum": [1], "type": "string"}])
def test_schemas_without_a_value_say_so(document: Any) -> None:
    with pytest.raises(SchemaRefused):
        schema(document).sample(random.Random(1))


def test_patterns_of_endless_texts_are_refused() -> None:
    with pytest.raises(SchemaRefused, match="no text could be invented"):
        sample_string("((a{1000}){1000}){1000}", random.Random(1))

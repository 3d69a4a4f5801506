"""The typed decoder accepts only what the exact validator accepts, and fills what the filler fills."""

import json
import random
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.fill_columns import ColumnMismatch, filler
from postroom.formats.jsonschema.format import JsonSchema, parse
from postroom.formats.schema import SchemaDocument

VERSIONS = ("draft-04", "draft-07", "draft/2019-09", "draft/2020-12")


def schema(document: Any, version: str = "draft-07", *, assert_formats: bool = False) -> JsonSchema:
    return parse(SchemaDocument(document=document, version=version, assert_formats=assert_formats))


def without_nulls(value: Any) -> Any:
    """A filled value without the members that are null: the typed decoder leaves absent members out."""
    if isinstance(value, dict):
        return {name: without_nulls(item) for name, item in value.items() if item is not None}
    return [without_nulls(item) for item in value] if isinstance(value, list) else value


def agree(parsed: JsonSchema, payload: bytes) -> bool:
    """Hold the typed decoder to the exact way; whether it took the payload."""
    filled, accepted = parsed.fill(payload)
    fallback: set[int] = set()
    several = parsed.fill_all([payload, b"", payload], fallback)
    assert fallback == ({1} if accepted else {0, 1, 2})
    assert len(several) == 3
    if accepted:
        assert repr([without_nulls(several[0]), without_nulls(several[2])]) == repr([without_nulls(filled)] * 2)
    if accepted:
        value, violations = parsed.validate(payload)
        assert violations == []
        expected = without_nulls(filler(parsed.columns())(value))
        assert without_nulls(filled) == expected
        # 1 == 1.0 and True == 1 in Python; their JSON tells them apart.
        assert json.dumps(without_nulls(filled), sort_keys=True) == json.dumps(expected, sort_keys=True)
    return accepted


@pytest.mark.parametrize(
    ("document", "payload"),
    [
        ({"type": "integer"}, b"5"),
        ({"type": "number", "minimum": 0}, b"5"),
        ({"type": ["string", "null"]}, b"null"),
        ({"oneOf": [{"type": "null"}, {"type": "integer"}]}, b"7"),
        ({"enum": ["a", 1, None]}, b'"a"'),
        ({"enum": ["a", 1], "oneOf": [{"type": "string"}, {"type": "integer"}]}, b"1"),
        ({"type": "array", "items": {"type": "string"}, "maxItems": 2}, b'["a", "b"]'),
        ({"type": "object", "additionalProperties": {"type": "integer"}}, b'{"a": 1}'),
        ({"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]}, b'{"a": "x", "b": [1, 2.50], "c": 1}'),
        ({"properties": {"a": {"type": "string"}}, "additionalProperties": False}, b'{"a": "x"}'),
        ({"properties": {"a": {"$ref": "#/definitions/x"}}, "definitions": {"x": {"type": "boolean"}}}, b'{"a": true}'),
        ({"type": ["string", "object", "number"]}, b'{"a": 1.0}'),
        ({}, b'{"a": [1, 1.0, 1180591620717411303424]}'),
    ],
)
def test_payloads_of_schemas_that_msgspec_can_express_are_accepted(document: Any, payload: bytes) -> None:
    assert agree(schema(document), payload)


@pytest.mark.parametrize(
    ("document", "payload"),
    [
        ({"type": "integer"}, b"5.0"),
        ({"type": "integer"}, b"9223372036854775808"),
        ({"type": "integer"}, b"true"),
        ({"type": "number"}, b"1" + b"0" * 400),
        ({"type": "number", "maximum": 9007199254740992}, b"9007199254740993"),
        ({"type": "integer", "exclusiveMinimum": 1}, b"1"),
        ({"type": "integer", "minimum": 0.5}, b"0"),
        ({"type": "integer", "multipleOf": 2}, b"3"),
        ({"type": "string", "maxLength": 1}, '"\U0001f600\U0001f600"'.encode()),
        ({"type": "string", "pattern": "^a$"}, b'"a\\n"'),
        ({"type": "array", "uniqueItems": True}, b"[1, 1]"),
        ({"enum": [1]}, b"true"),
        ({"enum": [True]}, b"1"),
        ({"enum": ["a", {"b": 1}]}, b'{"b": 2}'),
        ({"properties": {"a": {}, "b": {}}, "required": ["a", "b"]}, b'{"a": 1, "a": 2}'),
        ({"properties": {"a": {"type": "string"}}}, b'{"a": null}'),
        ({"properties": {"a": {}}, "additionalProperties": False}, b'{"b": 1}'),
        ({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}, b'{"b": 1}'),
        ({"properties": {"a": {}}, "patternProperties": {"b": False}}, b'{"b": 1}'),
        ({"properties": {"a": {}}, "required": ["b"]}, b'{"a": 1}'),
        ({"properties": {"a": {}}, "minProperties": 2}, b'{"a": 1}'),
        ({"type": "object", "not": {"required": ["a"]}}, b'{"a": 1}'),
        ({"oneOf": [{"type": "number"}, {"type": "integer"}]}, b"1"),
        ({"type": "string", "contentEncoding": "base64"}, b'"%%"'),
        ({"properties": {"x": {"$ref": "#"}}}, b'{"x": {"x": 5}}'),
    ],
)
def test_other_payloads_and_schemas_are_left_to_the_exact_validator(document: Any, payload: bytes) -> None:
    assert not agree(schema(document), payload)


@pytest.mark.parametrize("odd", [b'"n": "\xff"', b'"\xff": 1', b'"n": [{"m": "\xc3"}]'])
def test_undeclared_members_must_be_utf_8_too(odd: bytes) -> None:
    parsed = schema({"type": "object", "required": ["sensor"], "properties": {"sensor": {"type": "string"}}})
    payload = b'{"sensor": "a", ' + odd + b"}"
    assert parsed.validate(payload)[1] != []
    assert not agree(parsed, payload)
    fallback: set[int] = set()
    several = parsed.fill_all([b'{"sensor": "\xc3\xa4"}', payload], fallback)
    assert (several[0], fallback) == ({"sensor": "ä"}, {1})


def test_asserted_formats_are_left_to_the_exact_validator() -> None:
    assert not agree(schema({"type": "string", "format": "ipv4"}, assert_formats=True), b'"127.0.0.1"')


def test_another_draft_beside_is_left_to_the_exact_validator() -> None:
    inner = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}
    document = {"properties": {"a": {"$ref": "#/$defs/old"}}, "$defs": {"old": inner}}
    assert not agree(schema(document, "draft/2020-12"), b'{"a": 1}')


_SMALL = st.integers(-3, 3) | st.sampled_from([0.5, -1.5, 2.0, 2**53, 2**63, -(2**63), 2**64, 10**20])
_TEXTS = st.text("ab\u00e4\U0001f600", max_size=3)
_VALUES = st.none() | st.booleans() | _SMALL | _TEXTS | st.just([1]) | st.just({"a": 1})
_TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "object", "array"])
_NAMES = st.sampled_from(["a", "b", "A", "b c", ""])


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": _TYPES | st.lists(_TYPES, min_size=1, max_size=3, unique=True),
            "enum": st.lists(_VALUES, min_size=1, max_size=3, unique_by=repr),
            "const": _VALUES,
            "minimum": _SMALL,
            "maximum": _SMALL,
            "multipleOf": st.sampled_from([1, 2, 0.5, 3.0]),
            "minLength": st.integers(0, 2),
            "maxLength": st.integers(0, 3),
            "minItems": st.integers(0, 2),
            "maxItems": st.integers(0, 3),
            "uniqueItems": st.booleans(),
            "items": inner,
            "properties": st.dictionaries(_NAMES, inner, max_size=3),
            "required": st.lists(_NAMES, min_size=1, max_size=2, unique=True),
            "additionalProperties": st.booleans() | inner,
            "oneOf": st.lists(inner, min_size=1, max_size=2),
            "anyOf": st.lists(inner, min_size=1, max_size=2),
            "format": st.just("date"),
            "description": st.just("words"),
        },
    )


# Mostly schemas that somebody might write: a type and what belongs to it.
_PLAIN = st.sampled_from(
    [
        {"type": "string"},
        {"type": "string", "minLength": 1, "maxLength": 2},
        {"type": "integer"},
        {"type": "integer", "minimum": -1, "maximum": 2},
        {"type": "number", "minimum": -1.5},
        {"type": ["number", "null"]},
        {"type": ["string", "integer"]},
        {"type": "boolean"},
        {"enum": ["a", "b", 1]},
        {"oneOf": [{"type": "string"}, {"type": "null"}]},
        {"type": "object"},
        {"type": "array"},
        {"$ref": "#/definitions/point"},
        {},
    ]
)
_OBJECTS = st.recursive(
    _PLAIN,
    lambda inner: (
        st.builds(
            lambda members, required, extra: {
                "type": "object",
                "properties": members,
                **({"required": [name for name in members if name in required]} if required else {}),
                **({} if extra is None else {"additionalProperties": extra}),
            },
            st.dictionaries(_NAMES, inner, min_size=1, max_size=3),
            st.lists(_NAMES, max_size=2),
            st.none() | st.booleans(),
        )
        | st.builds(lambda items: {"type": "array", "items": items}, inner)
        | st.builds(lambda values: {"type": "object", "additionalProperties": values}, inner)
        | _schemas(inner)
    ),
    max_leaves=6,
)
_POINT = {"type": "object", "properties": {"x": {"type": "number"}, "y": {"type": "number"}}, "required": ["x"]}
_PAYLOADS = st.recursive(
    _VALUES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3), max_leaves=6
)


def changed(value: Any, rng: random.Random, other: Any) -> Any:
    """A value with one place changed."""
    if isinstance(value, dict) and value and rng.random() < 0.8:
        name = rng.choice(sorted(value))
        if rng.random() < 0.2:
            return {key: item for key, item in value.items() if key != name}
        return {**value, name: changed(value[name], rng, other)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        index = rng.randrange(len(value))
        return [*value[:index], changed(value[index], rng, other), *value[index + 1 :]]
    if isinstance(value, dict) and rng.random() < 0.5:
        return {**value, "z": other}
    return float(value) if isinstance(value, int) and abs(value) < 2**60 and rng.random() < 0.5 else other


@settings(max_examples=250, deadline=None)
@given(document=_OBJECTS, payload=_PAYLOADS, version=st.sampled_from(VERSIONS), seed=st.integers(0, 1000))
def test_the_typed_decoder_never_accepts_an_invalid_payload(
    document: dict[str, Any], payload: Any, version: str, seed: int
) -> None:
    try:
        parsed = schema({**document, "definitions": {"point": _POINT}}, version)
    except SchemaRefused:
        return
    rng = random.Random(seed)
    payloads = [payload]
    try:
        fitting = parsed.sample(rng)
        payloads += [fitting, *(changed(fitting, rng, payload) for _ in range(4))]
    except SchemaRefused:
        pass
    for value in payloads:
        try:
            event("taken" if agree(parsed, json.dumps(value).encode()) else "left")
        except ColumnMismatch as mismatch:
            raise AssertionError(f"taken, but its column cannot hold {value!r}") from mismatch

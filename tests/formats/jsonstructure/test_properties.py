"""What holds for every schema and every payload."""

import contextlib
import datetime
import random
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.fill_columns import filler
from postroom.formats.jsonstructure.format import JsonStructure
from tests.formats.jsonstructure.schemas import DEFINITIONS, SCHEMAS, structure, without_nulls

QUICKLY = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**130), 2**130)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
    | st.sampled_from(["12", "2026-01-31", "red", "AA==", "0.5"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["vin", "make", "value"]), inner),
    max_leaves=8,
)


@pytest.mark.feature("SCH-016")
@given(schema=SCHEMAS, seed=st.integers(0, 10_000))
@QUICKLY
def test_samples_are_valid_survive_a_round_trip_and_fill_their_columns(schema: dict[str, Any], seed: int) -> None:
    parsed = structure(schema, DEFINITIONS)
    try:
        value = parsed.sample(random.Random(seed))
    except SchemaRefused:
        return  # some random schemas have no values
    payload = parsed.encode(value)
    assert parsed.validate(payload) == (value, [])
    assert parsed.validate(parsed.encode(parsed.validate(payload)[0])) == (value, [])
    assert_filled(parsed, payload, value)


def assert_filled(parsed: JsonStructure, payload: bytes, value: Any) -> None:
    """The quick way to columns, where there is one, leads where the filler does."""
    filled = filler(parsed.columns())(value)
    quick, sure = parsed.fill(payload)
    if sure:
        assert without_nulls(quick) == without_nulls(filled)
        assert repr(without_nulls(quick)) == repr(without_nulls(filled))  # 1 is not 1.0


@pytest.mark.parametrize("name", ["Node", "Truck", "Car", "AnyVehicle"])
def test_recursive_inherited_and_choice_types_have_samples(name: str) -> None:
    parsed = structure({"type": {"$ref": f"#/definitions/{name}"}}, DEFINITIONS)
    for seed in range(30):
        value = parsed.sample(random.Random(seed))
        assert parsed.validate(parsed.encode(value)) == (value, [])


@given(schema=SCHEMAS, value=JSON)
@QUICKLY
def test_the_typed_decoder_and_the_exact_checks_agree(schema: dict[str, Any], value: Any) -> None:
    parsed = structure(schema, DEFINITIONS)
    quick, exact = parsed.validate(msgspec.json.encode(value)), parsed.validate_value(value)
    assert quick == exact
    if not exact[1]:
        assert_filled(parsed, msgspec.json.encode(value), exact[0])
    else:
        assert parsed.fill(msgspec.json.encode(value)) == (None, False)


@pytest.mark.parametrize(
    ("schema", "payload", "filled"),
    [
        ({"type": "date"}, b'"2026-01-31"', datetime.date(2026, 1, 31)),
        ({"type": "double"}, b"1", 1.0),
        ({"type": "int64"}, b'"12"', 12),
        ({"type": ["string", "null"]}, b"null", None),
        ({"type": "any"}, b'{"a": 1}', '{"a":1}'),
        ({"type": "array", "items": {"type": "date"}}, b'["2026-01-31"]', [datetime.date(2026, 1, 31)]),
        ({"type": "object", "properties": {"a": {"type": "string"}}}, b'{"a": "x", "c": 1}', {"a": "x"}),
        (
            {"type": "object", "properties": {"a": {"type": "string"}, "A": {"type": "any"}}},
            b'{"a": "x", "A": 1}',
            {"a": "x", "A~~2": "1"},
        ),
    ],
)
def test_values_take_the_form_of_their_columns(schema: dict[str, Any], payload: bytes, filled: Any) -> None:
    assert structure(schema).fill(payload) == (filled, True)


def test_dates_that_no_column_holds_are_left_to_the_exact_checks() -> None:
    assert structure({"type": "date"}).fill(b'"0000-01-31"') == (None, False)


@given(schema=SCHEMAS, payload=st.binary(max_size=60) | JSON.map(lambda value: repr(value).encode()))
@QUICKLY
def test_no_payload_raises(schema: dict[str, Any], payload: bytes) -> None:
    value, violations = structure(schema, DEFINITIONS).validate(payload)
    assert violations == [] or (value is None and len(violations) <= 20)


@given(value=JSON)
@QUICKLY
def test_no_document_raises_anything_but_a_refusal(value: Any) -> None:
    for schema in ({"type": value}, {"type": "object", "properties": value}, {"type": "string", "enum": value}):
        with contextlib.suppress(SchemaRefused):
            structure(schema)


def test_many_payloads_are_filled_like_each() -> None:
    fallback: set[int] = set()
    payloads = [b'"2026-01-31"', b"1", msgspec.Raw(b'"2026-02-01"')]
    days = [datetime.date(2026, 1, 31), None, datetime.date(2026, 2, 1)]
    assert structure({"type": "date"}).fill_all(payloads, fallback) == days
    assert fallback == {1}

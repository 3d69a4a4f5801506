"""What holds for every schema and every payload."""

import contextlib
import random
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.filling import filler
from tests.formats.jsonstructure.schemas import DEFINITIONS, SCHEMAS, structure

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
def test_what_is_invented_is_valid_survives_the_trip_and_fills_its_columns(schema: dict[str, Any], seed: int) -> None:
    parsed = structure(schema, DEFINITIONS)
    try:
        value = parsed.sample(random.Random(seed))
    except SchemaRefused:
        return  # some random schemas have no values
    payload = parsed.encode(value)
    assert parsed.judge(payload) == (value, [])
    assert parsed.judge(parsed.encode(parsed.judge(payload)[0])) == (value, [])
    filler(parsed.columns())(value)


@pytest.mark.parametrize("name", ["Node", "Truck", "Car", "AnyVehicle"])
def test_recursive_inherited_and_chosen_types_are_invented(name: str) -> None:
    parsed = structure({"type": {"$ref": f"#/definitions/{name}"}}, DEFINITIONS)
    for seed in range(30):
        value = parsed.sample(random.Random(seed))
        assert parsed.judge(parsed.encode(value)) == (value, [])


@given(schema=SCHEMAS, value=JSON)
@QUICKLY
def test_the_quick_way_and_the_exact_checks_agree(schema: dict[str, Any], value: Any) -> None:
    parsed = structure(schema, DEFINITIONS)
    quick, exact = parsed.judge(msgspec.json.encode(value)), parsed.judge_value(value)
    assert quick == exact
    if not exact[1]:
        filler(parsed.columns())(exact[0])


@given(schema=SCHEMAS, payload=st.binary(max_size=60) | JSON.map(lambda value: repr(value).encode()))
@QUICKLY
def test_no_payload_raises(schema: dict[str, Any], payload: bytes) -> None:
    value, violations = structure(schema, DEFINITIONS).judge(payload)
    assert violations == [] or (value is None and len(violations) <= 20)


@given(value=JSON)
@QUICKLY
def test_no_document_raises_anything_but_a_refusal(value: Any) -> None:
    for schema in ({"type": value}, {"type": "object", "properties": value}, {"type": "string", "enum": value}):
        with contextlib.suppress(SchemaRefused):
            structure(schema)

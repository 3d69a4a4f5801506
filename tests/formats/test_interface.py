"""The one interface: what holds for every format, shown with the same ride in each."""

from __future__ import annotations

import contextlib
import decimal
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.errors import FormatUnknown, SchemaRefused
from postroom.formats.column_types import INT64, STRING, Decimal, ListOf, MapOf, StructOf
from postroom.formats.compatibility import compatible
from postroom.formats.fill_columns import filler
from postroom.formats.format_table import FAMILIES, check_schema, format_named, parse_schema, readable
from tests.formats.rides import JSON_SCHEMA, PROTOBUF, RIDES, XSD, Ride

QUICKLY = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
CONTENT_TYPES = ("", "application/json", "application/xml", "application/avro", "application/protobuf", "image/png")


@pytest.fixture(params=RIDES, ids=lambda ride: ride.name)
def ride(request: pytest.FixtureRequest) -> Ride:
    """A ride in each format."""
    found: Ride = request.param
    return found


def test_every_format_has_a_ride() -> None:
    assert {format_named(ride.name).family for ride in RIDES} == set(FAMILIES)  # type: ignore[union-attr]  # all known


def test_a_valid_payload_has_its_value(ride: Ride) -> None:
    value, violations = parse_schema(ride.name, ride.document).validate(ride.valid)
    assert violations == []
    assert (value["bicycle"], value["seconds"], value["mode"]) == ("b-7", 5_000_000_000, "TOUR")
    assert decimal.Decimal(value["price"]) == decimal.Decimal("12.50")
    assert (value["stops"], value["start"]) == (["Rue A", "Rue B"], {"place": "Rue A"})
    assert value.get("note") is None


def test_the_content_type_that_the_format_implies_changes_nothing(ride: Ride) -> None:
    schema = parse_schema(ride.name, ride.document)
    family = format_named(ride.name).family  # type: ignore[union-attr]  # all known
    assert schema.validate(ride.valid, ride.contenttype) == schema.validate(ride.valid)
    assert schema.validate(ride.valid, family.media_types[0]) == schema.validate(ride.valid)


def test_an_invalid_payload_has_violations_with_codes_and_pointers(ride: Ride) -> None:
    _, violations = parse_schema(ride.name, ride.document).validate(ride.invalid)
    assert violations
    assert all(found.code.startswith("payload_") and found.expected and found.found for found in violations)
    assert all(found.at == "" or found.at.startswith("/") for found in violations)


def test_truncated_and_overlong_payloads_are_refused(ride: Ride) -> None:
    schema = parse_schema(ride.name, ride.document)
    for payload in (ride.valid[:-3], ride.valid + b"\x07", b"\xff\xff\xff"):
        value, violations = schema.validate(payload)
        assert (value, len(violations)) == (None, 1)


def test_values_survive_writing_and_reading(ride: Ride) -> None:
    schema = parse_schema(ride.name, ride.document)
    value, _ = schema.validate(ride.valid)
    assert schema.validate(schema.encode(value)) == (value, [])


def test_columns_are_the_same_in_every_format(ride: Ride) -> None:
    column = parse_schema(ride.name, ride.document).columns()
    assert isinstance(column, StructOf)
    types: dict[str, Any] = {field.name: field.type for field in column.fields}
    assert list(types) == ["bicycle", "seconds", "price", "stops", "tags", "note", "mode", "start"]
    assert (types["bicycle"], types["seconds"], types["stops"]) == (STRING, INT64, ListOf(STRING))
    assert (types["note"], types["mode"]) == (STRING, STRING)
    assert types["price"] in (STRING, Decimal(9, 2))
    assert isinstance(types["tags"], StructOf) if ride is XSD else types["tags"] == MapOf(STRING)
    assert [(field.name, field.type) for field in types["start"].fields] == [("place", STRING)]


def test_samples_are_valid_and_land_in_the_columns(ride: Ride) -> None:
    schema = parse_schema(ride.name, ride.document)
    fill = filler(schema.columns())
    for seed in range(10):
        value = schema.sample(random.Random(seed))
        judged, violations = schema.validate(schema.encode(value))
        assert violations == []
        assert set(fill(judged)) <= {field.name for field in schema.columns().fields}  # type: ignore[union-attr]  # a struct
    assert schema.sample(random.Random(1)) == schema.sample(random.Random(1))


def test_aliases_and_bare_names_mean_the_same(ride: Ride) -> None:
    for name in ride.aliases:
        assert parse_schema(name, ride.document).columns() == parse_schema(ride.name, ride.document).columns()


def test_versions_that_nobody_knows_are_unknown_formats(ride: Ride) -> None:
    # JSON Schema reads versions that are newer than it knows as the newest; older ones it does not read.
    version = "draft-03" if ride is JSON_SCHEMA else "99"
    name = f"{ride.name.partition('/')[0]}/{version}"
    for refuse in (parse_schema, check_schema):
        with pytest.raises(FormatUnknown):
            refuse(name, ride.document)


def test_a_fragment_picks_a_type(ride: Ride) -> None:
    picked = parse_schema(ride.name, ride.two, ride.second).columns()
    assert picked == STRING or [field.name for field in picked.fields] == ["place"]  # type: ignore[union-attr]  # a struct
    with pytest.raises(SchemaRefused):
        parse_schema(ride.name, ride.two, ride.nothing)


def test_compatible_changes_are_compatible(ride: Ride) -> None:
    assert readable(ride.name, ride.document, ride.document).answer == "compatible"
    assert readable(ride.name, ride.document, ride.wider).answer == "compatible"


def test_incompatible_changes_have_a_counterexample(ride: Ride) -> None:
    verdict = readable(ride.name, ride.document, ride.other)
    assert (verdict.answer, bool(verdict.reason), bool(verdict.shown)) == ("incompatible", True, True)
    assert verdict.counterexample is not None
    assert parse_schema(ride.name, ride.document).validate(verdict.counterexample)[1] == []
    modes = ("backward", "forward", "full", "backward_transitive")
    answers = [
        compatible([ride.document], ride.other, mode, lambda *pair: readable(ride.name, *pair)) for mode in modes
    ]
    assert "compatible" not in {answer.answer for answer in answers}


@pytest.mark.parametrize("document", [None, 5, b"\xff\xfe\x00", b"[", "{]"])
def test_what_is_no_schema_is_refused(ride: Ride, document: Any) -> None:
    for refuse in (parse_schema, check_schema):
        with pytest.raises(SchemaRefused):
            refuse(ride.name, document)


def test_an_empty_payload_is_invalid_except_in_protobuf(ride: Ride) -> None:
    value, violations = parse_schema(ride.name, ride.document).validate(b"")
    # Without a byte, a Protobuf message has all of its defaults.
    assert (violations == []) if ride is PROTOBUF else (value is None and violations)


def test_null_is_refused_where_a_ride_is_expected(ride: Ride) -> None:
    assert parse_schema(ride.name, ride.document).validate(b"null", "application/json")[1]


@given(payload=st.binary(max_size=200), contenttype=st.sampled_from(CONTENT_TYPES), cut=st.integers(0, 60))
@QUICKLY
def test_no_payload_makes_validating_raise(ride: Ride, payload: bytes, contenttype: str, cut: int) -> None:
    schema = parse_schema(ride.name, ride.document)
    for body in (payload, ride.valid[:cut] + payload, payload + ride.valid[cut:]):
        value, violations = schema.validate(body, contenttype)
        assert not violations or all(found.code and found.expected for found in violations)
        if not violations:
            filler(schema.columns())(value)


@given(document=st.binary(max_size=200) | st.text(max_size=100))
@QUICKLY
def test_no_document_raises_anything_but_a_refusal(ride: Ride, document: Any) -> None:
    with contextlib.suppress(SchemaRefused, FormatUnknown):
        parse_schema(ride.name, document)

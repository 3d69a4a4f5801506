"""Logical types: from bytes to values and back."""

import datetime
import decimal
from typing import Any

import pytest

from postroom.errors import SchemaRefused
from postroom.formats.avro.calendar import date_text, days_of, instant_text, ticks_of
from postroom.formats.fill_columns import ColumnMismatch, filler
from postroom.formats.format_table import parse_schema

D = decimal.Decimal
NOON = datetime.datetime(2026, 1, 31, 12, tzinfo=datetime.UTC)


def on(kind: str, logical: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": logical, **more}


def fixed(size: int, logical: str, **more: Any) -> dict[str, Any]:
    return on("fixed", logical, name="Part", size=size, **more)


UUID = "6f1d7a52-5b0e-4c0a-9f58-2f4bde0c1a77"
MEANT: list[tuple[Any, Any, Any]] = [
    (on("int", "date"), 0, datetime.date(1970, 1, 1)),
    (on("int", "date"), -719162, datetime.date(1, 1, 1)),
    (on("int", "date"), 2932897, "+10000-01-01"),
    (on("int", "date"), -719163, "+0000-12-31"),
    (on("int", "date"), -(2**31), "-5877641-06-23"),
    (on("int", "time-millis"), 86_399_999, "23:59:59.999"),
    (on("long", "time-micros"), 1, "00:00:00.000001"),
    (on("long", "timestamp-millis"), -1, datetime.datetime(1969, 12, 31, 23, 59, 59, 999_000, datetime.UTC)),
    (on("long", "timestamp-micros"), 1, datetime.datetime(1970, 1, 1, 0, 0, 0, 1, datetime.UTC)),
    (on("long", "timestamp-micros"), 2**63 - 1, "+294247-01-10T04:00:54.775807Z"),
    (on("long", "timestamp-millis"), -(2**63), "-292275055-05-16T16:47:04.192Z"),
    (on("long", "timestamp-nanos"), 1_500_000_001, "1970-01-01T00:00:01.500000001Z"),
    (on("long", "local-timestamp-millis"), 1, "1970-01-01T00:00:00.001"),
    (on("long", "local-timestamp-micros"), 1, "1970-01-01T00:00:00.000001"),
    (on("long", "local-timestamp-nanos"), -1, "1969-12-31T23:59:59.999999999"),
    (on("string", "uuid"), UUID, UUID),
    (fixed(16, "uuid"), bytes.fromhex(UUID.replace("-", "")), UUID),
    (on("bytes", "decimal", precision=4, scale=2), b"\xff", D("-0.01")),
    (on("bytes", "decimal", precision=4, scale=2), b"\x00\x00\x27\x0f", D("99.99")),
    (on("bytes", "decimal", precision=4), b"\x05", D(5)),
    (on("bytes", "decimal", precision=1), b"\xff\xff\xff\xfb", D(-5)),
    (fixed(16, "decimal", precision=4, scale=2), b"\x00" * 14 + b"\x27\x0f", D("99.99")),
    (on("bytes", "decimal", precision=40, scale=2), b"\x01\x00", "2.56"),
    (fixed(4, "decimal", precision=9, scale=9), b"\x00\x00\x00\x01", D("0.000000001")),
    (fixed(12, "duration"), b"\x01\0\0\0\x02\0\0\0\xff\xff\xff\xff", "P1M2DT4294967.295S"),
    (on("bytes", "big-decimal"), b"\x04\x01\x00\x04", "2.56"),
]


@pytest.mark.parametrize(("document", "raw", "value"), MEANT)
def test_values_mean_something_and_become_plain_again(document: Any, raw: Any, value: Any) -> None:
    bare = parse_schema("Avro", {key: part for key, part in document.items() if key != "logicalType"})
    schema = parse_schema("Avro", document)
    payload = bare.encode(raw)
    assert schema.validate(payload) == (value, [])
    assert schema.validate(schema.encode(value)) == (value, [])


@pytest.mark.parametrize(
    ("document", "raw", "code"),
    [
        (on("int", "time-millis"), 86_400_000, "payload_range"),
        (on("long", "time-micros"), -1, "payload_range"),
        (on("string", "uuid"), "six", "payload_uuid"),
        (on("bytes", "decimal", precision=4, scale=2), b"\x27\x10", "payload_precision"),
        (on("bytes", "decimal", precision=4, scale=2), b"\x01" * 100_000, "payload_precision"),
        (on("bytes", "big-decimal"), b"\x04\x01", "payload_big_decimal"),
        (on("bytes", "big-decimal"), b"\x01\x00", "payload_big_decimal"),
    ],
)
def test_values_that_mean_nothing_are_refused(document: Any, raw: Any, code: str) -> None:
    bare = parse_schema("Avro", document["type"])
    _, violations = parse_schema("Avro", document).validate(bare.encode(raw))
    assert [violation.code for violation in violations] == [code]


@pytest.mark.parametrize(
    "document",
    [
        on("string", "date"),
        on("int", "timestamp-millis"),
        on("long", "sundial"),
        on("bytes", "uuid"),
        fixed(11, "duration"),
        fixed(15, "uuid"),
        on("bytes", "decimal"),
        on("bytes", "decimal", precision=0),
        on("bytes", "decimal", precision=2, scale=3),
        on("bytes", "decimal", precision="9"),
        fixed(1, "decimal", precision=3),
        on("long", ["date"]),  # type: ignore[arg-type]
    ],
)
def test_logical_types_that_do_not_apply_are_ignored(document: Any) -> None:
    bare = {key: value for key, value in document.items() if key != "logicalType"}
    assert parse_schema("Avro", document).columns() == parse_schema("Avro", bare).columns()


@pytest.mark.parametrize(
    "document", [on("int", "date"), on("long", "timestamp-millis"), on("long", "timestamp-micros")]
)
def test_other_years_do_not_disappear(document: Any) -> None:
    schema = parse_schema("Avro", document)
    value, violations = schema.validate(
        parse_schema("Avro", document["type"]).encode(2**31 - 1 if document["type"] == "int" else 2**62)
    )
    assert violations == []
    with pytest.raises(ColumnMismatch, match="years 1 to 9999"):
        filler(schema.columns())(value)


@pytest.mark.parametrize(
    ("document", "value", "same"),
    [
        (on("int", "date"), "2026-01-31", datetime.date(2026, 1, 31)),
        (on("long", "timestamp-micros"), "2026-01-31T14:00:00+02:00", NOON),
        (on("long", "timestamp-millis"), NOON.replace(tzinfo=None), NOON),
        (on("bytes", "decimal", precision=4, scale=2), 1.25, D("1.25")),
        (on("bytes", "decimal", precision=4, scale=2), "12", D("12.00")),
        (fixed(4, "decimal", precision=4, scale=2), -3, D("-3.00")),
        (on("bytes", "big-decimal"), 1.25, "1.25"),
    ],
)
def test_people_may_write_values_in_their_own_way(document: Any, value: Any, same: Any) -> None:
    schema = parse_schema("Avro", document)
    assert schema.validate(schema.encode(value)) == (same, [])


@pytest.mark.parametrize(
    ("document", "value"),
    [
        (on("int", "date"), "2026-13-01"),
        (on("int", "date"), "soon"),
        (on("long", "timestamp-millis"), "2026-01-31T12:00:00.0001Z"),
        (on("bytes", "decimal", precision=4, scale=2), D("1.255")),
        (on("bytes", "decimal", precision=4, scale=2), D("NaN")),
        (on("bytes", "decimal", precision=4, scale=2), [1]),
        (on("bytes", "decimal", precision=4, scale=2), "much"),
        (on("bytes", "big-decimal"), "Infinity"),
        (fixed(12, "duration"), "P9999999999M"),
    ],
)
def test_what_has_no_plain_form_is_refused(document: Any, value: Any) -> None:
    with pytest.raises(SchemaRefused, match="does not fit"):
        parse_schema("Avro", document).encode(value)


@pytest.mark.parametrize("days", [0, -1, 59, 11016, -719162, 2932896, -(2**31), 2**31 - 1])
def test_dates_of_all_years_come_back(days: int) -> None:
    assert days_of(date_text(days)) == days
    assert ticks_of(instant_text(days * 86_400_000 + 5, 1000, "Z"), 1000) == days * 86_400_000 + 5


def test_dates_are_those_of_the_calendar() -> None:
    for days in range(-800_000 + 80_838, 2_900_000, 997):
        assert date_text(days) == (datetime.date(1970, 1, 1) + datetime.timedelta(days)).isoformat()


def test_numbers_too_long_to_be_shown_are_refused() -> None:
    with pytest.raises(SchemaRefused, match="does not fit"):
        parse_schema("Avro", on("bytes", "decimal", precision=4)).encode(10**5000)

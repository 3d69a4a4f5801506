"""Texts of times: which of them a column of microseconds holds exactly."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from postroom.formats.column_types import (
    DATE_TEXT,
    DURATION_TEXT,
    STRING,
    TIMESTAMP_TEXT,
    Field,
    ListOf,
    MapOf,
    StructOf,
    as_text,
)
from postroom.formats.fill_columns import ColumnMismatch, filler
from postroom.formats.time_text import inexact_times, read_date, read_duration, read_timestamp, time_values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-05-04T10:00:00Z", datetime(2026, 5, 4, 10, tzinfo=UTC)),
        ("2026-05-04t10:00:00.5z", datetime(2026, 5, 4, 10, 0, 0, 500_000, tzinfo=UTC)),
        ("2026-05-04T10:00:00.123456000Z", datetime(2026, 5, 4, 10, 0, 0, 123_456, tzinfo=UTC)),
        ("2026-05-04T00:30:00+02:00", datetime(2026, 5, 3, 22, 30, tzinfo=UTC)),
        ("9999-12-31T23:59:59.999999Z", datetime.max.replace(tzinfo=UTC)),
        ("0001-01-01T00:00:00-00:00", datetime.min.replace(tzinfo=UTC)),
        ("2026-05-04T10:00:00.123456789Z", None),  # nanoseconds
        ("2016-12-31T23:59:60Z", None),  # a leap second
        ("2026-05-04T10:00:00", None),  # nobody knows where
        ("2026-05-04T24:00:00Z", None),
        ("2026-02-30T10:00:00Z", None),
        ("0001-01-01T00:00:00+01:00", None),  # the year 0 in UTC
        ("9999-12-31T23:59:59-01:00", None),  # the year 10000 in UTC
        ("0000-01-01T00:00:00Z", None),
        ("10000-01-01T00:00:00Z", None),
        ("2026-05-04 10:00:00Z", None),
        ("2026-05-04", None),
        ("２026-05-04T10:00:00Z", None),
        ("soon", None),
        ("", None),
    ],
)
def test_a_timestamp_is_read_where_microseconds_hold_it(text: str, expected: datetime | None) -> None:
    assert read_timestamp(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-02-29", date(2024, 2, 29)),
        ("2026-02-29", None),
        ("0000-01-01", None),
        ("2026-05-04Z", None),
        ("20260504", None),
        ("2026-W01-1", None),
    ],
)
def test_a_date_is_read_where_it_is_one(text: str, expected: date | None) -> None:
    assert read_date(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PT1S", 1_000_000),
        ("P1DT2H3M4.000005S", 93_784_000_005),
        ("-P2W", -1_209_600_000_000),
        ("P0Y0M1D", 86_400_000_000),
        ("PT0.100000000S", 100_000),
        ("1.5s", 1_500_000),
        ("-0.000001s", -1),
        ("P1M", None),  # of 28 to 31 days
        ("P1Y", None),
        ("PT0.0000001S", None),
        ("0.000000001s", None),
        ("PT9223372036855S", None),  # beyond 64 bits
        (f"PT{'9' * 5000}S", None),
        ("P", None),
        ("PT", None),
        ("1h", None),
    ],
)
def test_a_duration_is_read_where_its_length_is_certain(text: str, expected: int | None) -> None:
    assert read_duration(text) == expected


COLUMN = StructOf(
    (
        Field("at", "@t", TIMESTAMP_TEXT),
        Field("days", "days", ListOf(DATE_TEXT)),
        Field("waits", "waits", MapOf(DURATION_TEXT)),
        Field("note", "note", STRING),
    )
)


def test_a_column_of_times_is_filled_with_text() -> None:
    fill = filler(COLUMN)
    value = {"@t": "soon", "days": ["2026-05-04", None], "waits": {"a": "PT1S"}, "note": "x"}
    assert fill(value) == filler(as_text(COLUMN))(value) == {"at": "soon", **{n: value[n] for n in value if n != "@t"}}
    with pytest.raises(ColumnMismatch):
        fill({"@t": 5})


@pytest.mark.parametrize(
    ("filled", "values", "inexact"),
    [
        (None, None, None),
        ({}, {}, None),
        ({"at": "soon"}, {"at": None}, {"@t": "soon"}),
        ({"days": ["2026-05-04", None, "x"]}, {"days": [date(2026, 5, 4), None, None]}, {"days": [None, None, "x"]}),
        ({"waits": {"a": "PT1S", "b": "P1M"}}, {"waits": {"a": 1_000_000, "b": None}}, {"waits": {"b": "P1M"}}),
        ({"note": "2026"}, {"note": "2026"}, None),
    ],
)
def test_what_is_no_exact_time_is_null_and_told_by_its_member(filled: Any, values: Any, inexact: Any) -> None:
    assert time_values(COLUMN, filled) == values
    assert inexact_times(COLUMN, filled) == inexact

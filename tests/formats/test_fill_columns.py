"""Values in the shape of their columns; what a column cannot hold is never cut."""

from __future__ import annotations

import datetime
import decimal
from typing import Any

import pytest

from postroom.formats.column_types import (
    DATE,
    JSON_TEXT,
    TIMESTAMP,
    ColumnType,
    Decimal,
    Field,
    ListOf,
    MapOf,
    Scalar,
    StructOf,
    flattened,
    type_name,
)
from postroom.formats.fill_columns import ColumnMismatch, filler

UTC = datetime.UTC
MONEY = Decimal(5, 2)
POINT = StructOf((Field("x~20y", "x y", Scalar("int64")), Field("tags", "tags", ListOf(Scalar("string")))))


@pytest.mark.parametrize(
    ("column", "value", "filled"),
    [
        (MONEY, "12.50", decimal.Decimal("12.50")),
        (MONEY, 0.1, decimal.Decimal("0.10")),
        (MONEY, 7, decimal.Decimal("7.00")),
        (DATE, "2026-11-15", datetime.date(2026, 11, 15)),
        (DATE, datetime.date(1, 1, 1), datetime.date(1, 1, 1)),
        (TIMESTAMP, datetime.datetime(2026, 1, 1, tzinfo=UTC), datetime.datetime(2026, 1, 1, tzinfo=UTC)),
        (JSON_TEXT, {"a": [1, None]}, '{"a":[1,null]}'),
        (JSON_TEXT, [float("nan"), float("-inf"), None], '["NaN","-Infinity",null]'),
        (JSON_TEXT, {"b": b"\x00"}, '{"b":"AA=="}'),
        (POINT, {"x y": 1.0, "tags": None, "more": 2}, {"x~20y": 1}),
        (MapOf(MONEY), {"a": 1}, {"a": decimal.Decimal("1.00")}),
    ],
)
def test_values_fill_columns(column: ColumnType, value: Any, filled: Any) -> None:
    assert filler(column)(value) == filled


@pytest.mark.parametrize(
    ("column", "value", "at"),
    [
        (MONEY, "0.001", ""),
        (MONEY, 1000, ""),
        (MONEY, "many", ""),
        (MONEY, True, ""),
        (DATE, "0000-01-01", ""),
        (DATE, "yesterday", ""),
        (TIMESTAMP, "2026-01-01T00:00:00Z", ""),
        (POINT, {"x y": 2**63}, "/x y"),
        (POINT, {"tags": ["a", 5]}, "/tags/1"),
        (MapOf(MONEY), {"a": "x"}, "/a"),
    ],
)
def test_a_column_mismatch_says_where(column: ColumnType, value: Any, at: str) -> None:
    with pytest.raises(ColumnMismatch) as caught:
        filler(column)(value)
    assert caught.value.at == at


def test_column_types_have_readable_names() -> None:
    rows = [(path, type_name(kind)) for path, kind, _ in flattened("data", ListOf(POINT))]
    assert rows == [
        ("data", "list of struct"),
        ("data[]", "struct"),
        ("data[].x~20y", "int64"),
        ("data[].tags", "list of string"),
    ]
    assert type_name(MapOf(MONEY)) == "map of decimal(5, 2)"
    assert type_name(JSON_TEXT) == "JSON text"

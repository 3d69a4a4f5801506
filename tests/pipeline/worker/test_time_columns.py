"""Typed times are decided by column as they are one by one."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postroom.formats.column_types import (
    DATE_TEXT,
    DURATION_TEXT,
    INT64,
    STRING,
    TIMESTAMP_TEXT,
    ColumnType,
    Field,
    ListOf,
    MapOf,
    StructOf,
    as_text,
)
from postroom.formats.time_text import inexact_times, time_values
from postroom.pipeline.worker.arrow import arrow_type
from postroom.pipeline.worker.time_columns import typed_times, with_inexact_times

EXACT = {
    "timestamp": ["2026-05-04T10:00:00Z", "2026-05-04T10:00:00.123456+02:00", "1900-01-01T00:00:00-23:59"],
    "date": ["2024-02-29", "0001-01-01", "9999-12-31"],
    "duration": ["PT1S", "-P1DT0.5S", "1.5s"],
}
OTHERS = {
    "timestamp": [
        *("2026-05-04t10:00:00z", "2026-05-04T10:00:00.123456700Z", "2016-12-31T23:59:60Z", "2026-05-04T10:00:00"),
        *("0001-01-01T00:00:00+10:00", "9999-12-31T23:59:59-10:00", "2026-02-30T10:00:00Z", "soon", ""),
        *("2026-05-04T10:00:00+24:00", "2026-05-04T10:00:00+01:60", "2026-05-04T24:00:00Z", "2026-05-04 10:00:00Z"),
        *("2026-05-04T10:00:00.Z", "2026-05-04T10:00:00Z\n", "2026-05-04T10:00:00.5000000Z", "0000-01-01T00:00:00Z"),
    ],
    "date": ["2026-02-29", "0000-01-01", "2024-02-29Z", "x"],
    "duration": ["P1M", "PT1.0000001S", "x"],
}
LEAVES = {"timestamp": TIMESTAMP_TEXT, "date": DATE_TEXT, "duration": DURATION_TEXT}


def texts(name: str) -> st.SearchStrategy[str | None]:
    """Mostly exact times, so that whole columns of them are frequent."""
    return st.none() | st.sampled_from(EXACT[name]) | st.sampled_from(EXACT[name] + OTHERS[name])


def values_of(column: ColumnType) -> st.SearchStrategy[Any]:
    if isinstance(column, StructOf):
        members = {field.name: values_of(field.type) for field in column.fields}
        return st.none() | st.fixed_dictionaries({}, optional=members)
    if isinstance(column, ListOf):
        return st.none() | st.lists(values_of(column.item), max_size=3)
    if isinstance(column, MapOf):
        return st.none() | st.dictionaries(st.sampled_from("ab"), values_of(column.value), max_size=2)
    return st.none() | st.integers(0, 9) if column == INT64 else texts(column.name)  # type: ignore[union-attr]


def columns() -> st.SearchStrategy[ColumnType]:
    leaves = st.sampled_from([*LEAVES.values(), INT64])
    return st.recursive(
        leaves,
        lambda inner: (
            inner.map(ListOf)
            | inner.map(MapOf)
            | st.lists(inner, min_size=1, max_size=3).map(
                lambda types: StructOf(tuple(Field(f"c{n}", f"m {n}", one) for n, one in enumerate(types)))
            )
        ),
        max_leaves=4,
    )


def as_arrow_shows(column: ColumnType, value: Any) -> Any:
    """A value as Arrow gives it back: absent members are null, maps are pairs."""
    if value is None:
        return None
    if isinstance(column, StructOf):
        return {field.name: as_arrow_shows(field.type, value.get(field.name)) for field in column.fields}
    if isinstance(column, ListOf):
        return [as_arrow_shows(column.item, item) for item in value]
    return [(n, as_arrow_shows(column.value, v)) for n, v in value.items()] if isinstance(column, MapOf) else value


@given(st.data())
def test_columns_of_times_hold_what_each_text_means(data: st.DataObject) -> None:
    column = data.draw(columns(), label="column")
    filled = data.draw(st.lists(values_of(column), max_size=6), label="rows")
    typed, inexact = typed_times(column, pa.array(filled, arrow_type(as_text(column))))
    typed.validate(full=True)
    assert typed.type == arrow_type(column)
    assert typed.to_pylist() == [as_arrow_shows(column, time_values(column, value)) for value in filled]
    expected = {row: inexact_times(column, value) for row, value in enumerate(filled)}
    assert inexact == {row: found for row, found in expected.items() if found is not None}


@pytest.mark.parametrize("name", LEAVES)
def test_one_text_that_is_no_time_changes_nothing_for_the_others(name: str) -> None:
    alone, _ = typed_times(LEAVES[name], pa.array(EXACT[name]))
    together, inexact = typed_times(LEAVES[name], pa.array([*EXACT[name], *OTHERS[name]]))
    assert together.slice(0, len(EXACT[name])).equals(alone)
    assert alone.null_count == 0
    assert inexact


def test_texts_join_the_members_without_a_column() -> None:
    undeclared = {0: '{"q":1.10,"lines":[null,{"z":1},{"k":2}]}', 1: '{"q":2}', 2: "[null,{}]"}
    inexact = {0: {"at": "soon", "lines": [None, {"d": "x"}, None]}, 3: "never", 4: [None, "a"], 2: [{"d": "y"}]}
    assert with_inexact_times(undeclared, inexact) == {
        0: '{"q":1.10,"lines":[null,{"z":1,"d":"x"},{"k":2}],"at":"soon"}',
        1: '{"q":2}',
        2: '[{"d":"y"},{}]',
        3: '"never"',
        4: '[null,"a"]',
    }
    assert with_inexact_times(undeclared, {}) is undeclared


def test_columns_without_times_stay_as_they_are() -> None:
    array = pa.array(["2026-05-04"])
    assert typed_times(STRING, array)[0] is array

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pytest
from deltalake import Schema

from postroom.pipeline.lake.schema_evolution import Incompatible, new_columns


def schema(**columns: pa.DataType) -> str:
    return Schema.from_arrow(pa.schema(list(columns.items()))).to_json()


def struct(**columns: pa.DataType) -> pa.DataType:
    return pa.struct(list(columns.items()))


def test_same_columns_need_nothing() -> None:
    same = schema(vin=pa.string(), data=struct(lat=pa.float64()))
    assert new_columns(same, same) == ([], [])


def test_new_columns_are_named_nested_ones_too() -> None:
    old = schema(vin=pa.string(), data=struct(lat=pa.float64()))
    new = schema(vin=pa.string(), data=struct(lat=pa.float64(), speed=pa.int64()), tenant=pa.string())
    fields, paths = new_columns(old, new)
    assert paths == ["data.speed", "tenant"]
    assert len(fields) == 2


@pytest.mark.parametrize(
    ("of", "added"), [(pa.list_, "data[].count"), (lambda item: pa.map_(pa.string(), item), "data{}.count")]
)
def test_members_are_added_in_lists_and_maps(of: Callable[[pa.DataType], pa.DataType], added: str) -> None:
    old, new = of(struct(sku=pa.string())), of(struct(sku=pa.string(), count=pa.int64()))
    fields, paths = new_columns(schema(data=old), schema(data=new))
    assert (len(fields), paths) == (1, [added])


def test_columns_that_went_away_stay_in_the_table() -> None:
    assert new_columns(schema(vin=pa.string(), old=pa.int64()), schema(vin=pa.string())) == ([], [])


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (pa.int64(), pa.string(), "was long and is now string"),
        (pa.int64(), struct(value=pa.int64()), "was long and is now struct"),
        (struct(speed=pa.int64()), struct(speed=pa.float64()), "data.speed was long"),
        (struct(speed=pa.int64()), struct(Speed=pa.int64()), "only by case"),
        (pa.list_(struct(sku=pa.string())), pa.list_(struct(sku=pa.int64())), r"data\[\]\.sku was string"),
        (pa.map_(pa.string(), pa.int64()), pa.map_(pa.string(), pa.string()), "was long"),
    ],
)
def test_other_changes_need_a_new_table(old: pa.DataType, new: pa.DataType, why: str) -> None:
    with pytest.raises(Incompatible, match=why):
        new_columns(schema(data=old), schema(data=new))

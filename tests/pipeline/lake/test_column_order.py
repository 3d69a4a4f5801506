"""Columns stand in the order in which their schema declares them; a table that is there keeps its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable

from postroom.catalog.catalog import Catalog
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import Lake

STRUCTURE = {"$schema": "https://json-structure.org/meta/core/v0/#", "$id": "https://oven.example/o", "name": "Oven"}


def catalog(schema_format: str, names: list[str]) -> Catalog:
    head = STRUCTURE if schema_format.startswith("JsonStructure") else {}
    schema = {**head, "type": "object", "properties": {name: {"type": "string"} for name in names}}
    message = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "t"}},
        "dataschemaformat": schema_format,
        "dataschema": schema,
    }
    return Catalog({"messagegroups": {"g": {"messages": {"m": message}}}})


@pytest.mark.parametrize("schema_format", ["JsonSchema/draft-07", "JsonStructure/draft-04"])
def test_columns_have_the_order_of_the_schema(fleet: Any, lake: Lake, tmp_path: Path, schema_format: str) -> None:
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t", "data": {"zone": "z", "area": "a"}}

    def sort(number: int, names: list[str]) -> list[str]:
        job = fleet.job(lake, catalog(schema_format, names).compiled, batch=number)
        records = fleet.write(tmp_path / f"{number}.jsonl", [event])
        commit_batch(lake, job, "records", [fleet.task(job, records)])
        table = DeltaTable(lake.path("g/m"))
        assert table.to_pyarrow_table().num_rows == number
        return [field.name for field in next(f for f in table.schema().fields if f.name == "data").type.fields]

    assert sort(1, ["zone", "area", "Hall"]) == ["zone", "area", "Hall"]
    assert sort(2, ["door", "Hall", "zone", "area"]) == ["zone", "area", "Hall", "door"]

from __future__ import annotations

from pathlib import Path
from typing import Any

from postroom.pipeline.inspect.sql import run_query
from postroom.pipeline.inspect.tables import list_changes, list_tables
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import Lake


def test_tables_with_definition_version_rows_and_columns(sorted_lake: Lake) -> None:
    tables = {table.table: table for table in list_tables(sorted_lake)}
    assert list(tables) == ['"fleet"."vehicle.alarm"', '"fleet"."vehicle.position"', '"shop"."order.placed"']
    position = tables['"fleet"."vehicle.position"']
    assert position.definition == "/messagegroups/fleet/messages/vehicle.position"
    assert (position.version, position.rows, position.alias) == ("1", 11, "fleet__vehicle_position")
    assert position.columns["data.speed"] == "long"
    assert tables['"shop"."order.placed"'].columns["data.lines"] == "array<struct<sku, count>>"


def test_an_empty_lake_has_no_tables(lake: Lake) -> None:
    assert list_tables(lake) == []


def test_names_can_be_used_in_sql_as_they_are(sorted_lake: Lake) -> None:
    sorted_lake.path("fleet").rename(sorted_lake.path("""fl'e"et"""))
    for table in list_tables(sorted_lake):
        assert run_query(sorted_lake, f"SELECT count(*) FROM {table.table}").rows == [(table.rows,)]  # noqa: S608


def test_changes_are_listed_in_order(fleet: Any, sorted_lake: Lake, tmp_path: Path) -> None:
    for batch, change in enumerate(({"heading": {"type": "integer"}}, {"speed": {"type": "string"}}), 1):
        job = fleet.job(sorted_lake, fleet.compiled(**change), batch=batch)
        event = fleet.position(2, data={"lat": 1.0, "lon": 2.0})
        commit_batch(sorted_lake, job, "", [fleet.task(job, fleet.write(tmp_path / f"{batch}.jsonl", [event]))])
    changes = [(c.table, c.kind, c.batch) for c in list_changes(sorted_lake) if "position" in c.table]
    assert changes == [
        ('"fleet"."vehicle.position"', "created", "run1-0"),
        ('"fleet"."vehicle.position"', "columns_added", "run1-1"),
        ('"fleet"."vehicle.position@2"', "replaced", "run1-2"),
    ]
    assert [c.detail for c in list_changes(sorted_lake) if c.kind == "columns_added"] == ["data.heading"]

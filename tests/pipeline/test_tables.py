from __future__ import annotations

from postroom.pipeline.lake import Lake
from postroom.pipeline.tables import list_tables


def test_tables_with_definition_version_rows_and_columns(sorted_lake: Lake) -> None:
    tables = {table.table: table for table in list_tables(sorted_lake)}
    assert list(tables) == ['"fleet"."vehicle.alarm"', '"fleet"."vehicle.position"', '"shop"."order.placed"']
    position = tables['"fleet"."vehicle.position"']
    assert position.definition == "/messagegroups/fleet/messages/vehicle.position"
    assert (position.version, position.rows) == ("1", 11)
    assert position.columns["data.speed"] == "long"
    assert tables['"shop"."order.placed"'].columns["data.lines"] == "array<struct<count, sku>>"


def test_an_empty_lake_has_no_tables(lake: Lake) -> None:
    assert list_tables(lake) == []

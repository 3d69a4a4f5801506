"""Aliases that every metastore takes, and DDL that DuckDB and Spark run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import duckdb
import duckdb_extension_delta
import pytest
from click.testing import CliRunner

from postroom.catalog.catalog import Catalog
from postroom.cli.views import command
from postroom.pipeline.inspect.aliases import LONGEST, aliases, plain_alias
from postroom.pipeline.inspect.sql import run_query
from postroom.pipeline.inspect.views import merge_delta_types, view_statements
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import Lake
from tests.absence import absent


@pytest.mark.parametrize(
    ("folder", "alias"),
    [
        ("fleet.telemetry/vehicle.position", "fleet_telemetry__vehicle_position"),
        ("fleet.telemetry/vehicle.position@2", "fleet_telemetry__vehicle_position_2"),
        ("_endpoints/shop/Order-Placed", "endpoints__shop__order_placed"),
        ("7up/größe~40", "t7up__gr_e_40"),
        ("~40/.", "t40__x"),
    ],
)
def test_an_alias_has_letters_digits_and_underscores(folder: str, alias: str) -> None:
    assert plain_alias(folder) == alias


def test_a_long_alias_ends_with_a_digest() -> None:
    one, other = plain_alias(f"g/{'m' * 200}"), plain_alias(f"g/{'m' * 201}")
    assert one != other
    assert all(re.fullmatch(r"g__m+_[0-9a-f]{8}", alias) and len(alias) == LONGEST for alias in (one, other))


EVENT = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "oven/opened"}}}
KAFKA = {**EVENT, "protocol": "KAFKA", "protocoloptions": {"topic": {"value": "ovens"}}}
MQTT = {**EVENT, "protocol": "MQTT/5.0", "protocoloptions": {"topic_name": {"value": "ovens"}}}


def ovens(degrees: str, **more: Any) -> Catalog:
    """One event over two protocols, in ids that differ in nothing that an alias has."""
    door = {"type": "object", "properties": {"open": {"type": "boolean"}, **more}}
    schema = {"type": "object", "properties": {"degrees": {"type": degrees}, "door": door}}
    stated = {"dataschemaformat": "JsonSchema/draft-07", "dataschema": schema}
    messages = {"oven.opened": {**KAFKA, **stated}, "oven_opened": {**MQTT, **stated}}
    return Catalog({"messagegroups": {"bakery": {"messages": messages}}})


def event(number: int, protocol: str, degrees: Any, door: Any) -> dict[str, Any]:
    data = {"degrees": degrees, "door": door}
    body = {"specversion": "1.0", "id": str(number), "source": "/o", "type": "oven/opened", "data": data}
    metadata = {"topic": "ovens", "headers": {"content-type": "application/cloudevents+json"}}
    if protocol == "MQTT/5.0":
        metadata = {"topic_name": "ovens", "content_type": "application/cloudevents+json"}
    return {"protocol": protocol, "metadata": metadata, "payload": json.dumps(body)}


@pytest.fixture
def ovens_lake(fleet: Any, lake: Lake, tmp_path: Path) -> Lake:
    """Kafka's table was followed by another one, and MQTT's comes later; the door got a member, degrees became text."""
    batches = [
        (ovens("integer"), event(1, "KAFKA", 200, {"open": True})),
        (ovens("string"), event(2, "KAFKA", "hot", {})),
        (ovens("number", angle={"type": "number"}), event(3, "MQTT/5.0", 20.5, {"open": False, "angle": 1.5})),
    ]
    for number, (catalog, record) in enumerate(batches):
        job = fleet.job(lake, catalog.compiled, batch=number)
        done = fleet.task(job, fleet.write(tmp_path / f"{number}.jsonl", [record]))
        assert done.dead == {}
        commit_batch(lake, job, "records", [done])
    return lake


UNION = 'SELECT ce_id, data.degrees, data.door."open", data.door.angle FROM {} ORDER BY 1'
ROWS = [("1", "200", True, None), ("2", "hot", None, None), ("3", "20.5", False, 1.5)]


def test_tables_keep_their_aliases_when_others_would_have_the_same(ovens_lake: Lake) -> None:
    found = aliases(ovens_lake, ovens_lake.tables())
    assert found["bakery/oven.opened"] == "bakery__oven_opened"
    assert found["bakery/oven.opened@2"] == "bakery__oven_opened_2"
    assert re.fullmatch(r"bakery__oven_opened_[0-9a-f]{8}", found["bakery/oven_opened"])


def test_sql_takes_aliases(ovens_lake: Lake) -> None:
    assert run_query(ovens_lake, "SELECT data.degrees FROM bakery__oven_opened_2").rows == [("hot",)]
    assert ("bakery__oven_opened",) in run_query(ovens_lake, "SHOW TABLES").rows


def test_duckdb_runs_the_statements(ovens_lake: Lake) -> None:
    connection = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    (extension,) = Path(duckdb_extension_delta.__path__[0]).glob("extensions/v*/delta.duckdb_extension")
    connection.load_extension(str(extension))
    connection.execute('CREATE SCHEMA "my lake"')
    for statement in view_statements(ovens_lake, "duckdb", "memory.my lake"):
        connection.execute(statement)
    connection.execute('USE memory."my lake"')
    assert connection.execute(UNION.format("event__oven_opened")).fetchall() == ROWS
    both = connection.execute("SELECT ce_id, data.degrees FROM bakery__oven_opened_all ORDER BY 1").fetchall()
    assert both == [("1", "200"), ("2", "hot")]
    assert connection.execute("SELECT count(*) FROM ledger").fetchall() == [(3,)]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_spark_runs_the_statements(spark: Any, ovens_lake: Lake) -> None:
    has_delta = "delta" in spark.conf.get("spark.sql.extensions", "").lower()
    spark.sql("CREATE DATABASE IF NOT EXISTS views_of_ovens")
    try:
        for statement in view_statements(ovens_lake, "spark", "views_of_ovens"):
            # Without Delta's library, the same rows as Parquet: what the views say is Spark's own SQL.
            spark.sql(statement if has_delta else statement.replace("USING DELTA", "USING PARQUET"))
        found = spark.sql(UNION.format("views_of_ovens.event__oven_opened").replace('"', "`")).collect()
        assert [tuple(row) for row in found] == ROWS
    finally:
        spark.sql("DROP DATABASE views_of_ovens CASCADE")
    if not has_delta:
        absent("Delta's library for Spark", "Ivy did not get it; the tables were registered as Parquet")


def test_trino_and_hive_get_statements_of_their_own(ovens_lake: Lake) -> None:
    trino = view_statements(ovens_lake, "trino", "delta.ovens")
    folder = ovens_lake.path("bakery/oven.opened").absolute()
    assert trino[0] == (
        "CALL \"delta\".system.register_table(schema_name => 'ovens', table_name => 'bakery__oven_opened', "
        f"table_location => '{folder}')"
    )
    assert 'AS ROW("open" boolean, "angle" double))' in trino[-1]
    hive = view_statements(ovens_lake, "hive")
    assert "`_position` bigint" in hive[0]
    assert "`data` struct<`degrees`: bigint, `door`: struct<`open`: boolean>>" in hive[0]
    assert hive[0].endswith(f"STORED BY 'io.delta.hive.DeltaStorageHandler' LOCATION '{folder}'")


@pytest.mark.parametrize(
    ("one", "other", "merged"),
    [
        ("long", "long", "long"),
        ("long", "double", "double"),
        ("long", "string", "string"),
        ("date", "timestamp", "string"),
        ("long", {"type": "array", "elementType": "long"}, "string"),
        ({"type": "array", "elementType": "long"}, {"type": "array", "elementType": "double"}, "string"),
    ],
)
def test_types_of_several_tables_meet(one: Any, other: Any, merged: Any) -> None:
    assert merge_delta_types(one, other) == merge_delta_types(other, one) == merged


def test_the_command_writes_statements_that_end(ovens_lake: Lake) -> None:
    answer = CliRunner().invoke(command, ["--lake", str(ovens_lake.root), "--dialect", "duckdb"])
    assert answer.exit_code == 0, answer.output
    assert answer.output.count(";\n\n") == len(view_statements(ovens_lake, "duckdb"))

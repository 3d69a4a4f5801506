"""Tables as others read them: deltalake, DuckDB, and Spark with Delta's own library, which all see the same rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import duckdb_extension_delta
import pytest
from deltalake import DeltaTable
from msgspec.structs import replace

from postroom.pipeline.inspect.sql import run_query
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.compaction import tidy
from postroom.pipeline.lake.lake import DEAD_LETTERS, LEDGER, Lake, open_lake
from tests.absence import absent

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

POSITION, WIDENED = "fleet/vehicle.position", {"heading": {"type": "object", "properties": {"deg": {"type": "number"}}}}
Rows = list[dict[str, Any]]


def by_deltalake(spark: Any, folder: Path) -> Rows:
    rows: Rows = DeltaTable(folder).to_pyarrow_table().to_pylist()
    return rows


def duckdb_with_delta() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    (extension,) = Path(duckdb_extension_delta.__path__[0]).glob("extensions/v*/delta.duckdb_extension")
    connection.load_extension(str(extension))
    return connection.execute("SET TimeZone = 'UTC'")


def by_duckdb(spark: Any, folder: Path) -> Rows:
    rows: Rows = duckdb_with_delta().execute("SELECT * FROM delta_scan(?)", [str(folder)]).to_arrow_table().to_pylist()
    return rows


def by_sql(spark: Any, folder: Path) -> Rows:
    name = str(folder.relative_to(folder.parents[1])).replace("/", '"."')
    answer = run_query(open_lake(folder.parents[1]), f'FROM "{name}"')
    return [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]


def by_spark(spark: Any, folder: Path) -> Rows:
    if "delta" not in spark.conf.get("spark.sql.extensions", "").lower():
        absent("Delta's library for Spark", "Ivy did not get it; tables were not read with it")
    return [row.asDict(recursive=True) for row in spark.read.format("delta").load(str(folder)).collect()]


READERS = [by_deltalake, by_duckdb, by_spark]


@pytest.fixture
def grown_lake(fleet: Any, lake: Lake, records: Path, tmp_path: Path, request: pytest.FixtureRequest) -> Lake:
    """Three batches; the second adds a nested column, the third is without it again."""
    wide = fleet.position(99, data={"lat": 1.5, "lon": 2.5, "heading": {"deg": 270.5}})
    sources = [records, fleet.write(tmp_path / "wide.jsonl", [wide]), fleet.write(tmp_path / "last.jsonl", [wide])]
    for batch, source in enumerate(sources):
        job = fleet.job(lake, fleet.compiled(**(WIDENED if batch else {})), batch=batch)
        job = replace(job, partition_by_date=request.param)
        commit_batch(lake, job, "records", [fleet.task(job, source)])
    return lake


@pytest.mark.parametrize("read", [*READERS, by_sql])
@pytest.mark.parametrize("grown_lake", [False, True], indirect=True, ids=["plain", "by-date"])
def test_everybody_reads_the_same_rows(spark: Any, grown_lake: Lake, read: Callable[[Any, Path], Rows]) -> None:
    rows = read(spark, grown_lake.path(POSITION))
    assert len(rows) == 13
    assert sorted(row["ce_id"] for row in rows).count("p99") == 2
    assert [row["data"]["heading"] for row in rows if row["ce_id"] == "p99"] == [{"deg": 270.5}] * 2
    assert all(row["data"]["heading"] is None for row in rows if row["ce_id"] != "p99")
    assert {row["var_vin"] for row in rows} == {f"VIN{number}" for number in range(7)}
    assert ("_landed_on" in rows[0]) == (DeltaTable(grown_lake.path(POSITION)).metadata().partition_columns != [])


STOPS = {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}}
LONGER_STOPS = {
    "type": "array",
    "items": {"type": "object", "properties": {"name": {"type": "string"}, "minutes": {"type": "integer"}}},
}


@pytest.mark.parametrize("read", [*READERS, by_sql])
@pytest.mark.parametrize("is_compacted", [False, True])
def test_a_new_member_in_a_list_of_objects_is_null_before(
    spark: Any, fleet: Any, lake: Lake, tmp_path: Path, read: Callable[[Any, Path], Rows], is_compacted: bool
) -> None:
    for number, stops in enumerate([STOPS, STOPS, LONGER_STOPS, LONGER_STOPS, STOPS]):
        halt = {"name": "depot"} | ({"minutes": 7} if stops is LONGER_STOPS else {})
        event = fleet.position(number, data={"lat": 1, "lon": 2, "stops": [halt, {}]})
        if number == 1:
            event["data"].pop("stops")
        job = fleet.job(lake, fleet.compiled(stops=stops), batch=number)
        commit_batch(lake, job, "records", [fleet.task(job, fleet.write(tmp_path / f"{number}.jsonl", [event]))])
    if is_compacted:
        tidy(lake.root)
    assert [table.folder for table in lake.tables()] == [POSITION]
    assert len(DeltaTable(lake.path(POSITION)).file_uris()) == (1 if is_compacted else 5)
    rows = sorted(read(spark, lake.path(POSITION)), key=lambda row: str(row["ce_id"]))
    nothing = {"name": None, "minutes": None}
    before, after = [{"name": "depot", "minutes": None}, nothing], [{"name": "depot", "minutes": 7}, nothing]
    assert [row["data"]["stops"] for row in rows] == [before, None, after, after, before]


@pytest.mark.parametrize("read", READERS)
def test_dead_letters_and_the_ledger_are_tables_like_others(
    spark: Any, sorted_lake: Lake, read: Callable[[Any, Path], Rows]
) -> None:
    letters = read(spark, sorted_lake.path(DEAD_LETTERS))
    (entry,) = read(spark, sorted_lake.path(LEDGER))
    assert (len(letters), entry["read"]) == (5, 24)
    assert all(letter["outcome"] and letter["record"] is not None for letter in letters)


def test_spark_may_write_to_a_table_and_we_go_on(spark: Any, fleet: Any, sorted_lake: Lake, records: Path) -> None:
    folder = sorted_lake.path(POSITION)
    rows = by_spark(spark, folder)
    spark.sql(f"DELETE FROM delta.`{folder}` WHERE ce_id = 'p0'")  # noqa: S608
    left = len(by_deltalake(spark, folder))
    assert left < len(rows)
    job = fleet.job(sorted_lake, fleet.compiled(), batch=1)
    commit_batch(sorted_lake, job, "records", [fleet.task(job, records)])
    assert len(by_spark(spark, folder)) == left + len(rows)


def test_properties_and_comments_are_there_for_spark(spark: Any, sorted_lake: Lake) -> None:
    by_spark(spark, folder := sorted_lake.path(POSITION))
    (detail,) = spark.sql(f"DESCRIBE DETAIL delta.`{folder}`").collect()
    assert detail["description"] == "Where a vehicle is."
    assert detail["properties"]["postroom.definition"] == "/messagegroups/fleet/messages/vehicle.position"
    fields = json.loads(spark.read.format("delta").load(str(folder)).schema.json())["fields"]
    assert any(field["metadata"].get("comment") for field in fields)

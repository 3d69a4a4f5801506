"""Files are skipped by what the log says of them, and nobody loses a row by that, whoever reads."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, QueryBuilder

from postroom.pipeline.inspect.sql import run_query
from postroom.pipeline.lake import create_table
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.compaction import tidy
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.table_properties import STATISTICS_OF
from postroom.pipeline.worker.column_bounds import ColumnBound, bounds_of, merge_bounds
from tests.absence import absent
from tests.pipeline.lake.test_other_readers import duckdb_with_delta

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

POSITION, COLUMNS = "fleet/vehicle.position", "ce_time,_sent_at,_landed_at,_position"
TEN = datetime(2026, 3, 1, 10, 0, 0, 123456, tzinfo=UTC)
TIME = "TIMESTAMP '2026-03-04 10:00:02.123456'"
CONDITIONS = [
    *(f"ce_time {operator} {TIME}" for operator in ("=", "<", "<=", ">", ">=", "<>", "IS DISTINCT FROM")),
    *("ce_time IS NULL", "ce_time IS NOT NULL", f"ce_time IS NULL OR ce_time > {TIME}", f"NOT (ce_time < {TIME})"),
    *(f"coalesce(ce_time, {TIME}) = {TIME}", "_sent_at IS NULL", "_sent_at IS NOT NULL"),
    *("_batch = 'run1-2'", "_batch IN ('run1-0', 'run1-5')", "_batch <> 'run1-1'", "_position > 400"),
    *("ce_id >= 'p31'", "ce_source = '/vehicles/VIN1'", "var_vin IS NOT NULL", "data.speed > 20"),
]
# The numbers of the rows without a time, day by day.
WITHOUT: list[tuple[int, ...]] = [(), (1, 3), (0, 1, 2, 3, 4), (), (0, 1, 2, 3, 4), (2,)]
Change = Callable[[Lake, pytest.MonkeyPatch], None]


def land_days(fleet: Any, lake: Lake, folder: Path, change: Callable[[], None] = lambda: None) -> None:
    """A batch a day; after the third something happens."""
    for day, without in enumerate(WITHOUT):
        events = [fleet.position(10 * day + n) for n in range(5)]
        for n, event in enumerate(events):
            event["time"] = f"{TEN + timedelta(days=day, seconds=n):%Y-%m-%dT%H:%M:%S.%fZ}"
            if n in without:
                del event["time"]
        job = fleet.job(lake, fleet.compiled(), batch=day)
        commit_batch(lake, job, "records", [fleet.task(job, fleet.write(folder / f"{day}.jsonl", events))])
        if day == 2:
            change()


def table_of(lake: Lake) -> DeltaTable:
    return DeltaTable(lake.path(POSITION))


def logged(lake: Lake) -> list[dict[str, Any]]:
    """The statistics of the files that were added, oldest first."""
    lines = [
        line for log in sorted(lake.path(POSITION).glob("_delta_log/*.json")) for line in log.read_text().split("\n")
    ]
    return [json.loads(action["add"]["stats"]) for line in lines if line and "add" in (action := json.loads(line))]


def nothing(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table stays as it is."""


def named_late(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody says of a table of an earlier version which columns shall have statistics."""
    table_of(lake).alter.set_table_properties({STATISTICS_OF: COLUMNS}, raise_if_not_exists=False)


def tidied(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postroom.pipeline.lake.compaction.FEWEST_FILES", 2)
    tidy(lake.root)


def compacted_by_others(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    table_of(lake).optimize.compact()


def by_sql(spark: Any, lake: Lake, condition: str) -> int:
    query = f'SELECT count(*) FROM "fleet"."vehicle.position" WHERE {condition}'  # noqa: S608
    ((count,),) = run_query(lake, query).rows
    return int(count)


def by_deltalake(spark: Any, lake: Lake, condition: str) -> int:
    query = f"SELECT count(*) AS n FROM positions WHERE {condition}"  # noqa: S608
    return int(pa.table(QueryBuilder().register("positions", table_of(lake)).execute(query).read_all())["n"][0].as_py())


def by_duckdb(spark: Any, lake: Lake, condition: str) -> int:
    query = f"SELECT count(*) FROM delta_scan(?) WHERE {condition}"  # noqa: S608
    ((count,),) = duckdb_with_delta().execute(query, [str(lake.path(POSITION))]).fetchall()
    return int(count)


def by_spark(spark: Any, lake: Lake, condition: str) -> int:
    if "delta" not in spark.conf.get("spark.sql.extensions", "").lower():
        absent("Delta's library for Spark", "Ivy did not get it; tables were not read with it")
    return int(spark.read.format("delta").load(str(lake.path(POSITION))).where(condition).count())


@pytest.mark.parametrize("change", [nothing, named_late, tidied, compacted_by_others])
@pytest.mark.parametrize("count", [by_sql, by_deltalake, by_duckdb, by_spark])
def test_no_row_is_lost_whatever_reads_and_whoever_wrote(
    spark: Any,
    fleet: Any,
    lake: Lake,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: Change,
    count: Callable[[Any, Lake, str], int],
) -> None:
    if change is named_late:
        monkeypatch.setattr(create_table, "statistics_columns", lambda schema: "")
    land_days(fleet, lake, tmp_path, lambda: change(lake, monkeypatch))
    schema = table_of(lake).to_pyarrow_dataset().schema
    rows = pa.concat_tables([pq.read_table(uri, schema=schema) for uri in table_of(lake).file_uris()])
    assert rows.num_rows == 30
    connection = duckdb.connect().register("by_files_alone", rows).execute("SET TimeZone = 'UTC'")
    for condition in CONDITIONS[:: 3 if count is by_spark else 1]:
        query = f"SELECT count(*) FROM by_files_alone WHERE {condition}"  # noqa: S608
        ((wanted,),) = connection.execute(query).fetchall()
        assert count(spark, lake, condition) == wanted, condition


def test_files_are_skipped_by_time(fleet: Any, lake: Lake, tmp_path: Path) -> None:
    land_days(fleet, lake, tmp_path)
    rows = table_of(lake).to_pyarrow_dataset()
    assert len(list(rows.get_fragments(pc.field("ce_time") > TEN + timedelta(days=4)))) == 1


def test_the_log_says_the_same_columns_of_all_files(fleet: Any, lake: Lake, tmp_path: Path) -> None:
    land_days(fleet, lake, tmp_path)
    assert table_of(lake).metadata().configuration[STATISTICS_OF] == COLUMNS
    full, some, none, *_ = logged(lake)
    assert full["minValues"]["ce_time"] == "2026-03-01T10:00:00.123Z"
    assert full["maxValues"]["ce_time"] == "2026-03-01T10:00:04.124Z"  # in milliseconds it is not earlier
    assert [said["nullCount"]["ce_time"] for said in (full, some, none)] == [0, 2, 5]
    assert "ce_time" not in none["minValues"] | none["maxValues"]
    assert all(set(said["nullCount"]) == set(COLUMNS.split(",")) for said in logged(lake))


def test_a_table_of_an_earlier_version_goes_on_without(
    fleet: Any, lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(create_table, "statistics_columns", lambda schema: "")
    land_days(fleet, lake, tmp_path)
    assert logged(lake) == [{"numRecords": 5}] * 6


def test_columns_that_somebody_else_named_get_none(fleet: Any, lake: Lake, tmp_path: Path) -> None:
    def name_others() -> None:
        table_of(lake).alter.set_table_properties({STATISTICS_OF: "_position,ce_source"})

    land_days(fleet, lake, tmp_path, name_others)
    assert logged(lake)[3:] == [{"numRecords": 5}] * 3


def test_times_that_delta_cannot_say_leave_a_file_without_statistics() -> None:
    early = pa.table({"ce_time": pa.array([-(2**60)], pa.timestamp("us", tz="UTC")), "_position": [7]})
    assert bounds_of(early) == {}
    assert merge_bounds([bounds_of(early), bounds_of(early.select(["_position"]))]) == {}


def test_pieces_of_a_file_have_their_bounds_in_common() -> None:
    pieces = [
        pa.table({"_position": pa.array(values, pa.int64()), "x": values}) for values in ([3, 9], [None], [1, None])
    ]
    assert merge_bounds(map(bounds_of, pieces)) == {"_position": ColumnBound(2, 1, 9)}
    assert merge_bounds([]) == {}

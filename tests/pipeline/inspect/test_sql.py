from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from postroom.catalog.catalog import Catalog
from postroom.cli.main import execute
from postroom.errors import BadFlag
from postroom.pipeline.dead_letters.report import letter_files, summarise_letters
from postroom.pipeline.inspect.sql import add_table, open_duckdb, run_query
from postroom.pipeline.inspect.sql_filter import rows_where
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import Lake


def test_tables_are_called_group_and_message(sorted_lake: Lake) -> None:
    answer = run_query(sorted_lake, 'SELECT var_vin, max(data.speed) AS top FROM "fleet"."vehicle.position" GROUP BY 1')
    assert answer.columns == ("var_vin", "top")
    assert ("VIN1", 50) in answer.rows


def test_dead_letters_and_ledger_are_there(sorted_lake: Lake) -> None:
    assert run_query(sorted_lake, "SELECT count(*) FROM dead_letters").rows == [(5,)]
    assert run_query(sorted_lake, "SELECT read, dead['invalid'] FROM ledger").rows == [(24, 3)]


def test_timestamps_are_in_utc(sorted_lake: Lake) -> None:
    answer = run_query(sorted_lake, 'SELECT DISTINCT ce_time FROM "fleet"."vehicle.position"')
    assert answer.rows == [(datetime(2026, 3, 1, 10, tzinfo=UTC),)]


def test_two_columns_of_one_name_are_both_answered(sorted_lake: Lake) -> None:
    answer = run_query(sorted_lake, "SELECT 1 AS a, 2 AS a")
    assert answer.rows == [(1, 2)]


@pytest.mark.parametrize(
    ("sql", "sentence"),
    [
        ("SELCT 1", "syntax error"),
        ("SELECT nope FROM ledger", "nope"),
        ('SELECT * FROM "fleet"."boat"', "does not exist"),
        ("DROP VIEW ledger", "only read"),
        ("SELECT 1; SELECT 2", "only read"),
        ("COPY ledger TO 'out.csv'", "only read"),
        ("EXPLAIN ANALYZE COPY ledger TO 'out.csv'", "only read"),
        ("", "there is none"),
        ("SELECT * FROM read_text('/etc/hostname')", "Permission"),
    ],
)
def test_a_bad_query_is_one_sentence(sorted_lake: Lake, sql: str, sentence: str) -> None:
    with pytest.raises(BadFlag, match=sentence) as error:
        run_query(sorted_lake, sql)
    assert "\n" not in str(error.value)


def test_names_with_quotes_do_no_harm(sorted_lake: Lake) -> None:
    sorted_lake.path("fleet").rename(sorted_lake.path("""fl'e"et"""))
    answer = run_query(sorted_lake, 'SELECT count(*) FROM "fl\'e""et"."vehicle.alarm"')
    assert answer.rows == [(2,)]


def test_the_second_table_of_a_message_has_its_number(fleet: Any, sorted_lake: Lake, tmp_path: Path) -> None:
    job = fleet.job(sorted_lake, fleet.compiled(speed={"type": "string"}), batch=1)
    event = fleet.position(2, data={"lat": 1.0, "lon": 2.0, "speed": "fast"})
    commit_batch(sorted_lake, job, "", [fleet.task(job, fleet.write(tmp_path / "fast.jsonl", [event]))])
    sql = 'SELECT (SELECT count(*) FROM "fleet"."vehicle.position"), data.speed FROM "fleet"."vehicle.position@2"'
    assert run_query(sorted_lake, sql).rows == [(11, "fast")]


def test_a_message_with_the_name_of_a_second_table_goes_by_its_folder(sorted_lake: Lake) -> None:
    fleet = sorted_lake.path("fleet")
    (fleet / "vehicle.alarm").rename(fleet / "vehicle.position~402")
    assert run_query(sorted_lake, 'SELECT count(*) FROM "fleet"."vehicle.position@2"').rows == [(2,)]
    shutil.copytree(fleet / "vehicle.position", fleet / "vehicle.position@2")
    assert run_query(sorted_lake, 'SELECT count(*) FROM "fleet"."vehicle.position@2"').rows == [(11,)]
    assert run_query(sorted_lake, 'SELECT count(*) FROM "fleet"."vehicle.position~402"').rows == [(2,)]


def test_who_asks_for_all_tables_sees_all(sorted_lake: Lake) -> None:
    answer = run_query(sorted_lake, "SELECT table_schema, table_name FROM information_schema.tables ORDER BY ALL")
    assert ("fleet", "vehicle.position") in answer.rows
    assert ("main", "ledger") in answer.rows
    assert len(answer.rows) == 5


@pytest.mark.parametrize("sql", ["SHOW ALL TABLES", "FROM (SHOW ALL TABLES)", "PRAGMA show_tables_expanded"])
def test_show_all_tables_shows_all(sorted_lake: Lake, sql: str) -> None:
    answer = run_query(sorted_lake, sql)
    shown = {row[answer.columns.index("name")] for row in answer.rows}
    assert shown == {"vehicle.position", "vehicle.alarm", "order.placed", "dead_letters", "ledger"}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM fleet.vehicle.position",
        "SELECT count(*) FROM Fleet.Vehicle.Position WHERE data.speed > 1",
        "SELECT * FROM endpoints.fleet.vehicle.position",
    ],
)
def test_a_name_without_quotes_is_shown_with_them(sorted_lake: Lake, sql: str) -> None:
    with pytest.raises(BadFlag) as error:
        run_query(sorted_lake, sql)
    assert 'Put the two names in quotes: "fleet"."vehicle.position".' in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("group", ["main", "a.b", "it's", 'say "x"', "Fleet"])
def test_a_group_may_be_called_as_it_likes(sorted_lake: Lake, group: str) -> None:
    sorted_lake.path("shop").rename(sorted_lake.path(group))
    quoted = group.replace('"', '""')
    assert run_query(sorted_lake, f'SELECT count(*) FROM "{quoted}"."order.placed"').rows == [(6,)]  # noqa: S608


def test_ids_that_no_registry_would_take_are_sorted_and_asked_for(fleet: Any, lake: Lake, tmp_path: Path) -> None:
    ids = ["a\0b", "a~00b", "x" * 300, "x" * 299 + "y", "line\nend", "..", "../..", "a/b", "a/c", "a", "", "del\x7f"]
    messages = {
        name: {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": f"t{number}"}}}
        for number, name in enumerate(ids)
    }
    catalog = Catalog({"messagegroups": {"g\0": {"messages": messages}}}).compiled
    events = [fleet.position(number, type=f"t{number}") for number in range(len(ids))]
    job = fleet.job(lake, catalog)
    entry = commit_batch(lake, job, "", [fleet.task(job, fleet.write(tmp_path / "odd.jsonl", events))])
    assert (len(entry.landed), sum(entry.landed.values())) == (len(ids), len(ids))
    answer = run_query(lake, "SHOW ALL TABLES")
    shown = {row[answer.columns.index("name")] for row in answer.rows}
    assert len(shown) == len(ids) + 1  # and the ledger
    assert {"a~00b", "a~7E00b", "line~0Aend", "..", "a/b"} < shown
    assert run_query(lake, 'SELECT ce_id FROM "g~00"."a~7E00b"').rows == [("p1",)]


STRANGE_VALUES = [
    "SELECT * FROM test_all_types()",
    "SELECT DATE '5000000-01-01', TIMESTAMP 'infinity', TIMESTAMP_NS '2020-01-01 00:00:00.123456789'",
    "SELECT MAP {[1]: 2} AS a, MAP {DATE '2020-01-01': 1} AS a, 7 AS a; -- and no more",
    "SELECT 1::VARIANT, {'a': [TIMESTAMP '290000-01-01']}, INTERVAL 1 MONTH, '10'::BIT, 'nan'::FLOAT, chr(0)",
]


@pytest.mark.parametrize("sql", STRANGE_VALUES)
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_every_value_can_be_shown(
    sorted_lake: Lake, sql: str, form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["sql", "--lake", str(sorted_lake.root), sql, *form]) == 0
    assert capsys.readouterr().out


def test_what_python_cannot_hold_is_text_and_the_rest_is_not(sorted_lake: Lake) -> None:
    answer = run_query(sorted_lake, "SELECT DATE '5000000-01-01' AS far, 7 AS near, DATE '2020-01-01' AS near")
    assert answer.columns == ("far", "near", "near")
    ((far, seven, day),) = answer.rows
    assert (far, seven, str(day)) == ("5000000-01-01", 7, "2020-01-01")


def test_values_of_a_row_belong_together_where_some_are_text(sorted_lake: Lake) -> None:
    sql = (
        "WITH days AS MATERIALIZED (SELECT CAST(random() * 1e9 AS INTEGER) AS day FROM range(5)) "
        "SELECT day, MAP {[day]: 1} AS far FROM days"
    )
    answer = run_query(sorted_lake, sql)
    assert [far for _, far in answer.rows] == [f"{{[{day}]=1}}" for day, _ in answer.rows]


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """What lies beside the lake: a Delta table, a Parquet file, a text."""
    folder = tmp_path / "elsewhere"
    write_deltalake(folder / "table", pa.table({"secret": ["swordfish"]}))
    shutil.copy(next((folder / "table").glob("*.parquet")), folder / "plain.parquet")
    (folder / "note.csv").write_text("secret\nswordfish\n")
    return folder


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        yield server


# {0} is a folder beside the lake, {1} a server that must not hear of anybody, {2} the lake itself.
TRIES = [
    "FROM delta_list_files('{0}/table')",
    "FROM delta_scan('{0}/table')",
    "FROM delta_scan('https://{1}/x')",
    "FROM delta_scan('s3://{1}/x')",
    "FROM delta_filter_pushdown_log()",
    "FROM read_parquet('{0}/plain.parquet')",
    "FROM read_parquet('http://{1}/x.parquet')",
    "FROM read_parquet('{2}/../elsewhere/plain.parquet')",
    "FROM read_parquet('{2}/ledger.parquet')",
    "FROM read_csv('{0}/note.csv')",
    "FROM read_csv('https://{1}/x.csv')",
    "FROM read_json('{0}/note.csv')",
    "FROM read_text('{0}/note.csv')",
    "FROM read_blob('{0}/*')",
    "FROM read_duckdb('{0}/x.db')",
    "FROM '{0}/note.csv'",
    'FROM "{0}/plain.parquet"',
    "FROM 'http://{1}/x.csv'",
    "FROM glob('{0}/*')",
    "FROM sniff_csv('{0}/note.csv')",
    "FROM parquet_metadata('{0}/plain.parquet')",
    "FROM parquet_schema('{0}/plain.parquet')",
    "FROM query('FROM read_text(''{0}/note.csv'')')",
    "FROM query_table('{0}/note.csv')",
    "FROM query_table(['{0}/note.csv'])",
    "FROM json_execute_serialized_sql(json_serialize_sql('FROM read_text(''{0}/note.csv'')'))",
    "FROM iceberg_scan('{0}/table')",
    "FROM sqlite_scan('{0}/x.db', 't')",
    "FROM postgres_scan('host=127.0.0.1', 'public', 't')",
    "FROM duckdb_secrets()",
    "FROM which_secret('s3://{1}/x', 's3')",
    "FROM http_get('http://{1}/x')",
    "FROM elsewhere",
    "SELECT getenv('HOME')",
]
STATEMENTS = [
    "ATTACH '{0}/x.db'",
    "ATTACH '{0}/table' AS t (TYPE delta)",
    "COPY (SELECT 1) TO '{0}/out.csv'",
    "COPY ledger FROM '{0}/note.csv'",
    "EXPORT DATABASE '{0}/out'",
    "IMPORT DATABASE '{0}'",
    "PRAGMA import_database('{0}')",
    "INSTALL httpfs",
    "INSTALL httpfs FROM 'http://{1}'",
    "LOAD delta",
    "LOAD '{0}/x.duckdb_extension'",
    "SET enable_external_access = true",
    "SET allowed_directories = ['{0}']",
    "SET lock_configuration = false",
    "RESET enable_external_access",
    "PRAGMA enable_profiling = 'json'; SELECT 1",
    "PRAGMA profiling_output = '{0}/out.json'",
    "CREATE SECRET s (TYPE s3, KEY_ID 'x')",
    "CREATE TABLE t AS FROM read_text('{0}/note.csv')",
    "CALL delta_list_files('{0}/table')",
    "CHECKPOINT",
    "USE elsewhere",
]


def refused(run: Callable[[], Any], elsewhere: Path, listener: socket.socket) -> None:
    """Somebody who tries to leave the lake gets a sentence, sees nothing, changes nothing, and reaches nobody."""
    before = sorted(elsewhere.rglob("*"))
    with pytest.raises(BadFlag) as error:
        run()
    assert "swordfish" not in str(error.value)
    assert "\n" not in str(error.value)
    assert sorted(elsewhere.rglob("*")) == before
    with pytest.raises(BlockingIOError):
        listener.accept()


def filled(sql: str, elsewhere: Path, listener: socket.socket, lake: Lake) -> str:
    return sql.format(elsewhere, f"127.0.0.1:{listener.getsockname()[1]}", lake.root)


@pytest.mark.parametrize("sql", [*TRIES, *STATEMENTS])
def test_a_query_cannot_leave_the_lake(sorted_lake: Lake, elsewhere: Path, listener: socket.socket, sql: str) -> None:
    statement = filled(sql, elsewhere, listener, sorted_lake)
    refused(lambda: run_query(sorted_lake, statement), elsewhere, listener)
    if sql in TRIES:
        refused(lambda: run_query(sorted_lake, f"SELECT 1 WHERE EXISTS ({statement})"), elsewhere, listener)


@pytest.mark.parametrize("sql", TRIES)
def test_a_condition_cannot_leave_the_lake(
    sorted_lake: Lake, elsewhere: Path, listener: socket.socket, sql: str
) -> None:
    where = f"EXISTS ({filled(sql, elsewhere, listener, sorted_lake)})"
    letters = pa.table({"outcome": ["invalid"]})
    refused(lambda: summarise_letters(sorted_lake, where=where), elsewhere, listener)
    refused(lambda: letter_files(sorted_lake, where), elsewhere, listener)
    refused(lambda: rows_where(letters, where), elsewhere, listener)


def test_only_the_columns_and_rows_asked_for_are_read(sorted_lake: Lake) -> None:
    sql = 'EXPLAIN ANALYZE SELECT ce_id FROM "fleet"."vehicle.position" WHERE data.speed = 3 AND var_vin = \'VIN3\''
    connection = open_duckdb()
    add_table(connection, sorted_lake, "fleet/vehicle.position", "vehicle.position", "fleet")
    ((_, plan),) = connection.execute(sql).fetchall()
    scan = plan[plan.index("ARROW_SCAN") :]
    assert "Filters" in scan
    assert "VIN3" in scan
    assert "1 row" in scan
    assert "ce_source" not in scan
    assert "FILTER" not in plan[: plan.index("ARROW_SCAN")].split("EXPLAIN_ANALYZE")[-1]

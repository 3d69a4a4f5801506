from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from postroom.errors import BadFlag
from postroom.pipeline.commit import commit_batch
from postroom.pipeline.lake import Lake
from postroom.pipeline.query import run_query


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

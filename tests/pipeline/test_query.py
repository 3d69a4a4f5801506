from __future__ import annotations

from datetime import UTC, datetime

import pytest

from postroom.errors import BadFlag
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

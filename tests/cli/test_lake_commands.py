"""`tables`, `dead` and `sql` over a lake of the demo's messages, made without Spark."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from postroom.catalog import Catalog
from postroom.cli.main import execute
from postroom.pipeline.commit import commit_batch
from postroom.pipeline.job import Job
from postroom.pipeline.lake import create_lake
from postroom.pipeline.ledger import LedgerEntry
from postroom.pipeline.worker import write_batch

SAMPLE = Path(__file__).parents[2] / "demo" / "sample.jsonl"


@pytest.fixture(scope="module")
def entry(demo_catalog: Catalog, tmp_path_factory: pytest.TempPathFactory) -> LedgerEntry:
    lake = create_lake(tmp_path_factory.mktemp("demo") / "lake")
    job = Job(str(lake.root), lake.keep_catalog(demo_catalog.compiled), "strict", "run1", 0, datetime.now(UTC))
    whole = pa.RecordBatch.from_pylist([{"path": str(SAMPLE), "start": 0, "length": SAMPLE.stat().st_size}])
    return commit_batch(lake, job, str(lake.root), [write_batch(job, [whole])])


@pytest.fixture
def lake(entry: LedgerEntry) -> str:
    return entry.source


@pytest.mark.parametrize("command", [["tables"], ["dead"], ["sql", "SELECT 1"]])
def test_what_is_no_lake_is_one_sentence(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "holiday.jpg").touch()
    assert execute([*command, "--lake", str(tmp_path)]) == 2
    assert execute([*command, "--lake", str(tmp_path / "nowhere")]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert len(output.err.splitlines()) == 2
    assert "this is not a lake" in output.err
    assert "there is no such folder" in output.err


def test_tables_lists_what_landed(lake: str, entry: LedgerEntry, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["tables", "--lake", lake, "--json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    assert {table["definition"]: table["rows"] for table in tables} == entry.landed


def test_tables_for_people(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["tables", "--lake", lake]) == 0
    shown = capsys.readouterr().out
    assert "columns of the payload" in shown
    assert "rows" in shown


def test_dead_counts_by_reason(lake: str, entry: LedgerEntry, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["dead", "--lake", lake, "--json"]) == 0
    groups = json.loads(capsys.readouterr().out)
    assert sum(group["letters"] for group in groups) == sum(entry.dead.values()) > 0
    assert all(group["sample"]["record"] for group in groups)


def test_dead_explains_one_of_each(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["dead", "--lake", lake]) == 0
    shown = capsys.readouterr().out
    assert "Dead letters" in shown
    assert "sample.jsonl, byte " in shown


def test_dead_of_an_empty_lake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create_lake(tmp_path / "lake")
    assert execute(["dead", "--lake", str(tmp_path / "lake")]) == 0
    assert capsys.readouterr().out == "No dead letters.\n"


def test_sql_answers_as_json(lake: str, entry: LedgerEntry, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["sql", "--lake", lake, "--json", "SELECT read, committed FROM ledger"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["read"] == entry.read
    assert row["committed"].endswith("Z")


def test_sql_answers_as_a_table(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["sql", "--lake", lake, "SELECT outcome, message FROM dead_letters"]) == 0
    assert "outcome" in capsys.readouterr().out


def test_sql_that_is_wrong_is_one_sentence(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["sql", "--lake", lake, "SELECT nope FROM ledger"]) == 2
    output = capsys.readouterr()
    assert "nope" in output.err
    assert len(output.err.splitlines()) == 1

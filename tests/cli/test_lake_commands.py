"""`tables`, `dead` and `sql` over a lake of the demo's messages, made without Spark."""

from __future__ import annotations

import io
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from postroom.catalog.catalog import Catalog
from postroom.cli.main import execute
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import create_lake
from postroom.pipeline.lake.ledger import LedgerEntry
from postroom.pipeline.worker.sort_task import write_batch

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


CATALOG = str(SAMPLE.parent / "catalog")


@pytest.mark.parametrize(
    "command", [["tables"], ["dead"], ["sql", "SELECT 1"], ["metrics"], ["replay", "--catalog", CATALOG]]
)
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


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--outcome", "lost"], "there is no outcome 'lost'"),
        (["--where", "colour = 'red'"], "The columns are _record_id, outcome"),
    ],
)
def test_dead_with_a_bad_filter_is_one_sentence(
    lake: str, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["dead", "--lake", lake, *arguments]) == 2
    output = capsys.readouterr()
    assert sentence in output.err
    assert len(output.err.splitlines()) == 1


def test_dead_can_be_narrowed_down(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["dead", "--lake", lake, "--json", "--outcome", "unmatched"]) == 0
    (group,) = json.loads(capsys.readouterr().out)
    assert group["sample"]["explained"]
    assert group["sample"]["record_id"]
    assert execute(["dead", "--lake", lake, "--message", "order.unknown"]) == 0
    assert capsys.readouterr().out == "No dead letters of this kind.\n"


def test_tables_tells_changes(lake: str, entry: LedgerEntry, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["tables", "--lake", lake, "--changes", "--json"]) == 0
    changes = json.loads(capsys.readouterr().out)
    assert len(changes) == len(entry.landed)
    assert {change["kind"] for change in changes} == {"created"}
    assert execute(["tables", "--lake", lake, "--changes"]) == 0
    assert changes[0]["table"] in capsys.readouterr().out


def test_tables_checks_the_ledger(lake: str, entry: LedgerEntry, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["tables", "--lake", lake, "--check"]) == 0
    assert capsys.readouterr().out.startswith(f"All rows are there: read {entry.read}")
    assert execute(["tables", "--lake", lake, "--check", "--changes"]) == 2


def test_tables_of_an_empty_lake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    create_lake(tmp_path / "lake")
    assert execute(["tables", "--lake", str(tmp_path / "lake")]) == 0
    assert execute(["tables", "--lake", str(tmp_path / "lake"), "--changes"]) == 0
    assert capsys.readouterr().out == "No tables yet.\nNo changes yet.\n"


def test_metrics_are_text(lake: str, entry: LedgerEntry, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["metrics", "--lake", lake]) == 0
    assert f"postroom_dead_letters {sum(entry.dead.values())}\n" in capsys.readouterr().out


def test_replay_says_what_would_land(lake: str, entry: LedgerEntry, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["replay", "--catalog", CATALOG, "--lake", lake, "--dry-run"]) == 0
    letters = sum(entry.dead.values())
    assert f"Of {letters} letters 0 would land, {letters} would stay dead" in capsys.readouterr().out
    assert execute(["replay", "--catalog", CATALOG, "--lake", lake, "--dry-run", "--json", "--where", "false"]) == 0
    assert json.loads(capsys.readouterr().out)["letters"] == 0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--catalog", "nowhere"], "nowhere"),
        (["--catalog", CATALOG, "--where", "colour = 'red'"], "The columns are _record_id, outcome"),
        (["--catalog", CATALOG, "--endpoint", "/endpoints/none"], "no endpoint"),
    ],
)
def test_a_bad_replay_is_one_sentence(
    lake: str, arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["replay", "--lake", lake, *arguments]) == 2
    output = capsys.readouterr()
    assert sentence in output.err
    assert len(output.err.splitlines()) == 1


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


def test_backfill_says_what_it_lifts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def document(**properties: str) -> dict[str, Any]:
        schema = {"type": "object", "properties": {name: {"type": kind} for name, kind in properties.items()}}
        message = {
            "envelope": "CloudEvents/1.0",
            "envelopemetadata": {"type": {"value": "reading"}},
            "dataschemaformat": "JsonSchema/draft-07",
            "dataschema": schema,
        }
        return {"messagegroups": {"plant": {"messages": {"reading": message}}}}

    lake = create_lake(tmp_path / "lake")
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": "reading", "data": {"quality": 7, "note": "x"}}
    lines = {"source": ["f"], "position": [0], "value": [json.dumps(event).encode()]}
    before = lake.keep_catalog(Catalog(document(sensor="string")).compiled)
    job = Job(str(lake.root), before, "strict", "r", 0, datetime.now(UTC))
    commit_batch(lake, job, "f", [write_batch(job, [pa.RecordBatch.from_pydict(lines)])])
    assert execute(["backfill", "--lake", str(lake.root)]) == 0
    assert capsys.readouterr().out == "No column is waiting for a rescued member.\n"
    later = tmp_path / "later.json"
    later.write_text(json.dumps(document(sensor="string", quality="integer", note="integer")))
    arguments = ["backfill", "--lake", str(lake.root), "--catalog", str(later)]
    assert execute([*arguments, "--dry-run"]) == 0
    assert "1 member would be lifted in 1 row." in capsys.readouterr().out
    assert execute([*arguments, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(table["rows"], table["members"], table["misfits"]) for table in told["tables"]] == [(1, 1, 1)]
    assert told["batch"].startswith("backfill-")
    assert execute(arguments) == 0
    assert "0 members lifted in 0 rows." in capsys.readouterr().out


def test_tidy_says_how_many_files_it_brought_together(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    message = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "reading"}}}
    lake = create_lake(tmp_path / "lake")
    compiled = lake.keep_catalog(Catalog({"messagegroups": {"plant": {"messages": {"reading": message}}}}).compiled)
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": "reading", "data": 1}
    lines = {"source": ["f"], "position": [0], "value": [json.dumps(event).encode()]}
    for batch in range(4):
        job = Job(str(lake.root), compiled, "strict", "r", batch, datetime.now(UTC))
        commit_batch(lake, job, "f", [write_batch(job, [pa.RecordBatch.from_pydict(lines)])])
    arguments = ["tidy", "--lake", str(lake.root)]
    assert execute([*arguments, "--dry-run", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["dry_run"], said["batch"], said["tables"][0]["files_after"]) == (True, None, 1)
    assert execute([*arguments, "--dry-run", "--sort-by", "ce_id", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tables"][0]["sorted_by"] == "ce_id"
    assert execute([*arguments, "--sort-by", "ce_identity"]) == 2
    assert "ce_identity: no table has such a column" in capsys.readouterr().err
    assert execute(arguments) == 0
    assert "1 table: 4 files before, 1 file after." in capsys.readouterr().out
    assert execute([*arguments, "--keep-hours", "0", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tables"][0]["removed"] == 4
    assert execute([*arguments, "--target-mb", "0"]) == 2


def test_reprocess_says_of_how_many_rows_no_record_was_kept(
    lake: str, entry: LedgerEntry, capsys: pytest.CaptureFixture[str]
) -> None:
    xid, rows = max(entry.landed.items(), key=lambda found: found[1])
    arguments = ["reprocess", "--lake", lake, "--catalog", CATALOG, "--message", xid]
    assert execute(arguments) == 0
    assert f"Of {rows:,} rows no record was kept; they stay as they are." in capsys.readouterr().out
    assert execute([*arguments, "--json", "--dry-run"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["rows"], told["without_record"], told["moved"], told["batch"]) == (rows, rows, {}, None)
    assert execute([*arguments[:-1], "/messagegroups/x/messages/y"]) == 2
    assert "there is no table of this message" in capsys.readouterr().err


def test_erase_reads_conditions_from_standard_input(
    lake: str, entry: LedgerEntry, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    xid, rows = max(entry.landed.items(), key=lambda found: found[1])
    monkeypatch.setattr("sys.stdin", io.StringIO(f"_definition = '{xid}'\n\noutcome = 'unmatched'\n"))
    assert execute(["erase", "--lake", lake, "--where", "-", "--dry-run", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert rows in told["rows"].values()
    assert told["rows"]["_dead_letters"] == entry.dead["unmatched"]
    assert told["batch"] is None
    assert execute(["erase", "--lake", lake, "--where", "_batch = 'none'"]) == 0
    assert "No row matches." in capsys.readouterr().out
    assert execute(["tidy", "--lake", lake, "--records-older-than", "soon"]) == 2
    assert "90d, 12h or 30m" in capsys.readouterr().err


def test_ledger_says_what_was_read_and_where_it_is(
    lake: str, entry: LedgerEntry, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["ledger", "--lake", lake, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    landed, dead = sum(entry.landed.values()), sum(entry.dead.values())
    assert (report["read"], report["landed"], report["dead"]) == (entry.read, landed, dead)
    assert (report["holds"], report["in_flight"], report["batch_count"]) == (True, 0, 1)
    (source,), (batch,) = report["sources"], report["batches"]
    assert (source["source"], source["read"], batch["batch"]) == (entry.source, entry.read, "run1-0")
    assert source["rate"] == pytest.approx(entry.read / (entry.committed - entry.started).total_seconds())
    assert execute(["ledger", "--lake", lake]) == 0
    assert f"read {entry.read:,} = landed {landed:,} + dead {dead:,}" in capsys.readouterr().out


def test_dead_letters_are_counted_by_definition_and_by_time(lake: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["dead", "--lake", lake, "--json"]) == 0
    for group in json.loads(capsys.readouterr().out):
        assert sum(one["letters"] for one in group["times"]) == group["letters"]
        assert sum(group["messages"].values()) <= group["letters"]
        assert all(one["from"].endswith(":00Z") for one in group["times"])

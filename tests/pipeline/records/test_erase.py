"""What is erased is in no table, no version and no file any more; all else is untouched, and the ledger balances."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.errors import BadFlag
from postroom.pipeline.batch_sorter import finish_commits
from postroom.pipeline.lake import batch_leases
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.compaction import tidy
from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake, create_lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.manifest import unfinished
from postroom.pipeline.lake.reconciliation import differences
from postroom.pipeline.records.erase import erase
from postroom.pipeline.records.kept_records import kept_records
from postroom.pipeline.records.reprocess import reprocess
from postroom.pipeline.worker.table_layout import RECORDS
from tests.pipeline.records.test_reprocess import READING, TYPED, event, land, message, plant, rows

WHERE = "data.sensor = 'kim'"


def on_disk(lake: Lake, text: str) -> list[str]:
    """The files of the lake that have a text in a value, in whatever version."""
    found = [path for path in lake.root.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]
    parquet = [path for path in lake.root.rglob("*.parquet") if "_delta_log" not in path.parts]
    found += [path for path in parquet if text in repr(pq.ParquetFile(path).read().to_pylist())]
    return sorted({str(path.relative_to(lake.root)) for path in found})


def filled(fleet: Any, lake: Lake) -> None:
    """Rows and letters of kim and of others, also together in one record, and files that were exchanged since."""
    land(
        fleet,
        lake,
        plant(),
        event(1, {"sensor": "kim", "quality": 1}),
        event(2, {"sensor": "lee"}),
        event(3, {"sensor": 7}, subject="kim"),
        json.dumps([event(4, {"sensor": "kim"}), event(5, {"sensor": "lee"}), event(6, {"sensor": 7})]),
        event(7, {"sensor": 8}),
    )
    reprocess(lake, plant(TYPED), message=READING)
    land(fleet, lake, plant(TYPED), event(1, {"sensor": "lee"}), event(2, {"sensor": "kim"}), run="run2")


def test_rows_records_and_letters_are_in_no_file_any_more(fleet: Any, lake: Lake) -> None:
    filled(fleet, lake)
    assert on_disk(lake, "kim")
    done = erase(lake, [WHERE, "contains(decode(record), 'kim')"])
    # The letter of event 6 has the bytes of its record, and with them those of event 4.
    assert done.rows == {"plant/reading": 3, DEAD_LETTERS: 2, RECORDS: 3}
    assert on_disk(lake, "kim") == []
    assert [row["data"]["sensor"] for row in rows(lake)] == ["lee"] * 3
    assert [json.loads(letter["record"])["id"] for letter in rows(lake, DEAD_LETTERS)] == ["7"]
    assert len(list(kept_records(lake))) == 2
    assert list(differences(lake)) == []
    assert fleet.unknown_files(lake) - {str(lake.root / RECORDS / name) for name in files(lake, RECORDS)} == set()


def files(lake: Lake, folder: str) -> list[str]:
    return [uri.rpartition("/")[2] for uri in lake.table(folder).file_uris()]


def test_the_receipt_says_how_many_rows_and_not_whose(fleet: Any, lake: Lake) -> None:
    filled(fleet, lake)
    done = erase(lake, WHERE)
    entry = read_ledger(lake)[-1]
    assert done.entry == entry
    assert (entry.kind, entry.source) == ("erase", "erasure")
    assert entry.landed == {READING: -3}
    assert {change.table: change.detail for change in entry.changes if change.kind == "erased"} == {
        "plant/reading": "3 rows",
        DEAD_LETTERS: "1 row",
        RECORDS: "3 rows",
    }
    assert b"kim" not in msgspec.json.encode(entry)


def test_a_dry_run_says_the_same_and_changes_nothing(fleet: Any, lake: Lake) -> None:
    filled(fleet, lake)
    before = rows(lake), on_disk(lake, "kim"), len(read_ledger(lake))
    said = erase(lake, WHERE, dry_run=True)
    assert (rows(lake), on_disk(lake, "kim"), len(read_ledger(lake))) == before
    assert said.rows == erase(lake, WHERE).rows
    again = erase(lake, WHERE)
    assert (again.rows, again.entry) == ({}, None)


def test_tables_without_the_columns_are_named(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, plant(other=message({}, "other")), event(1, {"sensor": "kim"}), event(2, {}, type="other"))
    assert erase(lake, WHERE, dry_run=True).not_asked == ("plant/other", RECORDS)


@pytest.mark.parametrize("condition", ["data.sensr = 'kim'", "data.sensor = 'kim' AND outcome = 'x'", "sensor ==", " "])
def test_a_condition_that_no_table_understands_is_refused(fleet: Any, lake: Lake, condition: str) -> None:
    filled(fleet, lake)
    with pytest.raises(BadFlag):
        erase(lake, condition)
    with pytest.raises(BadFlag):
        erase(lake, [WHERE, condition] if condition.strip() else [])
    assert [entry.kind for entry in read_ledger(lake)] == ["sort", "reprocess", "sort"]


def test_days_can_be_asked_for(fleet: Any, lake: Lake) -> None:
    file = fleet.write(lake.root.parent / "r.jsonl", [event(1, {"sensor": "kim"})])
    job = msgspec.structs.replace(fleet.job(lake, plant().compiled), partition_by_date=True)
    commit_batch(lake, job, str(file), [fleet.task(job, file)])
    assert erase(lake, f"_landed_on < '{job.started.date()}'").rows == {}
    assert erase(lake, f"_landed_on = '{job.started.date()}'").rows == {"plant/reading": 1}


def test_files_of_a_batch_that_is_being_written_stay(fleet: Any, lake: Lake) -> None:
    filled(fleet, lake)
    file = fleet.write(lake.root.parent / "late.jsonl", [event(1, {"sensor": "kim"})])
    job = fleet.job(lake, plant().compiled, "late")
    batch_leases.leave_lease(lake, job.run, job.batch)
    written = fleet.task(job, file)
    erase(lake, WHERE)
    commit_batch(lake, job, str(file), [written])
    assert len(rows(lake)) == 4
    assert list(differences(lake)) == []


def test_files_of_other_programs_stay(fleet: Any, lake: Lake) -> None:
    filled(fleet, lake)
    theirs = lake.path("plant/reading") / "part-00000-notes.parquet"
    pq.write_table(pa.table({"note": ["theirs"]}), theirs)
    lake.table("plant/reading").optimize.compact()
    erase(lake, WHERE)
    assert theirs.exists()
    assert on_disk(lake, "'kim'") == []


DRIVER = """
import os, sys
import postroom.pipeline.lake.commit as commit
import postroom.pipeline.lake.file_exchange as exchange
import postroom.pipeline.records.erase as erasing

lake, where, moment = sys.argv[1:]
place, name, when = moment.split(":")
module = {"exchange": exchange, "commit": commit}[place]
real = getattr(module, name)

def dying(*arguments, **options):
    if when == "after":
        real(*arguments, **options)
    os._exit(9)

setattr(module, name, dying)
erasing.erase(lake, where)
"""
STEPS = (
    *("exchange:write_parquet", "exchange:put_manifest"),
    *("commit:commit_table", "commit:remove_unused", "commit:record_batch", "commit:put_by"),
)


@pytest.mark.parametrize("moment", [f"{step}:{when}" for step in STEPS for when in ("before", "after")])
def test_dying_at_any_moment_ends_in_a_whole_erasure(fleet: Any, lake: Lake, moment: str) -> None:
    filled(fleet, lake)
    command = [sys.executable, "-c", DRIVER, str(lake.root), WHERE, moment]
    assert subprocess.run(command, env=os.environ, timeout=300, check=False).returncode == 9
    finish_commits(lake)
    erase(lake, WHERE)
    assert on_disk(lake, "\\'kim\\'") == on_disk(lake, "'kim'") == []
    assert len(rows(lake)) == 3
    assert list(differences(lake)) == []
    assert unfinished(lake) == []
    assert [entry.kind for entry in read_ledger(lake)] == ["sort", "reprocess", "sort", "erase"]


names = st.sampled_from(["kim", "lee", "sam"])
data = st.one_of(
    st.builds(lambda name: {"sensor": name}, names), st.builds(lambda name: {"sensor": 1, "n": name}, names)
)
records = st.lists(st.one_of(data, st.lists(data, min_size=2, max_size=3)), min_size=1, max_size=8)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(batches=st.lists(records, min_size=1, max_size=3), tidied=st.booleans(), keep=st.booleans())
def test_nothing_of_one_and_all_of_others_is_left(
    fleet: Any, tmp_path_factory: pytest.TempPathFactory, batches: list[Any], tidied: bool, keep: bool
) -> None:
    """Only letters and records that held something of kim in the same bytes go with it."""
    lake = create_lake(tmp_path_factory.mktemp("property") / "lake")
    expected: Counter[tuple[str, str]] = Counter()
    always = [{"sensor": "lee"}, {"sensor": 1, "n": "sam"}]  # so that each condition has a table to be asked of
    for number, batch in enumerate([always, *batches]):
        came = [
            [event(at, one) for one in each] if isinstance(each, list) else event(at, each)
            for at, each in enumerate(batch)
        ]
        land(fleet, lake, plant(), *map(json.dumps, came), run=f"run{number}", keep=keep)
        for each in batch:
            several = each if isinstance(each, list) else [each]
            is_kims = any("kim" in one.values() for one in several)
            expected.update(("row", one["sensor"]) for one in several if one["sensor"] in ("lee", "sam"))
            expected.update(("letter", one["n"]) for one in several if "n" in one and not is_kims)
    if tidied:
        tidy(lake)
    erase(lake, [WHERE, "contains(decode(record), 'kim')"])
    assert Counter(("row", row["data"]["sensor"]) for row in rows(lake)) == Counter(
        {key: count for key, count in expected.items() if key[0] == "row"}
    )
    assert len(rows(lake, DEAD_LETTERS)) == sum(count for key, count in expected.items() if key[0] == "letter")
    assert on_disk(lake, "kim") == []
    assert list(differences(lake)) == []


def test_dead_letters_and_records_leave_when_they_are_old(fleet: Any, lake: Lake) -> None:
    for number, age in enumerate((100, 50, 0)):
        file = fleet.write(lake.root.parent / f"{number}.jsonl", [event(number, {}), event(9, {"sensor": 7})])
        job = msgspec.structs.replace(
            fleet.job(lake, plant().compiled, f"run{number}"),
            keep_records=True,
            started=datetime.now(UTC) - timedelta(days=age),
        )
        commit_batch(lake, job, str(file), [fleet.task(job, file)])
    said = tidy(lake, dead_letters_kept=timedelta(days=90), records_kept=timedelta(days=30), dry_run=True)
    assert said.expired == {DEAD_LETTERS: 1, RECORDS: 2}
    assert len(rows(lake, DEAD_LETTERS)) == 3
    done = tidy(lake, dead_letters_kept=timedelta(days=90), records_kept=timedelta(days=30))
    assert done.expired == said.expired
    assert [letter["_batch"] for letter in rows(lake, DEAD_LETTERS)] != []
    assert {letter["_batch"] for letter in rows(lake, DEAD_LETTERS)} == {"run1-0", "run2-0"}
    assert [record.batch for record in kept_records(lake)] == ["run2-0"]
    assert len(rows(lake)) == 3
    assert list(differences(lake)) == []
    assert read_ledger(lake)[-1].kind == "expire"
    assert tidy(lake, dead_letters_kept=timedelta(days=90)).expired == {}


def test_only_the_old_rows_of_a_file_leave_it(fleet: Any, lake: Lake) -> None:
    for number in range(4):
        file = fleet.write(lake.root.parent / f"{number}.jsonl", [event(9, {"sensor": 7})])
        job = msgspec.structs.replace(
            fleet.job(lake, plant().compiled, f"run{number}"), started=datetime.now(UTC) - timedelta(days=number)
        )
        commit_batch(lake, job, str(file), [fleet.task(job, file)])
    tidy(lake)
    assert len(files(lake, DEAD_LETTERS)) == 1
    assert tidy(lake, dead_letters_kept=timedelta(days=1, hours=12)).expired == {DEAD_LETTERS: 2}
    assert {letter["_batch"] for letter in rows(lake, DEAD_LETTERS)} == {"run0-0", "run1-0"}

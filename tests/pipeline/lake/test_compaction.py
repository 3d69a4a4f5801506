"""Small files are brought together: the same rows, exactly once, whoever else is at work and wherever it dies."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from postroom.errors import LakeRefused, MessageUnknown, UsageError
from postroom.pipeline.batch_sorter import finish_commits
from postroom.pipeline.lake import compaction
from postroom.pipeline.lake.backfill_rescued import backfill
from postroom.pipeline.lake.compaction import tidy
from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.manifest import unfinished
from postroom.pipeline.lake.reconciliation import differences
from tests.pipeline.lake.test_backfill_rescued import TABLE, XID, catalog, data_of, land, rows

WRONG = '{"sensor": 7}'


def land_batches(fleet: Any, lake: Lake, count: int, *, first: int = 0, **job: Any) -> None:
    """Batches of one row and one dead letter each."""
    for number in range(first, first + count):
        land(fleet, lake, catalog(), f'{{"sensor": "{number}"}}', WRONG, run=f"run{number}", **job)


def files(lake: Lake, folder: str = TABLE) -> list[str]:
    return sorted(DeltaTable(lake.path(folder)).file_uris())


def on_disk(lake: Lake, folder: str = TABLE) -> int:
    return len(list(lake.path(folder).rglob("*.parquet"))) - len(list(lake.path(folder).glob("_delta_log/*.parquet")))


def test_small_files_become_one_with_the_same_rows(fleet: Any, lake: Lake) -> None:
    land_batches(fleet, lake, 6)
    before, letters = rows(lake), rows(lake, DEAD_LETTERS)
    done = tidy(lake.root)
    assert [(t.folder, t.files_before, t.files_after, t.compacted) for t in done.tables] == [
        (TABLE, 6, 1, 6),
        (DEAD_LETTERS, 6, 1, 6),
    ]
    assert (rows(lake), rows(lake, DEAD_LETTERS)) == (before, letters)
    assert len(files(lake)) == len(files(lake, DEAD_LETTERS)) == 1
    assert list(differences(lake)) == []
    assert read_ledger(lake)[-1].kind == "tidy"
    assert tidy(lake.root).entry is None


def test_few_or_large_files_are_left_alone(fleet: Any, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    land_batches(fleet, lake, compaction.FEWEST_FILES - 1)
    assert tidy(lake.root).entry is None
    land_batches(fleet, lake, 3, first=10)
    monkeypatch.setattr(compaction, "LARGE_SHARE", 0.0)
    assert tidy(lake.root).entry is None
    assert len(files(lake)) == compaction.FEWEST_FILES + 2


def test_files_are_filled_up_to_the_target_and_no_further(
    fleet: Any, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    land_batches(fleet, lake, 12)
    size = DeltaTable(lake.path(TABLE)).get_add_actions(flatten=True).column("size_bytes")[0].as_py()
    monkeypatch.setattr(compaction, "MB", size)
    before = rows(lake)
    done = tidy(lake.root, target_mb=5, message=XID)
    assert (done.tables[0].files_before, done.tables[0].files_after) in [(12, 3), (12, 4)]
    assert rows(lake) == before


def test_one_run_reads_no_more_than_it_may(fleet: Any, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    land_batches(fleet, lake, 6)
    monkeypatch.setattr(compaction, "MB", 1)
    first = tidy(lake.root, target_mb=10**9, most_mb=1)
    assert (first.is_complete, first.entry) == (False, None)
    assert tidy(lake.root, target_mb=10**9, most_mb=10**9).is_complete


def test_files_with_fewer_columns_get_nulls(fleet: Any, lake: Lake) -> None:
    place = {"type": "object", "properties": {"floor": {"type": "integer"}}}
    room = {"type": "object", "properties": {"floor": {"type": "integer"}, "room": {"type": "string"}}}
    for number, properties in enumerate([{}, {"place": place}, {"place": room, "quality": {"type": "integer"}}, {}]):
        payload = '{"sensor": "a", "place": {"floor": 2, "room": "x"}, "quality": 7}'
        land(fleet, lake, catalog(**properties), payload, "{}", run=f"run{number}")
    before = rows(lake)
    tidy(lake.root)
    assert len(files(lake)) == 1
    assert rows(lake) == before


def test_days_of_partitioned_tables_stay_apart(fleet: Any, lake: Lake) -> None:
    land_batches(fleet, lake, 5, partition_by_date=True)
    table = DeltaTable(lake.path(TABLE))
    partitions = {tuple(row.items()) for row in table.partitions()}
    before = rows(lake)
    tidy(lake.root)
    table = DeltaTable(lake.path(TABLE))
    assert {tuple(row.items()) for row in table.partitions()} == partitions != set()
    assert rows(lake) == before
    assert len(files(lake)) == 1


@pytest.mark.parametrize(
    ("column", "path"),
    [
        ("_position", ("_position",)),
        ("data.sensor", ("data", "sensor")),
        ("data.place.floor", ("data", "place", "floor")),
    ],
)
def test_files_are_made_in_the_order_of_a_column_and_say_so_to_readers(
    fleet: Any, lake: Lake, monkeypatch: pytest.MonkeyPatch, column: str, path: tuple[str, ...]
) -> None:
    place = {"type": "object", "properties": {"floor": {"type": "integer"}, "doors": {"type": "array"}}}
    for number in range(5):
        payloads = [
            f'{{"sensor": "s{(7 * n + number) % 10}", "place": {{"floor": {3 * n % 8}, "doors": [{n}]}}}}'
            for n in range(9)
        ]
        # The first batch is older than the member, and every batch has a row without it.
        properties = {"place": place} if number else {}
        land(fleet, lake, catalog(**properties), *payloads, "{}", run=f"run{number}")
    before = rows(lake)
    monkeypatch.setattr(compaction, "SORTED_ROWS", 7)
    (table,) = tidy(lake.root, sort_by=column).tables
    assert (table.files_after, table.sorted_by) == (1, column)
    assert rows(lake) == before
    assert list(differences(lake)) == []

    (name,) = files(lake)
    file = pq.ParquetFile(name.removeprefix("file://"))
    values = [_member(row, path) for row in file.read().to_pylist()]
    known = [value for value in values if value is not None]
    assert values == sorted(known) + [None] * (len(values) - len(known))
    groups = [file.metadata.row_group(number) for number in range(file.num_row_groups)]
    assert [group.num_rows for group in groups] == [7] * 7 + [1]
    number = next(n for n in range(file.metadata.num_columns) if groups[0].column(n).path_in_schema == ".".join(path))
    bounds = [group.column(number).statistics for group in groups]
    assert bounds[0].min == min(known)
    assert all(one.max <= other.min for one, other in pairwise(bounds) if other.has_min_max)


def _member(row: Any, path: tuple[str, ...]) -> Any:
    for name in path:
        row = row and row[name]
    return row


def test_rows_with_one_value_stay_in_the_order_in_which_they_landed(fleet: Any, lake: Lake) -> None:
    land(fleet, lake, catalog(), '{"sensor": "b"}', '{"sensor": "a"}', run="run0")
    land_batches(fleet, lake, 3, first=1)
    tidy(lake.root, sort_by="ce_type")
    (name,) = files(lake)
    found = pq.read_table(name.removeprefix("file://")).to_pylist()
    assert [row["data"]["sensor"] for row in found] == ["b", "a", "1", "2", "3"]


def test_tables_without_the_column_are_brought_together_as_they_are(fleet: Any, lake: Lake) -> None:
    land_batches(fleet, lake, 5)
    letters = rows(lake, DEAD_LETTERS)
    done = tidy(lake.root, sort_by="data.sensor")
    assert [(table.files_after, table.sorted_by) for table in done.tables] == [(1, "data.sensor"), (1, "")]
    assert rows(lake, DEAD_LETTERS) == letters


@pytest.mark.parametrize("column", ["senzor", "data", "data.senzor", "data.sensor.x", "."])
def test_a_column_that_no_table_can_be_sorted_by_is_refused(fleet: Any, lake: Lake, column: str) -> None:
    land_batches(fleet, lake, 5)
    with pytest.raises(UsageError, match="no table has such a column whose values have an order"):
        tidy(lake.root, sort_by=column)
    assert len(files(lake)) == 5


def test_a_dry_run_says_the_same_and_changes_nothing(fleet: Any, lake: Lake) -> None:
    land_batches(fleet, lake, 5)
    said = tidy(lake.root, dry_run=True)
    assert (said.tables[0].files_before, said.tables[0].files_after, said.entry) == (5, 1, None)
    assert len(files(lake)) == 5
    assert [entry.kind for entry in read_ledger(lake)] == ["sort"] * 5


def test_exchanged_files_stay_on_disk_for_as_long_as_asked(fleet: Any, lake: Lake) -> None:
    land_batches(fleet, lake, 5)
    tidy(lake.root)
    assert on_disk(lake) == 6
    removed = tidy(lake.root, keep_hours=0).tables[0].removed
    assert (removed, on_disk(lake)) == (5, 1)
    assert len(rows(lake)) == 5


def test_followers_of_a_table_see_no_change_in_it(fleet: Any, lake: Lake) -> None:
    land_batches(fleet, lake, 5)
    tidy(lake.root)
    table = DeltaTable(lake.path(TABLE))
    last = max(lake.path(TABLE).glob("_delta_log/*.json")).read_text()
    assert '"dataChange":true' not in last
    assert '"dataChange":false' in last
    assert table.to_pyarrow_table().num_rows == 5


def test_files_of_batches_that_died_and_unused_catalogs_are_removed(fleet: Any, lake: Lake) -> None:
    land_batches(fleet, lake, 1)
    unused = lake.root / "_catalogs" / ("0" * 64)
    unused.write_bytes(b"")
    assert tidy(lake.root).catalogs == 0
    os.utime(unused, (0, 0))
    assert tidy(lake.root).catalogs == 1
    assert not unused.exists()
    assert len(list((lake.root / "_catalogs").iterdir())) == 1


def test_a_backfill_in_between_is_seen(fleet: Any, lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        land(fleet, lake, catalog(), '{"quality": 7}', run=f"run{number}")
    exchange = compaction.exchange_files

    def late(*arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(compaction, "exchange_files", exchange)
        backfill(lake.root, catalog(quality={"type": "integer"}))
        return exchange(*arguments, **options)

    monkeypatch.setattr(compaction, "exchange_files", late)
    tidy(lake.root)
    assert data_of(lake) == [({"quality": 7}, None)] * 4
    assert len(files(lake)) == 1
    assert list(differences(lake)) == []


def test_sorts_beside_it_lose_and_double_nothing(fleet: Any, lake: Lake) -> None:
    land_batches(fleet, lake, 5)
    ended = threading.Event()
    counts: list[int] = []

    def keep_tidying() -> None:
        while not ended.is_set():
            tidy(lake.root, keep_hours=24)
            counts.append(len(rows(lake)))

    tidying = threading.Thread(target=keep_tidying)
    tidying.start()
    try:
        land_batches(fleet, lake, 15, first=5)
    finally:
        ended.set()
        tidying.join()
    assert counts == sorted(counts)
    assert sorted(row["data"]["sensor"] for row in rows(lake)) == sorted(str(n) for n in range(20))
    assert list(differences(lake)) == []


def test_rows_that_the_log_does_not_have_stop_it(fleet: Any, lake: Lake) -> None:
    land_batches(fleet, lake, 5)
    first, second = (Path(uri.removeprefix("file://")) for uri in files(lake)[:2])
    land(fleet, lake, catalog(), "{}", "{}", run="longer")
    longer = next(Path(uri) for uri in map(str, lake.path(TABLE).glob("part-longer*")))
    second.write_bytes(longer.read_bytes())
    with pytest.raises(LakeRefused, match="nothing was changed"):
        tidy(lake.root)
    assert first.exists()
    assert len(files(lake)) == 6


def test_unknown_messages_and_odd_sizes_are_refused(fleet: Any, lake: Lake) -> None:
    land_batches(fleet, lake, 1)
    with pytest.raises(MessageUnknown):
        tidy(lake.root, message="/messagegroups/plant/messages/other")
    with pytest.raises(UsageError):
        tidy(lake.root, target_mb=0)


# Dies as by kill -9 before or after one of the steps that change the lake.
DRIVER = """
import os, sys
import postroom.pipeline.lake.commit as commit
import postroom.pipeline.lake.compaction as compaction
import postroom.pipeline.lake.file_exchange as exchange

lake, moment = sys.argv[1:]
where, name, when = moment.split(":")
module = {"compaction": compaction, "exchange": exchange, "commit": commit}[where]
real = getattr(module, name)

def dying(*arguments, **options):
    if when == "after":
        real(*arguments, **options)
    os._exit(9)

setattr(module, name, dying)
compaction.tidy(lake)
"""
STEPS = ("compaction:write_pieces", "exchange:put_manifest", "commit:commit_table", "commit:record_batch")


@pytest.mark.parametrize("moment", [f"{step}:{when}" for step in STEPS for when in ("before", "after")])
def test_dying_at_any_moment_loses_and_doubles_nothing(fleet: Any, lake: Lake, moment: str) -> None:
    land_batches(fleet, lake, 5)
    before = rows(lake)
    command = [sys.executable, "-c", DRIVER, str(lake.root), moment]
    assert subprocess.run(command, env=os.environ, timeout=300, check=False).returncode == 9
    assert rows(lake) == before
    finish_commits(lake)
    tidy(lake.root)
    assert rows(lake) == before
    assert len(files(lake)) == 1
    assert list(differences(lake)) == []
    assert unfinished(lake) == []
    assert [entry.kind for entry in read_ledger(lake)] == ["sort"] * 5 + ["tidy"]

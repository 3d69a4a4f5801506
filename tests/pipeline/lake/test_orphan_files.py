from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from deltalake import DeltaTable, write_deltalake
from msgspec.structs import replace

from postroom.catalog.catalog import Catalog
from postroom.errors import LakeRefused
from postroom.pipeline.batch_sorter import Sorter, finish_commits
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.catalog_reload import watch_catalog
from postroom.pipeline.lake.batch_leases import LINGER_S, LONG_AGO_S, has_leases, hold_lease, leave_lease
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.commit_plan import plan_manifest
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.manifest import put_manifest, unfinished
from postroom.pipeline.lake.orphan_files import Sweeper, batch_of, sweep
from postroom.pipeline.storage.folder import FolderLock
from postroom.pipeline.worker.sort_task import TaskResult

# Holds the lease of a batch and dies without a word while it holds it.
DIE_AT_WORK = """
import os, sys
from postroom.pipeline.lake.batch_leases import hold_lease
from postroom.pipeline.lake.lake import open_lake

with hold_lease(open_lake(sys.argv[1]), sys.argv[2], 0):
    os._exit(9)
"""

START_ANOTHER = """
import sys
from postroom.pipeline.batch_sorter import finish_commits
from postroom.pipeline.lake.lake import open_lake

finish_commits(open_lake(sys.argv[1]))
"""


def die_at_work(lake: Lake, job: Job) -> None:
    assert subprocess.run([sys.executable, "-c", DIE_AT_WORK, lake.root, job.run], check=False).returncode == 9


def paths(lake: Lake, written: TaskResult) -> list[Path]:
    return [lake.path(file.folder) / file.path for file in written.files]


def there(lake: Lake, written: TaskResult) -> bool:
    """All files of a task, or (False) none."""
    (found,) = {path.exists() for path in paths(lake, written)}
    return found


def make_older(lake: Lake, job: Job, seconds: float) -> None:
    moment = time.time() - seconds
    os.utime(lake.root / "_claims" / job.batch_name, (moment, moment))


@pytest.fixture
def job(fleet: Any, lake: Lake, catalog: Catalog) -> Job:
    made: Job = fleet.job(lake, catalog.compiled)
    return made


def test_what_a_process_left_that_died_before_its_manifest_goes(
    fleet: Any, lake: Lake, job: Job, records: Path
) -> None:
    written = fleet.task(job, records)
    die_at_work(lake, job)
    assert sweep(lake) == len(written.files)
    assert not there(lake, written)


def test_what_lingering_workers_write_goes_the_next_time(fleet: Any, lake: Lake, job: Job, records: Path) -> None:
    die_at_work(lake, job)
    assert sweep(lake) == 0
    written = fleet.task(job, records)
    assert sweep(lake) == len(written.files)
    make_older(lake, job, LINGER_S + 1)
    sweep(lake)
    assert not has_leases(lake)


def test_files_of_a_batch_at_work_are_never_touched(fleet: Any, lake: Lake, job: Job, records: Path) -> None:
    with hold_lease(lake, job.run, job.batch):
        written = fleet.task(job, records)
        make_older(lake, job, LONG_AGO_S + 1)
        assert sweep(lake) == 0
        subprocess.run([sys.executable, "-c", START_ANOTHER, lake.root], check=True)
        assert there(lake, written)
        commit_batch(lake, job, "records", [written])
    assert sweep(lake) == 0
    assert there(lake, written)
    assert not has_leases(lake)


def test_a_batch_is_claimed_once(lake: Lake) -> None:
    with (
        hold_lease(lake, "run1", 0),
        pytest.raises(LakeRefused, match="sorting batch run1-0"),
        hold_lease(lake, "run1", 0),
    ):
        pass
    with hold_lease(lake, "run1", 0):
        pass


def test_a_batch_that_failed_leaves_nothing(fleet: Any, lake: Lake, job: Job, records: Path) -> None:
    written = fleet.task(job, records)
    with pytest.raises(LakeRefused), hold_lease(lake, job.run, job.batch):
        commit_batch(lake, job, "", [replace(written, read=25)])
    sweep(lake)
    assert not there(lake, written)


def test_what_a_task_wrote_before_it_was_tried_again_goes(fleet: Any, lake: Lake, job: Job, records: Path) -> None:
    with hold_lease(lake, job.run, job.batch):
        lost, written = fleet.task(job, records), fleet.task(job, records)
        commit_batch(lake, job, "records", [written])
    assert sweep(lake) == len(lost.files)
    assert there(lake, written)
    assert fleet.unknown_files(lake) == set()


def test_a_promised_batch_is_finished_not_swept(fleet: Any, lake: Lake, job: Job, records: Path) -> None:
    lost, written = fleet.task(job, records), fleet.task(job, records)
    put_manifest(lake, plan_manifest(lake, job, "", [written]), FolderLock())
    die_at_work(lake, job)
    assert sweep(lake) == 0
    (entry,) = finish_commits(lake)
    assert entry.landed == fleet.landed
    assert there(lake, written)
    assert not there(lake, lost)
    assert fleet.unknown_files(lake) == set()
    assert list((lake.root / "_claims").glob("*.json")) != [], "its claim stays for a while, and with it what counts"
    make_older(lake, job, LINGER_S + 1)
    sweep(lake)
    assert [path.name for path in (lake.root / "_claims").iterdir()] == [".lock"]


def test_a_row_of_the_ledger_that_was_not_committed_goes(
    fleet: Any, sorted_lake: Lake, catalog: Catalog, records: Path
) -> None:
    job = fleet.job(sorted_lake, catalog.compiled, run="run2")
    put_manifest(sorted_lake, plan_manifest(sorted_lake, job, "", [fleet.task(job, records)]), FolderLock())
    ledger = sorted_lake.path("_ledger")
    write_deltalake(ledger, DeltaTable(ledger).to_pyarrow_table(), mode="append")
    committed = set(DeltaTable(ledger).file_uris())
    (ledger / "part-00000-c000.zstd.parquet").write_bytes(b"PAR1")
    finish_commits(sorted_lake)
    assert committed < set(DeltaTable(ledger).file_uris())
    assert fleet.unknown_files(sorted_lake) == set()


def test_half_a_manifest_goes(lake: Lake, job: Job) -> None:
    (lake.root / "_manifests" / ".0123.part").write_bytes(b"{")
    die_at_work(lake, job)
    sweep(lake)
    assert not list((lake.root / "_manifests").glob(".*.part"))


def test_a_late_commit_finds_that_it_was_given_up(fleet: Any, lake: Lake, job: Job, records: Path) -> None:
    written = fleet.task(job, records)
    die_at_work(lake, job)
    sweep(lake)
    with pytest.raises(LakeRefused, match="the batch was given up"):
        commit_batch(lake, job, "", [written])
    assert list(lake.tables()) == []


def test_a_claim_without_a_lock_counts_for_a_week(fleet: Any, lake: Lake, job: Job, records: Path) -> None:
    leave_lease(lake, job.run, job.batch)
    written = fleet.task(job, records)
    assert sweep(lake) == 0
    make_older(lake, job, LONG_AGO_S + 1)
    assert sweep(lake) == len(written.files)
    assert not has_leases(lake)


def test_a_claim_without_a_lock_ends_with_the_commit(fleet: Any, lake: Lake, job: Job, records: Path) -> None:
    leave_lease(lake, job.run, job.batch)
    lost, written = fleet.task(job, records), fleet.task(job, records)
    commit_batch(lake, job, "", [written])
    assert sweep(lake) == len(lost.files)
    assert there(lake, written)
    assert not has_leases(lake)


def test_what_a_table_has_stays_whatever_a_claim_says(fleet: Any, lake: Lake, job: Job, records: Path) -> None:
    written = fleet.task(job, records)
    commit_batch(lake, job, "", [written])
    for path in sorted(lake.path("_ledger").rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()
    die_at_work(lake, job)
    assert read_ledger(lake) == []
    assert sweep(lake) == 0
    assert there(lake, written)


def test_files_without_a_claim_are_left_alone(
    fleet: Any, lake: Lake, catalog: Catalog, job: Job, records: Path
) -> None:
    theirs = fleet.task(fleet.job(lake, catalog.compiled, run="run10"), records)
    die_at_work(lake, job)
    sweep(lake)
    assert there(lake, theirs)


def test_a_job_made_for_others_is_claimed(lake: Lake, catalog_file: Path) -> None:
    Sorter(lake, watch_catalog(catalog_file)).job("run1", 0)
    assert (lake.root / "_claims" / "run1-0").read_bytes() == b""


def test_sweeps_of_a_stream_are_far_apart_when_they_take_long(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    swept: list[int] = []
    monkeypatch.setattr("postroom.pipeline.lake.orphan_files.sweep", lambda _: swept.append(1))
    times = iter([0.0, 10.0, 12.0, 211.0, 213.0, 214.0])
    sweeper = Sweeper(lake, lambda: next(times))
    for _ in range(3):
        sweeper()
    assert len(swept) == 2


@pytest.mark.parametrize(
    ("name", "batch"),
    [
        ("part-a1b2-7-0f0f.parquet", "a1b2-7"),
        ("part-replay-a1b2-0-0f0f.parquet", "replay-a1b2-0"),
        ("_delta_log", ""),
        ("mine.parquet", ""),
    ],
)
def test_a_file_names_its_batch(name: str, batch: str) -> None:
    assert batch_of(name) == batch


def test_sorts_and_sweeps_at_the_same_time_lose_nothing(
    fleet: Any, lake: Lake, catalog: Catalog, records: Path
) -> None:
    failures: list[BaseException] = []

    def work(run: str) -> None:
        try:
            for batch in range(4):
                made = fleet.job(lake, catalog.compiled, run=run, batch=batch)
                with hold_lease(lake, run, batch):
                    fleet.task(made, records)  # an attempt that is lost
                    commit_batch(lake, made, run, [fleet.task(made, records)])
                sweep(lake)
        except BaseException as error:  # noqa: BLE001  (the test raises it)
            failures.append(error)

    threads = [threading.Thread(target=work, args=(run,)) for run in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failures == []
    assert len(read_ledger(lake)) == 8
    assert unfinished(lake) == []
    assert fleet.unknown_files(lake) == set()

"""Bad days of a lake in an object store: holders that seem dead, stores that do not answer, lakes from elsewhere."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from postroom.catalog.catalog import Catalog
from postroom.errors import LakeRefused, ServiceRefused, ServiceUnreachable
from postroom.pipeline.batch_sorter import finish_commits
from postroom.pipeline.lake import batch_leases
from postroom.pipeline.lake.batch_leases import hold_lease, leave_lease
from postroom.pipeline.lake.commit import apply_locked, commit_batch
from postroom.pipeline.lake.commit_plan import plan_manifest
from postroom.pipeline.lake.lake import Lake, create_lake, open_lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.manifest import manifest_path, put_manifest, unfinished
from postroom.pipeline.lake.orphan_files import sweep
from postroom.pipeline.lake.reconciliation import differences
from postroom.pipeline.spark.data_source import SortWriter, TaskDone
from postroom.pipeline.storage import object_lease
from postroom.pipeline.storage.folder import FolderLock
from postroom.pipeline.storage.object_lease import ObjectLease
from postroom.pipeline.worker.spark_tasks import SortTask
from tests.object_stores import FailingProxy, S3Server


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Holders count as gone after two seconds of silence; the clocks of stores know seconds only."""
    monkeypatch.setattr(object_lease, "GONE_S", 2.0)
    monkeypatch.setattr(batch_leases, "SILENT_S", 2.0)


@pytest.fixture
def proxy(s3: S3Server) -> Iterator[FailingProxy]:
    made = FailingProxy(s3)
    yield made
    made.close()


def suspend(lease: Any) -> ObjectLease:
    """What a process is like that is stopped, or cut off: it holds something and shows no sign of life."""
    assert isinstance(lease, ObjectLease)
    lease._end.set()
    lease._beats.join()
    return lease


def write(fleet: Any, lake: Lake, catalog: Catalog, records: Path, run: str = "run1", batch: int = 0) -> Any:
    job = fleet.job(lake, catalog.compiled, run=run, batch=batch)
    return job, fleet.task(job, records, storage=lake.storage)


def test_who_lost_the_lock_can_commit_nothing_any_more(
    impatient: None, fleet: Any, s3_lake: Lake, catalog: Catalog, records: Path
) -> None:
    job, written = write(fleet, s3_lake, catalog, records)
    manifest = plan_manifest(s3_lake, job, "records", [written])
    with s3_lake.lock() as first:
        suspend(first)
        with s3_lake.lock():
            pass
        with pytest.raises(LakeRefused, match="another process took over"):
            put_manifest(s3_lake, manifest, first)
    assert unfinished(s3_lake) == []


def test_what_the_holder_of_the_lock_promised_is_done_by_the_next(
    impatient: None, fleet: Any, s3_lake: Lake, catalog: Catalog, records: Path
) -> None:
    job, written = write(fleet, s3_lake, catalog, records)
    manifest = plan_manifest(s3_lake, job, "records", [written])
    with s3_lake.lock() as first:
        put_manifest(s3_lake, manifest, first)
        suspend(first)
        # The put of the manifest itself never arrived.
        s3_lake.storage.delete([manifest_path(job.run, job.batch)])
        (entry,) = finish_after_takeover(s3_lake)
    assert entry.read == 24
    assert list(differences(s3_lake)) == []


@pytest.mark.parametrize("is_promised", [True, False])
def test_an_aborted_write_takes_its_files_away_unless_they_are_promised(
    impatient: None, fleet: Any, s3_lake: Lake, catalog: Catalog, records: Path, is_promised: bool
) -> None:
    job, written = write(fleet, s3_lake, catalog, records)
    leave_lease(s3_lake, job.run, job.batch)
    with s3_lake.lock() as first:
        if is_promised:
            put_manifest(s3_lake, plan_manifest(s3_lake, job, "records", [written]), first)
            s3_lake.storage.delete([manifest_path(job.run, job.batch)])
        suspend(first)
        writer = SortWriter(SortTask(job, "records", "", s3_lake.storage))
        writer.abort([TaskDone(msgspec.msgpack.encode(written))])
    there = [s3_lake.storage.exists(f"{file.folder}/{file.path}") for file in written.files]
    assert there == [is_promised] * len(written.files)
    assert [entry.read for entry in finish_commits(s3_lake)] == [24] * is_promised
    assert list(differences(s3_lake)) == []


def finish_after_takeover(lake: Lake) -> list[Any]:
    with lake.lock():
        pass
    return finish_commits(lake)


def test_a_batch_that_was_given_up_is_not_committed(
    impatient: None, fleet: Any, s3_lake: Lake, catalog: Catalog, records: Path
) -> None:
    job, written = write(fleet, s3_lake, catalog, records)
    with hold_lease(s3_lake, job.run, job.batch):
        (lease,) = (each for thread in threading.enumerate() if (each := holder_of(thread)) is not None)
        suspend(lease)
        swept = 0
        while not swept:
            swept = sweep(s3_lake)
        assert swept == len(written.files)
        with pytest.raises(LakeRefused, match="given up"):
            commit_batch(s3_lake, job, "records", [written])
    assert read_ledger(s3_lake) == []


def holder_of(thread: threading.Thread) -> ObjectLease | None:
    """The lease that a thread keeps alive."""
    owner = getattr(getattr(thread, "_target", None), "__self__", None)
    return owner if isinstance(owner, ObjectLease) and "_claims" in thread.name else None


def test_a_driver_that_died_between_manifest_and_tables_is_finished(
    fleet: Any, s3_lake: Lake, catalog: Catalog, records: Path
) -> None:
    job, written = write(fleet, s3_lake, catalog, records)
    put_manifest(s3_lake, plan_manifest(s3_lake, job, "records", [written]), FolderLock())
    (entry,) = finish_commits(s3_lake)
    assert (entry.read, finish_commits(s3_lake)) == (24, [])
    # A second attempt at the same batch, which was away all the time, finds it done.
    late = fleet.task(job, records, storage=s3_lake.storage)
    assert commit_batch(s3_lake, job, "records", [late]) == entry
    assert list(differences(s3_lake)) == []
    assert fleet.unknown_files(s3_lake) == set()


def test_two_who_apply_one_manifest_at_once_do_it_once(
    fleet: Any, s3_lake: Lake, catalog: Catalog, records: Path
) -> None:
    for batch in range(3):
        job, written = write(fleet, s3_lake, catalog, records, batch=batch)
        manifest = plan_manifest(s3_lake, job, "records", [written])
        put_manifest(s3_lake, manifest, FolderLock())
        # As if both had the lock.
        threads = [threading.Thread(target=apply_locked, args=(s3_lake, manifest)) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(read_ledger(s3_lake)) == 3
    assert list(differences(s3_lake)) == []


def test_a_store_that_is_busy_for_a_while_is_asked_again(
    fleet: Any, s3: S3Server, proxy: FailingProxy, catalog: Catalog, records: Path
) -> None:
    lake = create_lake(f"s3://{s3.bucket()}/lake", proxy.options)
    job = fleet.job(lake, catalog.compiled)
    proxy.fail(4)
    written = fleet.task(job, records, storage=lake.storage)
    proxy.fail(4)
    assert commit_batch(lake, job, "records", [written]).read == 24
    assert list(differences(lake)) == []


def test_a_store_that_stays_away_ends_the_run_in_a_sentence_and_nothing_is_lost(
    fleet: Any, s3: S3Server, proxy: FailingProxy, catalog: Catalog, records: Path
) -> None:
    options = proxy.options | {"max_retries": "1", "retry_timeout": "2s"}
    lake = create_lake(f"s3://{s3.bucket()}/lake", options)
    job = fleet.job(lake, catalog.compiled)
    written = fleet.task(job, records, storage=lake.storage)
    proxy.fail(10_000)
    with pytest.raises(ServiceUnreachable, match="503 SlowDown") as raised:
        commit_batch(lake, job, "records", [written])
    assert "\n" not in str(raised.value)
    with pytest.raises(ServiceUnreachable):
        open_lake(lake.url, options)
    proxy.fail(0)
    assert commit_batch(lake, job, "records", [written]).read == 24
    assert list(differences(lake)) == []


def test_wrong_credentials_are_told_without_them(s3: S3Server, proxy: FailingProxy) -> None:
    proxy.fail(10_000, 403, "InvalidAccessKeyId")
    with pytest.raises(ServiceRefused, match="refuses this: 403 InvalidAccessKeyId") as raised:
        create_lake(f"s3://{s3.bucket()}/lake", proxy.options)
    assert "flour" not in str(raised.value)


def test_a_lake_half_written_in_a_folder_goes_on_in_a_store(
    fleet: Any, lake: Lake, s3_lake: Lake, catalog: Catalog, records: Path
) -> None:
    for batch in range(2):
        job = fleet.job(lake, catalog.compiled, batch=batch)
        commit_batch(lake, job, "records", [fleet.task(job, records)])
    dying = fleet.job(lake, catalog.compiled, batch=2)
    put_manifest(lake, plan_manifest(lake, dying, "records", [fleet.task(dying, records)]), FolderLock())
    (lake.root / "_claims").mkdir(exist_ok=True)
    (lake.root / "_claims" / dying.batch_name).write_bytes(b"held")
    for path in lake.root.rglob("*"):
        if path.is_file():
            s3_lake.storage.write(str(path.relative_to(lake.root)), path.read_bytes())
    (entry,) = finish_commits(s3_lake)
    assert entry.batch == 2
    job, written = write(fleet, s3_lake, catalog, records, batch=3)
    commit_batch(s3_lake, job, "records", [written])
    assert list(differences(s3_lake)) == []
    assert len(read_ledger(s3_lake)) == 4


@pytest.mark.parametrize("kind", ["lake", "s3_lake"])
def test_foreign_files_in_a_lake_are_left_alone(
    fleet: Any, kind: str, request: pytest.FixtureRequest, catalog: Catalog, records: Path
) -> None:
    lake: Lake = request.getfixturevalue(kind)
    job, written = write(fleet, lake, catalog, records)
    names = ("README.txt", "fleet/notes/list.csv", "fleet/vehicle.position/notes.txt", "_claims.bak/x")
    for name in names:
        if lake.storage.folder is not None:
            (lake.root / name).parent.mkdir(parents=True, exist_ok=True)
        lake.storage.write(name, b"mine")
    commit_batch(lake, job, "records", [written])
    finish_commits(lake)
    assert len(list(lake.tables())) == 3
    assert list(differences(lake)) == []
    assert {lake.storage.read(name) for name in names} == {b"mine"}

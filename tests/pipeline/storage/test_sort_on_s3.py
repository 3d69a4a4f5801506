"""Sorting with lake, checkpoint and record files in an object store: exactly once, and in sentences otherwise."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from postroom.catalog.catalog import Catalog
from postroom.errors import FileMissing, LakeRefused, PostroomError, ServiceRefused, ServiceUnreachable
from postroom.pipeline import backfill, replay, sort, sorter, tidy
from postroom.pipeline.checkpoint import open_checkpoint
from postroom.pipeline.inspect.sql import run_query
from postroom.pipeline.lake import commit
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import Lake, create_lake, open_lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.reconciliation import differences
from postroom.pipeline.storage.object_store import ObjectStorage
from tests.object_stores import S3Server

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def upload(s3: S3Server, bucket: str, folder: Path) -> str:
    """Bring the files of a folder to a prefix; says which."""
    store = ObjectStorage(f"s3://{bucket}/in", tuple(create_lake(f"s3://{bucket}/any", s3.options).storage.options))
    for path in folder.rglob("*"):
        if path.is_file():
            store.write(str(path.relative_to(folder)), path.read_bytes())
    return store.url


def rows(lake: Lake) -> int:
    return sum(lake.table(table.folder).to_pyarrow_table().num_rows for table in lake.tables())


def test_files_of_a_prefix_are_sorted_once_with_a_checkpoint_beside_the_lake(
    spark: Any, fleet: Any, s3: S3Server, catalog: Catalog, records: Path, tmp_path: Path
) -> None:
    bucket = s3.bucket()
    table = pa.table({"value": [json.dumps(fleet.position(n)) for n in range(5)]})
    pq.write_table(table, records.parent / "more.parquet")
    source = upload(s3, bucket, records.parent)
    options: dict[str, Any] = {"checkpoint": f"s3://{bucket}/checkpoint", "storage_options": s3.options}
    lake = create_lake(f"s3://{bucket}/lake", s3.options)
    first = sort(spark, source, catalog, lake, **options)
    assert (first.read, sum(first.landed.values())) == (29, 24)
    assert sort(spark, source, catalog, lake, **options).read == 0
    fleet.write(records.parent / "late.jsonl", [fleet.position(n) for n in range(3)])
    upload(s3, bucket, records.parent)
    assert sort(spark, source, catalog, lake, **options).read == 3
    assert rows(lake) == 27
    assert list(differences(lake)) == []
    found = run_query(lake, 'SELECT DISTINCT _source FROM "fleet"."vehicle.position" ORDER BY 1').rows
    assert found == [(f"{source}/{name}",) for name in ("late.jsonl", "mixed.jsonl", "more.parquet")]


def test_a_stream_of_spark_goes_on_from_a_checkpoint_in_a_store(
    spark: Any, fleet: Any, s3: S3Server, catalog: Catalog, tmp_path: Path
) -> None:
    bucket = s3.bucket()
    inbox = tmp_path / "inbox"
    options: dict[str, Any] = {"checkpoint": f"s3://{bucket}/checkpoint", "storage_options": s3.options}
    for day in range(3):
        fleet.write(inbox / f"{day}.jsonl", [fleet.position(n) for n in range(10)])
        assert sort(spark, inbox, catalog, f"s3://{bucket}/lake", **options).read == 10
    assert rows(open_lake(f"s3://{bucket}/lake", s3.options)) == 30


def test_a_prefix_is_followed(spark: Any, fleet: Any, s3: S3Server, catalog: Catalog, tmp_path: Path) -> None:
    bucket, stop = s3.bucket(), threading.Event()
    fleet.write(tmp_path / "in" / "a.jsonl", [fleet.position(1)])
    source = upload(s3, bucket, tmp_path / "in")

    class Watching:
        shown = True

        def report(self, batch: Any) -> None:
            if batch.batch == 0:
                fleet.write(tmp_path / "in" / "b.jsonl", [fleet.position(2), fleet.position(3)])
                upload(s3, bucket, tmp_path / "in")
            else:
                stop.set()

        def behind(self, lags: Any) -> None:
            pass

        def away(self, source: str, is_away: bool) -> None:
            raise AssertionError(source)

    done = sort(
        spark, source, catalog, f"s3://{bucket}/lake",
        every=0.1, stop=stop, watcher=Watching(), storage_options=s3.options,
    )  # fmt: skip
    assert (done.read, done.batch) == (3, 1)


def test_a_program_of_its_own_streams_into_a_store(
    spark: Any, fleet: Any, s3: S3Server, catalog: Catalog, tmp_path: Path
) -> None:
    lake = create_lake(f"s3://{s3.bucket()}/lake", s3.options)
    fleet.write(tmp_path / "in" / "a.jsonl", [fleet.position(n) for n in range(4)])
    for _ in range(2):
        stream = spark.readStream.text(str(tmp_path / "in")).writeStream.trigger(availableNow=True)
        query = stream.foreachBatch(sorter(catalog, lake)).option("checkpointLocation", str(tmp_path / "cp")).start()
        query.awaitTermination()
    assert rows(lake) == 4


def test_secrets_are_in_no_plan_ledger_or_job(
    spark: Any, fleet: Any, s3: S3Server, catalog: Catalog, records: Path
) -> None:
    lake = create_lake(f"s3://{s3.bucket()}/lake", s3.options)
    sort(spark, records, catalog, lake)
    assert isinstance(lake.storage, ObjectStorage)
    secret = s3.options["aws_secret_access_key"].encode()
    for file in lake.storage.everything(""):
        assert secret not in lake.storage.read(file.path), file.path
    plans = spark.sparkContext._jvm.org.apache.spark.sql.classic.SparkSession.active().sharedState().statusStore()
    shown = "".join(plans.executionsList().apply(n).physicalPlanDescription() for n in range(plans.executionsCount()))
    assert "Physical Plan" in shown
    assert secret.decode() not in shown


def test_dead_letters_are_replayed_members_lifted_and_files_brought_together(
    fleet: Any, s3_lake: Lake, catalog: Catalog, records: Path
) -> None:
    for batch in range(5):
        job = fleet.job(s3_lake, catalog.compiled, batch=batch)
        commit_batch(s3_lake, job, "records", [fleet.task(job, records, storage=s3_lake.storage)])
    done = replay(
        None, Catalog(fleet.catalog(lat={"type": ["number", "string"]})), s3_lake, where="outcome = 'invalid'"
    )
    assert (done.letters, sum(done.landed.values())) == (15, 5)
    assert tidy(s3_lake).tables[0].files_after == 1
    assert backfill(s3_lake).entry is None
    assert list(differences(s3_lake)) == []
    assert rows(s3_lake) == 100


def test_the_second_job_on_one_checkpoint_is_refused(s3_lake: Lake) -> None:
    assert isinstance(s3_lake.storage, ObjectStorage)
    options, place = dict(s3_lake.storage.options), f"{s3_lake.url}-checkpoint"
    with (
        open_checkpoint(place, s3_lake, "inbox", options=options),
        pytest.raises(LakeRefused, match="another process is using this checkpoint"),
        open_checkpoint(place, s3_lake, "inbox", options=options),
    ):
        pass
    with open_checkpoint(place, s3_lake, "inbox", options=options) as again:
        assert again.resumed


def test_two_jobs_with_checkpoints_of_their_own_share_a_lake(
    spark: Any, fleet: Any, s3_lake: Lake, catalog: Catalog, tmp_path: Path
) -> None:
    done: list[str] = []

    def run(name: str) -> None:
        for batch in range(3):
            job = fleet.job(s3_lake, catalog.compiled, run=name, batch=batch)
            file = fleet.write(tmp_path / f"{name}{batch}.jsonl", [fleet.position(n) for n in range(10)])
            commit_batch(s3_lake, job, name, [fleet.task(job, file, storage=s3_lake.storage)])
        done.append(name)

    threads = [threading.Thread(target=run, args=(name,)) for name in ("north", "south")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(done) == ["north", "south"]
    assert (rows(s3_lake), len(read_ledger(s3_lake))) == (60, 6)
    assert list(differences(s3_lake)) == []


@pytest.mark.parametrize("scheme", ["hdfs", "wasbs", "dbfs"])
def test_other_storage_is_refused(scheme: str) -> None:
    with pytest.raises(LakeRefused):
        create_lake(f"{scheme}://host/lake")


def test_what_is_wrong_with_a_store_is_told_in_a_sentence(s3: S3Server) -> None:
    cases: list[tuple[str, dict[str, str], type[PostroomError]]] = [
        ("s3://no-such-bucket-at-all/lake", {}, FileMissing),
        (f"s3://{s3.bucket()}/lake", {"endpoint": "http://127.0.0.1:9", "max_retries": "0"}, ServiceUnreachable),
        ("s3://key:secret@bucket/lake", {}, PostroomError),
        ("s3:/bucket/lake", {}, LakeRefused),
    ]
    for place, options, kind in cases:
        with pytest.raises(kind) as raised:
            create_lake(place, s3.options | options)
        assert len(str(raised.value).splitlines()) == 1
        assert "flour" not in str(raised.value)
        assert "secret" not in str(raised.value).replace("aws_secret", "")
    assert ServiceRefused.exit_code == 3


def test_a_prefix_with_something_else_in_it_is_no_lake(s3: S3Server) -> None:
    lake = create_lake(f"s3://{s3.bucket()}/photos", s3.options)
    lake.storage.write("cat.jpg", b"meow")
    with pytest.raises(LakeRefused, match="it is not a lake"):
        create_lake(lake.url, s3.options)
    with pytest.raises(LakeRefused, match="this is not a lake"):
        open_lake(lake.url, s3.options)


def test_a_driver_that_was_overtaken_leaves_the_files_to_who_finished_its_batch(
    spark: Any, s3: S3Server, catalog: Catalog, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = create_lake(f"s3://{s3.bucket()}/lake", s3.options)
    finish = commit.apply_locked

    def overtaken(*args: Any, **options: Any) -> Any:
        monkeypatch.undo()
        finish(*args)
        raise LakeRefused("others write to this table all the time.")

    monkeypatch.setattr(commit, "apply_locked", overtaken)
    with pytest.raises(LakeRefused, match="others write"):
        sort(spark, records, catalog, lake)
    assert (read_ledger(lake)[0].read, rows(lake)) == (24, 19)
    assert list(differences(lake)) == []

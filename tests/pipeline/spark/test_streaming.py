from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from postroom.catalog.catalog import Catalog
from postroom.errors import LakeRefused
from postroom.pipeline import LedgerEntry, sort, sorter
from postroom.pipeline.catalog_reload import watch_catalog
from postroom.pipeline.checkpoint import open_checkpoint
from postroom.pipeline.lake.commit_plan import plan_manifest
from postroom.pipeline.lake.lake import create_lake, open_lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.manifest import put_manifest
from postroom.pipeline.lake.reconciliation import differences
from postroom.pipeline.sources.files import FileSource
from postroom.pipeline.sources.lag import Lag, Lags, Reached
from postroom.pipeline.storage.folder import FolderLock

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

POSITION = "/messagegroups/fleet/messages/vehicle.position"


def column(lake: Path, folder: str, name: str) -> list[Any]:
    return list(DeltaTable(lake / folder).to_pyarrow_table().column(name).to_pylist())


def rewrite(file: Path, catalog: Any) -> None:
    before = file.stat().st_mtime_ns if file.exists() else 0
    file.write_text(catalog if isinstance(catalog, str) else json.dumps(catalog))
    os.utime(file, ns=(before + 10**9, before + 10**9))


class Following:
    """A stream that runs in a thread; `until` waits for something that a batch brings about."""

    def __init__(self) -> None:
        self.entries: list[LedgerEntry] = []
        self.lags: list[Lags] = []
        self.stop = threading.Event()
        self.failure: Exception | None = None

    def report(self, batch: LedgerEntry) -> None:
        self.entries.append(batch)

    def behind(self, lags: Lags) -> None:
        self.lags.append(lags)

    def away(self, source: str, is_away: bool) -> None:
        raise AssertionError(source)

    def until(self, condition: Callable[[], bool]) -> None:
        for _ in range(1200):
            if self.failure is not None:
                raise self.failure
            if condition():
                return
            time.sleep(0.1)
        raise AssertionError(f"nothing came of it; so far: {self.entries}")

    def read(self) -> int:
        return sum(entry.read for entry in self.entries)


@contextmanager
def following(spark: Any, source: Path, catalog: Any, lake: Path, **options: Any) -> Iterator[Following]:
    stream = Following()

    def run() -> None:
        try:
            sort(
                spark,
                source,
                catalog,
                lake,
                every=0.1,
                stop=stream.stop,
                watcher=stream,
                **options,
            )
        except Exception as error:  # noqa: BLE001  (the thread that waits raises it)
            stream.failure = error

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield stream
    finally:
        stream.stop.set()
        thread.join(120)
    if stream.failure is not None:
        raise stream.failure


def test_a_folder_that_grows_is_followed_through_five_versions_of_a_schema(
    spark: Any, fleet: Any, catalog_file: Path, tmp_path: Path
) -> None:
    inbox, lake = tmp_path / "in box [1]", tmp_path / "lake"
    inbox.mkdir()
    data = {"lat": 1.0, "lon": 2.0}
    versions: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {"speed": 10}),
        ({"heading": {"type": "integer"}}, {"speed": 11, "heading": 90}),
        (
            {"heading": {"type": "integer"}, "gps": {"type": "object", "properties": {"fix": {"type": "string"}}}},
            {"gps": {"fix": "3d"}},
        ),
        (
            {
                "heading": {"type": "integer"},
                "gps": {
                    "type": "object",
                    "properties": {"fix": {"type": "string"}, "satellites": {"type": "integer"}},
                },
            },
            {"gps": {"fix": "3d", "satellites": 7}},
        ),
        ({"speed": {"type": "string"}}, {"speed": "fast"}),
    ]
    watch = watch_catalog(str(catalog_file))
    with following(spark, inbox, watch, lake) as stream:
        for number, (properties, members) in enumerate(versions):
            rewrite(catalog_file, fleet.catalog(**properties))
            fleet.write(inbox / f"{number}.jsonl", [fleet.position(number, data={**data, **members})])
            stream.until(lambda number=number: stream.read() == number + 1)  # type: ignore[misc]
    assert {name for lags in stream.lags for name in lags} == {"in box [1]"}
    changes = [(change.table, change.kind, change.detail) for entry in stream.entries for change in entry.changes]
    assert changes == [
        ("fleet/vehicle.position", "created", ""),
        ("fleet/vehicle.position", "columns_added", "data.heading"),
        ("fleet/vehicle.position", "columns_added", "data.gps"),
        ("fleet/vehicle.position", "columns_added", "data.gps.satellites"),
        ("fleet/vehicle.position@2", "replaced", "data.speed was long and is now string"),
    ]
    rows = sorted(DeltaTable(lake / "fleet/vehicle.position").to_pyarrow_table().to_pylist(), key=lambda r: r["ce_id"])
    assert [row["data"]["speed"] for row in rows] == [10, 11, None, None]
    assert [row["data"]["heading"] for row in rows] == [None, 90, None, None]
    assert [row["data"]["gps"] for row in rows][2:] == [
        {"fix": "3d", "satellites": None},
        {"fix": "3d", "satellites": 7},
    ]
    assert [row["speed"] for row in column(lake, "fleet/vehicle.position@2", "data")] == ["fast"]
    assert list(differences(open_lake(lake))) == []


def test_a_catalog_that_breaks_while_the_stream_runs_leaves_the_last_good_one(
    spark: Any, fleet: Any, catalog_file: Path, tmp_path: Path
) -> None:
    inbox = tmp_path / "inbox"
    fleet.write(inbox / "0.jsonl", [fleet.position(0)])
    with following(spark, inbox, str(catalog_file), tmp_path / "lake") as stream:
        stream.until(lambda: stream.read() == 1)
        rewrite(catalog_file, "{ half a catalog")
        fleet.write(inbox / "1.jsonl", [fleet.position(1)])
        stream.until(lambda: stream.read() == 2)
        more = fleet.catalog()
        more["messagegroups"]["depot"] = {
            "messages": {"gate": {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "gate"}}}}
        }
        rewrite(catalog_file, more)
        gate = {"specversion": "1.0", "id": "g", "type": "gate", "source": "/g"}
        fleet.write(inbox / "2.jsonl", [gate])
        stream.until(lambda: stream.read() == 3)
    assert stream.entries[-1].landed == {"/messagegroups/depot/messages/gate": 1}
    assert sum(entry.landed.get(POSITION, 0) for entry in stream.entries) == 2


def test_a_batch_that_spark_forgot_is_not_sorted_twice(
    spark: Any, fleet: Any, catalog_file: Path, records: Path, tmp_path: Path
) -> None:
    """The driver died after the ledger and before Spark's own commit; the catalog changed in between."""
    lake, checkpoint = tmp_path / "lake", tmp_path / "checkpoint"
    first = sort(spark, records.parent, str(catalog_file), lake, checkpoint=checkpoint)
    assert first.read == 24
    shutil.rmtree(checkpoint / "stream" / "commits")
    rewrite(catalog_file, fleet.catalog(speed={"type": "string"}))
    fleet.write(records.parent / "later.jsonl", [fleet.order(77)])
    again = sort(spark, records.parent, str(catalog_file), lake, checkpoint=checkpoint)
    assert again.read == 1
    assert again.run == first.run
    assert len(column(lake, "shop/order.placed", "ce_id")) == 7
    assert [entry.batch for entry in read_ledger(open_lake(lake))] == [0, 1]
    assert list(differences(open_lake(lake))) == []


def test_a_batch_that_died_before_its_manifest_leaves_nothing_behind(
    spark: Any, fleet: Any, catalog: Catalog, records: Path, tmp_path: Path
) -> None:
    lake = create_lake(tmp_path / "lake")
    fleet.write(tmp_path / "none" / "empty.jsonl", [])
    run = sort(spark, tmp_path / "none", catalog, lake.root, checkpoint=tmp_path / "checkpoint").run
    orphan = fleet.task(fleet.job(lake, catalog.compiled, run=run, batch=1), records)
    fleet.write(tmp_path / "none" / "order.jsonl", [fleet.order(1)])
    assert sort(spark, tmp_path / "none", catalog, lake.root, checkpoint=tmp_path / "checkpoint").read == 1
    assert not any((lake.path(file.folder) / file.path).exists() for file in orphan.files)


def test_a_process_that_died_while_it_wrote_down_the_first_batch_is_followed_by_another(
    spark: Any, catalog: Catalog, records: Path, tmp_path: Path
) -> None:
    stream = tmp_path / "checkpoint" / "stream"
    sort(spark, records.parent, catalog, tmp_path / "first", checkpoint=tmp_path / "checkpoint")
    shutil.rmtree(stream / "commits")
    (stream / "offsets" / "0").rename(stream / "offsets" / ".0.be733023-dc2d-41e1-9cc7-e06c2f95c454.tmp")
    (tmp_path / "checkpoint" / "postroom.json").unlink()
    (tmp_path / "checkpoint").rename(tmp_path / "left")
    with open_checkpoint(tmp_path / "checkpoint", create_lake(tmp_path / "lake"), str(records.parent)):
        (tmp_path / "left" / "stream").rename(stream)
    assert sort(spark, records.parent, catalog, tmp_path / "lake", checkpoint=tmp_path / "checkpoint").read == 24


def test_a_manifest_of_the_same_batch_wins_over_a_new_try(
    spark: Any, fleet: Any, catalog: Catalog, records: Path, tmp_path: Path
) -> None:
    lake = create_lake(tmp_path / "lake")
    inbox = tmp_path / "inbox"
    fleet.write(inbox / "a.jsonl", [fleet.order(1)])
    first = sort(spark, inbox, catalog, lake.root, checkpoint=tmp_path / "checkpoint")
    job = fleet.job(lake, catalog.compiled, run=first.run, batch=1)
    file = fleet.write(inbox / "b.jsonl", [fleet.order(2)])
    put_manifest(lake, plan_manifest(lake, job, "inbox", [fleet.task(job, file)]), FolderLock())
    sort(spark, inbox, catalog, lake.root, checkpoint=tmp_path / "checkpoint")
    assert sorted(column(lake.root, "shop/order.placed", "ce_id")) == ["o1", "o2"]


def test_a_checkpoint_of_another_source_is_refused(spark: Any, catalog: Catalog, records: Path, tmp_path: Path) -> None:
    sort(spark, records, catalog, tmp_path / "lake", checkpoint=tmp_path / "checkpoint")
    with pytest.raises(LakeRefused, match="belongs to another source"):
        sort(spark, records.parent, catalog, tmp_path / "lake", checkpoint=tmp_path / "checkpoint")


def test_a_stream_of_ones_own_is_sorted_once_over_restarts(
    spark: Any, fleet: Any, catalog: Catalog, records: Path, tmp_path: Path
) -> None:
    lake = tmp_path / "lake"
    for _ in range(2):
        stream = spark.readStream.text(str(records.parent)).where("value != ''")
        query = stream.writeStream.foreachBatch(sorter(catalog, lake)).trigger(availableNow=True)
        query.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
        shutil.rmtree(tmp_path / "checkpoint" / "commits")
    assert [entry.landed for entry in read_ledger(open_lake(lake))] == [fleet.landed]
    assert list(differences(open_lake(lake))) == []


@pytest.mark.parametrize("key", ["", "number"])
def test_records_of_different_batches_have_different_ids(
    spark: Any, fleet: Any, catalog: Catalog, tmp_path: Path, key: str
) -> None:
    lake, inbox = tmp_path / "lake", tmp_path / "inbox"
    for number in range(3):
        fleet.write(inbox / f"{number}.jsonl", [fleet.order(number), "{}"])
    stream = spark.readStream.option("maxFilesPerTrigger", 1).text(str(inbox))
    stream = stream.selectExpr("value", "substr(value, 1, 40) || input_file_name() AS number")
    query = stream.writeStream.foreachBatch(sorter(catalog, lake, record_id=key)).trigger(availableNow=True)
    query.option("checkpointLocation", str(tmp_path / "checkpoint")).start().awaitTermination()
    assert len(read_ledger(open_lake(lake))) == 3
    ids = column(lake, "shop/order.placed", "_record_id") + column(lake, "_dead_letters", "_record_id")
    assert len(set(ids)) == len(ids) == 6


def test_all_kinds_of_files_in_one_folder(spark: Any, fleet: Any, catalog: Catalog, tmp_path: Path) -> None:
    inbox = tmp_path / "inbox"
    fleet.write(inbox / "a.jsonl", [fleet.order(1)])
    with pa.CompressedOutputStream(str(inbox / "b.jsonl.zst"), "zstd") as packed:
        packed.write(json.dumps(fleet.order(2)).encode())
    alarm = fleet.alarm("VIN1")
    pq.write_table(pa.Table.from_pylist([alarm | {"payload": alarm["payload"].encode()}]), inbox / "c.parquet")
    (inbox / "notes.md").write_text("not a record file")
    (inbox / "_half.jsonl").write_text("{}")
    (inbox / "d.parquet").write_bytes(b"PAR1 and no more")
    entry = sort(spark, inbox, catalog, tmp_path / "lake", checkpoint=tmp_path / "checkpoint")
    assert entry.landed == {
        "/messagegroups/shop/messages/order.placed": 2,
        "/messagegroups/fleet/messages/vehicle.alarm": 1,
    }
    assert entry.dead == {"malformed": 1}


def test_what_spark_has_taken_does_not_wait(spark: Any, fleet: Any, catalog: Catalog, tmp_path: Path) -> None:
    inbox, checkpoint = tmp_path / "in box [1]", tmp_path / "checkpoint"
    fleet.write(inbox / "a b%20.jsonl", [fleet.order(1)])
    fleet.write(inbox / "deep" / "ö.jsonl", [fleet.order(2)])
    assert sort(spark, inbox, catalog, tmp_path / "lake", checkpoint=checkpoint).read == 2
    size = fleet.write(inbox / "later.jsonl", [fleet.order(3)]).stat().st_size
    source = FileSource(inbox)
    frame = spark.createDataFrame([], "path string, length long")
    assert source.batch(frame) is None
    assert source.lag(Reached(checkpoint=checkpoint / "stream")) == {"in box [1]": Lag(files=1, bytes=size)}


def test_a_run_without_a_checkpoint_is_watched_as_well(
    spark: Any, catalog: Catalog, records: Path, tmp_path: Path
) -> None:
    watcher = Following()
    entry = sort(spark, records, catalog, tmp_path / "lake", watcher=watcher)
    assert watcher.entries == [entry]
    assert set(watcher.lags[0]) == {records.name}


def test_a_stream_is_no_batch(spark: Any, catalog: Catalog, records: Path, tmp_path: Path) -> None:
    with pytest.raises(LakeRefused, match="is a stream"):
        sort(spark, spark.readStream.text(str(records.parent)), catalog, tmp_path / "lake")


def test_days_are_partitions_of_new_tables(
    spark: Any, fleet: Any, catalog: Catalog, records: Path, tmp_path: Path
) -> None:
    lake = create_lake(tmp_path / "lake")
    for _ in range(2):
        entry = sort(spark, records, catalog, lake.root, partition_by_date=True)
    table = DeltaTable(lake.path("fleet/vehicle.position"))
    assert table.metadata().partition_columns == ["_landed_on"]
    assert set(column(lake.root, "fleet/vehicle.position", "_landed_on")) == {entry.started.date()}
    assert sort(spark, records, catalog, lake.root).changes == ()
    assert len(column(lake.root, "fleet/vehicle.position", "_landed_on")) == 33

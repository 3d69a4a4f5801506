from __future__ import annotations

import gzip
import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from postroom.catalog.catalog import Catalog
from postroom.errors import FileMissing, LakeRefused
from postroom.pipeline import LedgerEntry, SortSink, sort
from postroom.pipeline.lake.commit_plan import plan_manifest
from postroom.pipeline.lake.lake import create_lake, open_lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.manifest import put_manifest
from postroom.pipeline.sources.file_ranges import cut_ranges
from postroom.pipeline.spark.errors import error_from_spark
from postroom.pipeline.storage.folder import FolderLock

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


def rows(lake: Path, folder: str) -> int:
    return int(DeltaTable(lake / folder).to_pyarrow_table().num_rows)


def test_mixed_records_land_in_their_tables(
    spark: Any, fleet: Any, catalog: Catalog, records: Path, tmp_path: Path
) -> None:
    entry = sort(spark, records, catalog, tmp_path / "lake")
    assert isinstance(entry, LedgerEntry)
    assert entry.landed == fleet.landed
    assert entry.dead == fleet.dead
    assert entry.read == sum(entry.landed.values()) + sum(entry.dead.values())
    assert read_ledger(open_lake(tmp_path / "lake")) == [entry]
    assert rows(tmp_path / "lake", "fleet/vehicle.position") == 11
    assert rows(tmp_path / "lake", "_dead_letters") == 5


def test_many_tasks_make_one_batch(
    spark: Any, fleet: Any, catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("postroom.pipeline.sources.file_ranges.SMALLEST_RANGE", 1000)
    for part in range(3):
        fleet.write(tmp_path / "in" / f"{part}.jsonl", [fleet.position(n) for n in range(part * 100, part * 100 + 100)])
    assert len(cut_ranges(sorted((tmp_path / "in").iterdir()), 8)[0]) > 8
    entry = sort(spark, tmp_path / "in", catalog, tmp_path / "lake")
    assert entry.read == 300
    table = DeltaTable(tmp_path / "lake" / "fleet" / "vehicle.position").to_pyarrow_table()
    assert len(set(table.column("_record_id").to_pylist())) == 300
    assert len(set(table.column("ce_id").to_pylist())) == 300


def test_record_ids_are_the_same_on_a_second_run(spark: Any, catalog: Catalog, records: Path, tmp_path: Path) -> None:
    for _ in range(2):
        sort(spark, records, catalog, tmp_path / "lake")
    table = DeltaTable(tmp_path / "lake" / "shop" / "order.placed").to_pyarrow_table()
    assert table.num_rows == 12
    assert len(set(table.column("_record_id").to_pylist())) == 6


def test_record_ids_do_not_depend_on_how_a_path_is_spelled(
    spark: Any, catalog: Catalog, records: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "link").symlink_to(records.parent)
    monkeypatch.chdir(tmp_path)
    spelled = [records, "records/mixed.jsonl", "records/../records/mixed.jsonl", "link", records.as_uri()]
    for source in spelled:
        sort(spark, source, catalog, tmp_path / "lake")
    sort(spark, "link", catalog, tmp_path / "lake", checkpoint="checkpoint")
    table = DeltaTable(tmp_path / "lake" / "shop" / "order.placed").to_pyarrow_table()
    assert table.num_rows == 36
    assert len(set(table.column("_record_id").to_pylist())) == 6
    assert set(table.column("_source").to_pylist()) == {str(records)}


def test_a_dataframe_is_known_by_the_key_that_its_caller_names(
    spark: Any, fleet: Any, catalog: Catalog, catalog_file: Path, tmp_path: Path
) -> None:
    rows = [(n, json.dumps(fleet.order(n))) for n in range(4)]
    frame = spark.createDataFrame(rows, "number long, value string")
    sort(spark, frame, catalog, tmp_path / "lake", record_id="number", source="shop")
    sort(spark, frame.orderBy("number", ascending=False), catalog, tmp_path / "lake", record_id="number", source="shop")
    spark.dataSource.register(SortSink)
    options = {"catalog": str(catalog_file), "recordId": "number", "source": "shop"}
    frame.write.format("postroom").options(**options).mode("append").save(str(tmp_path / "lake"))
    for _ in range(2):
        sort(spark, frame, catalog, tmp_path / "lake")
    table = DeltaTable(tmp_path / "lake" / "shop" / "order.placed").to_pyarrow_table().to_pylist()
    known = {(row["ce_id"], row["_record_id"]) for row in table if row["_source"] == "shop"}
    counted = [row["_record_id"] for row in table if row["_source"] == "dataframe"]
    assert (len(table), len(known), len(set(counted))) == (20, 4, 8)
    with pytest.raises(LakeRefused, match="only a DataFrame"):
        sort(spark, catalog_file, catalog, tmp_path / "lake", record_id="number")


def test_gzip_and_dataframes_are_sources_too(
    spark: Any, fleet: Any, catalog: Catalog, records: Path, tmp_path: Path
) -> None:
    packed = tmp_path / "mixed.jsonl.gz"
    packed.write_bytes(gzip.compress(records.read_bytes()))
    assert sort(spark, packed, catalog, tmp_path / "lake").landed == fleet.landed
    lines = spark.read.text(str(records)).where("value != ''")
    assert sort(spark, lines, catalog, tmp_path / "lake").landed == fleet.landed


def test_a_dataframe_with_the_columns_of_a_record(spark: Any, catalog: Catalog, tmp_path: Path) -> None:
    frame = spark.createDataFrame(
        [("MQTT/5.0", {"topic_name": "vehicles/VIN9/alarm"}, '{"code": "hot"}')],
        "protocol string, metadata map<string, string>, payload string",
    )
    entry = sort(spark, frame, catalog, tmp_path / "lake")
    assert entry.landed == {"/messagegroups/fleet/messages/vehicle.alarm": 1}


def test_a_dataframe_without_records_is_refused(spark: Any, catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(LakeRefused, match="holds no records"):
        sort(spark, spark.range(3), catalog, tmp_path / "lake")


def test_an_empty_file_is_an_empty_batch(spark: Any, catalog: Catalog, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    entry = sort(spark, tmp_path / "empty.jsonl", catalog, tmp_path / "lake")
    assert (entry.read, entry.landed, entry.dead) == (0, {}, {})


def test_with_a_checkpoint_a_file_is_sorted_once(
    spark: Any, fleet: Any, catalog: Catalog, records: Path, tmp_path: Path
) -> None:
    lake, checkpoint = tmp_path / "lake", tmp_path / "checkpoint"
    first = sort(spark, records.parent, catalog, lake, checkpoint=checkpoint)
    again = sort(spark, records.parent, catalog, lake, checkpoint=checkpoint)
    fleet.write(records.parent / "later.jsonl", [fleet.order(77)])
    later = sort(spark, records.parent, catalog, lake, checkpoint=checkpoint)
    assert (first.read, again.read, later.read) == (24, 0, 1)
    assert first.run == again.run == later.run
    assert rows(lake, "shop/order.placed") == 7


def test_a_run_that_died_between_manifest_and_tables_is_finished_first(
    spark: Any, fleet: Any, catalog: Catalog, records: Path, tmp_path: Path
) -> None:
    lake = create_lake(tmp_path / "lake")
    job = fleet.job(lake, catalog.compiled, run="dead")
    put_manifest(lake, plan_manifest(lake, job, "records", [fleet.task(job, records)]), FolderLock())
    entry = sort(spark, records, catalog, lake.root)
    assert [ledger.run for ledger in read_ledger(lake)] == ["dead", entry.run]
    assert rows(lake.root, "shop/order.placed") == 12


def test_what_lies_around_damage_lands(spark: Any, fleet: Any, catalog: Catalog, records: Path, tmp_path: Path) -> None:
    _damaged(records.parent / "damaged.jsonl.gz", [fleet.order(n) for n in range(1000)])
    entry = sort(spark, records.parent, catalog, tmp_path / "lake")
    assert entry.landed["/messagegroups/shop/messages/order.placed"] > 6
    letters = DeltaTable(tmp_path / "lake" / "_dead_letters").to_pyarrow_table().column("record").to_pylist()
    assert sum(b"is damaged" in letter for letter in letters) == 1


def test_a_source_that_is_not_there_is_one_sentence(spark: Any, catalog: Catalog, tmp_path: Path) -> None:
    with pytest.raises(FileMissing, match="no such file") as raised:
        sort(spark, tmp_path / "nowhere.jsonl", catalog, tmp_path / "lake")
    assert "\n" not in str(raised.value)


def _damaged(path: Path, records: list[Any]) -> Path:
    packed = gzip.compress("".join(json.dumps(record) + "\n" for record in records).encode())
    path.write_bytes(packed[:-20])
    return path


def test_spark_reads_what_landed(spark: Any, catalog: Catalog, records: Path, tmp_path: Path) -> None:
    sort(spark, records, catalog, tmp_path / "lake")
    files = DeltaTable(tmp_path / "lake" / "fleet" / "vehicle.position").file_uris()
    frame = spark.read.parquet(*files)
    assert frame.where("data.speed > 5").count() == 5
    assert dict(frame.dtypes)["data"] == "struct<lat:double,lon:double,speed:bigint>"


def test_spark_writes_in_our_format(spark: Any, fleet: Any, catalog_file: Path, records: Path, tmp_path: Path) -> None:
    spark.dataSource.register(SortSink)
    lines = spark.read.text(str(records)).where("value != ''")
    writer = lines.write.format("postroom").option("catalog", str(catalog_file)).mode("append")
    writer.option("lake", str(tmp_path / "lake")).save()
    (entry,) = read_ledger(open_lake(tmp_path / "lake"))
    assert entry.landed == fleet.landed
    writer.option("nulls", "strict").save(str(tmp_path / "lake"))
    assert len(read_ledger(open_lake(tmp_path / "lake"))) == 2


@pytest.mark.parametrize(
    ("mode", "options", "path", "sentence"),
    [
        ("append", {}, "", "needs the option 'lake'"),
        ("append", {"lake": "LAKE", "checkpiont": "x"}, "", "has no option 'checkpiont'"),
        ("append", {"lake": "hdfs://host/lake"}, "", "a lake on HDFS is not supported"),
        ("append", {}, "dbfs:/lake", "a lake cannot be there"),
        ("append", {"lake": "LAKE"}, "elsewhere", "there are two lakes"),
        ("append", {"lake": "LAKE", "recordId": "nubmer"}, "", "Did you mean 'number'"),
        ("overwrite", {"lake": "LAKE"}, "", "nothing can be overwritten"),
        ("ignore", {"lake": "LAKE"}, "", "(?i)mode"),
        ("error", {"lake": "LAKE"}, "", "(?i)mode"),
    ],
)
def test_what_our_format_cannot_do_is_refused(
    spark: Any, catalog_file: Path, tmp_path: Path, mode: str, options: dict[str, str], path: str, sentence: str
) -> None:
    spark.dataSource.register(SortSink)
    frame = spark.createDataFrame([(1, "{}")], "number long, value string")
    lake = tmp_path / "lake"
    chosen = {name: str(lake) if value == "LAKE" else value for name, value in options.items()}
    writer = frame.write.format("postroom").option("catalog", str(catalog_file)).options(**chosen).mode(mode)
    with pytest.raises(Exception, match=sentence):
        writer.save(*([path] if path else []))
    assert not lake.exists()


def test_records_of_a_kafka_frame_are_known_by_topic_partition_and_offset(
    spark: Any, catalog: Catalog, tmp_path: Path
) -> None:
    columns = "key binary, value binary, topic string, partition int, offset long, timestamp timestamp"
    frame = spark.createDataFrame([(None, b'{"specversion": "1.0"}', "fleet", 3, 42, None)], columns)
    entry = sort(spark, frame, catalog, tmp_path / "lake")
    assert entry.read == 1
    (letter,) = DeltaTable(tmp_path / "lake" / "_dead_letters").to_pyarrow_table().to_pylist()
    assert (letter["_source"], letter["_position"]) == ("kafka://fleet/3", 42)


def test_a_large_record_is_a_dead_letter_among_others(spark: Any, fleet: Any, catalog: Catalog, tmp_path: Path) -> None:
    large = fleet.order(2, data={"number": "A", "lines": [], "note": "x" * 100_000_000})
    file = fleet.write(tmp_path / "large.jsonl", [fleet.order(1), large, fleet.order(3)])
    entry = sort(spark, file, catalog, tmp_path / "lake")
    assert (sum(entry.landed.values()), entry.dead) == (2, {"malformed": 1})


def test_a_foreign_table_in_the_way_is_one_sentence(
    spark: Any, catalog: Catalog, records: Path, tmp_path: Path
) -> None:
    lake = create_lake(tmp_path / "lake")
    write_deltalake(lake.path("shop/order.placed"), pa.table({"mine": [1]}))
    with pytest.raises(LakeRefused, match="not made by Postroom"):
        sort(spark, records, catalog, lake.root)
    assert read_ledger(lake) == []
    assert rows(lake.root, "shop/order.placed") == 1


@pytest.mark.parametrize(
    ("said", "kind", "sentence"),
    [
        (
            "OSError: [Errno 28] Error writing bytes to file. Detail: [errno 28] No space left on device",
            3,
            "no room left",
        ),
        ("postroom.errors.LakeRefused: shop/order: the table is foreign.", 2, "shop/order: the table is foreign."),
        ("Caused by: java.lang.IllegalStateException: what a pity", 2, "IllegalStateException: what a pity"),
    ],
)
def test_what_spark_says_becomes_a_sentence(said: str, kind: int, sentence: str) -> None:
    error = error_from_spark(f"An error occurred\n{said}\n\tat somewhere", "lake")
    assert (error.exit_code, sentence in str(error)) == (kind, True)


def test_no_module_hides_a_function_of_the_same_name() -> None:
    script = """
        import pkgutil, postroom.pipeline as pipeline
        for found in pkgutil.walk_packages(pipeline.__path__, "postroom.pipeline."):
            __import__(found.name)
        print([name for name in pipeline.__all__ if not callable(getattr(pipeline, name))])
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip() == "[]"

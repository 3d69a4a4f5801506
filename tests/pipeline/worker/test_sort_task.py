from __future__ import annotations

import errno
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from postroom.catalog.catalog import Catalog
from postroom.formats.jsonschema.format import JsonSchema
from postroom.pipeline.batch_sorter import finish_commits
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake
from postroom.pipeline.lake.reconciliation import differences
from postroom.pipeline.sources.dataframe import record_lines
from postroom.pipeline.sources.record_ids import digest_of
from postroom.pipeline.storage.interface import Storage
from postroom.pipeline.worker.parquet_writer import Written, write_parquet
from postroom.pipeline.worker.sort_task import write_batch

POSITION = "fleet/vehicle.position"


def rows_of(lake: Lake, written: Any, folder: str) -> list[dict[str, Any]]:
    files = [file for file in written.files if file.folder == folder]
    return [row for file in files for row in pq.read_table(lake.path(folder) / file.path).to_pylist()]


def test_every_message_is_in_exactly_one_file(fleet: Any, lake: Lake, catalog: Catalog, records: Path) -> None:
    written = fleet.task(fleet.job(lake, catalog.compiled), records)
    assert written.read == sum(fleet.landed.values()) + sum(fleet.dead.values())
    assert written.dead == fleet.dead
    assert {f.xid: f.rows for f in written.files if f.folder != "_dead_letters"} == fleet.landed
    assert [file.rows for file in written.files if file.folder == "_dead_letters"] == [sum(fleet.dead.values())]


def test_a_row_says_where_it_came_from(fleet: Any, lake: Lake, catalog: Catalog, records: Path) -> None:
    job = fleet.job(lake, catalog.compiled)
    rows = rows_of(lake, fleet.task(job, records), POSITION)
    for row in rows:
        line = records.read_bytes()[row["_position"] :].partition(b"\n")[0]
        assert row["ce_id"].encode() in line
    assert len({row["_record_id"] for row in rows}) == len(rows)
    assert rows[0]["_source"] == str(records)
    assert rows[0]["_batch"] == "run1-0"
    assert rows[0]["_schema_version"] == "3"
    assert rows[0]["_checked"] is True
    assert rows[0]["var_vin"] == "VIN0"
    assert rows[0]["data"] == {"lat": 47.1, "lon": 8.5, "speed": 0}


@pytest.mark.parametrize("ahead", [timedelta(days=-2), timedelta(days=2)])
def test_times_of_rows_are_the_drivers_whatever_the_clocks_of_workers_say(
    fleet: Any, lake: Lake, catalog: Catalog, records: Path, ahead: timedelta
) -> None:
    started = datetime.now(UTC) + ahead
    job = msgspec.structs.replace(fleet.job(lake, catalog.compiled), started=started, partition_by_date=True)
    entry = commit_batch(lake, job, "records", [fleet.task(job, records)])
    assert (entry.started, entry.read) == (started, 24)
    rows = lake.table("fleet/vehicle.position").to_pyarrow_table()
    assert set(rows.column("_landed_at").to_pylist()) == {started}
    assert set(rows.column("_landed_on").to_pylist()) == {started.date()}
    assert set(lake.table(DEAD_LETTERS).to_pyarrow_table().column("_dead_at").to_pylist()) == {started}
    # Nor does anybody take the files of the batch for old ones.
    finish_commits(lake)
    assert list(differences(lake)) == []


def test_dead_letters_keep_the_exact_bytes(fleet: Any, lake: Lake, catalog: Catalog, tmp_path: Path) -> None:
    broken = b'{"specversion": \xff\xfe "1.0"}\r'
    file = tmp_path / "broken.jsonl"
    file.write_bytes(broken + b"\n")
    letters = rows_of(lake, fleet.task(fleet.job(lake, catalog.compiled), file), "_dead_letters")
    assert [letter["record"] for letter in letters] == [broken]
    assert letters[0]["outcome"] == "malformed"


def test_dead_letters_say_what_was_tried(fleet: Any, lake: Lake, catalog: Catalog, tmp_path: Path) -> None:
    file = fleet.write(tmp_path / "boat.jsonl", [fleet.position(1, source="/boats/9")])
    (letter,) = rows_of(lake, fleet.task(fleet.job(lake, catalog.compiled), file), "_dead_letters")
    xid = "/messagegroups/fleet/messages/vehicle.position"
    assert letter["message"] == xid
    assert letter["versions"] == [{"message": xid, "version": "1"}]
    assert letter["reasons"][0]["code"] == "template_mismatch"
    assert letter["reasons"][0]["found"] == "/boats/9"


def test_attributes_nobody_declared_are_kept(fleet: Any, lake: Lake, catalog: Catalog, tmp_path: Path) -> None:
    file = fleet.write(tmp_path / "more.jsonl", [fleet.position(1, traceparent="00-ab", weight=7)])
    (row,) = rows_of(lake, fleet.task(fleet.job(lake, catalog.compiled), file), POSITION)
    assert dict(row["_extensions"]) == {"traceparent": "00-ab", "weight": "7"}


def test_a_time_no_column_can_hold_is_kept_as_text(fleet: Any, lake: Lake, catalog: Catalog, tmp_path: Path) -> None:
    leap = "2016-12-31T23:59:60Z"
    file = fleet.write(tmp_path / "leap.jsonl", [fleet.position(1, time=leap), fleet.position(2)])
    rows = rows_of(lake, fleet.task(fleet.job(lake, catalog.compiled), file), POSITION)
    first, second = sorted(rows, key=lambda row: str(row["ce_id"]))
    assert (first["ce_time"], dict(first["_extensions"])) == (None, {"time": leap})
    assert second["ce_time"].isoformat() == "2026-03-01T10:00:00+00:00"


def test_an_empty_batch_is_a_dead_letter(fleet: Any, lake: Lake, catalog: Catalog, tmp_path: Path) -> None:
    file = fleet.write(tmp_path / "empty.jsonl", ["[]"])
    written = fleet.task(fleet.job(lake, catalog.compiled), file)
    assert (written.read, written.dead) == (1, {"malformed": 1})


def test_text_no_column_can_hold_is_a_dead_letter_among_good_rows(
    fleet: Any, lake: Lake, catalog: Catalog, tmp_path: Path
) -> None:
    lone_surrogate = json.dumps(fleet.order(2)).replace("A-2", "\\ud800")
    file = fleet.write(tmp_path / "orders.jsonl", [fleet.order(1), lone_surrogate, fleet.order(3)])
    written = fleet.task(fleet.job(lake, catalog.compiled), file)
    assert [row["ce_id"] for row in rows_of(lake, written, "shop/order.placed")] == ["o1", "o3"]
    assert sum(written.dead.values()) == 1
    assert written.read == 3


def test_memory_is_bounded_by_flushing(
    fleet: Any, lake: Lake, catalog: Catalog, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("postroom.pipeline.worker.sort_task.FLUSH_ROWS", 4)
    written = fleet.task(fleet.job(lake, catalog.compiled), records)
    assert written.read == sum(file.rows for file in written.files)
    assert max(file.rows for file in written.files) <= 6


def kafka_row(number: int, event: dict[str, Any], mode: str = "binary", **changes: Any) -> dict[str, Any]:
    """An event as Spark's Kafka connector hands it out."""
    headers = [{"key": f"ce_{name}", "value": str(value).encode()} for name, value in event.items() if name != "data"]
    payload: Any = event["data"]
    if mode == "structured":
        headers, payload = [{"key": "content-type", "value": b"application/cloudevents+json"}], event
    row = {"key": b"VIN1", "headers": headers, "value": json.dumps(payload).encode()}
    place = {"source": f"kafka/fleet/{number % 2}", "position": number, "topic": "fleet", "partition": number % 2}
    return {**place, "offset": number, **row, **changes}


KAFKA = pa.schema(
    [
        ("source", pa.string()),
        ("position", pa.int64()),
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("offset", pa.int64()),
        ("key", pa.binary()),
        ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
        ("value", pa.binary()),
    ]
)


def test_columns_of_kafka_land_as_the_same_lines_do(fleet: Any, lake: Lake, catalog: Catalog) -> None:
    rows = [
        kafka_row(0, fleet.position(0)),
        kafka_row(1, fleet.position(1), "structured"),
        kafka_row(2, fleet.position(2, tenant="oslo")),
        kafka_row(3, fleet.position(3, colour="red")),
        kafka_row(4, fleet.position(4, data={"lat": "north"})),
        kafka_row(5, fleet.position(5, source="/boats/1"), key=b"\xff"),
        kafka_row(6, fleet.position(6), value=None),
        kafka_row(7, fleet.position(7), headers=None),
        kafka_row(8, fleet.order(8), value=b"\xff\xfe"),
        kafka_row(9, fleet.order(9)),
    ]
    rows[9]["headers"].append({"key": "CE_ID", "value": b"twice"})
    rows[2]["headers"].append({"key": "trace", "value": b"\xff"})
    batch = pa.RecordBatch.from_pylist(rows, schema=KAFKA)
    lines = pa.record_batch(
        {**{name: batch.column(name) for name in ("source", "position")}, "value": record_lines(batch)}
    )
    results = []
    for run, records in (("columns", batch), ("lines", lines)):
        written = write_batch(fleet.job(lake, catalog.compiled, run=run), [records])
        folders = sorted({file.folder for file in written.files})
        tables = {
            folder: sorted(rows_of(lake, written, folder), key=lambda row: row["_position"]) for folder in folders
        }
        plain = {
            folder: [{n: v for n, v in row.items() if n not in ("_batch", "_landed_at", "_dead_at")} for row in found]
            for folder, found in tables.items()
        }
        results.append((written.read, written.dead, plain))
    assert results[0] == results[1]
    assert results[0][0] == 10


def test_rows_without_a_plain_event_are_sorted_among_the_others(fleet: Any, lake: Lake, catalog: Catalog) -> None:
    lines = [json.dumps(fleet.position(n, **({"colour": "red"} if n == 2 else {}))) for n in range(4)]
    batch = pa.record_batch({"source": ["a", "a", "b", "b"], "position": [0, 1, 0, 1], "value": lines})
    written = write_batch(fleet.job(lake, catalog.compiled), [batch])
    rows = sorted(rows_of(lake, written, POSITION), key=lambda row: str(row["ce_id"]))
    assert len(written.files) == 1
    assert [(row["_source"], row["_position"]) for row in rows] == [("a", 0), ("a", 1), ("b", 0), ("b", 1)]
    assert [row["_record_id"] for row in rows] == [f"{digest_of(s)}-{p}" for s in "ab" for p in (0, 1)]
    assert [dict(row["_extensions"] or ()) for row in rows] == [{}, {}, {"colour": "red"}, {}]


def test_a_payload_that_breaks_a_validator_is_a_dead_letter_among_good_rows(
    fleet: Any, lake: Lake, catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge, fill_all = JsonSchema.validate, JsonSchema.fill_all_and_undeclared

    def breaking_judge(self: Any, payload: bytes, contenttype: str = "") -> Any:
        if b"666" in bytes(payload):
            raise ZeroDivisionError("what a library may do")
        return judge(self, payload, contenttype)

    def breaking_fill(self: Any, payloads: Any, doubtful: set[int], kept: dict[int, str]) -> Any:
        if any(b"666" in bytes(payload) for payload in payloads):
            raise ZeroDivisionError("what a library may do")
        return fill_all(self, payloads, doubtful, kept)

    monkeypatch.setattr(JsonSchema, "validate", breaking_judge)
    monkeypatch.setattr(JsonSchema, "fill_all_and_undeclared", breaking_fill)
    bad = fleet.position(2, data={"lat": 666.0, "lon": 1.0})
    path = fleet.write(tmp_path / "r.jsonl", [fleet.position(1), bad, fleet.position(3)])
    job = fleet.job(lake, catalog.compiled)
    written = fleet.task(job, path)
    assert (written.read, written.dead) == (3, {"invalid": 1})
    letter = rows_of(lake, written, DEAD_LETTERS)[0]
    assert letter["reasons"][0]["code"] == "check_failed"
    assert "ZeroDivisionError" in letter["reasons"][0]["found"]


def test_a_task_that_fails_takes_its_files_back(
    fleet: Any, lake: Lake, catalog: Catalog, records: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []

    def write(table: pa.Table, storage: Storage, path: str) -> Written:
        written.append(path)
        if len(written) == 3:
            (lake.root / path).write_bytes(b"PAR")
            raise OSError(errno.ENOSPC, "No space left on device")
        return write_parquet(table, storage, path)

    monkeypatch.setattr("postroom.pipeline.worker.parquet_writer.write_parquet", write)
    job = fleet.job(lake, catalog.compiled)
    with pytest.raises(OSError, match="No space"):
        fleet.task(job, records)
    assert len(written) == 3
    assert list(lake.root.rglob("*.parquet")) == []

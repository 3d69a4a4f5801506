from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from postroom.catalog import Catalog
from postroom.pipeline.lake import Lake

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
    first, second = rows_of(lake, fleet.task(fleet.job(lake, catalog.compiled), file), POSITION)
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
    monkeypatch.setattr("postroom.pipeline.worker.FLUSH_ROWS", 4)
    written = fleet.task(fleet.job(lake, catalog.compiled), records)
    assert written.read == sum(file.rows for file in written.files)
    assert max(file.rows for file in written.files) <= 6

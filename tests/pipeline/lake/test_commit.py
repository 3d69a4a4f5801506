from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from postroom.catalog.catalog import Catalog
from postroom.errors import LakeRefused
from postroom.pipeline.batch_sorter import finish_commits
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.commit_plan import plan_manifest
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.manifest import put_manifest, unfinished
from postroom.pipeline.lake.table_properties import STATISTICS_OF
from postroom.pipeline.storage.folder import FolderLock

# Applies the one manifest of a lake and dies without a word after a number of tables (-1: before the ledger's
# row is written, but after all tables).
DIE_HALF_WAY = """
import os, sys
import postroom.pipeline.lake.commit as commit
from postroom.pipeline.lake.lake import open_lake
from postroom.pipeline.lake.manifest import read_manifest

lake, run, survive = open_lake(sys.argv[1]), sys.argv[2], int(sys.argv[3])
real, done = commit.commit_table, []

def commit_then_die(*arguments, **named):
    if len(done) == survive:
        os._exit(9)
    real(*arguments, **named)
    done.append(1)

commit.PARALLEL_COMMITS = 1
commit.commit_table = commit_then_die
commit.record_batch = lambda *_, **__: os._exit(9)
commit.apply_manifest(lake, read_manifest(lake, run, 0))
"""


def count(lake: Lake, folder: str) -> int:
    return int(DeltaTable(lake.path(folder)).to_pyarrow_table().num_rows) if lake.has(folder) else 0


def position_rows(lake: Lake) -> int:
    return count(lake, "fleet/vehicle.position")


def total_rows(lake: Lake) -> int:
    return sum(count(lake, place.folder) for place in lake.tables()) + count(lake, "_dead_letters")


@pytest.mark.parametrize("tables", [0, 1, 2, 3, 99])
def test_a_commit_that_died_is_finished_exactly_once(
    fleet: Any, lake: Lake, catalog: Catalog, records: Path, tables: int
) -> None:
    job = fleet.job(lake, catalog.compiled)
    manifest = plan_manifest(lake, job, "records", [fleet.task(job, records)])
    assert put_manifest(lake, manifest, FolderLock())
    died = subprocess.run([sys.executable, "-c", DIE_HALF_WAY, lake.root, job.run, str(tables)], check=False)
    assert died.returncode == 9
    assert read_ledger(lake) == []
    assert unfinished(lake) == [(job.run, 0)]

    (entry,) = finish_commits(lake)

    assert total_rows(lake) == entry.read == manifest.read
    assert entry.landed == fleet.landed
    assert finish_commits(lake) == []
    assert read_ledger(lake) == [entry]
    assert unfinished(lake) == []


def test_a_table_whose_making_died_is_made(fleet: Any, lake: Lake, catalog: Catalog, records: Path) -> None:
    (lake.path("shop/order.placed") / "_delta_log").mkdir(parents=True)
    assert list(lake.tables()) == []
    job = fleet.job(lake, catalog.compiled)
    commit_batch(lake, job, "records", [fleet.task(job, records)])
    assert count(lake, "shop/order.placed") == 6


def test_an_earlier_commit_of_the_same_batch_wins(
    fleet: Any, lake: Lake, catalog: Catalog, records: Path, tmp_path: Path
) -> None:
    job = fleet.job(lake, catalog.compiled)
    first = plan_manifest(lake, job, "records", [fleet.task(job, records)])
    put_manifest(lake, first, FolderLock())
    other = fleet.write(tmp_path / "other.jsonl", [fleet.position(n) for n in range(100)])
    late = fleet.task(job, other)

    entry = commit_batch(lake, job, "records", [late])

    assert entry.read == first.read
    assert position_rows(lake) == 11
    assert not any((lake.path(file.folder) / file.path).exists() for file in late.files)


def test_a_batch_that_does_not_add_up_is_refused(fleet: Any, lake: Lake, catalog: Catalog, records: Path) -> None:
    job = fleet.job(lake, catalog.compiled)
    written = msgspec.structs.replace(fleet.task(job, records), read=25)
    with pytest.raises(LakeRefused, match="read 25 messages but wrote 24"):
        commit_batch(lake, job, "records", [written])
    assert list(lake.tables()) == []
    assert read_ledger(lake) == []


def test_new_members_become_new_columns(fleet: Any, lake: Lake, tmp_path: Path) -> None:
    old = fleet.job(lake, fleet.compiled(), batch=0)
    commit_batch(lake, old, "", [fleet.task(old, fleet.write(tmp_path / "1.jsonl", [fleet.position(1)]))])
    new = fleet.job(lake, fleet.compiled(heading={"type": "integer"}), batch=1)
    event = fleet.position(2, data={"lat": 1.0, "lon": 2.0, "heading": 90})

    entry = commit_batch(lake, new, "", [fleet.task(new, fleet.write(tmp_path / "2.jsonl", [event]))])

    assert [(change.kind, change.detail) for change in entry.changes] == [("columns_added", "data.heading")]
    rows = DeltaTable(lake.path("fleet/vehicle.position")).to_pyarrow_table().to_pylist()
    assert sorted(row["data"]["heading"] or 0 for row in rows) == [0, 90]


def test_a_changed_type_means_a_new_table(fleet: Any, lake: Lake, tmp_path: Path) -> None:
    old = fleet.job(lake, fleet.compiled(), batch=0)
    commit_batch(lake, old, "", [fleet.task(old, fleet.write(tmp_path / "1.jsonl", [fleet.position(1)]))])
    catalog = fleet.compiled(speed={"type": "string"})
    event = fleet.position(2, data={"lat": 1.0, "lon": 2.0, "speed": "fast"})
    for batch in (1, 2):
        job = fleet.job(lake, catalog, batch=batch)
        file = fleet.write(tmp_path / f"{batch}.jsonl", [event])
        entry = commit_batch(lake, job, "", [fleet.task(job, file)])
        expected = [("fleet/vehicle.position@2", "replaced")] if batch == 1 else []
        assert [(change.table, change.kind) for change in entry.changes] == expected
    assert position_rows(lake) == 1
    assert count(lake, "fleet/vehicle.position@2") == 2
    assert [place.name for place in lake.tables()] == ["vehicle.position", "vehicle.position@2"]


def test_a_foreign_table_in_the_way_is_left_alone(fleet: Any, lake: Lake, catalog: Catalog, records: Path) -> None:
    write_deltalake(lake.path("shop/order.placed"), pa.table({"mine": [1]}))
    job = fleet.job(lake, catalog.compiled)
    with pytest.raises(LakeRefused, match="not made by Postroom"):
        commit_batch(lake, job, "", [fleet.task(job, records)])
    assert count(lake, "shop/order.placed") == 1


def test_tables_carry_their_definition(sorted_lake: Lake) -> None:
    metadata = DeltaTable(sorted_lake.path("fleet/vehicle.position")).metadata()
    assert metadata.name == "/messagegroups/fleet/messages/vehicle.position"
    assert metadata.description == "Where a vehicle is."


def test_manifests_are_gone_when_all_is_done(sorted_lake: Lake) -> None:
    assert list((sorted_lake.root / "_manifests").glob("*.json")) == []


def test_tables_say_what_their_columns_come_from(fleet: Any, lake: Lake, tmp_path: Path) -> None:
    for batch, catalog in enumerate((fleet.compiled(), fleet.compiled(heading={"type": "integer"}))):
        job = fleet.job(lake, catalog, batch=batch)
        file = fleet.write(tmp_path / f"{batch}.jsonl", [fleet.position(batch)])
        commit_batch(lake, job, "", [fleet.task(job, file)])
    properties = DeltaTable(lake.path("fleet/vehicle.position")).metadata().configuration
    assert properties == {
        STATISTICS_OF: "ce_time,_sent_at,_landed_at,_position",
        "postroom.definition": "/messagegroups/fleet/messages/vehicle.position",
        "postroom.definition.version": "1",
        "postroom.schema": "/schemagroups/fleet.schemas/schemas/position",
        "postroom.schema.version": "3",
        "postroom.catalog.catalog": fleet.compiled().digest,
    }


def test_a_table_made_again_in_the_same_place_is_another_one(
    fleet: Any, lake: Lake, catalog: Catalog, records: Path
) -> None:
    for run in ("one", "two"):
        job = fleet.job(lake, catalog.compiled, run=run)
        commit_batch(lake, job, "", [fleet.task(job, records)])
        assert position_rows(lake) == 11
        shutil.rmtree(lake.path("fleet/vehicle.position"))

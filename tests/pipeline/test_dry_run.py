"""A dry run says what a sort would do, and leaves nothing behind."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from postroom.errors import LakeRefused
from postroom.pipeline import sort
from postroom.pipeline.catalog_reload import CatalogWatch
from postroom.pipeline.dry_run import DryRun, dry_run
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.sources.source import open_source
from postroom.settings import Settings
from tests.object_stores import S3Server

POSITION = "/messagegroups/fleet/messages/vehicle.position"


def look(source: str | Path, catalog_file: Path, lake: Path | str, **more: Any) -> DryRun:
    opened = open_source(source, more.get("storage_options"))
    return dry_run(opened, CatalogWatch(str(catalog_file), Settings()), lake, **more)


def everything(folder: Path) -> dict[str, int]:
    return {str(path): path.stat().st_mtime_ns for path in folder.rglob("*")}


def test_what_would_land_and_what_would_not(fleet: Any, catalog_file: Path, records: Path, tmp_path: Path) -> None:
    before = everything(tmp_path)
    found = look(records.parent, catalog_file, tmp_path / "lake")
    assert everything(tmp_path) == before
    assert [(part.name, part.bytes) for part in found.parts] == [(str(records), records.stat().st_size)]
    assert (found.judged, found.is_all) == (24, True)
    assert {one.message: one.rows for one in found.landed} == fleet.landed
    assert {one.change for one in found.landed} == {"created"}
    assert {(one.outcome, one.reason, one.message, one.letters) for one in found.dead} == {
        ("invalid", "payload_type", POSITION, 1),
        ("invalid", "template_mismatch", POSITION, 1),
        ("invalid", "payload_required", "/messagegroups/shop/messages/order.placed", 1),
        ("unmatched", "constant_mismatch", "", 1),
        ("malformed", "record_broken", "", 1),
    }


def test_a_sample_is_the_beginning_of_each_file(fleet: Any, catalog_file: Path, tmp_path: Path) -> None:
    for number in range(4):
        lines = fleet.write(tmp_path / "in" / f"{number}.jsonl", [fleet.position(n) for n in range(100)])
    (tmp_path / "in" / "9.jsonl.gz").write_bytes(gzip.compress(lines.read_bytes()))
    found = look(tmp_path / "in", catalog_file, tmp_path / "lake", sample=50)
    assert (found.judged, found.is_all, len(found.parts)) == (50, False, 5)
    found = look(tmp_path / "in", catalog_file, tmp_path / "lake", sample=500)
    assert (found.judged, found.is_all) == (500, True)
    assert look(tmp_path / "in", catalog_file, tmp_path / "lake", sample=0).judged == 500


def test_tables_that_are_there_say_how_they_would_change(
    fleet: Any, catalog_file: Path, sorted_lake: Lake, records: Path, tmp_path: Path
) -> None:
    import json

    before = everything(tmp_path)
    found = look(records, catalog_file, sorted_lake.root)
    assert everything(tmp_path) == before
    assert {one.change for one in found.landed} == {""}
    catalog_file.write_text(json.dumps(fleet.catalog(heading={"type": "integer"}, speed={"type": "string"})))
    fleet.write(records, [fleet.position(1, data={"lat": 1.0, "lon": 2.0, "speed": "fast"})])
    before = everything(tmp_path)
    [one] = look(records, catalog_file, sorted_lake.root).landed
    assert (one.table, one.change) == ("fleet/vehicle.position@2", "replaced")
    assert one.detail == "data.speed was long and is now string"
    assert everything(tmp_path) == before


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_what_a_checkpoint_has_is_not_read_again(
    spark: Any, fleet: Any, catalog_file: Path, records: Path, tmp_path: Path
) -> None:
    lake, checkpoint = tmp_path / "lake", tmp_path / "checkpoint"
    assert look(records.parent, catalog_file, lake, checkpoint=checkpoint).judged == 24
    assert not checkpoint.exists()
    sort(spark, records.parent, str(catalog_file), lake, checkpoint=checkpoint)
    later = fleet.write(records.parent / "later.jsonl", [fleet.order(77)])
    before = everything(tmp_path)
    found = look(records.parent, catalog_file, lake, checkpoint=checkpoint)
    assert ([part.name for part in found.parts], found.judged) == ([str(later)], 1)
    with pytest.raises(LakeRefused, match="belongs to another source"):
        look(records, catalog_file, lake, checkpoint=checkpoint)
    assert everything(tmp_path) == before


def test_places_that_cannot_be_a_lake_are_refused(catalog_file: Path, records: Path, tmp_path: Path) -> None:
    with pytest.raises(LakeRefused, match="not empty and not a lake"):
        look(records, catalog_file, records.parent)
    with pytest.raises(LakeRefused, match="this is a file"):
        look(records, catalog_file, records)


def test_files_and_lakes_in_a_store(
    fleet: Any, s3: S3Server, catalog_file: Path, records: Path, tmp_path: Path
) -> None:
    from postroom.pipeline.storage.open_storage import open_storage

    bucket = s3.bucket()
    storage = open_storage(f"s3://{bucket}", "a source", s3.options)
    storage.write("in/mixed.jsonl", records.read_bytes())
    found = look(f"s3://{bucket}/in", catalog_file, f"s3://{bucket}/lake", storage_options=s3.options)
    assert ({one.message: one.rows for one in found.landed}, found.is_all) == (fleet.landed, True)
    assert [file.path for file in storage.everything("")] == ["in/mixed.jsonl"]

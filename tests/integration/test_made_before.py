"""What earlier versions wrote goes on: a lake with its checkpoint and a registry file, as they were on disk.

`before-1.zip` was made on 16 November 2026 from `demo/catalog` and `demo/sample.jsonl`: `sort` with a checkpoint over
the folder `inbox`, and a store that the catalog was loaded into, with one Group changed and one message deleted.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

ARCHIVE = Path(__file__).with_name("before-1.zip")


@pytest.fixture
def before(tmp_path: Path) -> Path:
    """The files of the earlier version, in a folder of this test."""
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(tmp_path)
    for path in tmp_path.glob("cp/**/*"):  # a checkpoint knows its folders by their full names
        if path.is_file():
            path.write_text(path.read_text().replace("@HERE@", str(tmp_path)))
    return tmp_path


def postroom(folder: Path, *arguments: str) -> str:
    run = subprocess.run(
        [sys.executable, "-m", "postroom", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def batteries(folder: Path) -> list[str]:
    """The record ids in one of the tables."""
    statement = 'SELECT _record_id AS id FROM "fleet.telemetry"."vehicle.telemetry.battery"'
    return [row["id"] for row in json.loads(postroom(folder, "sql", "--lake", "lake", "--json", statement))]


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_lake_with_its_checkpoint_goes_on(before: Path) -> None:
    sort = ("sort", "--catalog", "catalog", "--source", "inbox", "--lake", "lake", "--checkpoint", "cp")
    monday = batteries(before)
    assert len(monday) == 3
    shutil.copy(before / "inbox" / "monday.jsonl", before / "inbox" / "tuesday.jsonl")

    assert postroom(before, *sort).splitlines()[-1] == "read 12 = landed 10 + dead 2"

    both = batteries(before)
    assert len(both) == len(set(both)) == 6
    assert set(monday) < set(both)
    # Times that are text in a table stay text there, without a second table.
    tables = {table["table"]: table for table in json.loads(postroom(before, "tables", "--lake", "lake", "--json"))}
    placed = tables['"shop.orders"."order.placed"']
    assert (placed["columns"]["data.ordered_at"], placed["rows"]) == ("string", 2)
    assert not [name for name in tables if "@" in name]
    postroom(before, "tables", "--lake", "lake", "--check")
    assert json.loads(postroom(before, "replay", "--catalog", "catalog", "--lake", "lake", "--json"))["landed"] == {}


def half_written(folder: Path) -> None:
    """Bring the lake back to the moment after the manifest, as the earlier version wrote it, when half its tables were
    committed: the ledger and the stream know nothing of the batch yet.
    """
    lake = folder / "lake"
    [file] = lake.glob("_ledger/*.parquet")
    [entry] = pq.read_table(file).to_pylist(maps_as_pydicts="strict")
    tables: list[dict[str, Any]] = []
    for log in sorted(lake.glob("**/_delta_log/00000000000000000000.json")):
        name = str(log.parent.parent.relative_to(lake))
        if name == "_ledger":
            continue
        actions = {key: value for line in log.read_text().splitlines() for key, value in json.loads(line).items()}
        rows = json.loads(actions["add"]["stats"])["numRecords"]
        added = {"path": actions["add"]["path"], "size": actions["add"]["size"], "rows": rows}
        about = actions["metaData"]
        tables.append({"folder": name, "schema": about["schemaString"], "files": [added], "definition": about["name"]})
    manifest = {
        name: entry[name] for name in ("run", "batch", "source", "catalog", "read", "landed", "dead", "changes")
    }
    (lake / "_manifests").mkdir()
    text = json.dumps(manifest | {"started": entry["started"].isoformat(), "tables": tables})
    (lake / "_manifests" / f"{entry['run']}-{entry['batch']}.json").write_text(text)
    for table in tables[::2]:
        shutil.rmtree(lake / table["folder"] / "_delta_log")
    shutil.rmtree(lake / "_ledger")
    (folder / "cp" / "stream" / "commits" / "0").unlink()


@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_lake_that_was_half_written_is_finished(before: Path) -> None:
    monday = sorted(batteries(before))
    half_written(before)
    sort = ("sort", "--catalog", "catalog", "--source", "inbox", "--lake", "lake", "--checkpoint", "cp")

    assert postroom(before, *sort).splitlines()[-1] == "read 0 = landed 0 + dead 0"

    assert sorted(batteries(before)) == monday
    assert postroom(before, "tables", "--lake", "lake", "--check").startswith("All rows are there: read 12 = landed 10")
    assert list((before / "lake" / "_manifests").glob("*.json")) == []


def test_a_registry_goes_on(before: Path) -> None:
    address = "sqlite:///registry.db"
    groups = json.loads(postroom(before, "dump", "--from", address))["messagegroups"]
    assert groups["shop.orders"]["description"] == "Orders of the shop"
    assert "station.offline" not in groups["station.alarms"]["messages"]
    postroom(before, "load", "catalog", "--to", address)
    groups = json.loads(postroom(before, "dump", "--from", address))["messagegroups"]
    assert "station.offline" in groups["station.alarms"]["messages"]

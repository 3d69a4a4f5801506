from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from postroom.catalog.catalog import Catalog
from postroom.errors import LakeRefused
from postroom.pipeline.lake.commit import apply_manifest
from postroom.pipeline.lake.commit_plan import plan_manifest
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.ledger import SCHEMA, find_entry, read_ledger
from postroom.pipeline.lake.manifest import put_manifest, unfinished
from postroom.pipeline.lake.table_cache import has_batch
from postroom.pipeline.storage.folder import FolderLock
from postroom.pipeline.worker.table_layout import LEDGER


def test_an_entry_is_found_by_run_and_batch(sorted_lake: Lake) -> None:
    (entry,) = read_ledger(sorted_lake)
    assert find_entry(sorted_lake, entry.run, entry.batch) == entry
    assert find_entry(sorted_lake, entry.run, 1) is None
    assert find_entry(sorted_lake, "it's another", 0) is None
    assert (entry.kind, entry.replayed) == ("sort", 0)


def test_a_batch_that_does_not_add_up_is_not_entered(fleet: Any, lake: Lake, catalog: Catalog, records: Path) -> None:
    job = fleet.job(lake, catalog.compiled)
    manifest = plan_manifest(lake, job, "records", [fleet.task(job, records)])
    tampered = msgspec.structs.replace(manifest, read=manifest.read + 1)
    put_manifest(lake, tampered, FolderLock())
    with pytest.raises(LakeRefused, match="read 25 messages, but 19 landed and 5 are dead; it was not entered"):
        apply_manifest(lake, tampered)
    assert read_ledger(lake) == []
    assert unfinished(lake) == [(job.run, 0)]


def test_a_ledger_of_an_earlier_version_goes_on(fleet: Any, lake: Lake, catalog: Catalog, records: Path) -> None:
    early = pa.schema([field for field in SCHEMA if field.name not in ("kind", "replayed")])
    now = datetime.now(UTC)
    row = {"run": "early", "batch": 0, "source": "inbox", "catalog": "c", "read": 1, "landed": [("a", 1)]}
    row |= {"dead": [], "changes": [], "started": now, "committed": now}
    write_deltalake(lake.path(LEDGER), pa.Table.from_pylist([row], schema=early))
    job = fleet.job(lake, catalog.compiled)
    apply_manifest(lake, plan_manifest(lake, job, "records", [fleet.task(job, records)]))
    assert [(entry.run, entry.kind, entry.read) for entry in read_ledger(lake)] == [
        ("early", "sort", 1),
        (job.run, "sort", 24),
    ]


def enter(fleet: Any, lake: Lake, catalog: Catalog, batch: int) -> None:
    job = fleet.job(lake, catalog.compiled, batch=batch)
    apply_manifest(lake, plan_manifest(lake, job, "records", []))


def test_only_the_file_of_a_batch_is_read(fleet: Any, lake: Lake, catalog: Catalog) -> None:
    enter(fleet, lake, catalog, 0)
    others = set(lake.path(LEDGER).glob("*.parquet"))
    enter(fleet, lake, catalog, 1)
    for file in others:
        file.unlink()
    entry = find_entry(lake, "run1", 1)
    assert entry is not None
    assert entry.batch == 1


def test_a_long_ledger_is_tidied_up_and_keeps_what_it_knows(
    fleet: Any, lake: Lake, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("postroom.pipeline.lake.ledger.TIDY_EVERY", 4)
    for batch in range(6):
        enter(fleet, lake, catalog, batch)
    assert len(DeltaTable(lake.path(LEDGER)).file_uris()) == 3
    assert [entry.batch for entry in read_ledger(lake)] == [0, 1, 2, 3, 4, 5]
    assert all(find_entry(lake, "run1", batch) for batch in range(6))
    assert has_batch(lake.table(LEDGER), "run1", 5)
    assert not has_batch(lake.table(LEDGER), "run1", 6)

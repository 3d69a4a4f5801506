from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pytest
from deltalake import write_deltalake

from postroom.catalog import Catalog
from postroom.errors import LakeRefused
from postroom.pipeline.commit import apply_manifest, plan_manifest
from postroom.pipeline.lake import Lake
from postroom.pipeline.layout import LEDGER
from postroom.pipeline.ledger import SCHEMA, find_entry, read_ledger
from postroom.pipeline.manifest import put_manifest, unfinished


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
    put_manifest(lake, tampered)
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

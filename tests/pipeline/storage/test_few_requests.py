"""An object store is asked no more than it has to be, and still nothing is taken for new that is there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.pipeline.lake import commit
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.commit_plan import look_before
from postroom.pipeline.lake.lake import Lake, create_lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.reconciliation import differences
from tests.object_stores import FailingProxy, S3Server

POSITION = "fleet/vehicle.position"


@pytest.fixture
def proxy(s3: S3Server) -> Iterator[FailingProxy]:
    proxy = FailingProxy(s3)
    yield proxy
    proxy.close()


@pytest.fixture
def far_lake(s3: S3Server, proxy: FailingProxy) -> Lake:
    return create_lake(f"s3://{s3.bucket()}/lake", proxy.options)


def land(fleet: Any, lake: Lake, folder: Path, batch: int, before: Any = None, **position: Any) -> None:
    job = fleet.job(lake, fleet.compiled(**position), batch=batch)
    file = fleet.write(folder / f"{batch}.jsonl", [fleet.position(n) for n in range(3)])
    commit_batch(lake, job, "records", [fleet.task(job, file, storage=lake.storage)], before)


def about_table(proxy: FailingProxy) -> list[str]:
    return [asked for asked in proxy.requests if "position/_delta_log" in asked]


def test_a_table_that_cannot_be_there_is_not_asked_for(
    fleet: Any, far_lake: Lake, proxy: FailingProxy, tmp_path: Path
) -> None:
    land(fleet, far_lake, tmp_path, 0, look_before(far_lake))
    (asked,) = about_table(proxy)
    assert asked.startswith("PUT ")
    assert list(differences(far_lake)) == []


def test_a_table_that_is_there_is_opened_once(fleet: Any, far_lake: Lake, proxy: FailingProxy, tmp_path: Path) -> None:
    land(fleet, far_lake, tmp_path, 0)
    proxy.requests.clear()
    land(fleet, far_lake, tmp_path, 1, look_before(far_lake))
    assert len(about_table(proxy)) <= 10
    proxy.requests.clear()
    land(fleet, far_lake, tmp_path, 2, look_before(far_lake))
    assert len(about_table(proxy)) <= 8
    assert far_lake.table(POSITION).version() == 2


def test_a_table_that_somebody_else_made_meanwhile_is_seen(fleet: Any, far_lake: Lake, tmp_path: Path) -> None:
    before = look_before(far_lake)
    land(fleet, far_lake, tmp_path, 0, heading={"type": "string"})
    land(fleet, far_lake, tmp_path, 1, before, heading={"type": "integer"})
    assert [table.folder for table in far_lake.tables()] == [POSITION, f"{POSITION}@2"]
    assert list(differences(far_lake)) == []


def test_a_table_of_a_batch_whose_process_died_is_seen(
    fleet: Any, far_lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = look_before(far_lake)
    with monkeypatch.context() as dying:
        dying.setattr(commit, "record_batch", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            land(fleet, far_lake, tmp_path, 0, heading={"type": "string"})
    land(fleet, far_lake, tmp_path, 1, before, heading={"type": "integer"})
    assert [table.folder for table in far_lake.tables()] == [POSITION, f"{POSITION}@2"]
    assert [entry.batch for entry in read_ledger(far_lake)] == [1]


def test_a_lake_in_a_folder_is_not_looked_at_before(lake: Lake) -> None:
    assert look_before(lake) is None

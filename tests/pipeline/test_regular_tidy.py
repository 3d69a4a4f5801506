from __future__ import annotations

from pathlib import Path
from typing import Any

from postroom.catalog.catalog import Catalog
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.ledger import LedgerEntry
from postroom.pipeline.lake.reconciliation import differences
from postroom.pipeline.regular_tidy import RegularTidy


class Told:
    def __init__(self) -> None:
        self.kinds: list[str] = []

    def report(self, batch: LedgerEntry) -> None:
        self.kinds.append(batch.kind)

    def behind(self, lags: Any) -> None:
        raise AssertionError(lags)

    def away(self, source: str, is_away: bool) -> None:
        raise AssertionError(source)


def test_small_files_are_brought_together_again_and_again(
    fleet: Any, lake: Lake, catalog: Catalog, records: Path, tmp_path: Path
) -> None:
    told = Told()
    tidying = RegularTidy(lake.root, {}, told)
    for most in (4, 8):
        for batch in range(most - 4, most):
            job = fleet.job(lake, catalog.compiled, batch=batch)
            commit_batch(lake, job, "records", [fleet.task(job, records)])
        tidying()
        assert len(lake.table("fleet/vehicle.position").file_uris()) == 1
    tidying()
    assert told.kinds == ["tidy", "tidy"]
    assert list(differences(lake)) == []


def test_where_there_is_no_lake_yet_there_is_nothing_to_tidy(lake: Lake, tmp_path: Path) -> None:
    told = Told()
    RegularTidy(lake.root, {}, told)()
    lake.root.rename(tmp_path / "moved")
    RegularTidy(tmp_path / "lake", {}, told)()
    (tmp_path / "file").touch()
    RegularTidy(tmp_path / "file", {}, told)()
    assert told.kinds == []
    assert not (tmp_path / "lake").exists()

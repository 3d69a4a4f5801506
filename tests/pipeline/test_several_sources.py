"""Several sources in one run: each read once, each with a checkpoint of its own, all into one lake."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.errors import LakeRefused
from postroom.pipeline import LedgerEntry, sort
from postroom.pipeline.checkpoint import checkpoint_of, open_checkpoint
from postroom.pipeline.lake.lake import open_lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.reconciliation import balance_of, differences
from postroom.pipeline.monitoring.watcher import Watchers

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]


class Stopping:
    """Writes one more file after the first batches, and stops when so many messages are read."""

    def __init__(self, most: int, more: Any) -> None:
        self.stop = threading.Event()
        self.read: dict[str, int] = {}
        self._most = most
        self._more = more

    def report(self, batch: LedgerEntry) -> None:
        self.read[batch.source] = self.read.get(batch.source, 0) + batch.read
        if len(self.read) == 2 and self._more is not None:
            more, self._more = self._more, None
            more()
        if sum(self.read.values()) >= self._most:
            self.stop.set()

    def behind(self, lags: Any) -> None:
        pass

    def away(self, source: str, is_away: bool) -> None:
        raise AssertionError(source)


def test_each_source_goes_on_where_it_was(spark: Any, fleet: Any, catalog_file: Path, tmp_path: Path) -> None:
    lake, checkpoint = tmp_path / "lake", tmp_path / "checkpoints"
    one, two = tmp_path / "one", tmp_path / "two"
    fleet.write(one / "a.jsonl", [fleet.position(1)])
    fleet.write(two / "a.jsonl", [fleet.order(1), "{}"])
    done = sort(spark, [one, two], str(catalog_file), lake, checkpoint=checkpoint)
    assert (done.read, done.source) == (3, f"{one}, {two}")
    fleet.write(two / "b.jsonl", [fleet.order(2)])
    assert sort(spark, [one, two], str(catalog_file), lake, checkpoint=checkpoint).read == 1
    three = fleet.write(tmp_path / "three.jsonl", [fleet.order(3)])
    assert sort(spark, [two, three], str(catalog_file), lake, checkpoint=checkpoint).read == 1
    entries = read_ledger(open_lake(lake))
    assert [(entry.source, entry.batch, entry.read) for entry in entries] == [
        (str(one), 0, 1), (str(two), 0, 2), (str(two), 1, 1), (str(three), 0, 1),
    ]  # fmt: skip
    assert list(differences(open_lake(lake))) == []


def test_sources_are_followed_side_by_side(spark: Any, fleet: Any, catalog: Catalog, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    fleet.write(one / "a.jsonl", [fleet.position(n) for n in range(5)])
    fleet.write(two / "a.jsonl", [fleet.order(n) for n in range(7)])

    def more() -> None:
        fleet.write(one / "b.jsonl", [fleet.order(50)])
        fleet.write(two / "b.jsonl", [fleet.position(50)])

    watching = Stopping(14, more)
    done = sort(
        spark, [one, two], catalog, tmp_path / "lake", every=0.1, stop=watching.stop, watcher=Watchers([watching])
    )
    assert (done.read, watching.read) == (14, {str(one): 6, str(two): 8})
    lake = open_lake(tmp_path / "lake")
    assert str(balance_of(read_ledger(lake))) == "read 14 = landed 14 + dead 0"
    assert list(differences(lake)) == []
    assert len(list((tmp_path / "lake" / "_checkpoints").iterdir())) == 2


def test_a_source_that_fails_stops_the_others(spark: Any, fleet: Any, catalog_file: Path, tmp_path: Path) -> None:
    one, two, lake = tmp_path / "one", tmp_path / "two", tmp_path / "lake"
    fleet.write(one / "a.jsonl", [fleet.position(1)])
    fleet.write(two / "a.jsonl", [fleet.order(1)])
    sort(spark, [one, two], str(catalog_file), lake, checkpoint=tmp_path / "checkpoints")
    held = open_checkpoint(checkpoint_of(tmp_path / "checkpoints", str(two)), open_lake(lake), str(two))
    with held, pytest.raises(LakeRefused, match="another process is using this checkpoint"):
        sort(spark, [one, two], str(catalog_file), lake, checkpoint=tmp_path / "checkpoints", every=0.1)


def test_what_cannot_be_sorted_together_is_refused(
    spark: Any, fleet: Any, catalog: Catalog, records: Path, tmp_path: Path
) -> None:
    lake, checkpoint = tmp_path / "lake", tmp_path / "checkpoint"
    with pytest.raises(LakeRefused, match="named twice"):
        sort(spark, [records, str(records)], catalog, lake)
    sort(spark, [records], catalog, lake, checkpoint=checkpoint)
    other = fleet.write(tmp_path / "other.jsonl", [fleet.order(1)])
    with pytest.raises(LakeRefused, match="is the checkpoint of one source"):
        sort(spark, [records, other], catalog, lake, checkpoint=checkpoint)
    with pytest.raises(LakeRefused, match="for one source at a time"):
        sort(spark, [records, other], catalog, lake, checkpoint=tmp_path / "new", rebind=True)

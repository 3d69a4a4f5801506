from __future__ import annotations

from pathlib import Path
from typing import Any

from postroom.catalog.catalog import Catalog
from postroom.pipeline.dead_letters.replay import replay
from postroom.pipeline.inspect.metrics import lake_metrics
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.lake import Lake


def values(lake: Lake) -> dict[str, float]:
    lines = [line for line in lake_metrics(lake).splitlines() if not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def test_the_ledger_as_metrics(sorted_lake: Lake) -> None:
    found = values(sorted_lake)
    assert found['postroom_messages_read_total{source="records"}'] == 24
    assert found['postroom_messages_landed_total{message="/messagegroups/shop/messages/order.placed"}'] == 6
    assert found['postroom_messages_dead_total{outcome="invalid"}'] == 3
    assert found["postroom_dead_letters"] == 5
    assert found['postroom_batches_total{kind="sort"}'] == 1
    assert found['postroom_table_changes_total{change="created"}'] == 4
    assert found["postroom_commits_in_flight"] == 0
    assert found["postroom_last_commit_timestamp_seconds"] > 1_700_000_000
    assert found["postroom_last_batch_seconds"] >= 0


def test_every_metric_has_help_and_a_type(sorted_lake: Lake) -> None:
    names: set[str] = set()
    for line in lake_metrics(sorted_lake).splitlines():
        if line.startswith("# HELP "):
            names.add(line.split()[2])
        elif line.startswith("# TYPE "):
            assert line.split()[2] in names
            assert line.split()[3] in ("counter", "gauge")
        else:
            assert line.partition("{")[0].partition(" ")[0] in names


def test_a_replay_reads_nothing_new(sorted_lake: Lake, fleet: Any) -> None:
    tree = fleet.catalog()
    tree["messagegroups"]["fleet"]["messages"]["vehicle.position"]["envelopemetadata"]["source"]["value"] = "/{a}/{vin}"
    replay(None, Catalog(tree), sorted_lake.root)
    found = values(sorted_lake)
    assert 'postroom_messages_read_total{source="dead letters"}' not in found
    assert (found["postroom_letters_replayed_total"], found["postroom_dead_letters"]) == (5, 4)
    assert found['postroom_messages_dead_total{outcome="invalid"}'] == 3


def test_labels_are_escaped(fleet: Any, lake: Lake, catalog: Catalog, records: Path) -> None:
    job = fleet.job(lake, catalog.compiled)
    commit_batch(lake, job, 'a "quoted"\\path\n', [fleet.task(job, records)])
    assert r'postroom_messages_read_total{source="a \"quoted\"\\path\n"} 24' in lake_metrics(lake).splitlines()


def test_an_empty_lake_has_metrics(lake: Lake) -> None:
    assert values(lake)["postroom_dead_letters"] == 0

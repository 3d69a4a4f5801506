"""Sorting by a registry that wants credentials: its key stays with the driver."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from postroom.access.grants import parse_grant
from postroom.access.keys import create_key
from postroom.catalog.open_store import open_store
from postroom.errors import ServiceRefused
from postroom.pipeline import batch_sorter, sort
from postroom.pipeline.catalog_reload import watch_catalog
from postroom.registry.operations import import_document
from tests.http.running_service import serving

pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("spark")]

CATALOG = {
    "messagegroups": {
        "plant": {
            "messages": {
                "weighed": {
                    "envelope": "CloudEvents/1.0",
                    "envelopemetadata": {"type": {"value": "weighed"}},
                    "dataschemaformat": "JsonSchema/draft-07",
                    "dataschema": {"type": "object", "properties": {"kg": {"type": "number"}}},
                }
            }
        }
    }
}


def test_the_key_of_a_registry_is_in_no_task_plan_or_file_of_the_lake(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = f"sqlite:///{tmp_path}/registry.db"
    with open_store(database) as store, store.write() as tx:
        import_document(tx, CATALOG)
        key = create_key(tx, "pipeline", [parse_grant("key:pipeline", "read", "/")])[1]
    event = {"specversion": "1.0", "id": "1", "source": "/scales/1", "type": "weighed", "data": {"kg": 2.5}}
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(event | {"id": str(n)}) + "\n" for n in range(5)))
    tasks: list[bytes] = []
    call = batch_sorter.call_workers

    def call_without_key(records: Any, function: Any, task: bytes, *more: Any) -> Any:
        tasks.append(task)
        assert os.environ.pop("POSTROOM_KEY") == key, "the driver reads the catalog, before any worker is asked"
        return call(records, function, task, *more)

    monkeypatch.setattr(batch_sorter, "call_workers", call_without_key)
    with serving(database, "--access", "on") as (_, url):
        with pytest.raises(ServiceRefused, match="wants credentials"):
            watch_catalog(url)
        monkeypatch.setenv("POSTROOM_KEY", key)
        entry = sort(spark, tmp_path / "in.jsonl", url, tmp_path / "lake")
    assert entry.landed == {"/messagegroups/plant/messages/weighed": 5}
    (task,) = tasks
    assert b"SortTask" in task
    assert key.encode() not in task
    held = [path for path in (tmp_path / "lake").rglob("*") if path.is_file() and key.encode() in path.read_bytes()]
    assert held == []
    plans = spark.sparkContext._jvm.org.apache.spark.sql.classic.SparkSession.active().sharedState().statusStore()
    shown = "".join(plans.executionsList().apply(n).physicalPlanDescription() for n in range(plans.executionsCount()))
    assert "Physical Plan" in shown
    assert key not in shown + str(spark.sparkContext.getConf().getAll())

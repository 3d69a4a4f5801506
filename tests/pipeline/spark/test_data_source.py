"""What Spark's Python workers load for the data source."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyspark import cloudpickle

from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.spark.data_source import SortSink, SortWriter

SERVER = {
    *("postroom.catalog", "postroom.documents", "postroom.store", "postroom.registry", "postroom.http", "postroom.cli"),
    *("starlette", "uvicorn", "httpx"),
}


class ModuleListingWriter(SortWriter):
    """Leaves the names of the modules that a worker has loaded in the lake."""

    def write(self, iterator: Iterator[Any]) -> Any:
        done = super().write(iterator)
        Path(self.task.job.lake, "modules.txt").write_text("\n".join(sys.modules))
        return done


class ModuleListingSink(SortSink):
    @classmethod
    def name(cls) -> str:
        return "postroom-modules"

    def writer(self, schema: Any, overwrite: bool) -> SortWriter:
        planned = super().writer(schema, overwrite)
        return ModuleListingWriter(planned.task)


def test_a_worker_loads_no_server_code(spark: Any, fleet: Any, lake: Lake, catalog_file: Path) -> None:
    records = [(json.dumps(fleet.position(number)),) for number in range(3)] + [("broken",)]
    # Pickled by reference, the classes of this module would bring what it imports into the worker.
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    try:
        spark.dataSource.register(ModuleListingSink)
        frame = spark.createDataFrame(records, "value string").coalesce(1)
        options = {"catalog": str(catalog_file), "lake": str(lake.root)}
        frame.write.format("postroom-modules").options(**options).mode("append").save()
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules[__name__])
    loaded = (lake.root / "modules.txt").read_text().splitlines()
    assert "postroom.messages.engine" in loaded
    assert [name for name in loaded if any(f"{name}.".startswith(f"{server}.") for server in SERVER)] == []

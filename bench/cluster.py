"""What a cluster costs: the same records landed by two workers of one core, and by `local[2]`; start-up is not counted.

`POSTROOM_BENCH_RECORDS` sets how many records there are (a million unless set).
"""

from __future__ import annotations

import shutil
import statistics
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import stream
from bench.measure import Ratio
from bench.pipeline import FEW, RECORDS, ROUNDS
from bench.processes import cpu_of_tree
from postroom.catalog.catalog import Catalog
from postroom.pipeline import sort
from postroom.pipeline.spark.session import spark_session
from postroom.settings import Settings
from tests.pipeline.spark.standalone import running_cluster


def measure() -> Iterator[Ratio]:
    """The CPU of all processes: driver, master, workers and their Python."""
    with tempfile.TemporaryDirectory(prefix="postroom-bench-") as folder:
        place = Path(folder)
        settings = Settings(shared_paths=(folder,))
        catalog = Catalog({}, settings=settings, compiled=stream.catalog_of(FEW).compiled)
        lines = stream.write_lines(place / "lines", RECORDS, FEW)
        with spark_session("local[2]") as spark:
            alone = _landing(spark, lines, catalog, place / "lake")
        (place / "cluster").mkdir()
        with running_cluster(place / "cluster") as cluster, spark_session(cluster.url, settings=settings) as spark:
            together = _landing(spark, lines, catalog, place / "lake")
    yield Ratio(f"land {RECORDS:,} records with two workers of one core / local[2]", together / alone, 1.2)


def _landing(spark: Any, lines: Path, catalog: Catalog, lake: Path) -> float:
    def land() -> None:
        shutil.rmtree(lake, ignore_errors=True)
        sort(spark, str(lines), catalog, lake)

    land()
    return statistics.median(cpu_of_tree(land) for _ in range(ROUNDS))

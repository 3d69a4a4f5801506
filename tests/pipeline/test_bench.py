from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.counting import count_outcomes
from postroom.catalog.catalog import Catalog
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.sources.source import open_source


@pytest.mark.spark
def test_the_bench_counts_what_a_sort_would_land(
    fleet: Any, spark: Any, lake: Lake, catalog: Catalog, records: Path
) -> None:
    frame = open_source(str(records)).records(spark)
    landed, others = count_outcomes(frame, str(lake.root), lake.keep_catalog(catalog.compiled))
    assert (landed, others) == (sum(fleet.landed.values()), sum(fleet.dead.values()))

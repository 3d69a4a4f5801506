"""What `tidy` costs, against delta-rs's own `optimize` of the same tables, which leaves their logs and old files alone.

`POSTROOM_BENCH_RECORDS` sets how many records the lake has (a million unless set), in 200 small batches. All is in this
process.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pyarrow as pa

from bench import stream
from bench.measure import Ratio, cpu_of, ratio
from bench.pipeline import RECORDS
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.compaction import tidy
from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake, create_lake, open_lake
from postroom.pipeline.sources.file_ranges import WHOLE_FILE
from postroom.pipeline.worker.sort_task import write_batch

BATCHES, TABLES, ROUNDS = 200, 5, 3


def measure() -> Iterator[Ratio]:
    """As it is, and with rows put in order."""
    with tempfile.TemporaryDirectory(prefix="postroom-bench-") as folder:
        lake = _lake(Path(folder))
        optimized = partial(_cost, lake, _optimize)
        for name, sort_by, goal in (("tidy", "", 2.0), ("tidy --sort-by data.sensor", "data.sensor", None)):
            tidied = partial(_cost, lake, partial(tidy, sort_by=sort_by))
            yield ratio(f"{name}, {BATCHES} batches / optimize of delta-rs", tidied, optimized, goal, ROUNDS)


def _lake(place: Path) -> Lake:
    """A lake that small batches have filled."""
    catalog = stream.catalog_of(TABLES)
    lines = stream.write_lines(place / "lines", RECORDS, TABLES, files=BATCHES)
    lake = create_lake(place / "lake")
    digest = lake.keep_catalog(catalog.compiled)
    for number, file in enumerate(sorted(lines.iterdir())):
        job = Job(lake.url, digest, "strict", "bench", number, datetime.now(UTC))
        ranges = pa.RecordBatch.from_pylist([{"path": str(file), "start": 0, "length": WHOLE_FILE}])
        commit_batch(lake, job, "bench", [write_batch(job, [ranges])])
    return lake


def _cost(lake: Lake, work: Callable[[Path], object]) -> float:
    """CPU seconds of bringing the files of a copy together."""
    copy = lake.root.with_name("copy")
    shutil.copytree(lake.root, copy)
    cost = cpu_of(lambda: work(copy))
    left = {folder: len(open_lake(copy).table(folder).file_uris()) for folder in _folders(lake)}
    if set(left.values()) != {1}:
        sys.exit(f"bench: not every table has one file afterwards: {left}")
    shutil.rmtree(copy)
    return cost


def _optimize(place: Path) -> None:
    lake = open_lake(place)
    for folder in _folders(lake):
        lake.table(folder).optimize.compact()


def _folders(lake: Lake) -> list[str]:
    return [*(location.folder for location in lake.tables()), DEAD_LETTERS]

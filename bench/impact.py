"""What `impact` costs, against match and validate of what it concerns; the scan of what is stored counts on both sides.

`POSTROOM_BENCH_RECORDS` sets how many records the lake keeps (a million unless set). All is in this process.
"""

from __future__ import annotations

import copy
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench import stream
from bench.measure import Ratio, cpu_of
from bench.pipeline import FEW, RECORDS
from postroom.catalog.catalog import Catalog
from postroom.messages.engine import Engine
from postroom.messages.gc_pause import no_garbage_collection
from postroom.messages.matching.columnar import LandedEvents
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.impact.study import ImpactStudy
from postroom.pipeline.lake.commit import commit_batch
from postroom.pipeline.lake.file_exchange import files_of
from postroom.pipeline.lake.lake import Lake, create_lake
from postroom.pipeline.records.kept_records import line_batches, record_tables
from postroom.pipeline.sources.file_ranges import WHOLE_FILE
from postroom.pipeline.worker.jsonl import line_chunk
from postroom.pipeline.worker.sort_task import write_batch
from postroom.pipeline.worker.table_layout import DEAD_LETTERS

ROUNDS = 3
ONE = "/messagegroups/plant/messages/reading.7"


def measure() -> Iterator[Ratio]:
    """One changed definition of many, and all of them changed."""
    with tempfile.TemporaryDirectory(prefix="postroom-bench-") as folder:
        catalog = stream.catalog_of(FEW)
        lake = _lake(Path(folder), catalog)
        for name, chosen, goal in ((f"one of {FEW} definitions changed", {ONE}, 1.5), ("all changed", None, 1.2)):
            changed = _changed(catalog, chosen)
            judged = _median(partial(_impact, lake, changed), partial(_match, lake, changed, chosen))
            yield Ratio(f"impact, {name} / match and validate what it concerns", judged, goal)


def _median(work: Callable[[], None], yardstick: Callable[[], None]) -> float:
    """The cost of work in turns with that of a yardstick."""
    found = sorted(cpu_of(work) / cpu_of(yardstick) for _ in range(ROUNDS))
    return found[ROUNDS // 2]


def _lake(place: Path, catalog: Catalog) -> Lake:
    lines = stream.write_lines(place / "lines", RECORDS, FEW)
    lake = create_lake(place / "lake")
    files = sorted(lines.iterdir())
    for number, file in enumerate(files):
        digest = lake.keep_catalog(catalog.compiled)
        job = Job(lake.url, digest, "strict", "bench", number, datetime.now(UTC), keep_records=True)
        ranges = pa.RecordBatch.from_pylist([{"path": str(file), "start": 0, "length": WHOLE_FILE}])
        commit_batch(lake, job, "bench", [write_batch(job, [ranges])])
    return lake


def _changed(catalog: Catalog, chosen: set[str] | None) -> Catalog:
    tree: dict[str, Any] = copy.deepcopy(catalog.tree)
    for name, message in tree["messagegroups"]["plant"]["messages"].items():
        if chosen is None or f"/messagegroups/plant/messages/{name}" in chosen:
            schema = copy.deepcopy(message["dataschema"])
            schema["properties"]["count"]["maximum"] = 990_000
            message["dataschema"] = schema
    return Catalog(tree)


def _impact(lake: Lake, catalog: Catalog) -> None:
    report = ImpactStudy(lake, catalog).report()
    if abs(report.dying.count / max(report.judged, 1) - 0.01) > 0.01 or report.without_record:
        sys.exit(f"bench: {report.dying} of {report.judged} messages would die")


def _match(lake: Lake, catalog: Catalog, chosen: set[str] | None) -> None:
    """Match and validate the records of some definitions, and those of dead letters."""
    engine = Engine(catalog.compiled)
    ids: list[pa.ChunkedArray] = []
    for place in lake.tables():
        table = lake.table(place.folder)
        is_chosen = chosen is None or table.metadata().name in chosen
        for file in files_of(table):
            rows = pq.read_table(lake.path(place.folder) / file.path, columns=["_record_id", "_batch"][not is_chosen :])
            ids += [rows.column("_record_id")] if is_chosen else []
    wanted = pa.chunked_array([chunk for array in ids for chunk in array.chunks])
    with no_garbage_collection():
        for records in record_tables(lake, wanted):
            for batch in line_batches(records):
                _judge(engine, line_chunk(batch).records)
        for file in files_of(lake.table(DEAD_LETTERS)):
            letters = pq.read_table(lake.path(DEAD_LETTERS) / file.path, columns=["record"])
            _judge(engine, letters.column(0).to_pylist())


def _judge(engine: Engine, lines: list[bytes]) -> None:
    def land(events: LandedEvents) -> None:
        pass

    for start in range(0, len(lines), 100_000):
        for _ in engine.judge(lines[start : start + 100_000], land):
            pass

"""`df.write.format("postroom")`: a batch from options alone, for those who live in Spark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from postroom.errors import BadFlag
from postroom.pipeline.columns import KAFKA, holds_records

if TYPE_CHECKING:
    from postroom.pipeline.job import Job

OPTIONS = ("catalog", "lake", "source", "nulls", "endpoint", "partitionByDate")

# Rows of a task are counted from here: Spark's own row numbers are made the same way.
ROWS_OF_A_TASK = 2**33


def job_of(options: Mapping[str, str], columns: Iterable[str]) -> Job:
    """The batch that options ask for; every write is a new run."""
    from postroom.pipeline.batches import Sorter, finish_commits
    from postroom.pipeline.checkpoint import new_run
    from postroom.pipeline.lake import create_lake
    from postroom.pipeline.watching import CatalogWatch
    from postroom.settings import load_settings

    missing = [name for name in ("catalog", "lake") if not options.get(name)]
    if missing:
        raise BadFlag(f'the format "postroom" needs the option {missing[0]!r}.')
    if not holds_records(set(columns)):
        raise BadFlag(f"this DataFrame holds no records: its columns are {', '.join(columns)}.")
    watch = CatalogWatch(options["catalog"], load_settings(), options.get("endpoint", ""))
    lake = create_lake(options["lake"])
    finish_commits(lake)
    by_date = options.get("partitionByDate", "").lower() == "true"
    return Sorter(lake, watch, nulls=options.get("nulls", ""), partition_by_date=by_date).job(new_run(), 0)


def with_places(batches: Iterable[pa.RecordBatch], source: str, task: int) -> Iterator[pa.RecordBatch]:
    """Rows with their source and position, where they do not say these themselves."""
    row = task * ROWS_OF_A_TASK
    for batch in batches:
        names = set(batch.schema.names)
        if not names >= {"source", "position"} and "length" not in names:
            yield _placed(batch, source or "dataframe", row)
        else:
            yield batch
        row += batch.num_rows


def _placed(batch: pa.RecordBatch, source: str, row: int) -> pa.RecordBatch:
    columns = {name: batch.column(name) for name in batch.schema.names}
    sources = pa.array([source] * batch.num_rows)
    positions = pa.array(range(row, row + batch.num_rows), pa.int64())
    if columns.keys() >= KAFKA:
        pairs = zip(columns["topic"].to_pylist(), columns["partition"].to_pylist(), strict=True)
        sources = pa.array([f"kafka://{topic}/{partition}" for topic, partition in pairs])
        positions = columns["offset"].cast(pa.int64())
    placed = {"source": sources, "position": positions, **columns}
    return pa.RecordBatch.from_arrays(list(placed.values()), names=list(placed))

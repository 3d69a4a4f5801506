"""Ranges: parts of files for the tasks of Spark, whose workers read the bytes themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from postroom.errors import DocumentBroken
from postroom.pipeline.packing import is_packed
from postroom.pipeline.parquet import is_parquet, row_groups

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SMALLEST_RANGE = 1024 * 1024
LARGEST_RANGE = 160 * 1024 * 1024
ROWS_OF_RANGE = 100_000
# A packed file can only be read from its beginning, and how long it is nobody knows before the end.
WHOLE_FILE = 2**62


class Range(msgspec.Struct, frozen=True):
    """Part of a file: the lines (in Parquet the row groups) that begin in it belong to one task."""

    path: str
    start: int
    length: int


def cut_ranges(files: Iterable[Path], parallelism: int) -> list[Range]:
    """Ranges of about equal size, so that all cores have work and no task holds too much."""
    sizes = {file: file.stat().st_size for file in files}
    step = _step(sizes.values(), parallelism)
    ranges: list[Range] = []
    for file, size in sizes.items():
        if is_parquet(file):
            ranges.extend(_row_ranges(str(file)))
        elif is_packed(str(file)):
            ranges.append(Range(str(file), 0, WHOLE_FILE))
        else:
            ranges.extend(Range(str(file), start, min(step, size - start)) for start in range(0, size, step))
    return ranges


def _step(sizes: Iterable[int], parallelism: int) -> int:
    share = sum(sizes) // max(parallelism, 1) + 1
    return min(max(share, SMALLEST_RANGE), LARGEST_RANGE)


def _row_ranges(path: str) -> Iterator[Range]:
    try:
        groups = row_groups(path)
    except DocumentBroken:
        # The worker finds the same and makes a dead letter of it.
        yield Range(path, 0, WHOLE_FILE)
        return
    start = end = 0
    for first, rows in groups:
        end = first + rows
        if end - start >= ROWS_OF_RANGE:
            yield Range(path, start, end - start)
            start = end
    if end > start:
        yield Range(path, start, end - start)


def share_out(ranges: Sequence[Range], step: int) -> list[list[Range]]:
    """Ranges by task: small files together, since a task of its own for each would cost more than its lines."""
    tasks: list[list[Range]] = []
    weight = step
    for part in ranges:
        mine = step if part.length == WHOLE_FILE or is_parquet(part.path) else part.length
        if weight + mine > step:
            tasks.append([])
            weight = 0
        tasks[-1].append(part)
        weight += mine
    return tasks


def frame_of_ranges(spark: SparkSession, tasks: Sequence[Sequence[Range]]) -> DataFrame:
    """One row per range, in as many tasks; the worker reads the bytes itself, so they never pass through Java."""
    from pyspark.sql import functions as f

    texts = f.array(*(f.lit(msgspec.json.encode(list(task)).decode()) for task in tasks))
    numbers = spark.range(0, len(tasks), 1, len(tasks))
    ranges = f.from_json(texts[f.col("id").cast("int")], "array<struct<path: string, start: long, length: long>>")
    return numbers.select(f.inline(ranges))


def frame_of_files(spark: SparkSession, files: Sequence[Path]) -> DataFrame | None:
    """The ranges of some files; None when there is nothing in them."""
    parallelism = spark.sparkContext.defaultParallelism
    ranges = cut_ranges(files, parallelism)
    step = _step((file.stat().st_size for file in files), parallelism)
    return frame_of_ranges(spark, share_out(ranges, step)) if ranges else None

"""Ranges: parts of files for the tasks of Spark, whose workers read the bytes themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from postroom.errors import DocumentBroken
from postroom.pipeline.sources.compression import is_packed
from postroom.pipeline.sources.parquet import is_parquet, row_groups

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from postroom.pipeline.storage.object_store import ObjectStorage

SMALLEST_RANGE = 1024 * 1024
LARGEST_RANGE = 160 * 1024 * 1024
# A packed file can only be read from its beginning, and how long it is nobody knows before the end.
WHOLE_FILE = 2**62
# About as many times longer as it is packed.
PACKED_TO = 8


class Range(msgspec.Struct, frozen=True):
    """Part of a file: the lines (in Parquet the row groups) that begin in it belong to one task.

    It starts at a byte and is so many bytes long, in Parquet at a row and so many rows; `weight` is in bytes always.
    """

    path: str
    start: int
    length: int
    weight: int


def cut_ranges(files: Iterable[Path], parallelism: int) -> tuple[list[Range], int]:
    """Ranges of about equal weight, so that all cores have work and no task holds too much, and that weight."""
    return cut_sized(((str(file), file.stat().st_size) for file in files), parallelism)


def cut_sized(
    files: Iterable[tuple[str, int]], parallelism: int, store: ObjectStorage | None = None
) -> tuple[list[Range], int]:
    """The ranges of files with their sizes, by their paths, or by their addresses in a store."""
    whole = [_whole(path, size, store) for path, size in files]
    step = _step((part.weight for parts in whole for part in parts), parallelism)
    return [part for parts in whole for part in _fitted(parts, step)], step


def _whole(path: str, size: int, store: ObjectStorage | None) -> list[Range]:
    """A file, in the smallest parts that it is written in."""
    if is_parquet(path):
        try:
            return [Range(path, group.first, group.rows, group.size) for group in row_groups(path, store)]
        except DocumentBroken:  # the worker finds the same and makes a dead letter of it
            return [Range(path, 0, WHOLE_FILE, size)]
    if is_packed(path):
        return [Range(path, 0, WHOLE_FILE, PACKED_TO * size)]
    return [Range(path, 0, size, size)] if size else []


def _fitted(parts: list[Range], step: int) -> Iterator[Range]:
    """The parts of a file put together, or cut, to about a weight."""
    if not parts or is_parquet(parts[0].path) or parts[0].length == WHOLE_FILE:
        yield from _joined(parts, step)
        return
    (lines,) = parts  # which may be cut anywhere
    for start in range(0, lines.length, step):
        length = min(step, lines.length - start)
        yield Range(lines.path, start, length, length)


def _step(weights: Iterable[int], parallelism: int) -> int:
    share = sum(weights) // max(parallelism, 1) + 1
    return min(max(share, SMALLEST_RANGE), LARGEST_RANGE)


def _joined(groups: list[Range], step: int) -> Iterator[Range]:
    """Row groups put together, up to a weight."""
    whole: Range | None = None
    for group in groups:
        if whole is None:
            whole = group
        elif whole.weight + group.weight > step:
            yield whole
            whole = group
        else:
            whole = Range(whole.path, whole.start, whole.length + group.length, whole.weight + group.weight)
    if whole is not None:
        yield whole


def share_out(ranges: Sequence[Range], step: int) -> list[list[Range]]:
    """Ranges by task: small files together, since a task of its own for each would cost more than its lines.

    Files are never equally long: a task may have a little more, or there would be one task more than there are cores.
    """
    tasks: list[list[Range]] = []
    most = step + step // 8
    weight = 0
    for part in ranges:
        if not tasks or weight + part.weight > most:
            tasks.append([])
            weight = 0
        tasks[-1].append(part)
        weight += part.weight
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
    from postroom.pipeline.spark.workers import parallelism

    ranges, step = cut_ranges(files, parallelism(spark))
    return frame_of_ranges(spark, share_out(ranges, step)) if ranges else None

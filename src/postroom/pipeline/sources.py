"""Where records come from: files of JSON Lines as ranges of bytes, or any DataFrame with records in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from postroom.errors import FileMissing, LakeRefused, SourceUnknown

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SUFFIXES = (".jsonl", ".ndjson", ".json", ".jsonl.gz", ".ndjson.gz", ".json.gz")

SMALLEST_RANGE = 1024 * 1024
LARGEST_RANGE = 64 * 1024 * 1024
# A gzip file can only be read from its beginning, and how long it is nobody knows before the end.
WHOLE_FILE = 2**62


class Range(msgspec.Struct, frozen=True):
    """Part of a file: the lines that begin in it belong to one task."""

    path: str
    start: int
    length: int


def find_files(source: str | Path) -> list[Path]:
    """The record files that a source names: a file, or all record files under a folder, in order."""
    if "://" in str(source):
        raise SourceUnknown("sort reads files and folders; other sources are not supported yet.", place=str(source))
    path = Path(source).absolute()
    if not path.exists():
        raise FileMissing("there is no such file or folder.", place=str(source))
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if _is_record_file(file.relative_to(path), file))
        if not files:
            raise FileMissing("no record files in this folder.", place=str(source), remedy=_suffix_hint())
    else:
        files = [path]
    for file in files:
        if not os.access(file, os.R_OK):
            raise FileMissing("this file cannot be read.", place=str(file))
    return files


def cut_ranges(files: Iterable[Path], parallelism: int) -> list[Range]:
    """Ranges of about equal size, so that all cores have work and no task holds too much."""
    sizes = {file: file.stat().st_size for file in files}
    share = sum(sizes.values()) // max(parallelism, 1) + 1
    step = min(max(share, SMALLEST_RANGE), LARGEST_RANGE)
    ranges: list[Range] = []
    for file, size in sizes.items():
        if file.suffix == ".gz":
            ranges.append(Range(str(file), 0, WHOLE_FILE))
        else:
            ranges.extend(Range(str(file), start, min(step, size - start)) for start in range(0, size, step))
    return ranges


def frame_of_ranges(spark: SparkSession, ranges: Sequence[Range]) -> DataFrame:
    """One row per range and one task per row; the worker reads the bytes itself, so they never pass through Java."""
    from pyspark.sql import functions as f

    rows = [
        f.struct(f.lit(r.path).alias("path"), f.lit(r.start).alias("start"), f.lit(r.length).alias("length"))
        for r in ranges
    ]
    numbers = spark.range(0, len(ranges), 1, len(ranges))
    return numbers.select(f.array(*rows)[f.col("id").cast("int")].alias("range")).select("range.*")


def frame_of_records(frame: DataFrame) -> DataFrame:
    """A DataFrame of records as (source, position, value).

    Records are a column `value` (a line of JSON as text or bytes) or the record columns of the contract (protocol,
    metadata, payload). Without columns `source` and `position` the row number stands in for the position.
    """
    from pyspark.sql import functions as f

    columns = set(frame.columns)
    if "value" in columns:
        value = f.col("value")
    elif "protocol" in columns:
        record = [name for name in ("protocol", "metadata", "payload", "payload_base64") if name in columns]
        value = f.to_json(f.struct(*record))
    else:
        raise LakeRefused(
            f"this DataFrame holds no records: its columns are {', '.join(frame.columns)}.",
            remedy="It needs a column `value`, or `protocol`, `metadata` and `payload`.",
        )
    source = f.col("source").cast("string") if "source" in columns else f.lit("dataframe")
    position = f.col("position").cast("long") if "position" in columns else f.monotonically_increasing_id()
    return frame.select(source.alias("source"), position.alias("position"), value.alias("value"))


def _is_record_file(relative: Path, file: Path) -> bool:
    hidden = any(part.startswith(("_", ".")) for part in relative.parts)
    return not hidden and file.name.lower().endswith(SUFFIXES) and file.is_file()


def _suffix_hint() -> str:
    return f"Record files end with {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}."

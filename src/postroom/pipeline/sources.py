"""Where records come from: files that workers read themselves, or any DataFrame with records in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec

from postroom.errors import DocumentBroken, FileMissing, LakeRefused, SourceUnknown
from postroom.pipeline.columns import KAFKA, holds_records, record_columns
from postroom.pipeline.packing import PACKED, is_packed
from postroom.pipeline.parquet import is_parquet, row_groups

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LINES = (".jsonl", ".ndjson", ".json")
SUFFIXES = (*LINES, *(line + packed for line in LINES for packed in PACKED), ".parquet")

SMALLEST_RANGE = 1024 * 1024
LARGEST_RANGE = 160 * 1024 * 1024
ROWS_OF_RANGE = 100_000
# A packed file can only be read from its beginning, and how long it is nobody knows before the end.
WHOLE_FILE = 2**62

# What one batch of a stream reads at most: what is done again when a run dies.
BYTES_OF_BATCH = 4 * 1024 * 1024 * 1024


class Range(msgspec.Struct, frozen=True):
    """Part of a file: the lines (in Parquet the row groups) that begin in it belong to one task."""

    path: str
    start: int
    length: int


class Source(Protocol):
    """Something that has records: now, or now and later."""

    @property
    def name(self) -> str:
        """The source as the ledger and the checkpoint name it; no secrets in it."""

    @property
    def configuration(self) -> Mapping[str, str]:
        """What Spark must be started with to read it, such as Java libraries by coordinates."""

    def check(self, *, follow: bool) -> None:
        """Raise when it is plain already that there is nothing to read."""

    def records(self, spark: SparkSession) -> DataFrame | None:
        """All records that are there now, as the sink takes them."""

    def stream(self, spark: SparkSession) -> DataFrame:
        """A stream; each batch of it goes through `batch` first."""

    def batch(self, frame: DataFrame) -> DataFrame | None:
        """The records of one batch of the stream, as the sink takes them; None when there are none."""

    def is_outage(self, error: str) -> bool:
        """Whether an error of the stream passes by itself, so that it is worth trying again."""

    def lag(self, reached: str, latest: str) -> dict[str, int]:
        """How many records wait, by what people call the parts of a source, when Spark says how far it has come and
        what there is, in the source's own terms; empty where these do not tell.
        """


def open_source(source: str | Path) -> Source:
    """The source of a name: `kafka://…`, a file or a folder."""
    scheme, separator, _ = str(source).partition("://")
    if not separator:
        return FileSource(Path(source).absolute())
    if scheme.lower() == "kafka":
        from postroom.pipeline.kafka_source import parse_kafka

        return parse_kafka(str(source))
    raise SourceUnknown(
        f"records cannot be read from {scheme}://.",
        place=str(source),
        remedy="Give a file, a folder, or kafka://host:port/topic.",
    )


class FileSource:
    """A record file, or a folder of them that may grow. Workers read the files; Spark only lists them."""

    configuration: Mapping[str, str] = {}

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    def check(self, *, follow: bool) -> None:
        """Raise unless there are record files; a folder that is followed may be empty yet."""
        if not (follow and self.path.is_dir()):
            find_files(self.path)

    def records(self, spark: SparkSession) -> DataFrame | None:
        """All lines of all files."""
        return _frame_of_files(spark, find_files(self.path))

    def stream(self, spark: SparkSession) -> DataFrame:
        """The names of the files; nobody asks for their content, so Java does not read it."""
        options = {
            "recursiveFileLookup": "true",
            "ignoreMissingFiles": "true",
            # By default files that are a week older than the newest one are passed over in silence.
            "maxFileAge": "36500d",
            "maxBytesPerTrigger": str(BYTES_OF_BATCH),
        }
        reader = spark.readStream.format("binaryFile").options(**options)
        files = reader.schema("path string, modificationTime timestamp, length long, content binary")
        return files.load(_without_patterns(str(self.path))).select("path", "length")

    def batch(self, frame: DataFrame) -> DataFrame | None:
        """The lines of the files of one batch."""
        paths = sorted(Path(local_path(row["path"])) for row in frame.select("path").collect())
        files = [path for path in paths if path == self.path or _is_record_file(path.relative_to(self.path), path)]
        return _frame_of_files(frame.sparkSession, files)

    def is_outage(self, error: str) -> bool:
        """Files do not come back by themselves."""
        return False

    def lag(self, reached: str, latest: str) -> dict[str, int]:
        """Nothing: Spark numbers the batches of files, and keeps to itself which files wait."""
        return {}


def local_path(uri: str) -> str:
    """The path of a `file:` address as Spark writes it: nothing in it is escaped."""
    return "/" + uri.removeprefix("file:").lstrip("/")


def find_files(source: str | Path) -> list[Path]:
    """The record files that a source names: a file, or all record files under a folder, in order."""
    path = Path(source).absolute()
    if not path.exists():
        raise FileMissing("there is no such file or folder.", place=str(source))
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if _is_record_file(file.relative_to(path), file))
        if not files:
            raise FileMissing("no record files in this folder.", place=str(source), remedy=_suffix_hint())
    else:
        files = [path]
    check_readable(files)
    return files


def check_readable(files: Iterable[Path]) -> None:
    """Raise for the first file that cannot be read: the batch must wait for it, or it would be lost."""
    for file in files:
        if not os.access(file, os.R_OK):
            raise FileMissing("this file cannot be read.", place=str(file))


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


def _frame_of_files(spark: SparkSession, files: list[Path]) -> DataFrame | None:
    check_readable(files)
    parallelism = spark.sparkContext.defaultParallelism
    ranges = cut_ranges(files, parallelism)
    step = _step((file.stat().st_size for file in files), parallelism)
    return frame_of_ranges(spark, share_out(ranges, step)) if ranges else None


def frame_of_records(frame: DataFrame, name: str = "dataframe") -> DataFrame:
    """A DataFrame of records with their source and position.

    Records are a column `value` (a line of JSON as text or bytes), the record columns of the contract (protocol,
    metadata, payload), or the columns of Spark's Kafka connector. Without columns `source` and `position` the row
    number stands in for the position.
    """
    from pyspark.sql import functions as f

    columns = set(frame.columns)
    if not holds_records(columns):
        raise LakeRefused(
            f"this DataFrame holds no records: its columns are {', '.join(frame.columns)}.",
            remedy="It needs a column `value`, or `protocol`, `metadata` and `payload`.",
        )
    source, position = f.lit(name), f.monotonically_increasing_id()
    if columns >= KAFKA:
        base = name if name.startswith("kafka://") else "kafka:/"
        source, position = f.concat_ws("/", f.lit(base), "topic", f.col("partition").cast("string")), f.col("offset")
    if "source" in columns:
        source = f.col("source").cast("string")
    if "position" in columns:
        position = f.col("position").cast("long")
    return frame.select(source.alias("source"), position.alias("position"), *record_columns(columns))


def _is_record_file(relative: Path, file: Path) -> bool:
    hidden = any(part.startswith(("_", ".")) for part in relative.parts)
    return not hidden and file.name.lower().endswith(SUFFIXES) and file.is_file()


def _without_patterns(path: str) -> str:
    """A path in which Hadoop sees no pattern."""
    return "".join(f"\\{letter}" if letter in "[]{}*?\\" else letter for letter in path)


def _suffix_hint() -> str:
    return f"Record files end with {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}."

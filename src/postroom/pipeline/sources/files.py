"""Files as a source: a record file, or a folder of them that may grow."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from postroom.pipeline.sources.file_ranges import frame_of_files
from postroom.pipeline.sources.lag import Lag, Lags, Reached
from postroom.pipeline.sources.pending_files import Backlog, noted_files
from postroom.pipeline.sources.preview import Preview, preview_files
from postroom.pipeline.sources.record_files import (
    cannot_rebind,
    check_readable,
    find_files,
    is_record_file,
    local_path,
    record_files,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from postroom.pipeline.checkpoint import Checkpoint

# What one batch of a stream reads at most: what is done again when a run dies.
BYTES_OF_BATCH = 4 * 1024 * 1024 * 1024


class FileSource:
    """A record file, or a folder of them that may grow. Workers read the files; Spark only lists them."""

    configuration: Mapping[str, str] = {}
    needs_spark = False

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)
        self._backlog = Backlog(path)
        self._at_work = Lag()

    def check(self, *, follow: bool) -> None:
        """Raise unless there are record files; a folder that is followed may be empty yet."""
        if not (follow and self.path.is_dir()):
            find_files(self.path)

    def records(self, spark: SparkSession) -> DataFrame | None:
        """All lines of all files."""
        return self._frame(spark, find_files(self.path))

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
        files = [path for path in paths if path == self.path or is_record_file(path.relative_to(self.path), path)]
        check_readable(files)
        self._backlog.take(files)
        return self._frame(frame.sparkSession, files)

    def _frame(self, spark: SparkSession, files: list[Path]) -> DataFrame | None:
        self._at_work = Lag(files=len(files), bytes=sum(file.stat().st_size for file in files))
        # Ids of records are made of these paths: however a folder is spelled, they are the same.
        folders = {file.parent: file.parent.resolve() for file in files}
        return frame_of_files(spark, [folders[file.parent] / file.name for file in files])

    def is_outage(self, error: str) -> bool:
        """Files do not come back by themselves."""
        return False

    def check_rebind(self, other: str, stream: Path) -> None:
        """Files are known by their names."""
        raise cannot_rebind(other, self.name)

    def answers(self) -> bool:
        """Whoever lists them notices that they are away."""
        return True

    def cluster(self, spark: SparkSession) -> str:
        """The path of a file says where its records came from."""
        return ""

    def preview(self, spark: SparkSession | None, kept: Checkpoint | None, most: int) -> Preview:
        """The files that no batch has taken yet."""
        taken = set(noted_files(kept.stream)) if kept is not None else set()
        files = sorted(path for path in record_files(self.path) if path not in taken)
        return preview_files([(path, Path(path).stat().st_size) for path in files], most)

    def lag(self, reached: Reached) -> Lags:
        """Files that no batch has taken yet, and what is left of the batch at work."""
        if reached.checkpoint is not None:
            self._backlog.look(reached.checkpoint)
        waiting, left = self._backlog.lag, 1 - reached.share
        files = waiting.files + math.ceil(self._at_work.files * left)
        size = waiting.bytes + math.ceil(self._at_work.bytes * left)
        return {self.path.name: Lag(files=files, bytes=size)}


def _without_patterns(path: str) -> str:
    """A path in which Hadoop sees no pattern."""
    return "".join(f"\\{letter}" if letter in "[]{}*?\\" else letter for letter in path)

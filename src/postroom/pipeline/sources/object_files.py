"""Record files in an object store: those under a prefix. Workers read them in ranges; nothing passes through Java.

Spark cannot list an object store without libraries of hundreds of megabytes. So its streams are not used here: a batch
is a list of files, which is written into the checkpoint, once, before the batch is sorted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import msgspec

from postroom.errors import FileMissing, LakeRefused, ServiceUnreachable
from postroom.pipeline.batch_sorter import Sorter
from postroom.pipeline.checkpoint import Checkpoint
from postroom.pipeline.monitoring.outage import Outage
from postroom.pipeline.monitoring.watcher import Watcher
from postroom.pipeline.sources.file_ranges import cut_sized, frame_of_ranges, share_out
from postroom.pipeline.sources.files import BYTES_OF_BATCH
from postroom.pipeline.sources.lag import Lag, Lags, Reached
from postroom.pipeline.sources.preview import Preview, preview_files
from postroom.pipeline.sources.record_files import HIDDEN, cannot_rebind, has_suffix, suffix_hint
from postroom.pipeline.spark.workers import parallelism
from postroom.pipeline.storage.interface import Storage, StoredFile
from postroom.pipeline.storage.object_store import ObjectStorage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

# How long a store that went away is left alone before it is asked again.
RETRY_S = 3.0
# So many lists of files are read anew at a start; then one takes the place of all.
LISTS_KEPT = 100


class ObjectFileSource:
    """The record files under a prefix, or one file; `files` reads them."""

    configuration: Mapping[str, str] = {}
    needs_spark = False

    def __init__(self, place: ObjectStorage) -> None:
        self.name = place.url
        parent, _, last = place.url.rpartition("/")
        self._only = last if has_suffix(last) and parent.count("/") > 1 else ""
        self.files = ObjectStorage(parent, place.options) if self._only else place
        self._waiting = Lag()
        self._at_work = Lag()

    def check(self, *, follow: bool) -> None:
        """Raise unless there are record files; a prefix that is followed may be empty yet."""
        if not any(True for _ in self._listed()) and not follow:
            raise FileMissing("no record files are here.", place=self.name, remedy=suffix_hint())

    def records(self, spark: SparkSession) -> DataFrame | None:
        """All lines of all files."""
        return self.frame(spark, sorted(self._listed()))

    def stream(self, spark: SparkSession) -> DataFrame:
        """Spark has no stream of it: `run_files` does what is needed."""
        raise LakeRefused("Spark cannot follow an object store.", place=self.name)

    def batch(self, frame: DataFrame) -> DataFrame | None:
        """Nobody asks."""
        return frame

    def frame(self, spark: SparkSession, files: list[StoredFile]) -> DataFrame | None:
        """The ranges of some files, for the workers."""
        self._at_work = _lag(files)
        sized = [(f"{self.files.url}/{file.path}", file.size) for file in files]
        ranges, step = cut_sized(sized, parallelism(spark), self.files)
        return frame_of_ranges(spark, share_out(ranges, step)) if ranges else None

    def waiting(self, taken: set[str]) -> list[StoredFile]:
        """The files that no batch has taken yet, in order of their names."""
        found = sorted(file for file in self._listed() if file.path not in taken)
        self._waiting = _lag(found)
        return found

    def is_outage(self, error: str) -> bool:
        """Whoever lists them knows by the kind of the error."""
        return False

    def check_rebind(self, other: str, stream: Path) -> None:
        """Files are known by their names."""
        raise cannot_rebind(other, self.name)

    def answers(self) -> bool:
        """Whoever lists them notices that they are away."""
        return True

    def cluster(self, spark: SparkSession) -> str:
        """The address of a file says where its records came from."""
        return ""

    def preview(self, spark: SparkSession | None, kept: Checkpoint | None, most: int) -> Preview:
        """The files that no batch has taken yet."""
        files = self.waiting(FileLog(kept.storage).taken if kept is not None else set())
        return preview_files([(f"{self.files.url}/{file.path}", file.size) for file in files], most, self.files)

    def lag(self, reached: Reached) -> Lags:
        """Files that no batch has taken yet, and what is left of the batch at work."""
        left = 1 - reached.share
        files = self._waiting.files + math.ceil(self._at_work.files * left)
        size = self._waiting.bytes + math.ceil(self._at_work.bytes * left)
        return {self.name.rpartition("/")[2]: Lag(files=files, bytes=size)}

    def _listed(self) -> Iterator[StoredFile]:
        for file in self.files.everything(""):
            if self._only:
                if file.path == self._only:
                    yield file
            elif has_suffix(file.path) and not any(part.startswith(HIDDEN) for part in file.path.split("/")):
                yield file


class _Files(msgspec.Struct, frozen=True):
    """The files of a batch; `whole` names those of all batches before it."""

    files: tuple[StoredFile, ...]
    whole: tuple[str, ...] = ()


class FileLog:
    """Which files the batches of a run have taken, by the checkpoint."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self.taken: set[str] = set()
        self.last = -1
        self.files: list[StoredFile] = []
        names = sorted(name for name in storage.names("files") if name.endswith(".json"))
        read = storage.map(lambda name: msgspec.json.decode(storage.read(f"files/{name}"), type=_Files), names)
        for name, batch in zip(names, read, strict=True):
            self.last = int(name.removesuffix(".json"))
            self.files = list(batch.files)
            self.taken |= {file.path for file in batch.files} | set(batch.whole)
        self._lists = len(names)

    def add(self, files: list[StoredFile]) -> None:
        """Write down the next batch; who is second to do so has lost the checkpoint."""
        is_whole = self._lists >= LISTS_KEPT
        batch = _Files(tuple(files), tuple(sorted(self.taken)) if is_whole else ())
        if not self._storage.create(self._path(self.last + 1), msgspec.json.encode(batch)):
            raise LakeRefused(
                "another process has gone on with this checkpoint.",
                place=self._storage.url,
                remedy="Only one may use it.",
            )
        if is_whole:
            numbers = range(self.last + 1 - self._lists, self.last + 1)
            self._storage.delete([self._path(number) for number in numbers])
            self._lists = 0
        self._lists += 1
        self.last += 1
        self.files = files
        self.taken |= {file.path for file in files}

    def _path(self, number: int) -> str:
        return f"files/{number:012}.json"


def run_files(
    spark: SparkSession,
    source: ObjectFileSource,
    sorter: Sorter,
    kept: Checkpoint,
    *,
    every: float | None,
    stop: Event | None,
    watcher: Watcher | None = None,
) -> None:
    """Sort what is there and return; with `every`, look again after so many seconds, until `stop` is set."""
    stopping = stop or Event()
    outage = Outage(source.name, partial(watcher.away, source.name) if watcher is not None else None)
    done = FileLog(kept.storage)
    if done.last >= 0:
        # Its process may have died at it.
        sorter.sort_batch(done.last, partial(source.frame, spark, done.files))
    while not stopping.is_set():
        try:
            waiting = source.waiting(done.taken)
        except ServiceUnreachable as error:
            if every is None:
                raise
            outage.begin(error.sentence)
            stopping.wait(RETRY_S)
            continue
        outage.end()
        if waiting:
            files = list(_first(waiting))
            done.add(files)
            sorter.sort_batch(done.last, partial(source.frame, spark, files))
        elif every is None:
            return
        else:
            stopping.wait(every)


def _first(files: Iterable[StoredFile]) -> Iterator[StoredFile]:
    """As many files as make a batch."""
    size = 0
    for file in files:
        if size and size + file.size > BYTES_OF_BATCH:
            return
        size += file.size
        yield file


def _lag(files: list[StoredFile]) -> Lag:
    return Lag(files=len(files), bytes=sum(file.size for file in files))

"""Spark's data source "postroom": tasks write files, and the commit brings them into the lake.

Spark unpickles it in Python workers, so what it imports at the top loads nothing of the server; what only the driver
needs is imported where it is used.
"""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage

from postroom.errors import BadFlag
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.sources.dataframe import KEY
from postroom.pipeline.storage.folder import FolderStorage
from postroom.pipeline.storage.interface import Storage
from postroom.pipeline.worker.assign_origins import RowSource, assign_origins
from postroom.pipeline.worker.sort_task import TaskResult, write_batch

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from postroom.pipeline.storage.object_store import ObjectStorage

NAME = "postroom"


class TaskDone(WriterCommitMessage):
    """What a task hands to the commit, as bytes: cheap to pickle and the same in every process."""

    def __init__(self, written: bytes) -> None:
        self.written = written


class SortWriter(DataSourceArrowWriter):
    """Writes one batch."""

    def __init__(
        self,
        job: Job,
        source: str,
        key: str = "",
        storage: Storage | None = None,
        files: ObjectStorage | None = None,
    ) -> None:
        self.job = job
        self.files = files
        self.storage = storage or FolderStorage(Path(job.lake))
        self.source = source
        self.rows = RowSource(source or "dataframe", job.batch_name, key)

    def write(self, iterator: Iterator[RecordBatch]) -> WriterCommitMessage:
        """Sort the records of one task; runs on a worker."""
        from pyspark import TaskContext

        context = TaskContext.get()
        records = assign_origins(iterator, self.rows, context.partitionId() if context else 0)
        return TaskDone(msgspec.msgpack.encode(write_batch(self.job, records, self.storage, self.files)))

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Bring the files of all tasks into the tables; runs on the driver."""
        from postroom.pipeline.lake.commit import commit_batch

        commit_batch(self._lake(), self.job, self.source, _written(messages))

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Remove the files of the tasks that did end well; runs on the driver."""
        from postroom.pipeline.lake.commit import discard
        from postroom.pipeline.lake.manifest import read_manifest

        # Once there is a manifest the files are promised: a restart will finish the batch with them.
        if read_manifest(self._lake(), self.job.run, self.job.batch) is None:
            discard(self._lake(), _written(messages))

    def _lake(self) -> Any:
        from postroom.pipeline.lake.lake import Lake

        return Lake(self.storage)


class SortSink(DataSource):
    """`df.write.format("postroom")`: with the options of `write_options`, or, for our own use, a whole Job.

    Options stand in Spark's plans and pages; what opens an object store therefore goes to the workers with the writer,
    which is pickled: `storage` belongs to a class that is made for one lake and pickled as a whole.
    """

    storage: Storage | None = None
    files: ObjectStorage | None = None

    @classmethod
    def name(cls) -> str:
        """The format's name."""
        return NAME

    def writer(self, schema: StructType, overwrite: bool) -> SortWriter:
        """The writer of a batch; runs on the driver."""
        from postroom.pipeline.spark.write_options import job_of

        if overwrite:
            raise BadFlag(
                "a lake keeps what it has; nothing can be overwritten.", remedy="Say `.mode('append')` to add to it."
            )
        source = self.options.get("source", "")
        if "job" in self.options:
            return SortWriter(msgspec.json.decode(self.options["job"], type=Job), source, KEY, self.storage, self.files)
        job, storage = job_of(self.options, {field.name: field.dataType.simpleString() for field in schema.fields})
        return SortWriter(job, source, self.options.get("recordId", ""), storage)


def write_to_sink(
    frame: DataFrame, job: Job, source: str, storage: Storage, files: ObjectStorage | None = None
) -> None:
    """Run one batch; returns when it is committed."""
    sink = SortSink if storage.folder is not None and files is None else _sink_of(storage, files)
    frame.sparkSession.dataSource.register(sink)
    options = {"job": msgspec.json.encode(job).decode(), "source": source}
    frame.write.format(sink.name()).options(**options).mode("append").save()


def _sink_of(storage: Storage, files: ObjectStorage | None) -> type[SortSink]:
    """The format for one object store; it has a name of its own, since others may write elsewhere at the same time."""
    name = f"{NAME}-{hashlib.sha256(pickle.dumps((storage, files))).hexdigest()[:16]}"
    members = {"storage": storage, "files": files, "name": classmethod(lambda _: name)}
    return type("StoreSink", (SortSink,), members)


def _written(messages: Sequence[WriterCommitMessage | None]) -> list[TaskResult]:
    done = [message for message in messages if isinstance(message, TaskDone)]
    return [msgspec.msgpack.decode(message.written, type=TaskResult) for message in done]

"""Spark's data source "postroom": tasks write files, and the commit brings them into the lake.

Spark unpickles it in Python workers, so what it imports at the top loads nothing of the server; what only the driver
needs is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from pyspark.sql.datasource import DataSource, DataSourceArrowWriter, WriterCommitMessage

from postroom.errors import BadFlag, WorkersUnfit
from postroom.pipeline.worker.sort_task import TaskResult
from postroom.pipeline.worker.spark_tasks import SortTask, sort_records
from postroom.version import VERSION

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql.types import StructType

NAME = "postroom"


class TaskDone(WriterCommitMessage):
    """What a task hands to the commit, as bytes: cheap to pickle and the same in every process."""

    def __init__(self, written: bytes) -> None:
        self.written = written


class SortWriter(DataSourceArrowWriter):
    """Writes one batch."""

    def __init__(self, task: SortTask) -> None:
        self.task = task
        self.version = VERSION

    def write(self, iterator: Iterator[RecordBatch]) -> WriterCommitMessage:
        """Sort the records of one task; runs on a worker."""
        if self.version != VERSION:
            raise WorkersUnfit(
                f"a worker has Postroom {VERSION} and the driver {self.version}.",
                remedy="Install the same version on all machines.",
            )
        done = sort_records(self.task, iterator)
        return TaskDone(msgspec.msgpack.encode(done))

    def commit(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Bring the files of all tasks into the tables; runs on the driver."""
        from postroom.pipeline.lake.commit import commit_batch

        commit_batch(self._lake(), self.task.job, self.task.source, _written(messages))

    def abort(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        """Give the batch up: its files go, unless the commit got as far as promising them; runs on the driver."""
        from postroom.pipeline.lake.batch_leases import give_up_lease
        from postroom.pipeline.lake.orphan_files import sweep

        give_up_lease(self._lake(), self.task.job)
        sweep(self._lake())

    def _lake(self) -> Any:
        from postroom.pipeline.lake.lake import Lake

        return Lake(self.task.storage)


class SortSink(DataSource):
    """`df.write.format("postroom")`, with the options of `write_options`."""

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
        job, storage = job_of(self.options, {field.name: field.dataType.simpleString() for field in schema.fields})
        return SortWriter(SortTask(job, self.options.get("source", ""), self.options.get("recordId", ""), storage))


def _written(messages: Sequence[WriterCommitMessage | None]) -> list[TaskResult]:
    done = [message for message in messages if isinstance(message, TaskDone)]
    return [msgspec.msgpack.decode(message.written, type=TaskResult) for message in done]

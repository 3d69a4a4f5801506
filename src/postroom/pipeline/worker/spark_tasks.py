"""What Spark's workers are asked to do, by `worker_calls`: each takes bytes and Arrow batches.

This runs in Spark's Python workers and therefore loads nothing of the server.
"""

from __future__ import annotations

import pickle
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa

from postroom.pipeline.batch_spec import Job
from postroom.pipeline.storage.interface import Storage
from postroom.pipeline.worker.assign_origins import RowSource, assign_origins
from postroom.pipeline.worker.sort_task import TaskResult, write_batch

if TYPE_CHECKING:
    from postroom.pipeline.storage.object_store import ObjectStorage


@dataclass(frozen=True)
class SortTask:
    """The batch that is sorted, what its rows say of their source, and the column that tells rows apart.

    `storage` is where the lake is, `files` where files of records are that workers read themselves. Both may hold what
    opens an object store, so a task is pickled, and its parts are in no plan and on no page of Spark's.
    """

    job: Job
    source: str
    key: str
    storage: Storage
    files: ObjectStorage | None = None


def run_sort(argument: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
    """Sort the records of one task."""
    task: SortTask = pickle.loads(argument)  # noqa: S301 - from our own driver
    yield msgspec.msgpack.encode(sort_records(task, batches))


def sort_records(task: SortTask, batches: Iterable[pa.RecordBatch]) -> TaskResult:
    """Sort the records of one task of Spark's, by which rows without a position are counted."""
    from pyspark import TaskContext

    context = TaskContext.get()
    rows = RowSource(task.source or "dataframe", task.job.batch_name, task.key)
    records = assign_origins(batches, rows, context.partitionId() if context else 0)
    return write_batch(task.job, records, task.storage, task.files)


def run_greeting(argument: bytes, batches: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
    """Say that this worker is there, and can be used: whoever gets so far has loaded the engine."""
    for _ in batches:
        pass
    yield socket.gethostname().encode()

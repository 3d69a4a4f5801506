"""The sorter: takes batches, each into the lake completely or not at all, and each only once."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from postroom.errors import LakeRefused, PostroomError
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.catalog_reload import Catalogs
from postroom.pipeline.lake.batch_leases import hold_lease, leave_lease
from postroom.pipeline.lake.commit import apply_manifest, commit_batch, finish_locked
from postroom.pipeline.lake.commit_plan import look_before
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.ledger import LedgerEntry, find_entry
from postroom.pipeline.lake.manifest import read_manifest, unfinished
from postroom.pipeline.lake.orphan_files import Sweeper, sweep
from postroom.pipeline.lake.text_tables import begin_text_tables, text_tables
from postroom.pipeline.sources.dataframe import KEY
from postroom.pipeline.sources.source import frame_of_records
from postroom.pipeline.spark.batch_progress import BatchProgress
from postroom.pipeline.spark.errors import is_no_room, no_room
from postroom.pipeline.spark.worker_calls import call_workers, is_connect
from postroom.pipeline.spark.workers import prepare_workers
from postroom.pipeline.summary import added_up
from postroom.pipeline.worker.sort_task import TaskResult
from postroom.pipeline.worker.spark_tasks import SortTask, run_sort

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from postroom.pipeline.storage.object_store import ObjectStorage

Reader = Callable[["DataFrame"], "DataFrame | None"]
Report = Callable[[LedgerEntry], None]


class Sorter:
    """Sorts batch after batch; `stream.writeStream.foreachBatch(sorter)` is all that a stream needs.

    A batch is known by its run and number. Without a run given, Spark's name of the query is the run, which its
    checkpoint keeps over restarts.
    """

    def __init__(
        self,
        lake: Lake,
        catalogs: Catalogs,
        *,
        run: str = "",
        source: str = "dataframe",
        nulls: str = "",
        partition_by_date: bool = False,
        read: Reader = frame_of_records,
        report: Report | None = None,
    ) -> None:
        self.lake = lake
        self.run = run
        self.source = source
        self.batches = 0
        self.total: LedgerEntry | None = None
        self.error: PostroomError | None = None
        self.progress = BatchProgress()
        self.read = read
        self.files: ObjectStorage | None = None
        self.save: Callable[[], None] = _nothing_to_save
        self.cluster = ""
        self._catalogs = catalogs
        self._nulls = nulls
        self._partition_by_date = partition_by_date
        self._report = report
        self._sweep = Sweeper(lake)

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Sort one batch, unless it is in the lake already."""
        try:
            with self.progress.at_batch():
                entry = self._sort(frame, batch)
        except PostroomError as error:
            # Spark turns what is raised here into text; the one who waits for the stream wants the error itself.
            self.error = error
            raise
        if entry is not None:
            self._enter(entry)

    def sort_once(self, run: str, read: Callable[[], DataFrame | None]) -> LedgerEntry:
        """Sort all records of a run as its only batch."""
        with self.progress.at_batch():
            records = read()
            entry = self._run(self.job(run, 0), records)
        self._enter(entry)
        return entry

    def sort_batch(self, batch: int, read: Callable[[], DataFrame | None]) -> None:
        """Sort one of the batches of a run, unless it is in the lake already."""
        with self.progress.at_batch():
            entry = self._once(self.run, batch, read)
        if entry is not None:
            self._enter(entry)

    def _enter(self, entry: LedgerEntry) -> None:
        self.batches += 1
        self.total = entry if self.total is None else added_up(self.total, entry)
        if self._report is not None:
            self._report(entry)

    def _sort(self, frame: DataFrame, batch: int) -> LedgerEntry | None:
        run = self.run or _query_of(frame)
        self.save()
        return self._once(run, batch, lambda: self.read(frame))

    def _once(self, run: str, batch: int, read: Callable[[], DataFrame | None]) -> LedgerEntry | None:
        """Sort a batch unless an earlier process has, or got as far as its manifest."""
        manifest = read_manifest(self.lake, run, batch)
        if manifest is not None:
            return apply_manifest(self.lake, manifest)
        if find_entry(self.lake, run, batch) is not None:
            return None
        entry = self._run(self.job(run, batch), read())
        self._sweep()
        return entry

    def _run(self, job: Job, records: DataFrame | None) -> LedgerEntry:
        """Run a batch over records as the sink takes them; without any it is an entry in the ledger and no more."""
        if records is None:
            return commit_batch(self.lake, job, self.source, [])
        prepare_workers(records.sparkSession, self._catalogs().settings)
        with hold_lease(self.lake, job.run, job.batch):
            try:
                return self._sort_and_commit(job, records)
            except LakeRefused:
                known = text_tables(self.lake)
                if known == job.text_tables:
                    raise
                # The commit met tables that have times as text, and listed them: once more, by the new list.
                return self._sort_and_commit(msgspec.structs.replace(job, text_tables=known), records)

    def _sort_and_commit(self, job: Job, records: DataFrame) -> LedgerEntry:
        task = SortTask(job, self.source, KEY, self.lake.storage, self.files)
        before = look_before(self.lake)
        with self.progress.on_spark(records.sparkSession, job.batch_name):
            written = _sorted_by_workers(records, task)
        try:
            return commit_batch(self.lake, job, self.source, written, before)
        except (OSError, LakeRefused) as error:
            if is_no_room(error):
                raise no_room(job.lake) from error
            raise

    def job(self, run: str, batch: int) -> Job:
        """A batch by the catalog of this moment, which the lake keeps, with a lease of the files that it will write."""
        leave_lease(self.lake, run, batch)
        return self.plan(run, batch)

    def plan(self, run: str, batch: int) -> Job:
        """A batch by the catalog of this moment."""
        catalog = self._catalogs()
        digest = self.lake.keep_catalog(catalog.compiled)
        settings = catalog.settings
        return Job(
            self.lake.url,
            digest,
            self._nulls or settings.nulls,
            run,
            batch,
            datetime.now(UTC),
            settings.max_record_mb,
            self._partition_by_date,
            self.cluster,
            settings.keep_undeclared,
            settings.times,
            begin_text_tables(self.lake),
            settings.keep_records,
        )


def _nothing_to_save() -> None:
    """A checkpoint of Spark's in a folder is there already."""


def _query_of(frame: DataFrame) -> str:
    if is_connect(frame.sparkSession):
        raise LakeRefused(
            "over Spark Connect a batch does not know its stream, so nobody can tell whether it was sorted before.",
            remedy="Give the stream a name of its own: sorter(…, run=NAME).",
        )
    query = frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId")
    if not query:
        raise LakeRefused("this batch belongs to no stream, so nobody can tell whether it was sorted before.")
    return query.replace("-", "")


def _sorted_by_workers(records: DataFrame, task: SortTask) -> list[TaskResult]:
    # Pickled, not an option: options stand in Spark's plans and pages, and what opens an object store may be secret.
    answers = call_workers(records, run_sort, pickle.dumps(task), task.job.lake)
    return [msgspec.msgpack.decode(answer, type=TaskResult) for answer in answers]


def finish_commits(lake: Lake) -> list[LedgerEntry]:
    """Finish batches whose process died after the manifest, and remove what is left of those that died before it."""
    finished: list[LedgerEntry] = []
    if unfinished(lake):
        with lake.lock():
            finished = finish_locked(lake)
    sweep(lake)
    return finished

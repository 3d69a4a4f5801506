"""Replay: dead letters through today's catalog again. A letter lands at most once, ever."""

from __future__ import annotations

import pickle
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from postroom.catalog.catalog import Catalog
from postroom.errors import LakeRefused
from postroom.messages.definitions.definition import CompiledCatalog
from postroom.pipeline.batch_sorter import finish_commits
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.checkpoint import new_run
from postroom.pipeline.dead_letters.replay_commit import LettersReplaced, commit_replay
from postroom.pipeline.dead_letters.replay_task import Replayed, ReplayTask, replay_files, run_replay
from postroom.pipeline.dead_letters.report import LetterFile, letter_files
from postroom.pipeline.lake.batch_leases import hold_lease
from postroom.pipeline.lake.lake import Lake, Place, create_lake, open_lake
from postroom.pipeline.lake.ledger import LedgerEntry
from postroom.pipeline.lake.manifest import AddedFile
from postroom.pipeline.lake.orphan_files import sweep
from postroom.pipeline.lake.text_tables import begin_text_tables
from postroom.pipeline.spark.cluster import check_shared
from postroom.pipeline.spark.worker_calls import call_workers
from postroom.pipeline.spark.workers import parallelism, prepare_workers, runs_here
from postroom.pipeline.storage.interface import Storage
from postroom.pipeline.worker.table_layout import BESIDE
from postroom.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Small files are taken together, so that landed tables do not get a tiny file for each; this bounds a task's memory.
MOST_ROWS = 100_000
MOST_BYTES = 16 * 1024 * 1024
FEWEST_ROWS = 5_000
MOST_TRIES = 5


class Replay(msgspec.Struct, frozen=True):
    """What became of the letters: landed by message, dead by outcome; `entry` is there when the lake was changed."""

    letters: int
    landed: dict[str, int]
    dead: dict[str, int]
    entry: LedgerEntry | None = None


def replay(
    spark: SparkSession | None,
    catalog: Catalog | CompiledCatalog,
    lake: Place,
    *,
    where: str = "",
    dry_run: bool = False,
    nulls: str = "",
    storage_options: Mapping[str, str] | None = None,
) -> Replay:
    """Sort the dead letters of a lake again (those for which `where` holds); without Spark in this process.

    Letters that land leave the dead letters in the same commit. The others stay with the new reasons. `dry_run`
    changes nothing in the lake and tells what would become of the letters.
    """
    target = open_lake(lake, storage_options)
    compiled = catalog.compiled if isinstance(catalog, Catalog) else catalog
    settings = catalog.settings if isinstance(catalog, Catalog) else Settings()
    settings = msgspec.structs.replace(settings, nulls=nulls or settings.nulls)
    if spark is not None and not runs_here(spark):
        if where or dry_run:
            # DuckDB answers conditions, which workers are not sent; what a dry run makes stays on this machine.
            spark = None
        else:
            check_shared(target.url, "a lake", settings)
            prepare_workers(spark, settings)
    if dry_run:
        with tempfile.TemporaryDirectory(prefix="postroom-replay-") as scratch:
            trial = create_lake(Path(scratch) / "lake")
            done = _run(spark, target, trial, _job(trial, compiled, settings), where)
            return _told(done, None)
    for _ in range(MOST_TRIES):
        # Only when the commits of processes that died are finished is it known which letters are left.
        finish_commits(target)
        job = _job(target, compiled, settings)
        try:
            with hold_lease(target, job.run, job.batch):
                done = _run(spark, target, target, job, where)
                return _told(done, commit_replay(target, job, done))
        except LettersReplaced:
            continue
        finally:
            sweep(target)
    raise LakeRefused("other replays are at work here.", place=str(lake), remedy="Try again when they are done.")


def _job(lake: Lake, catalog: CompiledCatalog, settings: Settings) -> Job:
    return Job(
        lake.url,
        lake.keep_catalog(catalog),
        settings.nulls,
        f"replay-{new_run()}",
        0,
        datetime.now(UTC),
        settings.max_record_mb,
        keep_undeclared=settings.keep_undeclared,
        times=settings.times,
        text_tables=begin_text_tables(lake),
        keep_records=settings.keep_records,
    )


def _told(done: list[Replayed], entry: LedgerEntry | None) -> Replay:
    landed: Counter[str] = Counter()
    dead: Counter[str] = Counter()
    for part in done:
        dead.update(part.dead)
        for file in part.written.files:
            if file.folder not in BESIDE:
                landed[file.xid] += file.rows
    return Replay(sum(part.letters for part in done), dict(landed), dict(dead), entry)


def _run(spark: SparkSession | None, lake: Lake, into: Lake, job: Job, where: str) -> list[Replayed]:
    files = [file for file in letter_files(lake, where) if file.chosen]
    parts = parallelism(spark) if spark is not None else 1
    tasks = [ReplayTask(job, group, where) for group in grouped(files, parts)]
    if spark is None or not tasks:
        return [replay_files(task, lake.storage, into.storage) for task in tasks]
    return run_on_spark(spark, tasks, lake.storage, into.storage)


def grouped(files: list[LetterFile], parallelism: int) -> Iterator[tuple[AddedFile, ...]]:
    """Files for one task each: enough letters to be worth it, few enough for its memory, and work for all cores."""
    share = sum(file.rows for file in files) // max(parallelism, 1)
    most = min(MOST_ROWS, max(share, FEWEST_ROWS))
    group: list[AddedFile] = []
    for file in files:
        rows, size = sum(f.rows for f in group), sum(f.size for f in group)
        if group and (rows + file.rows > most or size + file.size > MOST_BYTES):
            yield tuple(group)
            group = []
        group.append(AddedFile(file.path, file.size, file.rows))
    if group:
        yield tuple(group)


def run_on_spark(spark: SparkSession, tasks: list[ReplayTask], letters: Storage, lake: Storage) -> list[Replayed]:
    """One Spark task for each of ours."""
    argument = pickle.dumps((tasks, letters, lake))
    done = call_workers(spark.range(0, len(tasks), 1, len(tasks)), run_replay, argument)
    return [msgspec.msgpack.decode(answer, type=Replayed) for answer in done]

"""Commit of a batch: one manifest, then every table by it, then the ledger. Each step may be repeated at will."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from time import time
from typing import Any

from deltalake import DeltaTable, Field, PostCommitHookProperties
from deltalake.exceptions import CommitFailedError, DeltaError
from deltalake.transaction import AddAction, RemoveAction

from postroom.errors import LakeRefused
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.batch_leases import check_lease, put_by
from postroom.pipeline.lake.commit_plan import LakeBefore, plan_manifest
from postroom.pipeline.lake.create_table import create_table
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.ledger import LedgerEntry, commit_properties, find_entry, record_batch
from postroom.pipeline.lake.manifest import (
    COMPACTION,
    ERASURE,
    Manifest,
    TableCommit,
    put_manifest,
    read_manifest,
    unfinished,
)
from postroom.pipeline.lake.orphan_files import remove_unused, sweep_ledger
from postroom.pipeline.lake.schema_evolution import new_columns
from postroom.pipeline.lake.table_cache import find_table, has_batch, planned_table
from postroom.pipeline.lake.table_properties import STATISTICS_OF, renew_properties, statistics
from postroom.pipeline.storage.errors import storage_error, telling_errors, without_secrets
from postroom.pipeline.worker.sort_task import TaskResult

PARALLEL_COMMITS = 8
# What a plan says of tables that are not there yet.
NEW = ("created", "replaced")
# As often as Delta makes a checkpoint.
CLEAN_LOG_EVERY = 100
# How often a commit is tried again because of others.
MOST_TRIES = 10


def commit_batch(
    lake: Lake, job: Job, source: str, written: Iterable[TaskResult], before: LakeBefore | None = None
) -> LedgerEntry:
    """Bring what the tasks wrote into the tables, exactly once; an earlier commit of the same batch wins.

    When it fails before there is a manifest, the files go. From then on they are promised, even if to put the manifest
    seems to fail: who comes next finishes the batch with them, or sweeps them away. `before` is how the lake was when
    nothing of the batch was written.
    """
    written = list(written)
    with lake.lock() as lock:
        done = find_entry(lake, job.run, job.batch)
        if done is not None:
            discard(lake, written)
            return done
        try:
            check_lease(lake, job)
            check_files(lake, written)
            manifest = plan_manifest(lake, job, source, written, before)
        except (OSError, LakeRefused):
            discard(lake, written)
            raise
        if not put_manifest(lake, manifest, lock):
            discard(lake, written)
            return apply_locked(lake, read_manifest(lake, job.run, job.batch) or manifest)
        return apply_locked(lake, manifest, is_new=True)


def apply_manifest(lake: Lake, manifest: Manifest) -> LedgerEntry:
    """Finish a batch that has a manifest, whatever part of it is in the tables already."""
    with lake.lock():
        return apply_locked(lake, manifest)


def finish_locked(lake: Lake) -> list[LedgerEntry]:
    """Finish all batches that have a manifest; who holds the lake's lock sees only those of processes that died."""
    entries: list[LedgerEntry] = []
    for run, batch in unfinished(lake):
        manifest = read_manifest(lake, run, batch)
        if manifest is not None:
            sweep_ledger(lake, run, batch)
            entries.append(apply_locked(lake, manifest))
    return entries


def apply_locked(lake: Lake, manifest: Manifest, *, is_new: bool = False) -> LedgerEntry:
    """Apply a manifest; for who holds the lake's lock already.

    One that `is_new` was just written by us, after the tables were brought up to date for its plan.
    """
    is_remote = lake.storage.folder is None
    done = find_entry(lake, manifest.run, manifest.batch) if is_remote and not is_new else None
    if done is not None:
        # Of a process that was away for so long that another one sorted the batch: its own files do not count.
        put_by(lake, manifest)
        return done
    with ThreadPoolExecutor(PARALLEL_COMMITS) as pool:
        # list() brings an error of any table here, before the ledger says that all is well.
        list(pool.map(lambda table: commit_table(lake, manifest, table, is_new=is_new), manifest.tables))
    if manifest.kind == ERASURE:
        remove_unused(lake)
    entry = record_batch(lake, manifest, is_new=is_new)
    put_by(lake, manifest)
    return entry


def commit_table(lake: Lake, manifest: Manifest, table: TableCommit, *, is_new: bool = False) -> None:
    """Add the files of a batch to one table, once; the table is made or widened first."""
    with telling_errors(f"{lake.url}/{table.folder}", DeltaError):
        try:
            if is_new and lake.storage.folder is None and _is_added(lake, manifest, table):
                return
            for _ in range(MOST_TRIES):
                if _is_committed(lake, manifest, table):
                    return
        except DeltaError as error:
            if storage_error(error, lake.url) is not None:
                raise
            text = without_secrets(str(error))
            raise LakeRefused(f"the table cannot be written: {text}", place=table.folder) from error
    raise LakeRefused("others write to this table all the time.", place=table.folder, remedy="Run it again.")


def _is_committed(lake: Lake, manifest: Manifest, table: TableCommit) -> bool:
    """Try to add the files of a batch to one table; False when somebody else was quicker."""
    delta = find_table(lake, table.folder)
    if delta is None:
        return create_table(lake, manifest, table)
    if has_batch(delta, manifest.run, manifest.batch):
        return True
    try:
        _append(delta, manifest, table)
    except CommitFailedError:
        # Locks of object stores end with time: two processes may apply the same manifest, and one is refused here.
        if lake.storage.folder is not None:
            raise
        return False
    return True


def _is_added(lake: Lake, manifest: Manifest, table: TableCommit) -> bool:
    """Try to add the files of a new batch to a table as the plan found it.

    To ask which batches it has would read all its log. There is no need: delta-rs refuses the commit when another
    process has added the same batch since.
    """
    if any(change.table == table.folder and change.kind in NEW for change in manifest.changes):
        return create_table(lake, manifest, table)
    delta = planned_table(lake, table.folder)
    if delta is None:
        return False
    try:
        _append(delta, manifest, table)
    except CommitFailedError:
        return False
    return True


def _append(delta: DeltaTable, manifest: Manifest, table: TableCommit) -> None:
    fields, _ = new_columns(delta.schema().to_json(), table.schema)
    if fields:
        # A wider schema in the write itself is accepted and then stays invisible (DESIGN).
        delta.alter.add_columns([Field.from_json(field) for field in fields])
    if renew_properties(delta, table) or fields:
        delta.update_incremental()
    delta.create_write_transaction(
        _actions(table, delta.metadata().configuration.get(STATISTICS_OF, ""), is_change=manifest.kind != COMPACTION),
        mode="append",
        partition_by=list(table.partition) or None,
        schema=delta.schema(),
        commit_properties=commit_properties(manifest.run, manifest.batch),
        # To look for old entries of the log lists it, which is not worth it at every commit.
        post_commithook_properties=PostCommitHookProperties(
            cleanup_expired_logs=(delta.version() + 1) % CLEAN_LOG_EVERY == 0
        ),
    )


def _actions(table: TableCommit, columns: str, *, is_change: bool) -> list[Any]:
    now = int(time() * 1000)
    removed: list[Any] = [
        RemoveAction(file.path, is_change, now, file.size, {**file.partition}) for file in table.removed
    ]
    return removed + [
        AddAction(
            file.path, file.size, file.partition or dict(table.partition), now, is_change, statistics(file, columns)
        )
        for file in table.files
    ]


def check_files(lake: Lake, written: Iterable[TaskResult]) -> None:
    """Raise when a file of the batch is gone: then it was swept away, because its driver seemed dead.

    In an object store the lease says so: to ask for each file would take as long as to write it.
    """
    for task in written:
        for file in task.files:
            if lake.storage.folder is not None and not lake.storage.exists(f"{file.folder}/{file.path}"):
                raise LakeRefused("a file of this batch is gone: the batch was given up.", place=file.folder)


def discard(lake: Lake, written: Iterable[TaskResult]) -> None:
    """Remove the files of tasks whose batch will not be committed."""
    lake.storage.delete(f"{file.folder}/{file.path}" for task in written for file in task.files)

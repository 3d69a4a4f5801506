"""Commit of a batch: one manifest, then every table by it, then the ledger. Each step may be repeated at will."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from time import time
from typing import Any

import msgspec
from deltalake import DeltaTable, Field
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction, RemoveAction

from postroom.errors import LakeRefused
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.batch_leases import put_by
from postroom.pipeline.lake.commit_plan import plan_manifest
from postroom.pipeline.lake.create_table import create_table
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.ledger import LedgerEntry, commit_properties, find_entry, record_batch
from postroom.pipeline.lake.manifest import (
    COMPACTION,
    AddedFile,
    Manifest,
    TableCommit,
    manifest_path,
    put_manifest,
    read_manifest,
    unfinished,
)
from postroom.pipeline.lake.orphan_files import sweep_ledger
from postroom.pipeline.lake.schema_evolution import new_columns
from postroom.pipeline.lake.table_cache import has_batch, open_table
from postroom.pipeline.lake.table_properties import renew_properties
from postroom.pipeline.worker.sort_task import TaskResult

PARALLEL_COMMITS = 8


def commit_batch(lake: Lake, job: Job, source: str, written: Iterable[TaskResult]) -> LedgerEntry:
    """Bring what the tasks wrote into the tables, exactly once; an earlier commit of the same batch wins."""
    written = list(written)
    with lake.lock():
        done = find_entry(lake, job.run, job.batch)
        if done is not None:
            discard(lake, written)
            return done
        check_files(lake, written)
        manifest = plan_manifest(lake, job, source, written)
        if not put_manifest(lake, manifest):
            discard(lake, written)
            manifest = read_manifest(lake, job.run, job.batch) or manifest
        return apply_locked(lake, manifest)


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
            sweep_ledger(lake, manifest_path(lake, run, batch).stat().st_mtime)
            entries.append(apply_locked(lake, manifest))
    return entries


def apply_locked(lake: Lake, manifest: Manifest) -> LedgerEntry:
    """Apply a manifest; for who holds the lake's lock already."""
    with ThreadPoolExecutor(PARALLEL_COMMITS) as pool:
        # list() brings an error of any table here, before the ledger says that all is well.
        list(pool.map(lambda table: commit_table(lake, manifest, table), manifest.tables))
    entry = record_batch(lake, manifest)
    put_by(lake, manifest)
    return entry


def commit_table(lake: Lake, manifest: Manifest, table: TableCommit) -> None:
    """Add the files of a batch to one table, once; the table is made or widened first."""
    folder = lake.path(table.folder)
    try:
        if not lake.has(table.folder):
            create_table(folder, manifest, table)
            return
        delta = open_table(folder)
        if not has_batch(delta, manifest.run, manifest.batch):
            _append(delta, manifest, table)
    except DeltaError as error:
        raise LakeRefused(f"the table cannot be written: {_first_line(error)}", place=table.folder) from error


def _append(delta: DeltaTable, manifest: Manifest, table: TableCommit) -> None:
    fields, _ = new_columns(delta.schema().to_json(), table.schema)
    if fields:
        # A wider schema in the write itself is accepted and then stays invisible (DESIGN).
        delta.alter.add_columns([Field.from_json(field) for field in fields])
    if renew_properties(delta, table) or fields:
        delta.update_incremental()
    delta.create_write_transaction(
        _actions(table, is_change=manifest.kind != COMPACTION),
        mode="append",
        partition_by=list(table.partition) or None,
        schema=delta.schema(),
        commit_properties=commit_properties(manifest.run, manifest.batch),
    )


def _actions(table: TableCommit, *, is_change: bool) -> list[Any]:
    now = int(time() * 1000)
    removed: list[Any] = [
        RemoveAction(file.path, is_change, now, file.size, {**file.partition}) for file in table.removed
    ]
    return removed + [
        AddAction(file.path, file.size, file.partition or dict(table.partition), now, is_change, _statistics(file))
        for file in table.files
    ]


def _statistics(file: AddedFile) -> str:
    return msgspec.json.encode({"numRecords": file.rows}).decode()


def check_files(lake: Lake, written: Iterable[TaskResult]) -> None:
    """Raise when a file of the batch is gone: then it was swept away, because its driver seemed dead."""
    for task in written:
        for file in task.files:
            if not (lake.path(file.folder) / file.path).exists():
                raise LakeRefused("a file of this batch is gone: the batch was given up.", place=file.folder)


def discard(lake: Lake, written: Iterable[TaskResult]) -> None:
    """Remove the files of tasks whose batch will not be committed."""
    for task in written:
        for file in task.files:
            (lake.path(file.folder) / file.path).unlink(missing_ok=True)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]

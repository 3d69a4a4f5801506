"""Exchange of files: other files with the same rows in place of those that tables have, by a manifest like any batch.

A process that dies leaves either nothing or a manifest that the next one finishes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TypeVar
from uuid import uuid4

import pyarrow as pa
from deltalake import DeltaTable

from postroom.errors import LakeRefused
from postroom.pipeline.batch_sorter import finish_commits
from postroom.pipeline.checkpoint import new_run
from postroom.pipeline.lake.batch_leases import hold_lease
from postroom.pipeline.lake.commit import apply_locked, finish_locked
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.ledger import LedgerEntry
from postroom.pipeline.lake.manifest import AddedFile, Manifest, SchemaChange, TableCommit, put_manifest
from postroom.pipeline.lake.orphan_files import sweep
from postroom.pipeline.worker.parquet_writer import write_parquet

MOST_TRIES = 5

Result = TypeVar("Result")


class FilesReplaced(Exception):
    """Somebody exchanged the same files in the meantime."""


def retry_exchange(lake: Lake, kind: str, attempt: Callable[[str], Result]) -> Result:
    """Try an exchange under the lease of a new run, again where somebody else has exchanged the same files."""
    for _ in range(MOST_TRIES):
        # Only when the commits of processes that died are finished is it known which files there are.
        finish_commits(lake)
        run = f"{kind}-{new_run()}"
        try:
            with hold_lease(lake, run, 0):
                return attempt(run)
        except FilesReplaced:
            continue
        finally:
            sweep(lake)
    raise LakeRefused("others exchange files of these tables.", place=lake.url, remedy="Try again when they are done.")


def exchange_files(
    lake: Lake,
    run: str,
    commits: tuple[TableCommit, ...],
    *,
    kind: str,
    source: str,
    catalog: str,
    changes: tuple[SchemaChange, ...] = (),
) -> LedgerEntry | None:
    """Commit new files of tables in place of old ones; raises FilesReplaced when an old one is not there any more."""
    if not commits:
        return None
    manifest = Manifest(
        run=run,
        batch=0,
        source=source,
        catalog=catalog,
        started=datetime.now(UTC),
        read=0,
        landed={},
        dead={},
        tables=commits,
        changes=changes,
        kind=kind,
    )
    return commit_exchange(lake, lambda: manifest)


def commit_exchange(lake: Lake, plan: Callable[[], Manifest]) -> LedgerEntry:
    """Commit what is planned under the lake's lock; raises FilesReplaced when a file that goes is gone."""
    with lake.lock() as lock:
        # Processes that died may have exchanged the same files.
        finish_locked(lake)
        manifest = plan()
        for commit in manifest.tables:
            if commit.removed:
                there = {file.path for file in files_of(lake.table(commit.folder))}
                if any(file.path not in there for file in commit.removed):
                    raise FilesReplaced
        put_manifest(lake, manifest, lock)
        return apply_locked(lake, manifest)


def exchange_of(
    table: DeltaTable, folder: str, removed: Iterable[AddedFile], files: Iterable[AddedFile]
) -> TableCommit:
    """What a manifest says of a table that gets some files in place of others, and no new columns."""
    metadata = table.metadata()
    return TableCommit(
        folder,
        table.schema().to_json(),
        tuple(files),
        metadata.name or folder,
        removed=tuple(removed),
        partition=dict.fromkeys(metadata.partition_columns, ""),
    )


def write_remaining(lake: Lake, run: str, folder: str, old: AddedFile, rows: pa.Table) -> list[AddedFile]:
    """The file with those rows of another one that stay; none where none stay."""
    if not rows.num_rows:
        return []
    path = PurePosixPath(old.path).with_name(f"part-{run}-0-{uuid4().hex}.parquet")
    size, count, bounds = write_parquet(rows, lake.storage, f"{folder}/{path}")
    if count != rows.num_rows:
        raise LakeRefused(f"{rows.num_rows:,} rows stay, but {count:,} were written.", place=folder)
    return [AddedFile(str(path), size, count, old.partition, bounds)]


def files_of(table: DeltaTable) -> Iterator[AddedFile]:
    """The files that a table has now, oldest first."""
    columns = table.metadata().partition_columns
    actions = pa.table(table.get_add_actions(flatten=True)).to_pylist()
    for action in sorted(actions, key=lambda action: (action["modification_time"], action["path"])):
        partition = {name: str(action[f"partition.{name}"]) for name in columns}
        yield AddedFile(action["path"], action["size_bytes"], action["num_records"], partition)

"""Commit of a batch: one manifest, then every table by it, then the ledger. Each step may be repeated at will."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from time import time
from typing import Any

import msgspec
import pyarrow as pa
from deltalake import DeltaTable, Field, Schema
from deltalake.exceptions import DeltaError
from deltalake.transaction import AddAction, RemoveAction

from postroom.errors import LakeRefused
from postroom.messages.definition import Definition
from postroom.pipeline.creation import LANDED_ON, create_table
from postroom.pipeline.evolution import Incompatible, new_columns
from postroom.pipeline.job import Job
from postroom.pipeline.lake import Lake
from postroom.pipeline.layout import DEAD_LETTERS
from postroom.pipeline.ledger import LedgerEntry, commit_properties, find_entry, record_batch
from postroom.pipeline.manifest import (
    AddedFile,
    Change,
    Manifest,
    TableCommit,
    check_balance,
    put_manifest,
    read_manifest,
    remove_manifest,
)
from postroom.pipeline.opening import has_batch, open_table
from postroom.pipeline.properties import properties_of, renew_properties
from postroom.pipeline.worker import Written, WrittenFile

PARALLEL_COMMITS = 8


def commit_batch(lake: Lake, job: Job, source: str, written: Iterable[Written]) -> LedgerEntry:
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


def apply_locked(lake: Lake, manifest: Manifest) -> LedgerEntry:
    """The same for who holds the lake's lock already."""
    with ThreadPoolExecutor(PARALLEL_COMMITS) as pool:
        # list() brings an error of any table here, before the ledger says that all is well.
        list(pool.map(lambda table: commit_table(lake, manifest, table), manifest.tables))
    entry = record_batch(lake, manifest)
    remove_manifest(lake, manifest)
    return entry


def plan_manifest(lake: Lake, job: Job, source: str, written: list[Written]) -> Manifest:
    """All that a batch will add, checked for balance; files of tables whose columns changed move to a new table."""
    files = [file for task in written for file in task.files]
    landed: dict[str, int] = {}
    for file in files:
        if file.folder != DEAD_LETTERS:
            landed[file.xid] = landed.get(file.xid, 0) + file.rows
    dead: dict[str, int] = {}
    for task in written:
        for outcome, count in task.dead.items():
            dead[outcome] = dead.get(outcome, 0) + count
    read = sum(task.read for task in written)
    check_balance(job, read, landed, dead)
    check_balance(job, sum(dead.values()), {DEAD_LETTERS: sum(f.rows for f in files if f.folder == DEAD_LETTERS)}, {})
    schemas = {folder: schema for task in written for folder, schema in task.schemas.items()}
    definitions = {definition.xid: definition for definition in lake.catalog(job.catalog).definitions}
    planned = [_plan_table(lake, job, folder, schemas[folder], files, definitions) for folder in sorted(schemas)]
    return Manifest(
        run=job.run,
        batch=job.batch,
        source=source,
        catalog=job.catalog,
        started=job.started,
        read=read,
        landed=landed,
        dead=dead,
        tables=tuple(table for table, _ in planned),
        changes=tuple(change for _, change in planned if change is not None),
    )


def _plan_table(
    lake: Lake,
    job: Job,
    folder: str,
    arrow_schema: bytes,
    files: list[WrittenFile],
    definitions: Mapping[str, Definition],
) -> tuple[TableCommit, Change | None]:
    mine = [file for file in files if file.folder == folder]
    definition = definitions.get(mine[0].xid)
    fields = pa.ipc.read_schema(pa.py_buffer(arrow_schema))
    partition: dict[str, str] = {}
    if definition is not None and _is_partitioned(lake, folder, job):
        fields = fields.append(pa.field(LANDED_ON, pa.date32(), metadata={"comment": "Day of `_landed_at`, in UTC."}))
        partition = {LANDED_ON: job.started.date().isoformat()}
    schema = Schema.from_arrow(fields).to_json()
    target, change = choose_table(lake, folder, schema, mine[0].xid)
    if target != folder:
        lake.path(target).mkdir(exist_ok=True)
        for file in mine:
            (lake.path(folder) / file.path).rename(lake.path(target) / file.path)
    table = TableCommit(
        target,
        schema,
        tuple(AddedFile(file.path, file.size, file.rows) for file in mine),
        mine[0].xid,
        mine[0].version,
        definition.description if definition else "",
        partition=partition,
        properties=properties_of(definition, job) if definition else {},
    )
    return table, change


def _is_partitioned(lake: Lake, folder: str, job: Job) -> bool:
    """A table stays as it was made; what is asked for now decides about new tables."""
    present = _generations(lake, folder)
    if not present:
        return job.partition_by_date
    return LANDED_ON in open_table(lake.path(present[0])).metadata().partition_columns


def choose_table(lake: Lake, folder: str, schema: str, definition: str) -> tuple[str, Change | None]:
    """The newest table of a definition that can take the columns, or the name of a new one."""
    present = _generations(lake, folder)
    why = ""
    for candidate in present:
        table = open_table(lake.path(candidate))
        _check_owner(table, definition, candidate)
        try:
            _, paths = new_columns(table.schema().to_json(), schema)
        except Incompatible as difference:
            why = why or str(difference)
            continue
        return candidate, Change(candidate, "columns_added", ", ".join(paths)) if paths else None
    if not present:
        return folder, Change(folder, "created")
    newest = present[0].rpartition("@")
    number = int(newest[2]) + 1 if newest[1] else 2
    return f"{folder}@{number}", Change(f"{folder}@{number}", "replaced", why)


def _generations(lake: Lake, folder: str) -> list[str]:
    """The tables of a definition, newest first: `m@3`, `m@2`, `m`."""
    path = lake.path(folder)
    numbers = [int(name) for p in path.parent.glob(f"{path.name}@*") if (name := p.name.rpartition("@")[2]).isdigit()]
    names = [f"{folder}@{number}" for number in sorted(numbers, reverse=True)] + [folder]
    return [name for name in names if lake.has(name)]


def _check_owner(table: DeltaTable, definition: str, folder: str) -> None:
    owner = table.metadata().name
    if owner != definition:
        whose = f"belongs to {owner}" if owner else "was not made by Postroom"
        raise LakeRefused(f"the table in this place {whose}.", place=folder, remedy="Move it out of the lake.")


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
        _actions(table),
        mode="append",
        partition_by=list(table.partition) or None,
        schema=delta.schema(),
        commit_properties=commit_properties(manifest.run, manifest.batch),
    )


def _actions(table: TableCommit) -> list[Any]:
    now = int(time() * 1000)
    removed: list[Any] = [RemoveAction(file.path, True, now, file.size, {}) for file in table.removed]
    return removed + [
        AddAction(file.path, file.size, dict(table.partition), now, True, _statistics(file)) for file in table.files
    ]


def _statistics(file: AddedFile) -> str:
    return msgspec.json.encode({"numRecords": file.rows}).decode()


def check_files(lake: Lake, written: Iterable[Written]) -> None:
    """Raise when a file of the batch is gone: then a restarted run swept it away, and that run does the batch."""
    for task in written:
        for file in task.files:
            if not (lake.path(file.folder) / file.path).exists():
                raise LakeRefused("a file of this batch is gone; another process is sorting it.", place=file.folder)


def sweep(lake: Lake, run: str, batch: int) -> int:
    """Remove what a batch that died before its manifest left behind; says how many files that were."""
    with lake.lock():
        if read_manifest(lake, run, batch) is not None or find_entry(lake, run, batch) is not None:
            return 0
        orphans = list(lake.root.glob(f"**/part-{run}-{batch}-*.parquet"))
        for orphan in orphans:
            orphan.unlink(missing_ok=True)
    return len(orphans)


def discard(lake: Lake, written: Iterable[Written]) -> None:
    """Remove the files of tasks whose batch will not be committed."""
    for task in written:
        for file in task.files:
            (lake.path(file.folder) / file.path).unlink(missing_ok=True)


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]

"""The plan of a batch: which files go into which table, checked before anything is committed."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import msgspec
import pyarrow as pa
from deltalake import DeltaTable, Schema

from postroom.errors import LakeRefused
from postroom.messages.definitions.definition import Definition
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.create_table import LANDED_ON
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.manifest import (
    AddedFile,
    Manifest,
    SchemaChange,
    TableCommit,
    check_balance,
    unfinished,
)
from postroom.pipeline.lake.schema_evolution import Incompatible, TextForTime, new_columns
from postroom.pipeline.lake.table_cache import find_table
from postroom.pipeline.lake.table_properties import properties_of
from postroom.pipeline.lake.text_tables import add_text_tables, begin_text_tables
from postroom.pipeline.worker.sort_task import TaskResult, WrittenFile
from postroom.pipeline.worker.table_layout import BESIDE, DEAD_LETTERS, LEDGER


class LakeBefore(msgspec.Struct, frozen=True):
    """Which folders for tables there were in an object store before a batch was sorted, and how long its ledger was.

    There it takes two requests to find out that there is no table. Whatever makes one enters that in the ledger, or
    leaves a manifest, so that without either none was made in the meantime.
    """

    ledger: int
    folders: frozenset[str]

    def still_holds(self, lake: Lake) -> bool:
        """Whether no table was made since; for who holds the lake's lock."""
        return _length(lake) == self.ledger and not unfinished(lake)


def look_before(lake: Lake) -> LakeBefore | None:
    """How a lake is before a batch is sorted; None for one in a folder, which is quickly asked."""
    if lake.storage.folder is not None:
        return None
    # The ledger first: what is made while the folders are listed is in it later.
    length = _length(lake)
    return LakeBefore(length, frozenset(lake.folders()))


def _length(lake: Lake) -> int:
    ledger = find_table(lake, LEDGER)
    return -1 if ledger is None else int(ledger.version())


def plan_manifest(
    lake: Lake, job: Job, source: str, written: list[TaskResult], before: LakeBefore | None = None
) -> Manifest:
    """All that a batch will add, checked for balance; files of tables whose columns changed move to a new table."""
    files = [file for task in written for file in task.files]
    landed: dict[str, int] = {}
    for file in files:
        if file.folder not in BESIDE:
            landed[file.xid] = landed.get(file.xid, 0) + file.rows
    dead: dict[str, int] = {}
    for task in written:
        for outcome, count in task.dead.items():
            dead[outcome] = dead.get(outcome, 0) + count
    read = sum(task.read for task in written)
    check_balance(job, read, landed, dead)
    check_balance(job, sum(dead.values()), {DEAD_LETTERS: sum(f.rows for f in files if f.folder == DEAD_LETTERS)}, {})
    schemas = {folder: schema for task in written for folder, schema in task.schemas.items()}
    by_folder: dict[str, list[WrittenFile]] = {}
    for file in files:
        by_folder.setdefault(file.folder, []).append(file)
    begin_text_tables(lake)
    there = before.folders if before is not None and before.still_holds(lake) else None
    plans = TablePlans(lake, job, sorted(schemas), there)
    planned = [plans.plan(folder, schemas[folder], by_folder[folder]) for folder in sorted(schemas)]
    add_text_tables(lake, plans.with_text)
    if plans.text_for_times:
        add_text_tables(lake, plans.text_for_times)
        raise LakeRefused(
            "this table has times as text, and goes on so; nothing was committed.",
            place=plans.text_for_times[0],
            remedy="Run it again.",
        )
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


class TablePlans:
    """Plans for the tables of one batch; what they share is read once.

    `there` are the only folders that can have tables, where that is known. `with_text` are new tables that get times as
    text, `text_for_times` tables that have text where times would come.
    """

    def __init__(self, lake: Lake, job: Job, folders: list[str], there: frozenset[str] | None = None) -> None:
        self._lake = lake
        self._job = job
        parents = sorted({folder.rpartition("/")[0] for folder in folders})
        found = lake.storage.map(lambda parent: _successors(lake, parent), parents)
        self._successors: dict[str, dict[str, list[int]]] = dict(zip(parents, found, strict=True))
        names = [name for folder in folders for name in self._candidates(folder)]
        if there is not None:
            names = [name for name in names if name in there or name in BESIDE]
        tables = lake.storage.map(lambda name: find_table(lake, name), names)
        self._tables = {name: table for name, table in zip(names, tables, strict=True) if table is not None}
        self.with_text: list[str] = []
        self.text_for_times: list[str] = []

    @functools.cached_property
    def _definitions(self) -> Mapping[str, Definition]:
        return {definition.xid: definition for definition in self._lake.catalog(self._job.catalog).definitions}

    def target(self, folder: str, arrow_schema: bytes, definition: str) -> tuple[str, SchemaChange | None]:
        """The table that rows with these columns would go to, and what that would change."""
        schema = Schema.from_arrow(pa.ipc.read_schema(pa.py_buffer(arrow_schema))).to_json()
        return self._choose(folder, self._generations(folder), schema, definition)

    def plan(
        self, folder: str, arrow_schema: bytes, files: list[WrittenFile]
    ) -> tuple[TableCommit, SchemaChange | None]:
        """What a batch adds to the table of a folder; files move when the table's columns no longer fit."""
        first = files[0]
        definition = self._definitions.get(first.xid)
        fields = pa.ipc.read_schema(pa.py_buffer(arrow_schema))
        partition: dict[str, str] = {}
        present = self._generations(folder)
        if definition is not None and self._is_partitioned(present):
            comment = {"comment": "Day of `_landed_at`, in UTC."}
            fields = fields.append(pa.field(LANDED_ON, pa.date32(), metadata=comment))
            partition = {LANDED_ON: self._job.started.date().isoformat()}
        schema = Schema.from_arrow(fields).to_json()
        target, change = self._choose(folder, present, schema, first.xid)
        if target != folder:
            self._move(files, folder, target)
        table = TableCommit(
            target,
            schema,
            tuple(AddedFile(file.path, file.size, file.rows, {}, file.bounds) for file in files),
            first.xid,
            first.version,
            definition.description if definition else "",
            partition=partition,
            properties=properties_of(definition, self._job) if definition else {},
        )
        return table, change

    def _is_partitioned(self, present: list[str]) -> bool:
        """A table stays as it was made; what is asked for now decides about new tables."""
        if not present:
            return self._job.partition_by_date
        return LANDED_ON in self._tables[present[0]].metadata().partition_columns

    def _choose(self, folder: str, present: list[str], schema: str, definition: str) -> tuple[str, SchemaChange | None]:
        """The newest table of a definition that can take the columns, or the name of a new one."""
        why = ""
        for candidate in present:
            table = self._tables[candidate]
            _check_owner(table, definition, candidate)
            try:
                _, paths = new_columns(table.schema().to_json(), schema)
            except Incompatible as difference:
                why = why or str(difference)
                if isinstance(difference, TextForTime) and self._job.has_typed_times(folder):
                    self.text_for_times.append(folder)
                    return candidate, None
                continue
            return candidate, SchemaChange(candidate, "columns_added", ", ".join(paths)) if paths else None
        if not present:
            if self._job.times == "text" and definition not in BESIDE:
                self.with_text.append(folder)
            return folder, SchemaChange(folder, "created")
        newest = present[0].rpartition("@")
        number = int(newest[2]) + 1 if newest[1] else 2
        return f"{folder}@{number}", SchemaChange(f"{folder}@{number}", "replaced", why)

    def _generations(self, folder: str) -> list[str]:
        """The tables of a definition, newest first: `m@3`, `m@2`, `m`."""
        return [name for name in self._candidates(folder) if name in self._tables]

    def _candidates(self, folder: str) -> list[str]:
        parent, _, name = folder.rpartition("/")
        numbers = sorted(self._successors[parent].get(name, ()), reverse=True)
        return [f"{folder}@{number}" for number in numbers] + [folder]

    def _move(self, files: list[WrittenFile], folder: str, target: str) -> None:
        storage = self._lake.storage
        list(storage.map(lambda file: storage.move(f"{folder}/{file.path}", f"{target}/{file.path}"), files))


def _successors(lake: Lake, parent: str) -> dict[str, list[int]]:
    """The numbers `n` of the folders `<message>@<n>` in a group's folder, by message."""
    found: dict[str, list[int]] = {}
    for name in lake.storage.folders(parent):
        message, mark, number = name.rpartition("@")
        if mark and number.isdigit():
            found.setdefault(message, []).append(int(number))
    return found


def _check_owner(table: DeltaTable, definition: str, folder: str) -> None:
    owner = table.metadata().name
    if owner != definition:
        whose = f"belongs to {owner}" if owner else "was not made by Postroom"
        raise LakeRefused(f"the table in this place {whose}.", place=folder, remedy="Move it out of the lake.")

"""Judge landed rows anew by their records: which stay as they are, and what becomes of the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from postroom.errors import LakeRefused
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.struct_columns import align_table, merge_schemas
from postroom.pipeline.records.compare_rows import differing_rows
from postroom.pipeline.records.kept_records import kafka_batches, line_batches, record_ids
from postroom.pipeline.worker.sort_task import TaskResult, WrittenFile, write_batch
from postroom.pipeline.worker.table_layout import DEAD_LETTERS

# What says when a row landed, and not what it is.
LANDING = frozenset({"_batch", "_landed_at", "_landed_on"})


class NewRows(msgspec.Struct, frozen=True):
    """Rows for one table, or dead letters; `schema` has all columns, also those that the rows have nothing in."""

    folder: str
    xid: str
    version: str
    rows: pa.Table
    schema: bytes


class RejudgedRows(msgspec.Struct):
    """What came of rows: the numbers of those that leave their files, and what comes in their place.

    Rows `without_record` and those `unchanged` stay.
    """

    leaving: set[int]
    new: list[NewRows]
    unchanged: int = 0
    without_record: int = 0


class DistinctRows(msgspec.Struct):
    """Messages of which each id occurs once, as numbers of rows, and their records, as numbers of those."""

    rows: dict[str, int]
    records: dict[str, int]
    seen: set[int]


def rejudge(job: Job, scratch: Lake, rows: pa.Table, records: pa.Table, message: str) -> RejudgedRows:
    """Sort the records of some rows of a message again, in a lake that is only for that."""
    found = RejudgedRows(set(), [])
    for part in _rounds(rows, records, found):
        written = write_batch(job, _chosen(records, part), scratch.storage)
        for file in written.files:
            _take(scratch, file, written, part, rows, message, found)
        # A row whose message did not come out of its record again stays.
        found.without_record += len(part.rows) - len(part.seen)
    return found


def _rounds(rows: pa.Table, records: pa.Table, found: RejudgedRows) -> list[DistinctRows]:
    """Rows with their records; those that have none, or several different ones, are left out."""
    known = _KnownRecords(records)
    ids: list[str] = rows.column("_record_id").to_pylist()
    rounds: list[DistinctRows] = []
    columns = (ids, record_ids(rows.column("_record_id")).to_pylist(), rows.column("_batch").to_pylist())
    for number, (identity, name, batch) in enumerate(zip(*columns, strict=True)):
        record = known.record_of(name, batch)
        if record is None:
            found.without_record += 1
            continue
        for part in rounds:
            if identity not in part.rows and part.records.get(name, record) == record:
                break
        else:
            part = DistinctRows({}, {}, set())
            rounds.append(part)
        part.rows[identity] = number
        part.records[name] = record
    return rounds


class _KnownRecords:
    """Records by id. A record that was sorted twice is there twice; an id that a caller chose can mean several."""

    def __init__(self, records: pa.Table) -> None:
        self._records = records
        self._numbers: dict[str, list[int]] = {}
        for number, name in enumerate(records.column("_record_id").to_pylist()):
            self._numbers.setdefault(name, []).append(number)

    def record_of(self, name: str, batch: str) -> int | None:
        """The record that a row of a batch was made of; None where none is kept, or nobody can tell which."""
        numbers = self._numbers.get(name, [])
        if len(numbers) <= 1:
            return numbers[0] if numbers else None
        several = self._records.take(numbers)
        batches = several.column("_batch").to_pylist()
        same = [number for number, other in zip(numbers, batches, strict=True) if other == batch]
        if len(same) == 1:
            return same[0]
        bodies = {repr(record) for record in several.select(["record", "kafka"]).to_pylist()}
        return numbers[0] if len(bodies) == 1 else None


def _chosen(records: pa.Table, part: DistinctRows) -> Iterator[pa.RecordBatch]:
    table = records.take(pa.array(part.records.values(), pa.int64()))
    yield from kafka_batches(table)
    yield from line_batches(table)


def _take(
    scratch: Lake,
    file: WrittenFile,
    written: TaskResult,
    part: DistinctRows,
    rows: pa.Table,
    message: str,
    found: RejudgedRows,
) -> None:
    """Take over what a file of the new try says of our rows; other messages of the same records are none of them."""
    path = f"{file.folder}/{file.path}"
    table = pq.ParquetFile(scratch.storage.input(path)).read()
    scratch.storage.delete([path])
    owners = [part.rows.get(identity) for identity in table.column("_record_id").to_pylist()]
    numbers = [owner for owner in owners if owner is not None]
    part.seen.update(numbers)
    table = table.filter(pa.array([owner is not None for owner in owners], pa.bool_()))
    if file.xid == message:
        changed = differing_rows(rows.take(pa.array(numbers, pa.int64())), table, LANDING)
        found.unchanged += len(numbers) - pc.sum(changed).as_py() if numbers else 0
        table = table.filter(changed)
        numbers = [number for number, differs in zip(numbers, changed.to_pylist(), strict=True) if differs]
    if numbers:
        found.leaving.update(numbers)
        found.new.append(NewRows(file.folder, file.xid, file.version, table, written.schemas[file.folder]))


def brought_together(parts: Iterable[NewRows]) -> list[NewRows]:
    """Rows for the same table as one."""
    by_folder: dict[str, list[NewRows]] = {}
    for part in parts:
        by_folder.setdefault(part.folder, []).append(part)
    return [msgspec.structs.replace(some[0], rows=_joined([part.rows for part in some])) for some in by_folder.values()]


def _joined(tables: list[pa.Table]) -> pa.Table:
    schema = merge_schemas(table.schema for table in tables)
    return pa.concat_tables(align_table(table, schema) for table in tables)


def dead_by_outcome(parts: Iterable[NewRows]) -> dict[str, int]:
    """How many dead letters of which outcome there are among new rows."""
    found: dict[str, int] = {}
    for part in parts:
        if part.folder == DEAD_LETTERS:
            for counted in pc.value_counts(part.rows.column("outcome")).to_pylist():
                found[counted["values"]] = found.get(counted["values"], 0) + counted["counts"]
    return found


def check_all(job: Job, judgement: RejudgedRows) -> None:
    """Stop before a row is lost or doubled."""
    came = sum(part.rows.num_rows for part in judgement.new)
    if came != len(judgement.leaving):
        raise LakeRefused(
            f"of {len(judgement.leaving):,} rows that change {came:,} came out again; nothing was changed.",
            place=job.lake,
            remedy="This is a fault of Postroom: please report it with the catalog.",
        )

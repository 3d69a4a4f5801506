"""Erasure: rows, kept records and dead letters of a person leave all tables, and all files that ever had them.

Files without them take the place of those with them, by one manifest. Before the ledger has the receipt, every file is
removed from the disk that no table has any more, whatever version it was of; a process that dies in between is followed
by one that goes on there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from postroom.errors import BadFlag
from postroom.pipeline.inspect.sql_filter import rows_where
from postroom.pipeline.lake.create_table import LANDED_ON
from postroom.pipeline.lake.file_exchange import commit_exchange, files_of, retry_exchange
from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake, Place, open_lake
from postroom.pipeline.lake.ledger import LedgerEntry
from postroom.pipeline.lake.manifest import ERASURE, AddedFile
from postroom.pipeline.lake.row_removal import RowRemoval
from postroom.pipeline.lake.struct_columns import align_table
from postroom.pipeline.records.kept_records import record_ids
from postroom.pipeline.worker.table_layout import BESIDE, RECORDS

_IDS = pa.string()
# What the ledger has in place of a source.
SOURCE = "erasure"


class Erasure(msgspec.Struct, frozen=True):
    """What was erased, or would be: rows by the folder of their table.

    `not_asked` are tables that do not have the columns that conditions speak of. `entry` is the receipt: it says
    nothing of the conditions, whose digest would tell whoever guesses the person.
    """

    rows: dict[str, int]
    not_asked: tuple[str, ...]
    entry: LedgerEntry | None = None


def erase(
    lake: Place,
    where: str | Sequence[str],
    *,
    dry_run: bool = False,
    storage_options: Mapping[str, str] | None = None,
) -> Erasure:
    """Remove all rows for which one of some SQL conditions holds, with their kept records and dead letters.

    Each condition is asked of those tables that have its columns: of landed messages, dead letters and kept records.
    `dry_run` changes nothing and tells how many rows would go.
    """
    target = open_lake(lake, storage_options)
    conditions = [where] if isinstance(where, str) else list(where)
    if not any(condition.strip() for condition in conditions):
        raise BadFlag("an erasure needs a condition.", place="where")

    def attempt(run: str) -> Erasure:
        search = _Search(target, conditions)
        removal = RowRemoval(target, run)
        for folder in search.folders:
            removal.take(folder, search.masks(folder))
        entry = None
        if run and removal.rows:
            receipt = removal.manifest(ERASURE, SOURCE, "erased")
            entry = commit_exchange(target, lambda: receipt)
        return Erasure(removal.rows, search.not_asked, entry)

    return attempt("") if dry_run else retry_exchange(target, ERASURE, attempt)


class _Search:
    """Which rows of which files are meant: those that conditions name, and what else belongs to the same messages."""

    def __init__(self, lake: Lake, conditions: Sequence[str]) -> None:
        self._lake = lake
        beside = [folder for folder in (DEAD_LETTERS, RECORDS) if lake.has(folder)]
        self.folders = [*(place.folder for place in lake.tables()), *beside]
        self._named: dict[tuple[str, str], pa.Array] = {}
        schemas = {folder: lake.table(folder).to_pyarrow_dataset().schema for folder in self.folders}
        asked = {folder: _binding(schema, conditions) for folder, schema in schemas.items()}
        for number, condition in enumerate(conditions):
            if not any(number in found for found in asked.values()):
                rows_where(_all_columns(schemas.values()).empty_table(), condition)
                raise BadFlag("no table has all the columns that this condition speaks of.", place=condition)
        self.not_asked = tuple(folder for folder, found in asked.items() if not found)
        messages: list[pa.Array] = []
        for folder, found in asked.items():
            messages += self._look(folder, schemas[folder], [conditions[number] for number in found])
        self._messages = pc.unique(pa.chunked_array(messages, _IDS))
        self._records = pc.unique(record_ids(self._messages))

    def masks(self, folder: str) -> Iterator[tuple[AddedFile, pa.Array]]:
        """The rows of each file that go.

        A landed row goes with its message. A kept record and a dead letter have all the bytes that came: they go with
        any message of theirs.
        """
        for file in files_of(self._lake.table(folder)):
            ids = self._opened(folder, file).read(["_record_id"]).column(0).combine_chunks()
            is_whole = folder in BESIDE
            mask = pc.is_in(record_ids(ids) if is_whole else ids, self._records if is_whole else self._messages)
            named = self._named.get((folder, file.path))
            yield file, mask if named is None else pc.or_(mask, named)

    def _look(self, folder: str, schema: pa.Schema, conditions: list[str]) -> Iterator[pa.Array]:
        """Find the rows that conditions name; the ids of their messages."""
        for file in files_of(self._lake.table(folder)) if conditions else ():
            rows = _with_day(align_table(self._opened(folder, file).read(), schema), file)
            mask = rows_where(rows, conditions[0])
            for condition in conditions[1:]:
                mask = pc.or_(mask, rows_where(rows, condition))
            if pc.any(mask).as_py():
                self._named[folder, file.path] = mask
                yield from rows.column("_record_id").filter(mask).chunks

    def _opened(self, folder: str, file: AddedFile) -> pq.ParquetFile:
        return pq.ParquetFile(self._lake.storage.input(f"{folder}/{file.path}"))


def _binding(schema: pa.Schema, conditions: Sequence[str]) -> list[int]:
    """The numbers of those conditions that a table has the columns for."""
    found: list[int] = []
    for number, condition in enumerate(conditions):
        try:
            rows_where(schema.empty_table(), condition)
        except BadFlag:
            continue
        found.append(number)
    return found


def _all_columns(schemas: Iterable[pa.Schema]) -> pa.Schema:
    """The columns of all tables, so that DuckDB says what is wrong with a condition that none understands."""
    fields = {field.name: field for schema in schemas for field in schema}
    return pa.schema(list(fields.values()))


def _with_day(rows: pa.Table, file: AddedFile) -> pa.Table:
    """Rows with the day that the file of a partitioned table does not have itself."""
    if LANDED_ON not in file.partition:
        return rows
    day = pa.repeat(pa.scalar(file.partition[LANDED_ON]), rows.num_rows).cast(pa.date32())
    return rows.set_column(rows.schema.get_field_index(LANDED_ON), LANDED_ON, day)

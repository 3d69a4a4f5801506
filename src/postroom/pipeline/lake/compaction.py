"""Upkeep of a lake: few large files in place of many small ones, and nothing kept that nobody can need any more.

Files are exchanged by a manifest, under the lake's lock, so that this runs beside any number of sorts, replays and
backfills. What was exchanged stays on disk for those who read an older version, until `keep_hours` have passed.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from deltalake.exceptions import DeltaError

from postroom.errors import LakeRefused, MessageUnknown, UsageError
from postroom.pipeline.batch_sorter import finish_commits
from postroom.pipeline.lake.file_exchange import commit_exchange, exchange_files, exchange_of, files_of, retry_exchange
from postroom.pipeline.lake.lake import CATALOGS, DEAD_LETTERS, LEDGER, Lake, Place, open_lake
from postroom.pipeline.lake.ledger import LedgerEntry, read_ledger
from postroom.pipeline.lake.manifest import COMPACTION, AddedFile, TableCommit
from postroom.pipeline.lake.orphan_files import sweep
from postroom.pipeline.lake.row_removal import RowRemoval, old_rows
from postroom.pipeline.lake.struct_columns import align_table, merge_schemas
from postroom.pipeline.storage.errors import telling_errors
from postroom.pipeline.worker.parquet_writer import write_pieces
from postroom.pipeline.worker.table_layout import RECORDS

SOURCE = "files of tables"
EXPIRY = "expire"
TARGET_MB = 128
MOST_MB = 4096
KEEP_HOURS = 168
# Two files are not worth a commit.
FEWEST_FILES = 4
# A file of this share of the target is large enough to be left alone.
LARGE_SHARE = 0.75
PIECE_BYTES = 64 * 2**20
# Rows in order are of use to readers that skip groups of them; a larger group is skipped less often.
SORTED_ROWS = 100_000
MB = 2**20
# Below this nobody can tell a file that nobody wants from one that is about to be committed.
FULL_VACUUM_HOURS = 24
CATALOG_KEPT_S = 24 * 3600.0


class TableUpkeep(msgspec.Struct, frozen=True):
    """What came of one table: how many files it had and has, how many were exchanged, and how many left the disk.

    `sorted_by` is the column in whose order files are made, and empty where the table does not have it.
    """

    folder: str
    files_before: int
    files_after: int
    compacted: int = 0
    bytes_read: int = 0
    removed: int = 0
    sorted_by: str = ""


class Upkeep(msgspec.Struct, frozen=True):
    """What came of a lake; `is_complete` unless the limit of one run was reached before all tables were done.

    `expired` are rows that were too old, by the folder of their table.
    """

    tables: tuple[TableUpkeep, ...]
    orphans: int = 0
    catalogs: int = 0
    is_complete: bool = True
    entry: LedgerEntry | None = None
    expired: dict[str, int] = {}


def tidy(
    lake: Place,
    *,
    message: str = "",
    target_mb: int = TARGET_MB,
    most_mb: int = MOST_MB,
    keep_hours: int = KEEP_HOURS,
    sort_by: str = "",
    dead_letters_kept: timedelta | None = None,
    records_kept: timedelta | None = None,
    dry_run: bool = False,
    storage_options: Mapping[str, str] | None = None,
) -> Upkeep:
    """Compact small files of tables, remove files and log entries that nobody can need any more.

    Files are brought together up to `target_mb`, at most `most_mb` in one run. Files that were exchanged longer than
    `keep_hours` ago leave the disk. `message` (an xid) takes only the tables of one definition. Files that are made
    have their rows in the order of `sort_by`, a column or a member of one (`data.vin`), in tables that have it. Dead
    letters and kept records leave the lake when they are older than is said of them.
    """
    if target_mb < 1 or most_mb < 1 or keep_hours < 0:
        raise UsageError("sizes are at least 1 MB, and hours are not negative.", place="tidy")
    target = open_lake(lake, storage_options)
    expired = _expire(target, dead_letters_kept, records_kept, dry_run=dry_run)
    if dry_run:
        compactions, is_complete = _plan(target, message, sort_by, target_mb * MB, most_mb * MB)
        return Upkeep(tuple(one.report() for one in compactions), is_complete=is_complete, expired=expired)

    def attempt(run: str) -> tuple[list[_Compaction], bool, LedgerEntry | None]:
        compactions, is_complete = _plan(target, message, sort_by, target_mb * MB, most_mb * MB)
        commits = tuple(commit for one in compactions if (commit := one.write(run)) is not None)
        catalog = read_ledger(target)[-1].catalog if commits else ""
        entry = exchange_files(target, run, commits, kind=COMPACTION, source=SOURCE, catalog=catalog)
        return compactions, is_complete, entry

    finish_commits(target)
    orphans = sweep(target)
    compactions, is_complete, entry = retry_exchange(target, COMPACTION, attempt)
    reports = tuple(one.report(_clean(target, one.folder, keep_hours)) for one in compactions)
    if target.has(LEDGER):
        _clean(target, LEDGER, keep_hours)
    return Upkeep(reports, orphans, _forget_catalogs(target), is_complete, entry, expired)


def _expire(lake: Lake, letters: timedelta | None, records: timedelta | None, *, dry_run: bool) -> dict[str, int]:
    """Take out dead letters and kept records that are older than so long; how many of which."""
    limits = [(DEAD_LETTERS, "_dead_at", letters), (RECORDS, "_kept_at", records)]
    now = datetime.now(UTC)

    def attempt(run: str) -> dict[str, int]:
        removal = RowRemoval(lake, run)
        for folder, column, limit in limits:
            if limit is not None and lake.has(folder):
                removal.take(folder, old_rows(lake, folder, column, now - limit))
        if run and removal.rows:
            manifest = removal.manifest(EXPIRY, "old rows", "expired")
            commit_exchange(lake, lambda: manifest)
        return removal.rows

    if letters is None and records is None:
        return {}
    return attempt("") if dry_run else retry_exchange(lake, EXPIRY, attempt)


def _plan(lake: Lake, message: str, sort_by: str, target: int, most: int) -> tuple[list[_Compaction], bool]:
    """What is to be done in each table, until `most` bytes are reached."""
    found: list[_Compaction] = []
    left, is_complete = most, True
    for folder in _folders(lake, message):
        one = _Compaction(lake, folder, sort_by, target, left)
        left -= one.bytes_read
        is_complete = is_complete and one.is_complete
        found.append(one)
    if message and not found:
        raise MessageUnknown(
            "there is no table of this message.", place=message, remedy="`postroom tables` lists them."
        )
    if sort_by and found and not any(one.is_sorted for one in found):
        raise UsageError(
            "no table has such a column whose values have an order.",
            place=sort_by,
            remedy="A member of an object is named like `data.vin`.",
        )
    return found, is_complete


def _folders(lake: Lake, message: str) -> Iterator[str]:
    for location in lake.tables():
        if not message or lake.table(location.folder).metadata().name == message:
            yield location.folder
    if not message:
        yield from (folder for folder in (DEAD_LETTERS, RECORDS) if lake.has(folder))


class _Compaction:
    """One table, and which of its files are brought together."""

    def __init__(self, lake: Lake, folder: str, sort_by: str, target: int, most: int) -> None:
        self._lake = lake
        self.folder = folder
        self._table = lake.table(folder)
        self._sort_by = sort_by
        self.is_sorted = bool(sort_by and _path_of(pa.schema(self._table.schema().to_arrow()), sort_by))
        files = list(files_of(self._table))
        self._count = len(files)
        wanted = list(_bins(files, target))
        self._bins: list[list[AddedFile]] = []
        self.bytes_read = 0
        for each in wanted:
            size = sum(file.size for file in each)
            if self.bytes_read + size <= most:
                self._bins.append(each)
                self.bytes_read += size
        self.is_complete = len(self._bins) == len(wanted)

    def report(self, removed: int = 0) -> TableUpkeep:
        """What was done, or would be."""
        compacted = sum(map(len, self._bins))
        after = self._count - compacted + len(self._bins)
        sorted_by = self._sort_by if self.is_sorted else ""
        return TableUpkeep(self.folder, self._count, after, compacted, self.bytes_read, removed, sorted_by)

    def write(self, run: str) -> TableCommit | None:
        """Write the new files; what a manifest says of them."""
        if not self._bins:
            return None
        removed = (file for files in self._bins for file in files)
        return exchange_of(self._table, self.folder, removed, [self._written(run, files) for files in self._bins])

    def _written(self, run: str, files: list[AddedFile]) -> AddedFile:
        path = PurePosixPath(files[0].path).with_name(f"part-{run}-0-{uuid4().hex}.parquet")
        schema = merge_schemas(dict.fromkeys(self._opened(file).schema_arrow for file in files))
        tables = (align_table(self._opened(file).read(), schema) for file in files)
        order = _path_of(schema, self._sort_by)
        pieces = _in_order(tables, order) if order else _gathered(tables)
        size, rows, bounds = write_pieces(
            pieces, schema, self._lake.storage, f"{self.folder}/{path}", sorted_by=".".join(order)
        )
        if rows != sum(file.rows for file in files):
            raise LakeRefused(
                f"its small files have {rows:,} rows, but its log says {sum(file.rows for file in files):,}; "
                "nothing was changed.",
                place=self.folder,
                remedy="`postroom tables --check` says which tables differ from the ledger.",
            )
        return AddedFile(str(path), size, rows, files[0].partition, bounds)

    def _opened(self, file: AddedFile) -> pq.ParquetFile:
        return pq.ParquetFile(self._lake.storage.input(f"{self.folder}/{file.path}"))


def _bins(files: Iterable[AddedFile], target: int) -> Iterator[list[AddedFile]]:
    """Small files of one partition that together make a file of the target size, oldest first."""
    parts: dict[tuple[tuple[str, str], ...], list[AddedFile]] = {}
    for file in files:
        if file.size < LARGE_SHARE * target:
            parts.setdefault(tuple(sorted(file.partition.items())), []).append(file)
    for small in parts.values():
        full: list[AddedFile] = []
        for file in small:
            if full and sum(each.size for each in full) + file.size > target:
                yield full
                full = []
            full.append(file)
        if len(full) >= FEWEST_FILES:
            yield full


def _gathered(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """Tables of a size that makes a good row group."""
    waiting: list[pa.Table] = []
    size = 0
    for table in tables:
        waiting.append(table)
        size += table.nbytes
        if size >= PIECE_BYTES:
            yield pa.concat_tables(waiting)
            waiting, size = [], 0
    if waiting:
        yield pa.concat_tables(waiting)


def _path_of(fields: Iterable[pa.Field], column: str) -> tuple[str, ...]:
    """The names that lead to a column, or to a member of one; none where it is not there or has no order."""
    for field in fields:
        if field.name == column and not pa.types.is_nested(field.type):
            return (field.name,)
        if column.startswith(f"{field.name}.") and pa.types.is_struct(field.type):
            below = _path_of(field.type, column.removeprefix(f"{field.name}."))
            if below:
                return (field.name, *below)
    return ()


def _in_order(tables: Iterable[pa.Table], path: tuple[str, ...]) -> Iterator[pa.Table]:
    """The rows of tables in the order of a column, those without a value last, in groups that are skipped as one.

    All are in memory. They are taken from their own batches: strings of all together may be too long for an array.
    """
    batches = [batch for table in tables for batch in table.to_batches() if batch.num_rows]
    if not batches:
        return
    keys = pa.chunked_array([pc.struct_field(batch.to_struct_array(), list(path)) for batch in batches])
    origin = pa.table(
        {
            "batch": pa.chunked_array([pa.repeat(number, batch.num_rows) for number, batch in enumerate(batches)]),
            "row": pa.chunked_array([pa.array(range(batch.num_rows), pa.int64()) for batch in batches]),
        }
    ).take(pc.sort_indices(keys))
    size = sum(batch.nbytes for batch in batches)
    step = max(1, min(SORTED_ROWS, origin.num_rows * PIECE_BYTES // size))
    for start in range(0, origin.num_rows, step):
        yield _rows_of(batches, origin.slice(start, step))


def _rows_of(batches: list[pa.RecordBatch], origin: pa.Table) -> pa.Table:
    """Rows by the number of their batch and their number in it."""
    wanted = origin.append_column("place", pa.array(range(origin.num_rows), pa.int64())).sort_by("batch")
    taken: list[pa.RecordBatch] = []
    start = 0
    for count in pc.value_counts(wanted["batch"].combine_chunks()):
        rows = wanted["row"].slice(start, count["counts"].as_py()).combine_chunks()
        taken.append(batches[count["values"].as_py()].take(rows))
        start += len(rows)
    return pa.Table.from_batches(taken).combine_chunks().take(pc.sort_indices(wanted["place"]))


def _clean(lake: Lake, folder: str, keep_hours: int) -> int:
    """Shorten the log of a table, and remove files that no version has which is younger than `keep_hours`."""
    table = lake.table(folder)
    is_full = keep_hours >= FULL_VACUUM_HOURS
    with telling_errors(f"{lake.url}/{folder}", DeltaError):
        table.create_checkpoint()
        table.cleanup_metadata()
        return len(table.vacuum(keep_hours, dry_run=False, enforce_retention_duration=False, full=is_full))


def _forget_catalogs(lake: Lake) -> int:
    """Remove compiled catalogs that no batch of the ledger was sorted with; young ones may be about to be used."""
    used = {entry.catalog for entry in read_ledger(lake)}
    files = lake.storage.files(CATALOGS)
    old = [
        file.path
        for file in files
        if file.path.rpartition("/")[2] not in used and time.time() - file.modified > CATALOG_KEPT_S
    ]
    lake.storage.delete(old)
    return len(old)

"""One state of a lake, held while it is read: others may go on writing."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from postroom.errors import LakeRefused
from postroom.messages.definitions.definition import CompiledCatalog
from postroom.pipeline.lake.file_exchange import files_of
from postroom.pipeline.lake.lake import Lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.manifest import AddedFile, unfinished
from postroom.pipeline.lake.table_cache import find_table
from postroom.pipeline.worker.table_layout import DEAD_LETTERS, RECORDS

MOST_LOOKS = 5


class TableFiles(msgspec.Struct, frozen=True):
    """A table at one of its versions: its owner (the xid of a definition), and its files."""

    folder: str
    owner: str
    version: int
    files: tuple[AddedFile, ...]

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return sum(file.rows for file in self.files)


class LakeSnapshot:
    """The tables of a lake as they all were at one moment, and the catalogs that its batches were sorted with."""

    def __init__(self, lake: Lake) -> None:
        self.lake = lake
        found = _look(lake)
        for _ in range(MOST_LOOKS):
            # A batch that is being committed is in some of its tables only.
            again = _look(lake)
            is_still = [table.version for table in found.values()] == [table.version for table in again.values()]
            if is_still and found.keys() == again.keys() and not unfinished(lake):
                break
            found = again
        self.records = found.pop(RECORDS, TableFiles(RECORDS, RECORDS, 0, ()))
        self.letters = found.pop(DEAD_LETTERS, TableFiles(DEAD_LETTERS, DEAD_LETTERS, 0, ()))
        self.tables = tuple(found.values())
        self.batches = {f"{entry.run}-{entry.batch}": entry.catalog for entry in read_ledger(lake)}
        self._catalogs: dict[str, CompiledCatalog | None] = {}

    def catalog(self, digest: str) -> CompiledCatalog | None:
        """A catalog of the lake; None where it is not there, or cannot be read any more."""
        if digest not in self._catalogs:
            try:
                self._catalogs[digest] = self.lake.catalog(digest)
            except (OSError, msgspec.MsgspecError):
                self._catalogs[digest] = None
        return self._catalogs[digest]

    def groups(self, table: TableFiles, columns: tuple[str, ...]) -> Iterator[tuple[str, int, pa.Table]]:
        """Some columns of a table, those that a file has, by file and number of its row group."""
        for file in table.files:
            path = f"{table.folder}/{file.path}"
            parquet = self.open(path)
            there = [name for name in columns if name in parquet.schema_arrow.names]
            for group in range(parquet.num_row_groups):
                yield path, group, parquet.read_row_group(group, there)

    def open(self, path: str) -> pq.ParquetFile:
        """A file of this state of the lake."""
        try:
            return pq.ParquetFile(self.lake.storage.input(path))
        except FileNotFoundError:
            raise LakeRefused(
                "this file was removed while it was to be read.",
                place=f"{self.lake.url}/{path}",
                remedy="Run it again.",
            ) from None


def _look(lake: Lake) -> dict[str, TableFiles]:
    names = [place.folder for place in lake.tables()] + [DEAD_LETTERS, RECORDS]
    found: dict[str, TableFiles] = {}
    for folder in names:
        table = find_table(lake, folder)
        if table is not None:
            owner = table.metadata().name or folder
            found[folder] = TableFiles(folder, owner, table.version(), tuple(files_of(table)))
    return found

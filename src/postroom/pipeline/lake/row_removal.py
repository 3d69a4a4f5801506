"""Rows that leave tables for good: their files are exchanged for others without them, by a manifest like any batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from postroom.pipeline.lake.file_exchange import exchange_of, files_of, write_remaining
from postroom.pipeline.lake.lake import DEAD_LETTERS, Lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.lake.manifest import AddedFile, Manifest, SchemaChange, TableCommit
from postroom.pipeline.worker.table_layout import RECORDS


class RowRemoval:
    """The rows that are to leave; without a run they are only counted, in `rows` by folder."""

    def __init__(self, lake: Lake, run: str = "") -> None:
        self.rows: dict[str, int] = {}
        self._lake = lake
        self._run = run
        self._landed: Counter[str] = Counter()
        self._dead: Counter[str] = Counter()
        self._commits: list[TableCommit] = []

    def take(self, folder: str, masks: Iterable[tuple[AddedFile, pa.Array]]) -> None:
        """Take those rows of a table's files for which a mask is true."""
        table = self._lake.table(folder)
        removed: list[AddedFile] = []
        added: list[AddedFile] = []
        for file, mask in masks:
            count = pc.sum(mask).as_py() or 0
            if count:
                self.rows[folder] = self.rows.get(folder, 0) + count
                self._count(folder, table.metadata().name or folder, file, mask, count)
                removed.append(file)
                if self._run and count < file.rows:
                    rows = self._opened(folder, file).read().filter(pc.invert(mask))
                    added += write_remaining(self._lake, self._run, folder, file, rows)
        if removed:
            self._commits.append(exchange_of(table, folder, removed, added))

    def manifest(self, kind: str, source: str, change: str) -> Manifest:
        """What a ledger says of it: numbers of rows, never what was in them."""
        gone = sum(self._landed.values()) + sum(self._dead.values())
        return Manifest(
            run=self._run,
            batch=0,
            source=source,
            catalog=read_ledger(self._lake)[-1].catalog,
            started=datetime.now(UTC),
            read=-gone,
            landed={xid: -count for xid, count in self._landed.items()},
            dead={outcome: -count for outcome, count in self._dead.items()},
            tables=tuple(self._commits),
            changes=tuple(
                SchemaChange(folder, change, f"{count:,} row{'s' if count > 1 else ''}")
                for folder, count in self.rows.items()
            ),
            kind=kind,
        )

    def _count(self, folder: str, definition: str, file: AddedFile, mask: pa.Array, count: int) -> None:
        if folder == DEAD_LETTERS:
            outcomes = self._opened(folder, file).read(["outcome"]).column(0).filter(mask)
            self._dead.update(outcomes.to_pylist())
        elif folder != RECORDS:
            self._landed[definition] += count

    def _opened(self, folder: str, file: AddedFile) -> pq.ParquetFile:
        return pq.ParquetFile(self._lake.storage.input(f"{folder}/{file.path}"))


def old_rows(lake: Lake, folder: str, column: str, before: datetime) -> Iterable[tuple[AddedFile, pa.Array]]:
    """For each file of a table which of its rows have an earlier time in a column."""
    for file in files_of(lake.table(folder)):
        times = pq.ParquetFile(lake.storage.input(f"{folder}/{file.path}")).read([column]).column(0).combine_chunks()
        yield file, pc.fill_null(pc.less(times, pa.scalar(before, times.type)), False)

"""Dry runs: what a sort would read, and what would become of a sample of it. Nothing is written anywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa

from postroom.messages.engine import Engine
from postroom.pipeline.batch_spec import Job
from postroom.pipeline.catalog_reload import CatalogWatch
from postroom.pipeline.checkpoint import default_checkpoint, look_at_checkpoint, new_run
from postroom.pipeline.lake.commit_plan import TablePlans
from postroom.pipeline.lake.lake import Lake, Place, find_lake
from postroom.pipeline.lake.manifest import SchemaChange
from postroom.pipeline.lake.text_tables import text_tables
from postroom.pipeline.sources.preview import Part
from postroom.pipeline.sources.source import Source
from postroom.pipeline.storage.interface import Storage
from postroom.pipeline.storage.open_storage import open_storage
from postroom.pipeline.worker.record_origins import JudgedMessage, RecordOrigins
from postroom.pipeline.worker.sort_task import Tables, make_engine

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAMPLE = 10_000


class WouldLand(msgspec.Struct, frozen=True):
    """Rows that would land; `change` says what they would do to their table: created, columns_added, replaced."""

    message: str
    table: str
    rows: int
    change: str = ""
    detail: str = ""


class WouldBeDead(msgspec.Struct, frozen=True):
    """Messages that would not land, by their outcome, the definition that is named, and the first reason."""

    outcome: str
    message: str
    reason: str
    letters: int


class DryRun(msgspec.Struct, frozen=True):
    """What a run would read, and what would become of the messages of a sample."""

    source: str
    parts: list[Part]
    judged: int
    is_all: bool
    landed: list[WouldLand]
    dead: list[WouldBeDead]


def dry_run(
    source: Source,
    catalogs: CatalogWatch,
    lake: Place,
    *,
    spark: SparkSession | None = None,
    nulls: str = "",
    checkpoint: str | Path | None = None,
    follow: bool = False,
    sample: int = SAMPLE,
    rebind: bool = False,
    storage_options: Mapping[str, str] | None = None,
) -> DryRun:
    """Say what a sort would do; `sample` is about how many records are judged, 0 for all."""
    found = find_lake(lake, storage_options)
    url = found.url if found is not None else open_storage(str(lake), "a lake", storage_options).url
    place = checkpoint
    if place is None and follow and found is not None:
        place = default_checkpoint(found, source.name)
    looking = (
        look_at_checkpoint(
            place,
            found or Lake(open_storage(url, "a lake", storage_options)),
            source.name,
            catalogs.name,
            storage_options,
            rebind=source.check_rebind if rebind else None,
        )
        if place is not None
        else nullcontext()
    )
    with looking as kept:
        preview = source.preview(spark, kept, sample)
        tables = _counted(catalogs, found, url, nulls, storage_options)
        for batch in preview.sample:
            tables.add(batch)
    return DryRun(
        source=source.name,
        parts=preview.parts,
        judged=tables.read,
        is_all=not preview.cut,
        landed=list(tables.would_land(found)),
        dead=tables.would_be_dead(),
    )


class _CountedTables(Tables):
    """What would become of records: tables whose rows are counted, and written nowhere."""

    def __init__(self, job: Job, engine: Engine, storage: Storage) -> None:
        super().__init__(job, engine, {}, storage)
        self._rows: Counter[tuple[str, str]] = Counter()
        self._letters: Counter[tuple[str, str, str]] = Counter()

    def would_land(self, lake: Lake | None) -> Iterator[WouldLand]:
        """The rows by their tables, the most first."""
        plans = TablePlans(lake, self._job, sorted(self.schemas)) if lake is not None else None
        for (folder, message), rows in self._rows.most_common():
            planned = plans.target(folder, self.schemas[folder], message) if plans is not None else None
            table, change = planned or (folder, SchemaChange(folder, "created"))
            yield WouldLand(message, table, rows, change.kind if change else "", change.detail if change else "")

    def would_be_dead(self) -> list[WouldBeDead]:
        """The letters by outcome, definition and reason, the most first."""
        return [WouldBeDead(*why, letters) for why, letters in self._letters.most_common()]

    def _write(self, folder: str, xid: str, version: str, table: pa.Table) -> None:
        self.schemas.setdefault(folder, table.schema.serialize().to_pybytes())
        self._rows[folder, xid] += table.num_rows

    def _write_dead_letters(self, origins: RecordOrigins, messages: list[JudgedMessage]) -> None:
        for message in messages:
            match = message.sorted.match
            self._letters[match.outcome, match.message or "", match.reasons[0].code if match.reasons else ""] += 1


def _counted(
    catalogs: CatalogWatch, lake: Lake | None, url: str, nulls: str, options: Mapping[str, str] | None
) -> _CountedTables:
    catalog = catalogs()
    settings, strictness = catalog.settings, nulls or catalog.settings.nulls
    job = Job(
        url,
        catalog.compiled.digest,
        strictness,
        new_run(),
        0,
        datetime.now(UTC),
        settings.max_record_mb,
        keep_undeclared=settings.keep_undeclared,
        times=settings.times,
        text_tables=text_tables(lake) if lake is not None else frozenset(),
    )
    engine = make_engine(catalog.compiled, strictness, settings.max_record_mb, settings.keep_undeclared)
    return _CountedTables(job, engine, open_storage(url, "a lake", options))

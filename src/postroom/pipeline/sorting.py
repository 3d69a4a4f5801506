"""Sort records into a lake, from Python: all at once, batch by batch, or as part of a stream of your own."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from msgspec.structs import replace

from postroom.catalog import Catalog
from postroom.errors import LakeRefused
from postroom.messages.definition import CompiledCatalog
from postroom.pipeline.batches import Report, Sorter, finish_commits, run_batch
from postroom.pipeline.checkpoint import default_checkpoint, new_run, open_checkpoint
from postroom.pipeline.lake import create_lake
from postroom.pipeline.ledger import LedgerEntry
from postroom.pipeline.sources import Source, frame_of_records, open_source
from postroom.pipeline.streaming import run_stream
from postroom.pipeline.sweeping import sweep
from postroom.pipeline.watching import CatalogWatch, watch_catalog

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AnyCatalog = str | Path | Catalog | CompiledCatalog | CatalogWatch


def sort(
    spark: SparkSession,
    records: DataFrame | str | Path,
    catalog: AnyCatalog,
    lake: str | Path,
    *,
    nulls: str = "",
    checkpoint: str | Path | None = None,
    source: str = "",
    partition_by_date: bool = False,
    every: float | None = None,
    stop: Event | None = None,
    report: Report | None = None,
) -> LedgerEntry:
    """Sort records (files, a folder, `kafka://…`, or a DataFrame) into one Delta table per message definition.

    Without a checkpoint every call is a new run and sorts all records again. With one, what earlier calls sorted is
    passed over, and a call that died is finished first. With `every`, the source is followed: looked at again after so
    many seconds, until `stop` is set. The answer adds up all batches of this call.
    """
    target = create_lake(lake)
    finish_commits(target)
    catalogs = catalog if isinstance(catalog, CatalogWatch) else watch_catalog(catalog)
    made = Sorter(target, catalogs, nulls=nulls, partition_by_date=partition_by_date, report=report)
    try:
        if not isinstance(records, str | Path):
            return _sort_frame(made, records, source, checkpoint)
        opened = open_source(records)
        opened.check(follow=every is not None)
        made.source = source or opened.name
        if checkpoint is None and every is None:
            return _sort_once(spark, made, opened)
        folder = Path(checkpoint) if checkpoint is not None else default_checkpoint(target, opened.name)
        named = catalogs.name if isinstance(catalogs, CatalogWatch) else ""
        with open_checkpoint(folder, target, opened.name, named) as kept:
            made.run, made.read = kept.run, opened.batch
            run_stream(spark, opened, made, kept.stream, every=every, stop=stop)
        return total(made)
    finally:
        sweep(target)


def sorter(
    catalog: AnyCatalog,
    lake: str | Path,
    *,
    source: str = "dataframe",
    nulls: str = "",
    partition_by_date: bool = False,
    report: Report | None = None,
) -> Sorter:
    """What `stream.writeStream.foreachBatch(…)` takes to sort a stream of records, exactly once over restarts."""
    target = create_lake(lake)
    finish_commits(target)
    catalogs = catalog if isinstance(catalog, CatalogWatch) else watch_catalog(catalog)
    return Sorter(target, catalogs, source=source, nulls=nulls, partition_by_date=partition_by_date, report=report)


def _sort_frame(made: Sorter, records: DataFrame, source: str, checkpoint: str | Path | None) -> LedgerEntry:
    if checkpoint is not None:
        raise LakeRefused("a DataFrame has no files to keep a checkpoint of.", remedy="Leave the checkpoint out.")
    if records.isStreaming:
        raise LakeRefused("this DataFrame is a stream.", remedy="Give it `.writeStream.foreachBatch(sorter(…))`.")
    made.source = source or "dataframe"
    frame = frame_of_records(records)
    return run_batch(made.lake, made.job(new_run(), 0), made.source, frame)


def _sort_once(spark: SparkSession, made: Sorter, opened: Source) -> LedgerEntry:
    frame = opened.records(spark)
    return run_batch(made.lake, made.job(new_run(), 0), made.source, frame)


def total(made: Sorter) -> LedgerEntry:
    """All batches that a sorter has sorted, as one entry; it is not in the ledger itself."""
    if not made.entries:
        now = made.plan(made.run, -1)
        return LedgerEntry(
            run=now.run,
            batch=-1,
            source=made.source,
            catalog=now.catalog,
            read=0,
            landed={},
            dead={},
            changes=(),
            started=now.started,
            committed=now.started,
        )
    first, *others = made.entries
    for entry in others:
        first = _plus(first, entry)
    return first


def _plus(one: LedgerEntry, other: LedgerEntry) -> LedgerEntry:
    return replace(
        other,
        read=one.read + other.read,
        landed=_sums(one.landed, other.landed),
        dead=_sums(one.dead, other.dead),
        changes=(*one.changes, *other.changes),
        started=one.started,
    )


def _sums(one: dict[str, int], other: dict[str, int]) -> dict[str, int]:
    return {name: one.get(name, 0) + other.get(name, 0) for name in {**one, **other}}

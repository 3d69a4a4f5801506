"""Sort records into a lake, from Python: all at once, batch by batch, or as part of a stream of your own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from postroom.catalog.catalog import Catalog
from postroom.errors import LakeRefused
from postroom.messages.definitions.definition import CompiledCatalog
from postroom.pipeline.batch_sorter import Report, Sorter, finish_commits
from postroom.pipeline.catalog_reload import CatalogWatch, watch_catalog
from postroom.pipeline.checkpoint import (
    Checkpoint,
    check_several,
    checkpoint_of,
    default_checkpoint,
    new_run,
    open_checkpoint,
)
from postroom.pipeline.lake.lake import Lake, Place, create_lake
from postroom.pipeline.lake.ledger import LedgerEntry
from postroom.pipeline.lake.orphan_files import sweep
from postroom.pipeline.local_paths import scheme_of
from postroom.pipeline.monitoring.watcher import Watcher
from postroom.pipeline.several_sources import check_different, follow_together, sort_in_turn
from postroom.pipeline.sources.lag import Reached
from postroom.pipeline.sources.source import Source, frame_of_records, open_source
from postroom.pipeline.spark.batch_progress import ticking
from postroom.pipeline.spark.cluster import check_shared
from postroom.pipeline.spark.streaming import run_stream
from postroom.pipeline.spark.worker_calls import is_connect
from postroom.pipeline.spark.workers import prepare_workers, runs_here
from postroom.pipeline.storage.open_storage import is_remote, open_storage
from postroom.settings import Settings, load_settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

AnyCatalog = str | Path | Catalog | CompiledCatalog | CatalogWatch


def sort(
    spark: SparkSession,
    records: DataFrame | str | Path | Sequence[str | Path],
    catalog: AnyCatalog,
    lake: Place,
    *,
    nulls: str = "",
    checkpoint: str | Path | None = None,
    source: str = "",
    record_id: str = "",
    partition_by_date: bool = False,
    every: float | None = None,
    stop: Event | None = None,
    watcher: Watcher | None = None,
    storage_options: Mapping[str, str] | None = None,
    rebind: bool = False,
) -> LedgerEntry:
    """Sort records (files, a folder, `kafka://…`, or a DataFrame) into one Delta table per message definition.

    Of several sources each has batches of its own, and a checkpoint of its own below the given place.

    Without a checkpoint every call is a new run and sorts all records again. With one, what earlier calls sorted is
    passed over, and a call that died is finished first. With `every`, the source is followed: looked at again after so
    many seconds, until `stop` is set. A watcher hears of every batch, and from time to time of what is still to do. The
    answer adds up all batches of this call.

    `record_id` names the column of a DataFrame that tells its records apart; without it, and without columns `source`
    and `position`, ids are good for one batch only.

    `storage_options` are for lakes, checkpoints and files in object stores, beside the usual variables. `rebind` lets a
    checkpoint go on with the same source, catalog or lake under another name.
    """
    if checkpoint is not None:
        open_storage(checkpoint, "a checkpoint", storage_options)
    if isinstance(records, Sequence) and not isinstance(records, str):
        if len(records) > 1:
            one = partial(
                sort, spark, nulls=nulls, partition_by_date=partition_by_date, every=every, watcher=watcher,
                storage_options=storage_options,
            )  # fmt: skip
            return _sort_several(one, records, catalog, lake, checkpoint, every, stop, rebind, storage_options)
        (records,) = records
    catalogs = catalog if isinstance(catalog, CatalogWatch) else watch_catalog(catalog)
    settings = catalogs().settings
    _check_cluster(spark, records, lake, settings, is_stream=checkpoint is not None or every is not None)
    target = create_lake(lake, storage_options)
    finish_commits(target)
    report = watcher.report if watcher is not None else None
    made = Sorter(target, catalogs, nulls=nulls, partition_by_date=partition_by_date, report=report)
    try:
        prepare_workers(spark, settings)
        if not isinstance(records, str | Path):
            return _sort_frame(made, records, source, record_id, checkpoint)
        if record_id:
            raise LakeRefused("only a DataFrame has a column to know records by.", remedy="Leave `record_id` out.")
        opened = open_source(records, storage_options)
        opened.check(follow=every is not None)
        made.source = source or opened.name
        made.cluster, made.files = opened.cluster(spark), getattr(opened, "files", None)
        if checkpoint is None and every is None:
            return _sort_once(spark, made, opened, watcher)
        place = checkpoint or default_checkpoint(target, opened.name)
        named = catalogs.name if isinstance(catalogs, CatalogWatch) else ""
        with open_checkpoint(
            place,
            target,
            opened.name,
            named,
            storage_options,
            cluster=made.cluster,
            rebind=opened.check_rebind if rebind else None,
        ) as kept:
            made.run, made.read, made.save = kept.run, opened.batch, kept.save
            if made.files is not None:
                _run_files(spark, opened, made, kept, every, stop, watcher)
            else:
                run_stream(spark, opened, made, kept.stream, every=every, stop=stop, watcher=watcher)
        return made.total or _nothing(made)
    finally:
        sweep(target)


def _sort_several(
    sort_one: Callable[..., LedgerEntry],
    records: Sequence[str | Path],
    catalog: AnyCatalog,
    lake: Place,
    checkpoint: str | Path | None,
    every: float | None,
    stop: Event | None,
    rebind: bool,
    storage_options: Mapping[str, str] | None,
) -> LedgerEntry:
    if rebind:
        raise LakeRefused("a checkpoint is rebound for one source at a time.", remedy="Give that source alone, once.")
    places = {open_source(place, storage_options).name: place for place in records}
    sources = [open_source(place, storage_options) for place in records]
    check_different(sources)
    if checkpoint is not None:
        check_several(checkpoint, storage_options)
    shared = CatalogWatch(str(catalog), load_settings()) if isinstance(catalog, str | Path) else catalog
    target = create_lake(lake, storage_options)

    def run(source: Source, stop: Event) -> LedgerEntry:
        own = checkpoint_of(checkpoint, source.name) if checkpoint is not None else None
        return sort_one(places[source.name], shared, target, checkpoint=own, stop=stop)

    together = sort_in_turn if every is None else follow_together
    return together(sources, run, stop or Event())


def sorter(
    catalog: AnyCatalog,
    lake: Place,
    *,
    source: str = "dataframe",
    record_id: str = "",
    nulls: str = "",
    partition_by_date: bool = False,
    report: Report | None = None,
    storage_options: Mapping[str, str] | None = None,
    run: str = "",
) -> Sorter:
    """What `stream.writeStream.foreachBatch(…)` takes to sort a stream of records, exactly once over restarts.

    `record_id` names the column that tells records apart, as in `sort`. `run` is the name of the stream, the same after
    each restart, where Spark does not give it one (over Spark Connect).
    """
    target = create_lake(lake, storage_options)
    finish_commits(target)
    catalogs = catalog if isinstance(catalog, CatalogWatch) else watch_catalog(catalog)
    read = partial(frame_of_records, name=source, record_id=record_id)
    return Sorter(
        target,
        catalogs,
        run=run,
        source=source,
        nulls=nulls,
        partition_by_date=partition_by_date,
        read=read,
        report=report,
    )


def _sort_frame(
    made: Sorter, records: DataFrame, source: str, record_id: str, checkpoint: str | Path | None
) -> LedgerEntry:
    if checkpoint is not None:
        raise LakeRefused("a DataFrame has no files to keep a checkpoint of.", remedy="Leave the checkpoint out.")
    if records.isStreaming:
        raise LakeRefused("this DataFrame is a stream.", remedy="Give it `.writeStream.foreachBatch(sorter(…))`.")
    made.source = source or "dataframe"
    return made.sort_once(new_run(), lambda: frame_of_records(records, made.source, record_id))


def _check_cluster(
    spark: SparkSession, records: DataFrame | str | Path, lake: Place, settings: Settings, *, is_stream: bool
) -> None:
    """Refuse what workers of a cluster could not see, before anything runs."""
    if runs_here(spark):
        return
    check_shared(lake.url if isinstance(lake, Lake) else lake, "a lake", settings)
    if not isinstance(records, str | Path):
        return
    check_shared(records, "a source", settings)
    if is_connect(spark) and ((is_stream and not is_remote(records)) or scheme_of(records) == "kafka"):
        raise LakeRefused(
            "Spark Connect runs the batches of a stream on its server, and does not tell which Kafka cluster it reads.",
            remedy="Leave --follow and --checkpoint out, or give files in an object store; or read the stream in a "
            "program of your own, for `writeStream.foreachBatch(sorter(…, run=NAME))`.",
        )


def _sort_once(spark: SparkSession, made: Sorter, opened: Source, watcher: Watcher | None) -> LedgerEntry:
    def tell(watcher: Watcher) -> None:
        watcher.behind(opened.lag(Reached(share=made.progress.share)))

    with ticking(partial(tell, watcher) if watcher is not None else None):
        return made.sort_once(new_run(), lambda: opened.records(spark))


def _run_files(
    spark: SparkSession,
    opened: Source,
    made: Sorter,
    kept: Checkpoint,
    every: float | None,
    stop: Event | None,
    watcher: Watcher | None,
) -> None:
    """Follow files in an object store, which Spark does not."""
    from postroom.pipeline.sources.object_files import ObjectFileSource, run_files

    def tell(watcher: Watcher) -> None:
        watcher.behind(opened.lag(Reached(share=made.progress.share)))

    if isinstance(opened, ObjectFileSource):
        with ticking(partial(tell, watcher) if watcher is not None else None):
            run_files(spark, opened, made, kept, every=every, stop=stop, watcher=watcher)


def _nothing(made: Sorter) -> LedgerEntry:
    """The answer of a call that found nothing to sort; it is not in the ledger."""
    job = made.plan(made.run, -1)
    return LedgerEntry(
        run=job.run,
        batch=job.batch,
        source=made.source,
        catalog=job.catalog,
        read=0,
        landed={},
        dead={},
        changes=(),
        started=job.started,
        committed=job.started,
    )

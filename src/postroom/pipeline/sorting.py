"""Sort records into a lake: one call is one batch, and it is in the lake completely or not at all."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

import postroom.errors
from postroom.catalog import Catalog
from postroom.errors import LakeRefused, PostroomError
from postroom.messages.definition import CompiledCatalog
from postroom.pipeline.checkpoint import Checkpoint, new_run
from postroom.pipeline.commit import apply_manifest, commit_batch
from postroom.pipeline.job import Job
from postroom.pipeline.lake import Lake, create_lake
from postroom.pipeline.ledger import LedgerEntry, find_entry
from postroom.pipeline.manifest import read_manifest, unfinished
from postroom.pipeline.sources import Range, cut_ranges, find_files, frame_of_ranges, frame_of_records
from postroom.settings import Settings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def sort(
    spark: SparkSession,
    records: DataFrame | str | Path,
    catalog: Catalog | CompiledCatalog,
    lake: str | Path,
    *,
    nulls: str = "",
    checkpoint: str | Path | None = None,
    source: str = "",
) -> LedgerEntry:
    """Sort records (files, a folder, or a DataFrame) by a catalog into one Delta table per message definition.

    Without a checkpoint every call is a new run and sorts all records again. With one, files that earlier calls sorted
    are passed over, and a call that died is finished first. `nulls` is the catalog's setting unless given.
    """
    target = create_lake(lake)
    finish_commits(target)
    digest = target.keep_catalog(catalog.compiled if isinstance(catalog, Catalog) else catalog)
    settings = catalog.settings if isinstance(catalog, Catalog) else Settings()
    now, limit = datetime.now(UTC), settings.max_record_mb
    job = Job(str(target.root), digest, nulls or settings.nulls, new_run(), 0, now, limit)
    named = source or (str(records) if isinstance(records, str | Path) else "dataframe")
    if not isinstance(records, str | Path):
        if checkpoint is not None:
            raise LakeRefused("a DataFrame has no files to keep a checkpoint of.", remedy="Leave the checkpoint out.")
        return run_batch(spark, target, job, named, frame_of_records(records))
    files = find_files(records)
    parallelism = spark.sparkContext.defaultParallelism
    if checkpoint is None:
        return run_ranges(spark, target, job, named, cut_ranges(files, parallelism))
    kept = Checkpoint(Path(checkpoint))
    for plan in kept.plans:
        # A batch that is in the ledger costs one look; one that is not is done again by its own catalog.
        again = replace(job, catalog=plan.catalog, run=kept.run, batch=plan.batch)
        run_ranges(spark, target, again, named, plan.ranges)
    plan = kept.add(digest, cut_ranges(kept.new_files(files), parallelism))
    return run_ranges(spark, target, replace(job, run=kept.run, batch=plan.batch), named, plan.ranges)


def finish_commits(lake: Lake) -> list[LedgerEntry]:
    """Finish batches whose process died between the manifest and the ledger."""
    found = [read_manifest(lake, run, batch) for run, batch in unfinished(lake)]
    return [apply_manifest(lake, manifest) for manifest in found if manifest is not None]


def run_ranges(
    spark: SparkSession, lake: Lake, job: Job, source: str, ranges: list[Range] | tuple[Range, ...]
) -> LedgerEntry:
    """Run a batch over parts of files."""
    done = find_entry(lake, job.run, job.batch)
    if done is not None:
        return done
    if not ranges:
        return commit_batch(lake, job, source, [])
    return run_batch(spark, lake, job, source, frame_of_ranges(spark, ranges))


def run_batch(spark: SparkSession, lake: Lake, job: Job, source: str, frame: DataFrame) -> LedgerEntry:
    """Run a batch over a DataFrame that the sink understands."""
    from pyspark.errors import PySparkException

    from postroom.pipeline.sink import write_to_sink

    try:
        write_to_sink(frame, job, source)
    except PySparkException as error:
        raise _told_by_spark(str(error)) from error
    entry = find_entry(lake, job.run, job.batch)
    if entry is None:
        raise LakeRefused(f"batch {job.batch_name} ended without an entry in the ledger.", place=str(lake.root))
    return entry


def _told_by_spark(text: str) -> PostroomError:
    """The error of ours inside what Spark says, or the telling line of what it says."""
    ours = re.search(r"postroom\.errors\.(\w+): (.+)", text)
    if ours and hasattr(postroom.errors, ours[1]):
        kind: type[PostroomError] = getattr(postroom.errors, ours[1])
        return kind(ours[2].strip())
    causes = re.findall(r"^\s*(?:Caused by: )?(\w[\w.]*(?:Error|Exception): .+)$", text, re.MULTILINE)
    return LakeRefused(f"Spark could not finish the batch: {causes[-1] if causes else text[:300]}")

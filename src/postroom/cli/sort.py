"""`postroom sort`: records → one Delta table per message definition."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from postroom.cli.command import key_option, postroom_command, registry_option, setting, settings_from, storage_options
from postroom.cli.output import print_json, print_table
from postroom.cli.output import progress as show_progress
from postroom.errors import BadFlag

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from postroom.pipeline import LedgerEntry
    from postroom.pipeline.dry_run import DryRun
    from postroom.pipeline.monitoring.progress import Progress
    from postroom.pipeline.monitoring.watcher import Watcher
    from postroom.pipeline.sources.source import Source


@postroom_command(example="postroom sort --catalog demo/catalog --source demo/sample.jsonl --lake lake")
@click.option("--catalog", required=True, metavar="SRC", help="A file, a folder, http(s)://… or sqlite:///path.db.")
@click.option(
    "--source",
    "sources",
    required=True,
    multiple=True,
    metavar="SRC",
    help="Records: a file (JSON Lines, also .gz and .zst, or Parquet), a folder, or kafka://host:port/topic?option=value."
    " Several add up.",
)
@click.option(
    "--lake",
    required=True,
    metavar="PLACE",
    help="Where the tables are: a folder, made if it is not there, s3://bucket/path, abfss://… or gs://…",
)
@click.option("--endpoint", metavar="XID", help="Only the messages of this endpoint.")
@click.option("--follow", is_flag=True, help="Go on when all is sorted, and sort what comes; Ctrl-C ends it.")
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=5.0,
    metavar="SECONDS",
    show_default=True,
    help="How often --follow looks for new records.",
)
@click.option("--checkpoint", metavar="PLACE", help="Remember here what was sorted. --follow has one in the lake.")
@click.option(
    "--rebind",
    is_flag=True,
    help="Go on with --checkpoint, though its brokers, topics, catalog or lake have other names by now.",
)
@click.option(
    "--tidy-every",
    type=click.FloatRange(min=0, min_open=True),
    metavar="HOURS",
    help="While --follow runs, bring small files together at the start and again after so long.",
)
@click.option(
    "--metrics-port",
    metavar="[HOST:]PORT",
    help="Answer Prometheus here, at /metrics, while --follow runs; 127.0.0.1 unless a host is given, 0: a free port.",
)
@click.option("--dry-run", is_flag=True, help="Say what would be read and what would become of it; nothing is written.")
@click.option(
    "--sample",
    type=click.IntRange(min=0),
    default=10_000,
    metavar="N",
    show_default=True,
    help="How many records --dry-run judges, from the beginning of each file or partition; 0: all.",
)
@click.option("--partition-by-date", is_flag=True, help="New tables are partitioned by the day of landing.")
@click.option("--json", "as_json", is_flag=True, help="The ledger entry as JSON instead of tables.")
@setting("nulls", "strict|absent")
@click.option(
    "--conf", "conf", multiple=True, metavar="KEY=VALUE", help="An option of Spark, on top of spark-defaults.conf."
)
@setting("master", "URL")
@setting("storage", "KEY=VALUE")
@setting("driver_host", "HOST")
@setting("shared_paths", "FOLDER")
@setting("engine", "FILE|installed")
@setting("worker_python", "PATH")
@key_option
@registry_option
def command(
    catalog: str,
    sources: tuple[str, ...],
    lake: str,
    endpoint: str | None,
    follow: bool,
    every: float,
    checkpoint: str | None,
    rebind: bool,
    tidy_every: float | None,
    metrics_port: str | None,
    dry_run: bool,
    sample: int,
    partition_by_date: bool,
    as_json: bool,
    nulls: str | None,
    storage: tuple[str, ...],
    conf: tuple[str, ...],
    **cluster: Any,
) -> None:
    """Sort records by the message definitions of a catalog, on Spark: one Delta table per definition.

    What does not fit is kept with its reasons among the dead letters; nothing is dropped.

    Without --checkpoint every run sorts all its records again. With it, what an earlier run sorted is passed over, and
    a run that died is finished first. A file counts as a whole: what is appended to it later is not seen.

    With --follow, changes of the catalog take effect with the next batch. Where no terminal shows how far it is, the
    log has a line for each batch.

    With --master spark://…, yarn or k8s://… a cluster sorts. Its workers need Python of this version and nothing more:
    they are sent what they sort with.
    """
    from postroom.pipeline.spark.session import find_master, inside_spark, require_spark, spark_session

    require_spark()
    from postroom.pipeline import sort
    from postroom.pipeline.catalog_reload import CatalogWatch
    from postroom.pipeline.lake.lake import create_lake
    from postroom.pipeline.monitoring.metrics_port import parse_address
    from postroom.pipeline.monitoring.progress import Progress
    from postroom.pipeline.regular_tidy import RegularTidy
    from postroom.pipeline.several_sources import check_different
    from postroom.pipeline.sources.source import open_source
    from postroom.pipeline.spark.batch_progress import ticking
    from postroom.pipeline.spark.cluster import CONNECT, check_shared, is_local
    from postroom.pipeline.spark.java import find_java_home
    from postroom.pipeline.spark.streaming import stop_on_signals
    from postroom.pipeline.storage.open_storage import open_storage

    if metrics_port is not None:
        if not follow:
            raise BadFlag("only --follow runs long enough to be asked for metrics.", place="--metrics-port")
        parse_address(metrics_port)
    if tidy_every is not None and not follow:
        raise BadFlag("only --follow runs long enough to tidy; `postroom tidy` does it once.", place="--tidy-every")
    settings = settings_from(nulls=nulls, **cluster)
    options = spark_options(conf)
    watch = CatalogWatch(catalog, settings, endpoint or "")
    # All again inside sort(): here they say what is wrong before Spark takes seconds to start, or a folder is made.
    store = storage_options(storage)
    opened = [open_source(source, store) for source in sources]
    check_different(opened)
    chosen = find_master(settings.master, options)
    if chosen and not is_local(chosen):
        check_shared(lake, "a lake", settings)
        for source in sources:
            check_shared(source, "a source", settings)
    for one in opened:
        one.check(follow=follow)
    if checkpoint is not None:
        open_storage(checkpoint, "a checkpoint", store)
    elif rebind:
        raise rebind_what(lake, store)
    if not chosen.startswith(CONNECT):
        find_java_home()
    if not dry_run:
        create_lake(lake, store)
    # An application that is there has its libraries, or not; nobody can give it more.
    needed = {name: value for one in opened for name, value in one.configuration.items()}
    configuration = options if inside_spark() else with_jars(options, needed)
    quiet = logging.getLogger("postroom").level >= logging.ERROR
    if dry_run:
        from postroom.pipeline.checkpoint import checkpoint_of
        from postroom.pipeline.dry_run import dry_run as look

        session = spark_session(settings.master, configuration=configuration, settings=settings)
        needs_spark = any(one.needs_spark for one in opened)
        with session if needs_spark else nullcontext() as spark, show_progress("judging a sample", quiet):
            looked = [
                look(
                    one,
                    watch,
                    lake,
                    spark=spark,
                    nulls=settings.nulls,
                    checkpoint=checkpoint_of(checkpoint, one.name) if checkpoint and len(opened) > 1 else checkpoint,
                    follow=follow,
                    sample=sample,
                    rebind=rebind,
                    storage_options=store,
                )
                for one in opened
            ]
        if as_json:
            print_json(looked if len(looked) > 1 else looked[0])
            return
        for found in looked:
            print_dry_run(found)
        return
    with (
        Progress(quiet=quiet) as progress,
        watching(progress, metrics_port, follow=follow, quiet=quiet) as watcher,
        telling_lake(watcher, lake, store, opened if follow else []) as watcher,
        spark_session(settings.master, ui=follow, configuration=configuration, settings=settings) as spark,
        stop_on_signals() as stop,
        ticking(RegularTidy(lake, store, watcher) if tidy_every else None, 3600 * (tidy_every or 1)),
    ):
        pages = pages_of(spark) if follow and not quiet else ""
        if pages:
            click.echo(f"following {', '.join(one.name for one in opened)}; Spark's pages are at {pages}", err=True)
        entry = sort(
            spark,
            sources,
            watch,
            lake,
            nulls=settings.nulls,
            checkpoint=checkpoint,
            partition_by_date=partition_by_date,
            every=every if follow else None,
            stop=stop,
            watcher=watcher,
            storage_options=store,
            rebind=rebind,
        )
        if stop.is_set() and not follow:
            raise KeyboardInterrupt
    if as_json:
        print_json(entry)
    else:
        print_entry(entry, lake)


@contextmanager
def telling_lake(
    watcher: Watcher | None, lake: str, store: Mapping[str, str], followed: Sequence[Source]
) -> Iterator[Watcher | None]:
    """Whoever watches, and with them the lake while sources are followed: who looks into it sees how that goes."""
    from postroom.pipeline.lake.lake import open_lake
    from postroom.pipeline.monitoring.stream_status import StreamStatusFile
    from postroom.pipeline.monitoring.watcher import Watchers

    if not followed:
        yield watcher
        return
    status = StreamStatusFile(open_lake(lake, store), [one.name for one in followed])
    try:
        yield Watchers([status] if watcher is None else [watcher, status])
    finally:
        status.end()


@contextmanager
def watching(progress: Progress, metrics_port: str | None, *, follow: bool, quiet: bool) -> Iterator[Watcher | None]:
    """Whoever wants to know how the run goes on: a terminal, or a log where there is none, and a scraper."""
    from postroom.pipeline.monitoring.batch_log import BatchLog, showing_batches
    from postroom.pipeline.monitoring.metrics_port import metrics_port as answering
    from postroom.pipeline.monitoring.sort_metrics import SortMetrics
    from postroom.pipeline.monitoring.watcher import Watchers

    watchers: list[Watcher] = [progress] if progress.shown else []
    if follow:
        watchers.append(BatchLog())
    with showing_batches(shown=follow and not quiet and not progress.shown):
        if metrics_port is None:
            yield Watchers(watchers) if watchers else None
            return
        metrics, logger = SortMetrics(), logging.getLogger("postroom")
        logger.addHandler(metrics)
        try:
            with answering(metrics_port, metrics.text) as url:
                if not quiet:
                    click.echo(f"metrics are at {url}", err=True)
                yield Watchers([*watchers, metrics])
        finally:
            logger.removeHandler(metrics)


def rebind_what(lake: str, store: Mapping[str, str]) -> BadFlag:
    """--rebind without a checkpoint: by another name of the source, nobody finds the one in the lake."""
    from postroom.pipeline.checkpoint import checkpoints_of
    from postroom.pipeline.lake.lake import find_lake

    found = find_lake(lake, store)
    known = ", ".join(f"{place} ({source})" for place, source in checkpoints_of(found)) if found is not None else ""
    return BadFlag(
        "which checkpoint is to go on?",
        place="--rebind",
        remedy=f"Name it with --checkpoint. This lake has {known}." if known else "Name it with --checkpoint.",
    )


def spark_options(words: Sequence[str]) -> dict[str, str]:
    """The options of Spark that `--conf KEY=VALUE` gives."""
    found: dict[str, str] = {}
    for word in words:
        name, separator, value = word.partition("=")
        if not (separator and name.startswith("spark.")):
            raise BadFlag("an option of Spark is spark.NAME=VALUE.", place=f"--conf {word}")
        found[name] = value
    return found


def with_jars(options: Mapping[str, str], needed: Mapping[str, str]) -> dict[str, str]:
    """Options of the user with those that a source needs; Java libraries add up."""
    from postroom.pipeline.spark.session import spark_defaults

    theirs = options.get("spark.jars", "") or spark_defaults().get("spark.jars", "")
    jars = ",".join(filter(None, (needed.get("spark.jars", ""), theirs)))
    return {**needed, **options, **({"spark.jars": jars} if jars else {})}


def pages_of(spark: SparkSession) -> str:
    """Where Spark shows what it does; a session of Spark Connect cannot tell."""
    from postroom.pipeline.spark.worker_calls import is_connect

    return "" if is_connect(spark) else spark.sparkContext.uiWebUrl or ""


# Files, or partitions, that are named one by one.
MOST_PARTS = 20


def print_dry_run(found: DryRun) -> None:
    """What a run would do, for people."""
    from postroom.pipeline.sources.lag import sized
    from postroom.pipeline.summary import counted

    if found.parts and found.parts[0].end is not None:
        rows: list[tuple[Any, ...]] = [(part.name, part.first, part.end) for part in found.parts[:MOST_PARTS]]
        print_table("Would be read", ("partition", "from offset", "to before"), rows)
    elif found.parts:
        print_table(
            "Would be read", ("file", "size"), [(part.name, sized(part.bytes)) for part in found.parts[:MOST_PARTS]]
        )
    if len(found.parts) > MOST_PARTS:
        click.echo(f"… and {len(found.parts) - MOST_PARTS:,} more.")
    if found.landed:
        rows = [(one.message, one.table, one.rows, f"{one.change} {one.detail}".strip()) for one in found.landed]
        print_table("Would land", ("message", "table", "rows", "change of the table"), rows)
    if found.dead:
        rows = [(one.outcome, one.reason, one.message, one.letters) for one in found.dead]
        print_table("Would be dead letters", ("outcome", "first reason", "message", "letters"), rows)
    landed, dead = sum(one.rows for one in found.landed), sum(one.letters for one in found.dead)
    judged = f"Judged {counted(found.judged, 'message')}, {'which is all' if found.is_all else 'a sample'}"
    click.echo(f"{judged}: {landed:,} would land, {dead:,} would be dead. Nothing was written.")


def print_entry(entry: LedgerEntry, lake: str) -> None:
    """What became of a run, for people."""
    from postroom.pipeline.summary import summarise

    if entry.landed:
        print_table("Landed", ("message", "rows"), sorted(entry.landed.items()))
    if entry.dead:
        print_table("Dead letters", ("outcome", "letters"), sorted(entry.dead.items()))
    click.echo(summarise([entry], lake))
    landed, dead = sum(entry.landed.values()), sum(entry.dead.values())
    click.echo(f"read {entry.read:,} = landed {landed:,} + dead {dead:,}")

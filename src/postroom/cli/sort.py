"""`postroom sort`: records → one Delta table per message definition."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import click

from postroom.cli.command import postroom_command, setting, settings_from
from postroom.cli.output import print_json, print_table, progress

if TYPE_CHECKING:
    from postroom.pipeline import LedgerEntry


@postroom_command(example="postroom sort --catalog demo/catalog --source demo/sample.jsonl --lake lake")
@click.option("--catalog", required=True, metavar="SRC", help="A file, a folder, http(s)://… or sqlite:///path.db.")
@click.option("--source", required=True, metavar="SRC", help="Records: a file of JSON Lines (also .gz) or a folder.")
@click.option("--lake", required=True, metavar="DIR", help="Folder of the tables; made if it is not there.")
@click.option("--endpoint", metavar="XID", help="Only the messages of this endpoint.")
@click.option("--checkpoint", metavar="DIR", help="Remember here which files were sorted.")
@click.option("--json", "as_json", is_flag=True, help="The ledger entry as JSON instead of tables.")
@setting("nulls", "strict|absent")
@setting("master", "URL")
def command(
    catalog: str,
    source: str,
    lake: str,
    endpoint: str | None,
    checkpoint: str | None,
    as_json: bool,
    nulls: str | None,
    master: str | None,
) -> None:
    """Sort records by the message definitions of a catalog, on Spark: one Delta table per definition.

    What does not fit is kept with its reasons among the dead letters; nothing is dropped.

    Without --checkpoint every run sorts all its records again. With it, files that an earlier run sorted are passed
    over, and a run that died is finished first. A file counts as a whole: what is appended to it later is not seen.
    """
    from postroom.pipeline.spark import require_spark, spark_session

    require_spark()
    from postroom.catalog import open_catalog
    from postroom.pipeline import sort
    from postroom.pipeline.java import find_java_home
    from postroom.pipeline.lake import create_lake
    from postroom.pipeline.sources import find_files

    settings = settings_from(nulls=nulls, master=master)
    opened = open_catalog(catalog, settings=settings)
    chosen = opened.for_endpoint(endpoint) if endpoint else opened
    # All again inside sort(): here they say what is wrong before Spark takes seconds to start, or a folder is made.
    find_files(source)
    find_java_home()
    create_lake(lake)
    quiet = logging.getLogger("postroom").level >= logging.ERROR
    with (
        progress("sorting on Spark, which takes some seconds to start", quiet),
        spark_session(settings.master) as spark,
    ):
        entry = sort(spark, source, chosen, lake, nulls=settings.nulls, checkpoint=checkpoint)
    if as_json:
        print_json(entry)
    else:
        print_entry(entry)


def print_entry(entry: LedgerEntry) -> None:
    """What became of a batch, for people."""
    if entry.landed:
        print_table("Landed", ("message", "rows"), sorted(entry.landed.items()))
    if entry.dead:
        print_table("Dead letters", ("outcome", "letters"), sorted(entry.dead.items()))
    landed, dead = sum(entry.landed.values()), sum(entry.dead.values())
    click.echo(f"read {entry.read:,} = landed {landed:,} + dead {dead:,}")

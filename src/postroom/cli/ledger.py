"""`postroom ledger`: what a lake has taken in, and where that is now."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from postroom.cli.command import postroom_command, setting, storage_options
from postroom.cli.output import print_json, print_table

if TYPE_CHECKING:
    from postroom.pipeline.inspect.ledger_report import LedgerReport

BATCHES = 20


@postroom_command(example="postroom ledger --lake lake")
@click.option("--lake", required=True, metavar="PLACE", help="Folder or address that `postroom sort` filled.")
@click.option("--last", default=BATCHES, show_default=True, metavar="N", help="List so many batches.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
@setting("storage", "KEY=VALUE")
def command(lake: str, last: int, as_json: bool, storage: tuple[str, ...]) -> None:
    """Say what was read, what landed and what is dead.

    In all, by source, and by batch. The rate of a source is what it brought in the last five minutes before its newest
    batch.
    """
    from postroom.pipeline.lake.lake import open_lake
    from postroom.pipeline.spark.session import require_spark

    opened = open_lake(lake, storage_options(storage))
    require_spark()
    from postroom.pipeline.inspect.ledger_report import report_ledger

    report = report_ledger(opened, max(last, 0))
    print_json(report) if as_json else _print(report)


def _print(report: LedgerReport) -> None:
    click.echo(f"read {report.read:,} = landed {report.landed:,} + dead {report.dead:,}")
    if report.in_flight:
        click.echo(f"{report.in_flight:,} batches are not in the ledger yet.")
    for stream in report.streams:
        behind = ", ".join(f"{part} {lag}" for part, lag in stream.behind.items()) or "nothing behind"
        heard = f"{stream.at:%Y-%m-%d %H:%M:%S}"
        click.echo(f"following {', '.join(stream.sources)}: {stream.rate:,.0f}/s, {behind}; last heard of at {heard}")
    columns = ("source", "read", "landed", "dead", "batches", "a second", "last batch")
    rows = [
        (one.source, one.read, one.landed, one.dead, one.batches, round(one.rate, 1), f"{one.last:%Y-%m-%d %H:%M:%S}")
        for one in report.sources
    ]
    if rows:
        print_table("Sources", columns, rows)
    named = ("committed", "kind", "source", "read", "landed", "dead", "seconds")
    batches = [
        (f"{one.committed:%Y-%m-%d %H:%M:%S}", one.kind, one.source, one.read, one.landed, one.dead, one.seconds)
        for one in report.batches
    ]
    if batches:
        print_table(f"Newest of {report.batch_count:,} batches", named, batches)

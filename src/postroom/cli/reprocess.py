"""`postroom reprocess`: landed rows judged anew by the present catalog."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import click

from postroom.cli.command import key_option, postroom_command, registry_option, setting, settings_from, storage_options
from postroom.cli.output import print_json, print_table, progress

if TYPE_CHECKING:
    from postroom.pipeline.records.reprocess import Reprocess


@postroom_command(
    example="postroom reprocess --catalog better.yaml --lake lake "
    "--message /messagegroups/bakery.ovens/messages/oven.temperature --dry-run"
)
@click.option("--catalog", required=True, metavar="SRC", help="A file, a folder, http(s)://… or sqlite:///path.db.")
@click.option("--lake", required=True, metavar="PLACE", help="Folder or address that `postroom sort` filled.")
@click.option("--message", required=True, metavar="XID", help="The message whose rows are judged anew.")
@click.option("--endpoint", metavar="XID", help="Only by the messages of this endpoint.")
@click.option("--dry-run", is_flag=True, help="Only say what would become of the rows; nothing is written.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
@setting("nulls", "strict|absent")
@key_option
@registry_option
@setting("storage", "KEY=VALUE")
def command(
    catalog: str,
    lake: str,
    message: str,
    endpoint: str | None,
    dry_run: bool,
    as_json: bool,
    nulls: str | None,
    storage: tuple[str, ...],
) -> None:
    """Judge the rows of a message anew by the present catalog, from the exact records that the lake keeps of them.

    Rows get the columns of today, move to the table of the message that they are of today, or become dead letters.
    Those that are the same stay where they are, and so do rows whose record was not kept (the setting keep_records).
    All of it is one exchange: it happens once, however often this runs and wherever it dies.
    """
    from postroom.pipeline.spark.session import require_spark

    require_spark()
    from postroom.catalog.catalog import open_catalog
    from postroom.pipeline.lake.lake import open_lake
    from postroom.pipeline.records.reprocess import reprocess

    target = open_lake(lake, storage_options(storage))
    settings = settings_from(nulls=nulls)
    opened = open_catalog(catalog, settings=settings)
    chosen = opened.for_endpoint(endpoint) if endpoint else opened
    quiet = logging.getLogger("postroom").level >= logging.ERROR
    with progress("judging the rows anew", quiet):
        done = reprocess(target, chosen, message=message, dry_run=dry_run, nulls=settings.nulls)
    if as_json:
        print_json(_as_json(done, dry_run))
    else:
        print_reprocess(done, message, dry_run)


def print_reprocess(done: Reprocess, message: str, dry_run: bool) -> None:
    """What became of the rows, for people."""
    from postroom.pipeline.summary import counted

    became = [("other columns", message, done.changed)] if done.changed else []
    became += [("another message", xid, rows) for xid, rows in sorted(done.moved.items())]
    became += [("dead letters", outcome, letters) for outcome, letters in sorted(done.dead.items())]
    if became:
        print_table("Would become" if dry_run else "Became", ("what", "which", "rows"), became)
    click.echo(f"Of {counted(done.rows, 'row')} {done.unchanged:,} {'is' if done.unchanged == 1 else 'are'} unchanged.")
    if done.without_record:
        click.echo(f"Of {counted(done.without_record, 'row')} no record was kept; they stay as they are.")


def _as_json(done: Reprocess, dry_run: bool) -> dict[str, Any]:
    import msgspec

    answer = {name: value for name, value in msgspec.to_builtins(done).items() if name != "entry"}
    batch = f"{done.entry.run}-{done.entry.batch}" if done.entry else None
    return answer | {"dry_run": dry_run, "batch": batch}

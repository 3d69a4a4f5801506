"""`postroom backfill`: members of payloads that were declared after they had landed."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import click

from postroom.cli.command import key_option, postroom_command, setting, settings_from, storage_options
from postroom.cli.output import print_json, print_table, progress

if TYPE_CHECKING:
    from postroom.pipeline.lake.backfill_rescued import Backfill


@postroom_command(example="postroom backfill --lake lake --catalog ovens.yaml --dry-run")
@click.option("--lake", required=True, metavar="PLACE", help="Folder or address that `postroom sort` filled.")
@click.option(
    "--catalog", metavar="SRC", help="The catalog that declares them; without it, the one that was sorted by last."
)
@click.option("--message", default="", metavar="XID", help="Only the tables of this message.")
@click.option("--dry-run", is_flag=True, help="Only say what would be lifted; nothing is written.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
@key_option
@setting("storage", "KEY=VALUE")
def command(
    lake: str, catalog: str | None, message: str, dry_run: bool, as_json: bool, storage: tuple[str, ...]
) -> None:
    """Lift payload members into the columns that they have by now.

    Members that no schema declared when they landed are in the column `_rescued`. Once a catalog declares them, this
    moves them into their columns, in all rows that have them, each once: however often it runs and wherever it dies.
    A value that its column cannot hold stays where it is, and is counted.
    """
    from postroom.pipeline.spark.session import require_spark

    require_spark()
    from postroom.catalog.catalog import open_catalog
    from postroom.pipeline.lake.backfill_rescued import backfill

    opened = open_catalog(catalog, settings=settings_from()) if catalog else None
    quiet = logging.getLogger("postroom").level >= logging.ERROR
    with progress("lifting members", quiet):
        done = backfill(lake, opened, storage_options=storage_options(storage), message=message, dry_run=dry_run)
    if as_json:
        print_json(_as_json(done, dry_run))
    else:
        print_backfill(done, dry_run)


def print_backfill(done: Backfill, dry_run: bool) -> None:
    """What was lifted, for people."""
    from postroom.pipeline.summary import counted

    if not done.tables:
        click.echo("No column is waiting for a rescued member.")
        return
    rows = [(table.folder, table.rows, table.members, table.misfits) for table in done.tables]
    print_table("Would be lifted" if dry_run else "Lifted", ("table", "rows", "members", "do not fit"), rows)
    for table in done.tables:
        if table.why:
            click.echo(f"{table.folder} cannot have the new columns: {table.why}.")
    members, changed = sum(table.members for table in done.tables), sum(table.rows for table in done.tables)
    lifted = "would be lifted" if dry_run else "lifted"
    click.echo(f"{counted(members, 'member')} {lifted} in {counted(changed, 'row')}.")


def _as_json(done: Backfill, dry_run: bool) -> dict[str, Any]:
    import msgspec

    batch = f"{done.entry.run}-{done.entry.batch}" if done.entry else None
    return {"tables": [msgspec.structs.asdict(table) for table in done.tables], "dry_run": dry_run, "batch": batch}

"""`postroom erase`: rows, kept records and dead letters of a person leave a lake."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, Any

import click

from postroom.cli.command import postroom_command, setting, storage_options
from postroom.cli.output import print_json, print_table, progress

if TYPE_CHECKING:
    from postroom.pipeline.records.erase import Erasure


@postroom_command(example="""postroom erase --lake lake --where "data.customer.email = 'kim@example.com'" --dry-run""")
@click.option("--lake", required=True, metavar="PLACE", help="Folder or address that `postroom sort` filled.")
@click.option(
    "--where",
    "conditions",
    required=True,
    multiple=True,
    metavar="EXPR",
    help="Which rows: an SQL condition, asked of tables that have its columns. Several add up; - reads lines of stdin.",
)
@click.option("--dry-run", is_flag=True, help="Only say how many rows would go; nothing is written.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
@setting("storage", "KEY=VALUE")
def command(lake: str, conditions: tuple[str, ...], dry_run: bool, as_json: bool, storage: tuple[str, ...]) -> None:
    """Remove the rows, kept records and dead letters of a person from all tables, and from all files that had them.

    With a row go its kept record and its dead letters. Dead letters and kept records have the bytes of their record:
    "contains(decode(record), 'kim@example.com')" finds what has a name anywhere in it.

    Files without the rows take the place of those with them, and files that no table has any more leave the disk at
    once: older versions of the tables can no longer be read. The ledger gets a receipt: when, and how many rows of
    which table, with nothing of the conditions. Write its name down beside the request of the person.
    """
    from postroom.pipeline.spark.session import require_spark

    require_spark()
    from postroom.pipeline.records.erase import erase

    quiet = logging.getLogger("postroom").level >= logging.ERROR
    with progress("looking for the rows", quiet):
        done = erase(lake, _read(conditions), dry_run=dry_run, storage_options=storage_options(storage))
    if as_json:
        print_json(_as_json(done, dry_run))
    else:
        print_erasure(done, dry_run)


def _read(conditions: tuple[str, ...]) -> list[str]:
    """The conditions; what is personal need not stand on the command line, which others on the machine can see."""
    found: list[str] = []
    for condition in conditions:
        found += [line for line in sys.stdin.read().splitlines() if line.strip()] if condition == "-" else [condition]
    return found


def print_erasure(done: Erasure, dry_run: bool) -> None:
    """What was erased, for people."""
    if done.rows:
        print_table("Would be erased" if dry_run else "Erased", ("table", "rows"), sorted(done.rows.items()))
    else:
        click.echo("No row matches.")
    if done.not_asked:
        click.echo(f"Not asked, because they do not have the columns: {', '.join(done.not_asked)}.")
    if done.entry:
        click.echo(f"Receipt in the ledger: {done.entry.run}.")


def _as_json(done: Erasure, dry_run: bool) -> dict[str, Any]:
    batch = f"{done.entry.run}-{done.entry.batch}" if done.entry else None
    return {
        "rows": done.rows,
        "not_asked": done.not_asked,
        "dry_run": dry_run,
        "batch": batch,
    }

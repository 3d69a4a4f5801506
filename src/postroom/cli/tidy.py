"""`postroom tidy`: few large files in place of many small ones."""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from postroom.cli.command import postroom_command, setting, storage_options
from postroom.cli.output import print_json, print_table, progress

if TYPE_CHECKING:
    from postroom.pipeline.lake.compaction import Upkeep


class Age(click.ParamType[timedelta]):
    """How old something is, as 90d, 12h or 30m."""

    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> timedelta:
        """Read it; what is one already stays."""
        if isinstance(value, timedelta):
            return value
        found = re.fullmatch(r"([0-9]{1,6})([dhm])", str(value))
        if found is None:
            self.fail(f"{value!r} is no age; one is 90d, 12h or 30m", param, ctx)
        return timedelta(**{{"d": "days", "h": "hours", "m": "minutes"}[found[2]]: int(found[1])})


AGE = Age()


@postroom_command(example="postroom tidy --lake lake")
@click.option("--lake", required=True, metavar="PLACE", help="Folder or address that `postroom sort` filled.")
@click.option("--message", default="", metavar="XID", help="Only the tables of this message.")
@click.option("--target-mb", default=128, show_default=True, metavar="N", help="Size of the files that are made.")
@click.option("--most-mb", default=4096, show_default=True, metavar="N", help="Read no more than this in one run.")
@click.option(
    "--keep-hours",
    default=168,
    show_default=True,
    metavar="N",
    help="Remove exchanged files from the disk after so long; who reads an older version then no longer can.",
)
@click.option(
    "--sort-by",
    default="",
    metavar="COLUMN",
    help="Write rows in the order of a column or of a member of one (data.vin), so that readers skip the others.",
)
@click.option(
    "--dead-letters-older-than", type=AGE, metavar="AGE", help="Remove dead letters of that age: 90d, 12h, 30m."
)
@click.option("--records-older-than", type=AGE, metavar="AGE", help="Remove kept records of that age; their rows stay.")
@click.option("--dry-run", is_flag=True, help="Only say which files would be brought together; nothing is written.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of a table.")
@setting("storage", "KEY=VALUE")
def command(
    lake: str,
    message: str,
    target_mb: int,
    most_mb: int,
    keep_hours: int,
    sort_by: str,
    dead_letters_older_than: timedelta | None,
    records_older_than: timedelta | None,
    dry_run: bool,
    as_json: bool,
    storage: tuple[str, ...],
) -> None:
    """Bring small files of tables together, and remove old ones.

    A stream writes a file per batch, partition and table. This makes one file of many, shortens the logs of the tables,
    and removes files that were exchanged long ago, files of batches that died, and catalogs that no batch was sorted
    with. It runs beside sorts, replays and backfills; readers see the same rows before, meanwhile and afterwards.
    """
    from postroom.pipeline.spark.session import require_spark

    require_spark()
    import msgspec

    from postroom.pipeline.lake.compaction import tidy

    quiet = logging.getLogger("postroom").level >= logging.ERROR
    with progress("bringing files together", quiet):
        done = tidy(
            lake,
            storage_options=storage_options(storage),
            message=message,
            target_mb=target_mb,
            most_mb=most_mb,
            keep_hours=keep_hours,
            sort_by=sort_by,
            dead_letters_kept=dead_letters_older_than,
            records_kept=records_older_than,
            dry_run=dry_run,
        )
    if as_json:
        batch = f"{done.entry.run}-{done.entry.batch}" if done.entry else None
        answer = {name: value for name, value in msgspec.to_builtins(done).items() if name != "entry"}
        print_json(answer | {"dry_run": dry_run, "batch": batch})
    else:
        print_upkeep(done, dry_run)


def print_upkeep(done: Upkeep, dry_run: bool) -> None:
    """What was done, for people."""
    from postroom.pipeline.lake.lake import DEAD_LETTERS
    from postroom.pipeline.summary import counted
    from postroom.pipeline.worker.table_layout import RECORDS

    changed = [table for table in done.tables if table.compacted or table.removed]
    if changed:
        rows = [(table.folder, table.files_before, table.files_after, table.removed) for table in changed]
        title = "Would be brought together" if dry_run else "Brought together"
        print_table(title, ("table", "files before", "files after", "removed from disk"), rows)
    before, after = (sum(getattr(t, name) for t in done.tables) for name in ("files_before", "files_after"))
    click.echo(
        f"{counted(len(done.tables), 'table')}: {counted(before, 'file')} before, {counted(after, 'file')} after."
    )
    if done.orphans or done.catalogs:
        click.echo(f"Also removed: {done.orphans:,} files of batches that died, {done.catalogs:,} unused catalogs.")
    for folder, what in ((DEAD_LETTERS, "dead letter"), (RECORDS, "kept record")):
        if folder in done.expired:
            click.echo(f"{'Would also be' if dry_run else 'Also'} removed: {counted(done.expired[folder], what)}.")
    if not done.is_complete:
        click.echo("There is more to do than --most-mb allows in one run: run it again.")

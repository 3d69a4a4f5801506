"""`postroom prune`: delete what the settings for retention no longer keep."""

from __future__ import annotations

import click

from postroom.cli.command import postroom_command, setting, settings_from
from postroom.cli.output import print_json, progress


@postroom_command(
    example="postroom load demo/catalog --to sqlite:///shop.db && postroom prune sqlite:///shop.db --changes-kept 10 "
    "--dry-run"
)
@click.argument("db", metavar="DB")
@setting("changes_kept_days", "N")
@setting("changes_kept", "N")
@setting("history_kept", "always|with_changes")
@click.option("--dry-run", is_flag=True, help="Only say how much would be deleted.")
@click.option("--json", "as_json", is_flag=True, help="How much was deleted as JSON.")
def command(
    db: str,
    changes_kept_days: str | None,
    changes_kept: str | None,
    history_kept: str | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Delete the changes and history of DB that need not be kept.

    A service does so a few rows at a time with its writes; this does it at once, in short transactions, while services
    go on. A superseded body goes only where the change that shows it has gone, and never while the message definition
    that it is a version of is there. DB is sqlite:///path.db or postgresql://host/database.
    """
    from postroom.catalog.open_store import open_store, retention_of
    from postroom.store.retention import count_due, prune
    from postroom.urls import masked

    settings = settings_from(changes_kept_days=changes_kept_days, changes_kept=changes_kept, history_kept=history_kept)
    retention = retention_of(settings)
    with open_store(db, create=False, write_wait_s=settings.write_wait_s) as store:
        if dry_run:
            with store.read() as tx:
                due = count_due(tx, retention)
        else:
            with progress(f"Pruning {masked(db)}"):
                due = prune(store, retention)
    if as_json:
        print_json({"db": masked(db), "changes": due.changes, "history": due.history, "deleted": not dry_run})
        return
    verb = "would be deleted" if dry_run else "deleted"
    click.echo(f"{verb} from {masked(db)}: changes {due.changes}, history {due.history}")

"""`postroom upgrade`: bring the registry of an earlier version to the schema of this one."""

from __future__ import annotations

import click

from postroom.cli.command import postroom_command, settings_from
from postroom.cli.output import print_json, progress


@postroom_command(
    example="postroom load demo/catalog --to sqlite:///shop.db && postroom upgrade sqlite:///shop.db --check"
)
@click.argument("db", metavar="DB")
@click.option("--check", is_flag=True, help="Change nothing; exit 1 when DB has to be upgraded.")
@click.option("--json", "as_json", is_flag=True, help="What was found and done as JSON.")
@click.pass_context
def command(context: click.Context, db: str, check: bool, as_json: bool) -> None:
    """Bring the registry in DB to the schema of this version.

    Services and commands do so, too, when they open a registry of an earlier version. This does it at a time that you
    choose, and after a backup. It happens in one transaction: all or nothing, while others wait. There is no way back
    but the backup; an earlier version refuses a newer schema. DB is sqlite:///path.db or postgresql://host/database.
    """
    from postroom.catalog.upgrade import schema_versions, upgrade
    from postroom.urls import masked

    if check:
        versions = schema_versions(db)
    else:
        with progress(f"Upgrading {masked(db)}"):
            versions = upgrade(db, settings_from())
    is_old = versions.found < versions.latest
    if as_json:
        print_json(
            {"db": masked(db), "found": versions.found, "latest": versions.latest, "upgraded": is_old and not check}
        )
    elif not is_old:
        click.echo(f"{masked(db)} has schema {versions.found}, the one of this version")
    elif check:
        click.echo(f"{masked(db)} has schema {versions.found} and has to be upgraded to {versions.latest}")
    else:
        click.echo(f"{masked(db)} upgraded from schema {versions.found} to {versions.latest}")
    if check and is_old:
        context.exit(1)

"""`postroom restore`: a registry from a backup."""

from __future__ import annotations

from pathlib import Path

import click

from postroom.cli.command import postroom_command, settings_from
from postroom.cli.move import print_contents
from postroom.cli.output import print_json, progress


@postroom_command(
    example="postroom load demo/catalog --to sqlite:///shop.db && "
    "postroom backup sqlite:///shop.db shop.backup && postroom restore shop.backup sqlite:///restored.db"
)
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@click.argument("db", metavar="DB")
@click.option("--force", is_flag=True, help="Replace the registry in DB. What it holds is lost.")
@click.option("--json", "as_json", is_flag=True, help="What was restored as JSON.")
def command(file: Path, db: str, force: bool, as_json: bool) -> None:
    """Restore the backup FILE into DB, which must not have a registry.

    DB is sqlite:///path.db or postgresql://host/database, whatever the backup was made of. It gets all or nothing: a
    file that is not as it was when it was made is refused. Stop the services that use DB before. Keys and grants are
    those of the backup, too: revoke again what was revoked since.
    """
    from postroom.catalog.move import restore
    from postroom.urls import masked

    with progress(f"Restoring {file}"):
        found = restore(file, db, settings_from(), replaces=force)
    if as_json:
        print_json({"file": str(file), "target": masked(db), "digest": found.digest, "rows": found.rows})
        return
    print_contents("restored", found.rows, found.digest, f"{file} into {masked(db)}")

"""`postroom backup`: a registry as one file, while the service goes on."""

from __future__ import annotations

from pathlib import Path

import click

from postroom.cli.command import postroom_command, settings_from
from postroom.cli.move import print_contents
from postroom.cli.output import print_json, progress


@postroom_command(
    example="postroom load demo/catalog --to sqlite:///shop.db && postroom backup sqlite:///shop.db shop.backup"
)
@click.argument("db", metavar="DB")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@click.option("--force", is_flag=True, help="Replace FILE when it is there.")
@click.option("--json", "as_json", is_flag=True, help="What was backed up as JSON.")
def command(db: str, file: Path, force: bool, as_json: bool) -> None:
    """Back up the registry in DB into FILE. Services may go on reading and writing.

    FILE holds everything as it was at one moment, keys and passwords of sinks included, so only its owner may read it.
    It gets its name when it is complete and was read again. DB is sqlite:///path.db or postgresql://host/database.
    """
    from postroom.catalog.move import back_up
    from postroom.urls import masked

    with progress(f"Backing up {masked(db)}"):
        made = back_up(db, file, settings_from(), replaces=force)
    if as_json:
        print_json({"source": masked(db), "file": str(file), "digest": made.digest, "rows": made.rows})
        return
    print_contents("backed up", made.rows, made.digest, f"{masked(db)} into {file}")

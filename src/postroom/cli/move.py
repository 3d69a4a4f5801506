"""`postroom move`: a whole registry from one database into another."""

from __future__ import annotations

import click

from postroom.cli.command import postroom_command, settings_from
from postroom.cli.output import print_json, progress


@postroom_command(
    example="postroom load demo/catalog --to sqlite:///shop.db && "
    "postroom move sqlite:///shop.db sqlite:///elsewhere.db"
)
@click.argument("source", metavar="SRC")
@click.argument("target", metavar="DST")
@click.option("--json", "as_json", is_flag=True, help="What was moved as JSON.")
def command(source: str, target: str, as_json: bool) -> None:
    """Move a registry from one database into another. SRC and DST are sqlite:///path.db or postgresql://host/database.

    Everything goes along: entities with their history, the change log with its cursors, the model, subscriptions,
    links, keys and grants. DST must not have a registry yet; it gets all or nothing, and the digest of what it gives
    back is compared. SRC is only read. Stop the services that use it before: when it is written to meanwhile, the move
    fails.
    """
    from postroom.catalog.move import move
    from postroom.urls import masked

    with progress(f"Moving {masked(source)}"):
        moved = move(source, target, settings_from())
    if as_json:
        print_json({"source": masked(source), "target": masked(target), "digest": moved.digest, "rows": moved.rows})
        return
    print_contents("moved", moved.rows, moved.digest, f"{masked(source)} to {masked(target)}")


def print_contents(done: str, rows: dict[str, int], digest: str, where: str) -> None:
    """What was copied, in words, and its digest."""
    counts = ", ".join(f"{name} {count:,}" for name, count in rows.items() if name != "configuration")
    click.echo(f"{done} {where}: {counts}")
    click.echo(digest)

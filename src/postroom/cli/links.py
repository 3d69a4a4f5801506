"""`postroom links`: the links that a service runs by itself."""

from __future__ import annotations

from typing import Any

import click

from postroom.cli.command import key_option, postroom_command, settings_from
from postroom.cli.output import print_json, print_table


@click.group("links", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """List and change the links that a service runs by itself.

    They are kept in the service's store and run as long as it does. The hosts that they reach are named by the
    setting link_hosts.
    """


def at_option(function: Any) -> Any:
    """Where the links are."""
    return key_option(
        click.option(
            "--at", metavar="WHERE", default="", help="Service (http(s)://…) or store; the setting db by default."
        )(function)
    )


@postroom_command(example="postroom links list --at sqlite:///catalog.db", name="list")
@at_option
@click.option("--json", "as_json", is_flag=True, help="JSON instead of a table.")
def list_(at: str, as_json: bool) -> None:
    """List all links with how they are doing."""
    from postroom.replication.replicas.link_admin import open_link_admin

    with open_link_admin(at, settings_from()) as links:
        found = links.all()
    if as_json:
        print_json(found)
        return
    columns = ("id", "mode", "remote", "only", "status", "at", "error")
    rows = [[link.get(name, "") or "/" * (name == "only") for name in columns] for link in found.values()]
    print_table("links", columns, rows, whole=("id",))


@postroom_command(
    example="postroom links add partner http://127.0.0.1:8081 --mode follow --at sqlite:///catalog.db", name="add"
)
@click.argument("name")
@click.argument("remote")
@click.option(
    "--mode",
    type=click.Choice(["pull", "follow", "push"]),
    default="follow",
    show_default=True,
    help="Look at REMOTE now and then, listen to its changes, or push changes to it.",
)
@click.option("--only", default="/", metavar="XID", help="One group or one definition instead of everything.")
@click.option("--rename", multiple=True, metavar="OLD=NEW", help="What an xid is called at the target.")
@click.option("--every", type=float, default=60.0, show_default=True, metavar="SECONDS", help="Time between pulls.")
@click.option("--adopt", is_flag=True, help="Take over what was written at the target, too.")
@click.option("--authority", default="", metavar="URI", help="Who is responsible for what is pushed.")
@click.option("--remote-key", default="", metavar="REF", help="Key for REMOTE, by reference: env:NAME, file:PATH.")
@click.option("--off", is_flag=True, help="Only note it; it does not run.")
@at_option
def add(name: str, remote: str, at: str, rename: tuple[str, ...], remote_key: str, **chosen: Any) -> None:
    """Add the link NAME between the service and REMOTE, or change it."""
    from postroom.replication.replicas.link_admin import open_link_admin
    from postroom.replication.replicas.service_links import LinkConfig

    config = LinkConfig(remote=remote, renames=rename, key=remote_key, **chosen)
    with open_link_admin(at, settings_from()) as links:
        links.put(name, config)
    click.echo(f"added the link {name}")


@postroom_command(
    example="postroom links add partner http://127.0.0.1:8081 --off --at sqlite:///catalog.db && "
    "postroom links remove partner --at sqlite:///catalog.db",
    name="remove",
)
@click.argument("name")
@at_option
def remove(name: str, at: str) -> int:
    """Remove the link NAME; what it brought stays. Exit 1 when there is no such link."""
    from postroom.replication.replicas.link_admin import open_link_admin

    with open_link_admin(at, settings_from()) as links:
        is_removed = links.remove(name)
    click.echo(f"removed the link {name}" if is_removed else f"there is no link {name}")
    return 0 if is_removed else 1


for each in (list_, add, remove):
    command.add_command(each)

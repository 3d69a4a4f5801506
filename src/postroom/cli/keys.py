"""`postroom keys`: API keys of a registry."""

from __future__ import annotations

from typing import Any

import click

from postroom.cli.command import key_option, postroom_command, settings_from
from postroom.cli.output import print_json, print_table


@click.group("keys", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Make, list, rotate and revoke API keys.

    A key is sent as `Authorization: Bearer KEY`, or with Basic as the password of the user ID. It is shown once, when
    it is made, and kept as a hash.
    """


def at_option(function: Any) -> Any:
    """Where the keys are."""
    return key_option(
        click.option(
            "--at", metavar="WHERE", default="", help="Service (http(s)://…) or store; the setting db by default."
        )(function)
    )


def expires_option(function: Any) -> Any:
    """How long a key is good."""
    return click.option("--expires", default="", metavar="SPAN", help="How long it is good: 90d, 12h, 30m.")(function)


@postroom_command(example="postroom keys list --at sqlite:///registry.db", name="list")
@at_option
@click.option("--json", "as_json", is_flag=True, help="JSON instead of a table.")
def list_(at: str, as_json: bool) -> None:
    """List all keys with their grants and when they were used last. Uses are noted every few minutes."""
    from postroom.catalog.access_admin import open_access_admin

    with open_access_admin(at, settings_from()) as admin:
        found = admin.keys()
    if as_json:
        print_json(found)
        return
    columns = ("id", "hint", "status", "grants", "expires", "lastuse")
    rows = [[", ".join(key[name]) if name == "grants" else key[name] for name in columns] for key in found]
    print_table("keys", columns, rows, whole=("id",))


@postroom_command(
    example="postroom keys create fleet-ci --grant write:/messagegroups/fleet.* --expires 90d --at sqlite:///registry.db",
    name="create",
)
@click.argument("name")
@click.option("--grant", multiple=True, metavar="ROLE:PREFIX", help="What the key may do: write:/messagegroups/fleet.*")
@expires_option
@at_option
def create(name: str, grant: tuple[str, ...], expires: str, at: str) -> None:
    """Make the key NAME and print it. Nobody can print it again.

    Roles are read, write, own and admin, each with what the ones before it have; admin is on / only.
    """
    from postroom.access.grants import parse_grant
    from postroom.catalog.access_admin import open_access_admin

    parts = [one.partition(":") for one in grant]
    wanted = [parse_grant(f"key:{name}", role, prefix) for role, _, prefix in parts]
    with open_access_admin(at, settings_from()) as admin:
        click.echo(admin.create_key(name, wanted, expires))


@postroom_command(
    example="postroom keys create fleet-ci --at sqlite:///registry.db && "
    "postroom keys rotate fleet-ci --at sqlite:///registry.db",
    name="rotate",
)
@click.argument("name")
@expires_option
@at_option
def rotate(name: str, expires: str, at: str) -> None:
    """Give the key NAME another secret and print it. The old one stops to work at once; the grants stay."""
    from postroom.catalog.access_admin import open_access_admin

    with open_access_admin(at, settings_from()) as admin:
        click.echo(admin.rotate_key(name, expires))


@postroom_command(
    example="postroom keys create fleet-ci --at sqlite:///registry.db && "
    "postroom keys revoke fleet-ci --at sqlite:///registry.db",
    name="revoke",
)
@click.argument("name")
@at_option
def revoke(name: str, at: str) -> None:
    """End the key NAME and take its grants. Its name is not given to another one."""
    from postroom.catalog.access_admin import open_access_admin

    with open_access_admin(at, settings_from()) as admin:
        admin.revoke_key(name)
    click.echo(f"revoked the key {name}")


for each in (list_, create, rotate, revoke):
    command.add_command(each)

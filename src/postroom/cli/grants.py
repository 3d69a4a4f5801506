"""`postroom grants`: who may do what in a registry."""

from __future__ import annotations

import click

from postroom.cli.command import postroom_command, settings_from
from postroom.cli.keys import at_option
from postroom.cli.output import print_json, print_table


@click.group("grants", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """List and change who may do what.

    A grant gives a SUBJECT (key:ID, user:NAME, claim:VALUE, anonymous, authenticated) a ROLE (read, write, own, admin)
    on a PREFIX (/, /messagegroups, /messagegroups/fleet.*, /messagegroups/fleet/messages/ride) with all below it.
    """


@postroom_command(example="postroom grants list --at sqlite:///registry.db", name="list")
@at_option
@click.option("--json", "as_json", is_flag=True, help="JSON instead of a table.")
def list_(at: str, as_json: bool) -> None:
    """List all grants; over HTTP those that you may change and those that you have."""
    from postroom.catalog.access_admin import open_access_admin

    with open_access_admin(at, settings_from()) as admin:
        found = admin.grants()
    if as_json:
        print_json(found)
    else:
        print_table("grants", ("subject", "role", "prefix"), [[one.subject, one.role, one.prefix] for one in found])


@postroom_command(example="postroom grants add anonymous read / --at sqlite:///registry.db", name="add")
@click.argument("subject")
@click.argument("role")
@click.argument("prefix")
@at_option
def add(subject: str, role: str, prefix: str, at: str) -> None:
    """Give SUBJECT a ROLE on PREFIX."""
    from postroom.access.grants import parse_grant
    from postroom.catalog.access_admin import open_access_admin

    grant = parse_grant(subject, role, prefix)
    with open_access_admin(at, settings_from()) as admin:
        admin.add(grant)
    click.echo(f"{grant.subject} has {grant.role} on {grant.prefix}")


@postroom_command(
    example="postroom grants add anonymous read / --at sqlite:///registry.db && "
    "postroom grants remove anonymous read / --at sqlite:///registry.db",
    name="remove",
)
@click.argument("subject")
@click.argument("role")
@click.argument("prefix")
@at_option
def remove(subject: str, role: str, prefix: str, at: str) -> int:
    """Take a ROLE on PREFIX from SUBJECT. Exit 1 when there is no such grant."""
    from postroom.access.grants import parse_grant
    from postroom.catalog.access_admin import open_access_admin

    grant = parse_grant(subject, role, prefix)
    with open_access_admin(at, settings_from()) as admin:
        is_removed = admin.remove(grant)
    says = f"{grant.subject} has no longer" if is_removed else f"{grant.subject} does not have"
    click.echo(f"{says} {grant.role} on {grant.prefix}")
    return 0 if is_removed else 1


for each in (list_, add, remove):
    command.add_command(each)

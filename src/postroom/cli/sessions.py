"""`postroom sessions`: people who signed in with a browser."""

from __future__ import annotations

import click

from postroom.cli.command import postroom_command, settings_from
from postroom.cli.keys import at_option
from postroom.cli.output import print_json, print_table


@click.group("sessions", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """List and end sessions of people who signed in with a browser."""


@postroom_command(example="postroom sessions list --at sqlite:///registry.db", name="list")
@at_option
@click.option("--json", "as_json", is_flag=True, help="JSON instead of a table.")
def list_(at: str, as_json: bool) -> None:
    """List the sessions that go on; over HTTP your own, or for administrators those of everybody."""
    from postroom.catalog.access_admin import open_access_admin

    with open_access_admin(at, settings_from()) as admin:
        found = admin.sessions()
    if as_json:
        print_json(found)
        return
    columns = ("principal", "since", "until")
    print_table("sessions", columns, [[one[name] for name in columns] for one in found])


@postroom_command(example="postroom sessions end user:anna --at sqlite:///registry.db", name="end")
@click.argument("principal")
@at_option
def end(principal: str, at: str) -> None:
    """End all sessions of PRINCIPAL (user:NAME). Their grants stay: they may sign in again."""
    from postroom.catalog.access_admin import open_access_admin

    with open_access_admin(at, settings_from()) as admin:
        count = admin.end_sessions(principal)
    click.echo(f"ended {count} session{'' if count == 1 else 's'} of {principal}")


for each in (list_, end):
    command.add_command(each)

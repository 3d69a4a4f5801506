"""`postroom audit`: what happened at the doors of a service."""

from __future__ import annotations

import click

from postroom.cli.command import postroom_command, settings_from
from postroom.cli.keys import at_option
from postroom.cli.output import print_json, print_table


@postroom_command(example="postroom audit --at sqlite:///registry.db --event refused --since 7d")
@at_option
@click.option("--since", default="", metavar="SPAN", help="Only what is not older: 7d, 12h, 30m.")
@click.option("--event", default="", metavar="EVENT", help="Only signin, signout, refused, forbidden or changed.")
@click.option("--principal", default="", metavar="WHO", help="Only of key:ID, user:NAME, …")
@click.option("--address", default="", metavar="IP", help="Only from this address.")
@click.option("--limit", type=click.IntRange(1, 1000), default=100, show_default=True, help="Most records.")
@click.option("--json", "as_json", is_flag=True, help="JSON instead of a table.")
def command(at: str, since: str, limit: int, as_json: bool, **chosen: str) -> None:
    """List sign-ins, refusals, and changes of keys and grants; the newest first.

    A service keeps what happened within ten seconds. `postroom log` lists the changes of the registry itself.
    """
    from datetime import UTC, datetime

    from postroom.access.keys import parse_span
    from postroom.catalog.access_admin import open_access_admin

    now = datetime.now(UTC)
    begin = now - (parse_span(since, now) - now) if since else None
    with open_access_admin(at, settings_from()) as admin:
        found = admin.audit(begin, limit, {name: value for name, value in chosen.items() if value})
    if as_json:
        print_json(found)
        return
    columns = ("time", "event", "principal", "address", "count", "detail")
    print_table("audit", columns, [[_cell(one, name) for name in columns] for one in found], whole=("time",))


def _cell(record: dict[str, object], name: str) -> object:
    if name == "count":
        return record.get(name, 1)
    if name == "detail" and record.get("path"):
        return f"{record['method']} {record['path']}"
    return record.get(name, "")

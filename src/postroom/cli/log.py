"""`postroom log`: who changed what, and when."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click
import msgspec

from postroom.cli.command import key_option, postroom_command, settings_from
from postroom.cli.output import print_json, print_table

if TYPE_CHECKING:
    from postroom.replication.changes.audit import AuditEntry

LONGEST_VALUE = 60
STAMPS = frozenset({"epoch", "createdat", "modifiedat", "meta.epoch", "meta.createdat", "meta.modifiedat"})


@postroom_command(
    example="postroom load demo/catalog --to sqlite:///shop.db && "
    "postroom log /messagegroups/shop.orders --catalog sqlite:///shop.db"
)
@click.argument("xid")
@click.option("--catalog", required=True, metavar="SRC", help="A store (sqlite:///path.db) or a service (http(s)://…).")
@click.option(
    "--last", type=click.IntRange(1), default=100, metavar="N", show_default=True, help="Only the newest changes."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON array of all changes instead of a table.")
@key_option
def command(xid: str, catalog: str, last: int, as_json: bool) -> int:
    """List what happened to XID and everything below it.

    Each change has the values before and after it. XID is that of a group, a message, a schema, a version, …, or /
    for the whole registry. The newest changes come last. Exit 1 when nothing is known of it.
    """
    from postroom.replication.changes.audit import read_log

    entries = deque(read_log(catalog, xid, settings_from()), maxlen=last)
    if as_json:
        print_json(msgspec.to_builtins(list(entries)))
        return 0 if entries else 1
    if not entries:
        click.echo(f"Nothing is logged of {xid}.")
        return 1
    columns = ("time", "who", "action", "entity", "what")
    rows = [
        (_format_time(entry.time), entry.actor or "-", entry.action, _below(entry.xid, xid), "\n".join(_lines(entry)))
        for entry in entries
        if not _is_echo(entry)
    ]
    print_table(f"Changes of {xid}", columns, rows, whole=("time", "action"))
    return 0


def _is_echo(entry: AuditEntry) -> bool:
    """Whether another row shows the same: a Resource its default Version's change, a deprecation its update's."""
    shows = entry.action == "updated" and entry.xid.count("/") == 4 and not entry.values
    return shows or entry.action == "deprecation"


def _format_time(time: str) -> str:
    return time[:19].replace("T", " ")


def _below(xid: str, root: str) -> str:
    """An xid as seen from the one that was asked for."""
    base = root.rstrip("/")
    return xid.removeprefix(base + "/") if base and xid != base else xid.rpartition("/")[2] if base else xid


def _lines(entry: AuditEntry) -> Iterator[str]:
    if entry.action == "deleted":
        return
    shown = {name: values for name, values in entry.values.items() if name not in STAMPS}
    for name, values in shown.items():
        if "old" not in values:
            yield f"{name}: {_short(values['new'])}"
        else:
            new = _short(values["new"]) if "new" in values else "gone"
            yield f"{name}: {_short(values['old'])} → {new}"
    if entry.action == "updated":
        others = [name for name in entry.changed if name not in entry.values and name not in STAMPS]
        if others:
            yield ", ".join(others)


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…"

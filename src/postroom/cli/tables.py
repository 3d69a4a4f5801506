"""`postroom tables`: what a lake holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from postroom.cli.command import postroom_command, setting, storage_options
from postroom.cli.output import print_json, print_table

if TYPE_CHECKING:
    from postroom.pipeline.lake.lake import Lake

SHOWN_COLUMNS = 6


@postroom_command(example="postroom tables --lake lake")
@click.option("--lake", required=True, metavar="PLACE", help="Folder or address that `postroom sort` filled.")
@click.option("--changes", is_flag=True, help="What batches changed in tables and columns, oldest first.")
@click.option(
    "--check",
    is_flag=True,
    help="Open all tables, compare their rows with the ledger, and files with their log; exit code 1 when they differ.",
)
@click.option("--json", "as_json", is_flag=True, help="JSON with all columns instead of a table.")
@setting("storage", "KEY=VALUE")
def command(lake: str, changes: bool, check: bool, as_json: bool, storage: tuple[str, ...]) -> int:
    """List the tables of a lake with definition, its version, rows and columns of the payload.

    Tables have aliases that every metastore takes, and `postroom sql` as well. --json has all names and columns.
    """
    from postroom.errors import BadFlag
    from postroom.pipeline.lake.lake import open_lake
    from postroom.pipeline.spark.session import require_spark

    if changes and check:
        raise BadFlag("--changes and --check do not go together.")
    opened = open_lake(lake, storage_options(storage))
    require_spark()
    if check:
        return _check(opened, as_json)
    _print_changes(opened, as_json) if changes else _print_tables(opened, as_json)
    return 0


def _print_tables(lake: Lake, as_json: bool) -> None:
    from postroom.pipeline.inspect.tables import list_tables

    tables = list_tables(lake)
    rows = [(t.alias, t.definition, t.version, t.rows, _payload(t.columns)) for t in tables]
    _print(as_json, tables, "Tables", ("table", "definition", "version", "rows", "columns of the payload"), rows)


def _print_changes(lake: Lake, as_json: bool) -> None:
    from postroom.pipeline.inspect.tables import list_changes

    changes = list_changes(lake)
    rows = [(f"{c.committed:%Y-%m-%d %H:%M:%S}", c.table, c.kind.replace("_", " "), c.detail) for c in changes]
    _print(as_json, changes, "Changes", ("when", "table", "change", "detail"), rows)


def _check(lake: Lake, as_json: bool) -> int:
    from postroom.pipeline.lake.ledger import read_ledger
    from postroom.pipeline.lake.reconciliation import balance_of, differences

    found = list(differences(lake))
    balance = balance_of(read_ledger(lake))
    if as_json:
        print_json({"read": balance.read, "landed": balance.landed, "dead": balance.dead, "differences": found})
    else:
        click.echo("\n".join(found) or f"All rows are there: {balance}.")
    return 1 if found else 0


def _print(as_json: bool, values: Any, title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    if as_json:
        print_json(values)
    elif rows:
        print_table(title, columns, rows, whole=("table",))
    else:
        click.echo(f"No {title.lower()} yet.")


def _payload(columns: dict[str, str]) -> str:
    payload = [f"{name.removeprefix('data.')} {kind}" for name, kind in columns.items() if name.startswith("data.")]
    if not payload:
        return columns.get("data", "")
    more = len(payload) - SHOWN_COLUMNS
    return ", ".join(payload[:SHOWN_COLUMNS]) + (f" and {more} more" if more > 0 else "")

"""`postroom tables`: what a lake holds."""

from __future__ import annotations

import click

from postroom.cli.command import postroom_command
from postroom.cli.output import print_json, print_table

SHOWN_COLUMNS = 6


@postroom_command(example="postroom tables --lake lake")
@click.option("--lake", required=True, metavar="DIR", help="Folder that `postroom sort` filled.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array with all columns instead of a table.")
def command(lake: str, as_json: bool) -> None:
    """List the tables of a lake under the names that `postroom sql` knows, with rows and columns of the payload.

    The version is that of the message definition. --json has the definitions and all columns as well.
    """
    from postroom.pipeline.lake import open_lake
    from postroom.pipeline.spark import require_spark

    opened = open_lake(lake)
    require_spark()
    from postroom.pipeline.tables import list_tables

    tables = list_tables(opened)
    if as_json:
        print_json(tables)
        return
    rows = [(t.table, t.version, t.rows, _payload(t.columns)) for t in tables]
    print_table("Tables", ("table", "version", "rows", "columns of the payload"), rows)


def _payload(columns: dict[str, str]) -> str:
    payload = [f"{name.removeprefix('data.')} {kind}" for name, kind in columns.items() if name.startswith("data.")]
    if not payload:
        return columns.get("data", "")
    more = len(payload) - SHOWN_COLUMNS
    return ", ".join(payload[:SHOWN_COLUMNS]) + (f" and {more} more" if more > 0 else "")

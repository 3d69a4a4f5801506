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
    """List the tables of a lake with definition, its version, rows and columns of the payload.

    Tables have the names that `postroom sql` knows. --json has all columns.
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
    rows = [(t.table, t.definition, t.version, t.rows, _payload(t.columns)) for t in tables]
    print_table("Tables", ("table", "definition", "version", "rows", "columns of the payload"), rows)


def _payload(columns: dict[str, str]) -> str:
    payload = [f"{name.removeprefix('data.')} {kind}" for name, kind in columns.items() if name.startswith("data.")]
    if not payload:
        return columns.get("data", "")
    more = len(payload) - SHOWN_COLUMNS
    return ", ".join(payload[:SHOWN_COLUMNS]) + (f" and {more} more" if more > 0 else "")

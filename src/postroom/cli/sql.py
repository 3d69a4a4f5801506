"""`postroom sql`: SQL over a lake."""

from __future__ import annotations

from typing import Any

import click

from postroom.cli.command import postroom_command, setting, storage_options
from postroom.cli.output import print_json, print_table


@postroom_command(
    example='postroom sql --lake lake "SELECT outcome, count(*) AS letters FROM dead_letters GROUP BY 1 ORDER BY 1"'
)
@click.argument("query", metavar="SELECT")
@click.option("--lake", required=True, metavar="PLACE", help="Folder or address that `postroom sort` filled.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array of objects instead of a table.")
@setting("storage", "KEY=VALUE")
def command(query: str, lake: str, as_json: bool, storage: tuple[str, ...]) -> None:
    """Run one SELECT over a lake with DuckDB.

    Tables are called "group"."message", or as `postroom tables` shows them; dead_letters and ledger are there as well.
    Nothing is ever written.
    """
    from postroom.pipeline.inspect.sql import run_query
    from postroom.pipeline.lake.lake import open_lake

    answer = run_query(open_lake(lake, storage_options(storage)), query)
    if as_json:
        print_json([dict(zip(answer.columns, row, strict=True)) for row in answer.rows])
        return
    print_table("", answer.columns, [[_cell(value) for value in row] for row in answer.rows])


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return value.decode(errors="replace") if isinstance(value, bytes) else value

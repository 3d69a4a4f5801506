"""`postroom views`: the tables of a lake in the catalog of another program."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import click

from postroom.cli.command import postroom_command, setting, storage_options
from postroom.cli.output import print_json

if TYPE_CHECKING:
    from postroom.pipeline.inspect.views import DialectName


@postroom_command(example="postroom views --lake lake --dialect spark --catalog events")
@click.option("--lake", required=True, metavar="PLACE", help="Folder or address that `postroom sort` filled.")
@click.option(
    "--dialect",
    type=click.Choice(["spark", "duckdb", "trino", "hive"]),
    default="spark",
    show_default=True,
    help="Who runs the statements.",
)
@click.option("--catalog", default="", metavar="NAME", help="Where: a schema, or a catalog and a schema with a dot.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array of statements.")
@setting("storage", "KEY=VALUE")
def command(lake: str, dialect: str, catalog: str, as_json: bool, storage: tuple[str, ...]) -> None:
    """Write DDL for the tables of a lake.

    It makes them known to Spark, DuckDB, Trino or Hive by their aliases, which `postroom tables` shows. Views join the
    tables that followed one another (_all), and those of one type of event (event__…).
    """
    from postroom.pipeline.lake.lake import open_lake
    from postroom.pipeline.spark.session import require_spark

    opened = open_lake(lake, storage_options(storage))
    require_spark()
    from postroom.pipeline.inspect.views import view_statements

    statements = view_statements(opened, cast("DialectName", dialect), catalog)
    if as_json:
        print_json(statements)
    else:
        click.echo("".join(f"{statement};\n\n" for statement in statements), nl=False)

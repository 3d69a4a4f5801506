"""`postroom metrics`: numbers for Prometheus."""

from __future__ import annotations

import click

from postroom.cli.command import postroom_command, setting, storage_options


@postroom_command(example="postroom metrics --lake lake")
@click.option("--lake", required=True, metavar="PLACE", help="Folder or address that `postroom sort` filled.")
@setting("storage", "KEY=VALUE")
def command(lake: str, storage: tuple[str, ...]) -> None:
    """Print the numbers of a lake for Prometheus, from its ledger, in the text format.

    Let a timer write it into a file that the textfile collector of Prometheus' node exporter reads.
    """
    from postroom.pipeline.lake.lake import open_lake
    from postroom.pipeline.spark.session import require_spark

    opened = open_lake(lake, storage_options(storage))
    require_spark()
    from postroom.pipeline.inspect.metrics import lake_metrics

    click.echo(lake_metrics(opened), nl=False)

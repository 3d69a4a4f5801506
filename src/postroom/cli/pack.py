"""`postroom pack`: what Spark's workers sort with, as one archive."""

from __future__ import annotations

from pathlib import Path

import click

from postroom.cli.command import postroom_command


@postroom_command(example="postroom pack --output engine.zip")
@click.option("--output", metavar="FILE", help="Where to write it. Without, it is kept with others for `sort`.")
def command(output: str | None) -> None:
    """Pack what Spark's workers need beside a bare Python: Postroom's engine, and its compiled libraries.

    `postroom sort` does so by itself where the master is elsewhere, and keeps the archive. One of your own goes to
    --engine FILE, into an image, or to `spark-submit --archives`. It is for Python of this version on machines of this
    kind.
    """
    from postroom.pipeline.spark.session import require_spark

    require_spark()
    from postroom.pipeline.spark.engine_archive import cached_archive, write_archive

    if output is None:
        target = cached_archive()
    else:
        target = Path(output)
        write_archive(target)
    click.echo(f"{target} ({target.stat().st_size / 1e6:.0f} MB)")

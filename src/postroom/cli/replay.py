"""`postroom replay`: dead letters through the present catalog again."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import click

from postroom.cli.command import key_option, postroom_command, registry_option, setting, settings_from, storage_options
from postroom.cli.output import print_json, print_table, progress

if TYPE_CHECKING:
    from postroom.catalog.catalog import Catalog
    from postroom.pipeline.dead_letters.replay import Replay
    from postroom.pipeline.lake.lake import Lake
    from postroom.settings import Settings

# So many letters are sorted before Spark has even started.
WITHOUT_SPARK = 20_000


@postroom_command(example="postroom replay --catalog demo/catalog --lake lake --dry-run")
@click.option("--catalog", required=True, metavar="SRC", help="A file, a folder, http(s)://… or sqlite:///path.db.")
@click.option("--lake", required=True, metavar="PLACE", help="Folder or address that `postroom sort` filled.")
@click.option("--endpoint", metavar="XID", help="Only the messages of this endpoint.")
@click.option("--where", default="", metavar="EXPR", help="Only letters for which an SQL condition on a letter holds.")
@click.option("--dry-run", is_flag=True, help="Only say what would land; nothing is written.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of tables.")
@setting("nulls", "strict|absent")
@setting("master", "URL")
@key_option
@registry_option
@setting("storage", "KEY=VALUE")
def command(
    catalog: str,
    lake: str,
    endpoint: str | None,
    where: str,
    dry_run: bool,
    as_json: bool,
    nulls: str | None,
    master: str | None,
    storage: tuple[str, ...],
) -> None:
    """Send dead letters through the present catalog again.

    Those that fit it now land in their tables and are dead letters no more; the others stay, with the new reasons.
    A letter lands at most once, however often this runs and wherever it dies. Of a batch of CloudEvents only the
    events that are dead letters are sorted again.

    --where knows the columns of the table of dead letters: "outcome = 'unmatched'",
    "message LIKE '%/order.placed'", "_dead_at > now() - INTERVAL 1 DAY".
    """
    from postroom.pipeline.spark.session import require_spark

    require_spark()
    from postroom.catalog.catalog import open_catalog
    from postroom.pipeline.lake.lake import open_lake

    target = open_lake(lake, storage_options(storage))
    settings = settings_from(nulls=nulls, master=master)
    opened = open_catalog(catalog, settings=settings)
    chosen = opened.for_endpoint(endpoint) if endpoint else opened
    done = _replay(target, chosen, settings, where, dry_run)
    if as_json:
        print_json(_as_json(done, dry_run))
    else:
        print_replay(done, dry_run)


def _replay(lake: Lake, catalog: Catalog, settings: Settings, where: str, dry_run: bool) -> Replay:
    from postroom.pipeline.dead_letters.replay import replay
    from postroom.pipeline.dead_letters.report import letter_files
    from postroom.pipeline.spark.session import spark_session

    options: dict[str, Any] = {"where": where, "dry_run": dry_run, "nulls": settings.nulls}
    quiet = logging.getLogger("postroom").level >= logging.ERROR
    if sum(file.chosen for file in letter_files(lake, where)) <= WITHOUT_SPARK:
        with progress("sorting the letters again", quiet):
            return replay(None, catalog, lake, **options)
    with (
        progress("sorting the letters again on Spark, which takes some seconds to start", quiet),
        spark_session(settings.master) as spark,
    ):
        return replay(spark, catalog, lake, **options)


def print_replay(done: Replay, dry_run: bool) -> None:
    """What became of the letters, for people."""
    from postroom.pipeline.summary import by_kind, counted

    if not done.letters:
        click.echo("There are no letters to replay.")
        return
    if done.landed:
        print_table("Would land" if dry_run else "Landed", ("message", "rows"), sorted(done.landed.items()))
    landed, dead = sum(done.landed.values()), sum(done.dead.values())
    lands, stays = (
        ("would land", "would stay dead") if dry_run else ("landed", "stays dead" if dead == 1 else "stay dead")
    )
    rest = f"{dead:,} {stays} ({by_kind(done.dead)})" if dead else "none is left"
    click.echo(f"Of {counted(done.letters, 'letter')} {landed:,} {lands}, {rest}.")


def _as_json(done: Replay, dry_run: bool) -> dict[str, Any]:
    batch = f"{done.entry.run}-{done.entry.batch}" if done.entry else None
    return {"letters": done.letters, "landed": done.landed, "dead": done.dead, "dry_run": dry_run, "batch": batch}

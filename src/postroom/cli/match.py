"""`postroom match`: which definition each record fits."""

from __future__ import annotations

from typing import BinaryIO

import click

from postroom.cli.command import postroom_command, setting, settings_from
from postroom.cli.output import print_json, print_table


@postroom_command(example="postroom match --catalog demo/catalog --input demo/sample.jsonl")
@click.option("--catalog", required=True, metavar="SRC", help="A file, a folder, http(s)://… or sqlite:///path.db.")
@click.option("--endpoint", metavar="XID", help="Only the messages of this endpoint.")
@click.option("--input", "source", type=click.File("rb"), default="-", help="Records as JSON Lines; - is stdin.")
@click.option("--explain", is_flag=True, help="Say in words why a message does not land.")
@click.option("--summary", is_flag=True, help="Only count: a table of outcomes and messages.")
@setting("nulls", "strict|absent")
def command(
    catalog: str, endpoint: str | None, source: BinaryIO, explain: bool, summary: bool, nulls: str | None
) -> int:
    """Say for each record which message definition it fits: one line of JSON per message.

    The exit code is 1 when not every message landed.
    """
    from postroom.catalog import open_catalog

    settings = settings_from(nulls=nulls)
    opened = open_catalog(catalog, settings=settings)
    chosen = opened.for_endpoint(endpoint) if endpoint else opened
    counts: dict[tuple[str, str], int] = {}
    for line in source:
        if not line.strip():
            continue
        for match in chosen.engine.match_line(line):
            key = (match.outcome, match.message or "-")
            counts[key] = counts.get(key, 0) + 1
            if explain:
                click.echo(chosen.explain(match))
            elif not summary:
                print_json(match)
    if summary:
        rows = [(outcome, message, count) for (outcome, message), count in sorted(counts.items())]
        print_table("Outcomes", ("outcome", "message", "messages"), rows)
    return 0 if all(outcome == "landed" for outcome, _ in counts) else 1

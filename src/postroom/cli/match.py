"""`postroom match`: which definition each record fits."""

from __future__ import annotations

from collections.abc import Iterator
from io import BufferedReader
from itertools import chain

import click

from postroom.cli.command import key_option, postroom_command, registry_option, setting, settings_from
from postroom.cli.output import print_json, print_table, progress

_MOST_BYTES = 2**20


@postroom_command(example="postroom match --catalog demo/catalog --input demo/sample.jsonl")
@click.option("--catalog", required=True, metavar="SRC", help="A file, a folder, http(s)://… or sqlite:///path.db.")
@click.option("--endpoint", metavar="XID", help="Only the messages of this endpoint.")
@click.option("--input", "source", type=click.File("rb"), default="-", help="Records as JSON Lines; - is stdin.")
@click.option("--explain", is_flag=True, help="Say in words why a message does not land.")
@click.option("--summary", is_flag=True, help="Only count: a table of outcomes and messages.")
@setting("nulls", "strict|absent")
@key_option
@registry_option
def command(
    catalog: str, endpoint: str | None, source: BufferedReader, explain: bool, summary: bool, nulls: str | None
) -> int:
    """Say for each record which message definition it fits: one line of JSON per message.

    The exit code is 1 when not every message landed.
    """
    from postroom.catalog.catalog import open_catalog
    from postroom.messages.matching.line_batches import match_lines

    settings = settings_from(nulls=nulls)
    with progress(f"Reading {catalog}"):
        opened = open_catalog(catalog, settings=settings)
    chosen = opened.for_endpoint(endpoint) if endpoint else opened
    counts: dict[tuple[str, str], int] = {}
    unchecked: dict[tuple[str, str], int] = {}
    for lines in lines_of(source):
        for match in chain.from_iterable(match_lines(chosen.engine, lines)):
            key = (match.outcome, match.message or "-")
            counts[key] = counts.get(key, 0) + 1
            if match.unchecked:
                why = (match.message or "-", match.unchecked)
                unchecked[why] = unchecked.get(why, 0) + 1
            if explain:
                click.echo(chosen.explain(match))
            elif not summary:
                print_json(match)
    if summary:
        rows = [(outcome, message, count) for (outcome, message), count in sorted(counts.items())]
        print_table("Outcomes", ("outcome", "message", "messages"), rows)
        if unchecked:
            click.echo("Landed with payloads that were not checked:")
        for (message, reason), count in sorted(unchecked.items()):
            click.echo(f"  {message} ({count}): {reason}")
    return 0 if all(outcome == "landed" for outcome, _ in counts) else 1


def lines_of(source: BufferedReader) -> Iterator[list[bytes]]:
    """Lines that are not blank, as many at a time as have come: nobody who sends one waits for the next."""
    begun: list[bytes] = []
    while data := source.read1(_MOST_BYTES):
        first, *others = data.split(b"\n")
        begun.append(first)
        if others:
            lines = [b"".join(begun), *others]
            begun = [lines.pop()]
            yield [line for line in lines if line.strip()]
    yield [line for line in [b"".join(begun)] if line.strip()]

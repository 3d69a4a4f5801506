"""`postroom load`: documents into a store or a running service."""

from __future__ import annotations

import click

from postroom.cli.command import key_option, postroom_command, settings_from
from postroom.cli.output import print_json, progress


@postroom_command(example="postroom load demo/catalog --to sqlite:///catalog.db")
@click.argument("sources", nargs=-1, required=True, metavar="SRC…")
@click.option("--to", "target", required=True, metavar="TARGET", help="http(s)://… or sqlite:///path.db.")
@click.option("--json", "as_json", is_flag=True, help="The counts as JSON.")
@key_option
def command(sources: tuple[str, ...], target: str, as_json: bool) -> None:
    """Load catalogs into a store or a running service. Each source is taken whole or not at all."""
    from postroom.catalog.sources import read_source
    from postroom.catalog.targets import count_entities, write_target

    settings = settings_from()
    # All sources are read before anything is written: a broken one leaves the target as it was.
    with progress(f"Reading {', '.join(sources)}"):
        documents = [read_source(source, settings) for source in sources]
    for source, document in zip(sources, documents, strict=True):
        with progress(f"Loading {source}"):
            write_target(document, target, settings)
        counts = count_entities(document)
        if as_json:
            print_json({"source": source, "target": target, "loaded": counts})
        else:
            shown = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing"
            click.echo(f"loaded {shown} from {source}")

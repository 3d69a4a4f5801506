"""`postroom load`: documents into a store or a running service."""

from __future__ import annotations

import click

from postroom.cli.command import key_option, postroom_command, settings_from
from postroom.cli.document_output import report_not_loaded, report_notes
from postroom.cli.output import print_json, progress


@postroom_command(example="postroom load demo/catalog --to sqlite:///catalog.db")
@click.argument("sources", nargs=-1, required=True, metavar="SRC…")
@click.option("--to", "target", required=True, metavar="TARGET", help="http(s)://… or sqlite:///path.db.")
@click.option("--json", "as_json", is_flag=True, help="The counts, notes and losses as JSON.")
@key_option
def command(sources: tuple[str, ...], target: str, as_json: bool) -> None:
    """Load catalogs into a store or a running service. Each source is taken whole or not at all.

    What a source says and loading it does not write is reported on stderr.
    """
    import msgspec

    from postroom.catalog.lint import refuse_incompatible
    from postroom.catalog.sources import read_parsed
    from postroom.catalog.targets import count_entities, left_out, misspelt_members, own_types, write_target

    settings = settings_from()
    # All sources are read before anything is written: a broken one leaves the target as it was.
    with progress(f"Reading {', '.join(sources)}"):
        own = own_types(target, settings)
        catalogs = [read_parsed(source, settings, own) for source in sources]
        for source, parsed in zip(sources, catalogs, strict=True):
            refuse_incompatible(source, parsed, settings)
    for source, parsed in zip(sources, catalogs, strict=True):
        with progress(f"Loading {source}"):
            write_target(parsed.tree, target, settings, own)
        counts, lost = count_entities(parsed.tree, own), left_out(parsed.tree, own)
        notes = (*parsed.notes, *misspelt_members(parsed.tree))
        if as_json:
            report = {"notes": msgspec.to_builtins(notes), "losses": [loss.report() for loss in lost]}
            print_json({"source": source, "target": target, "loaded": counts, **report})
            continue
        shown = ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "nothing"
        click.echo(f"loaded {shown} from {source}")
        report_notes(notes)
        report_not_loaded(lost, source)

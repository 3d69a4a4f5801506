"""`postroom convert`: a catalog in another dialect."""

from __future__ import annotations

import click
import msgspec

from postroom.cli.command import key_option, postroom_command, settings_from
from postroom.cli.document_output import check_dialect, document_text, form_of, report_losses, report_notes, write_text
from postroom.cli.output import print_json, progress


@postroom_command(example="postroom convert demo/catalog --dialect 0.5-service -o bicycles.cereg")
@click.argument("sources", nargs=-1, required=True, metavar="SRC…")
@click.option("--dialect", required=True, metavar="D", help="The dialect to write; `docs/reference/dialects.md`.")
@click.option(
    "--format", "form", type=click.Choice(["json", "yaml"]), help="Default: as the name of FILE says, else json."
)
@click.option("-o", "--output", metavar="FILE", help="Write to FILE instead of stdout.")
@click.option("--plain", is_flag=True, help="Leave out what is kept for other dialects (`dialectextras`).")
@click.option("--json", "as_json", is_flag=True, help="Report as JSON on stdout; without -o the document is in it.")
@key_option
def command(
    sources: tuple[str, ...], dialect: str, form: str | None, output: str | None, plain: bool, as_json: bool
) -> None:
    """Convert a catalog to another dialect.

    The dialect of SRC is told by its shape, then by its extension, $schema and specversion. Of several SRC, later ones
    override earlier ones. What the new dialect cannot carry is reported on stderr.
    """
    from postroom.catalog.convert import convert
    from postroom.documents.media_types import media_type

    check_dialect(dialect)
    with progress(f"Reading {', '.join(sources)}"):
        made = convert(sources, dialect, settings_from(), extras=not plain)
    text = document_text(made.document, form_of(form, output))
    if output is not None or not as_json:
        write_text(text, output)
    if as_json:
        report = {
            "source": ", ".join(sources),
            "from": made.read_as,
            "dialect": dialect,
            "mediatype": media_type(dialect, form_of(form, output)),
            "notes": msgspec.to_builtins(made.notes),
            "losses": [loss.report() for loss in made.losses],
        }
        print_json(report if output is not None else {**report, "document": made.document})
        return
    report_notes(made.notes)
    report_losses(made.losses, dialect)

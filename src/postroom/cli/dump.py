"""`postroom dump`: a catalog as one document."""

from __future__ import annotations

import click

from postroom.cli.command import key_option, postroom_command, settings_from
from postroom.cli.document_output import check_dialect, document_text, report_losses, write_text
from postroom.cli.output import progress


@postroom_command(example="postroom dump --from demo/catalog --format yaml -o catalog.yaml")
@click.option("--from", "source", required=True, metavar="SRC", help="File, folder, http(s)://… or sqlite:///path.db.")
@click.option("--dialect", default="1.0-rc4", metavar="D", show_default=True, help="The dialect to write.")
@click.option("--format", "form", type=click.Choice(["json", "yaml"]), default="json", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write to FILE instead of stdout.")
@key_option
def command(source: str, dialect: str, form: str, output: str | None) -> None:
    """Dump a catalog as one document.

    Loaded into an empty registry whose model is written the same way it gives the same dump; a registry keeps its own
    model and gets only the group types that it lacks.
    """
    from postroom.catalog.convert import dump

    check_dialect(dialect)
    with progress(f"Reading {source}"):
        made = dump(source, dialect, settings_from())
    write_text(document_text(made.document, form), output)
    report_losses(made.losses, dialect)

"""`postroom schema-for`: the JSON Schema of catalog files, for editors."""

from __future__ import annotations

import click

from postroom.cli.command import postroom_command
from postroom.cli.document_output import document_text, write_text

FILE_TYPES = ("xreg", "cereg")


@postroom_command(example="postroom schema-for xreg -o xreg.schema.json", name="schema-for")
@click.argument("kind", type=click.Choice(FILE_TYPES))
@click.option(
    "--model", default="messaging", show_default=True, metavar="NAME|FILE", help="The model of `xreg` documents."
)
@click.option("-o", "--output", metavar="FILE", help="Write to FILE instead of stdout.")
def command(kind: str, model: str, output: str | None) -> None:
    """Print the JSON Schema of catalog files, made from the model.

    With it, editors complete and check `.xreg.json` and `.xreg.yaml` files, or `.cereg` files of the 0.5 service.
    """
    from postroom.documents.editor_schemas.cereg import cereg_schema
    from postroom.documents.editor_schemas.xreg import xreg_schema
    from postroom.errors import BadFlag
    from postroom.model.shipped_models import load_model

    if kind == "cereg" and model != "messaging":
        raise BadFlag("files of the 0.5 service have the messaging model.", place="--model")
    make = xreg_schema if kind == "xreg" else cereg_schema
    write_text(document_text(make(load_model(model)), "json"), output)

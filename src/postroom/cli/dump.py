"""`postroom dump`: a catalog as one document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from postroom.cli.command import postroom_command, settings_from
from postroom.errors import FolderUnwritable


@postroom_command(example="postroom dump --from demo/catalog --format yaml -o catalog.yaml")
@click.option("--from", "source", required=True, metavar="SRC", help="File, folder, http(s)://… or sqlite:///path.db.")
@click.option("--dialect", default="1.0-rc4", metavar="D", show_default=True, help="The dialect to write.")
@click.option("--format", "form", type=click.Choice(["json", "yaml"]), default="json", show_default=True)
@click.option("-o", "--output", metavar="FILE", help="Write to FILE instead of stdout.")
def command(source: str, dialect: str, form: str, output: str | None) -> None:
    """Dump a catalog as one document. Loaded into an empty registry it gives the same dump."""
    from postroom.documents.dumping import dump

    text = _text(dump(source, dialect, settings_from()), form)
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        Path(output).write_text(text, encoding="utf-8")
    except OSError as error:
        raise FolderUnwritable(f"cannot be written: {error.strerror}.", place=output) from None


def _text(document: Any, form: str) -> str:
    if form == "yaml":
        import yaml

        return yaml.safe_dump(document, allow_unicode=True, sort_keys=False, width=120)
    import json

    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"

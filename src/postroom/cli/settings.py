"""`postroom settings`: the values in force, and where each comes from."""

from __future__ import annotations

from typing import Any

import click

from postroom.cli.command import postroom_command
from postroom.cli.output import print_json, print_table
from postroom.settings import explain_settings, variable


@postroom_command(example="POSTROOM_PORT=9090 postroom settings")
@click.option("--json", "as_json", is_flag=True, help="One JSON array instead of a table.")
def command(as_json: bool) -> None:
    """List all settings with their values and where each value comes from.

    Flags win over POSTROOM_* variables, those over postroom.toml in the current folder.
    """
    origins = explain_settings()
    if as_json:
        print_json(origins)
        return
    rows = [(o.name, _displayed(o.value), o.source, variable(o.name)) for o in origins]
    print_table("Settings", ("setting", "value", "from", "variable"), rows)


def _displayed(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, tuple):
        value = ", ".join(value)
    return str(value) or "-"

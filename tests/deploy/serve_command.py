"""What `postroom serve` makes of a command line and variables that a deploy file gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from postroom.cli.serve import command as serve
from postroom.settings import FIELDS, Settings, load_settings

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
NO_FOLDER = Path("/nonexistent")
"""Where no postroom.toml is."""


def settings_of(command: Sequence[str], environ: Mapping[str, str]) -> Settings:
    """The settings that hold for a command; a flag, variable or value that there is not is an error."""
    program, name, *arguments = command
    assert (program.rpartition("/")[2], name) == ("postroom", "serve")
    given = serve.make_context("serve", arguments).params
    flags = {name: value for name, value in given.items() if name in FIELDS and value is not False}
    return load_settings(flags, environ, NO_FOLDER)

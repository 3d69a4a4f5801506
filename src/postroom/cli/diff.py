"""`postroom diff`: what changed between two catalogs, and whom it breaks."""

from __future__ import annotations

import click
import msgspec

from postroom.cli.command import key_option, postroom_command, settings_from
from postroom.cli.output import print_json, progress


@postroom_command(example="postroom diff demo/catalog demo/catalog")
@click.argument("old")
@click.argument("new")
@click.option("--json", "as_json", is_flag=True, help="One JSON array of all changes instead of a list.")
@key_option
def command(old: str, new: str, as_json: bool) -> int:
    """Say what changed between two catalogs.

    Each change is editorial, compatible, or breaking for consumers, producers or both, with the reason. Both may be in
    any dialect and come from anywhere. Exit 1 when a change breaks somebody.
    """
    from postroom.catalog.sources import read_source
    from postroom.documents.diff.compare import differences

    settings = settings_from()
    with progress(f"Comparing {old} with {new}"):
        found = differences(read_source(old, settings), read_source(new, settings), settings.strict_compatibility)
    if as_json:
        print_json(msgspec.to_builtins(found))
    else:
        for change in found:
            click.echo(f"{change.kind}: {change.place} {change.change}: {change.reason}")
        breaking = sum(change.breaks for change in found)
        counted = f"{len(found):,} {'change' if len(found) == 1 else 'changes'}, {breaking:,} breaking."
        click.echo(counted if found else "Nothing changed.")
    return 1 if any(change.breaks for change in found) else 0

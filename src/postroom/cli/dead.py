"""`postroom dead`: what did not land, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from postroom.cli.command import postroom_command
from postroom.cli.output import print_json, print_table

if TYPE_CHECKING:
    from postroom.pipeline.letters import LetterGroup

SHOWN_BYTES = 160


@postroom_command(example="postroom dead --lake lake")
@click.option("--lake", required=True, metavar="DIR", help="Folder that `postroom sort` filled.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array instead of tables.")
def command(lake: str, as_json: bool) -> None:
    """Count dead letters by outcome and reason, and explain one of each."""
    from postroom.messages.explaining import explain_match
    from postroom.pipeline.lake import open_lake
    from postroom.pipeline.spark import require_spark

    opened = open_lake(lake)
    require_spark()
    from postroom.pipeline.letters import summarise_letters

    groups = summarise_letters(opened)
    if as_json:
        print_json([_shown(group) for group in groups])
        return
    if not groups:
        click.echo("No dead letters.")
        return
    print_table(
        "Dead letters", ("outcome", "reason", "letters"), [(g.outcome, g.code or "-", g.letters) for g in groups]
    )
    for group in groups:
        click.echo(f"\n{explain_match(group.match)}")
        click.echo(f"           {_start(group.record)}")
        which = f", message {group.number + 1} of the batch" if group.number else ""
        click.echo(f"           {group.source}, byte {group.position:,}{which}")


def _start(record: bytes) -> str:
    text = record[:SHOWN_BYTES].decode(errors="replace")
    return text + "…" if len(record) > SHOWN_BYTES else text


def _shown(group: LetterGroup) -> dict[str, Any]:
    return {
        "outcome": group.outcome,
        "code": group.code,
        "letters": group.letters,
        "first_seen": group.first_seen,
        "last_seen": group.last_seen,
        "sample": {
            "message": group.match.message,
            "reasons": group.match.reasons,
            "record": group.record.decode(errors="replace"),
            "source": group.source,
            "position": group.position,
            "number": group.number,
        },
    }

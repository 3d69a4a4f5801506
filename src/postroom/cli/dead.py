"""`postroom dead`: what did not land, and why."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from postroom.cli.command import postroom_command, setting, storage_options
from postroom.cli.output import print_json, print_table

if TYPE_CHECKING:
    from postroom.pipeline.dead_letters.report import LetterGroup

SHOWN_BYTES = 160


@postroom_command(example="postroom dead --lake lake")
@click.option("--lake", required=True, metavar="PLACE", help="Folder or address that `postroom sort` filled.")
@click.option("--outcome", default="", metavar="OUTCOME", help="Only invalid, ambiguous, unmatched or malformed ones.")
@click.option("--message", default="", metavar="XID", help="Only those that mean this message, or nearly do.")
@click.option("--where", default="", metavar="EXPR", help="Only those for which an SQL condition on a letter holds.")
@click.option("--json", "as_json", is_flag=True, help="One JSON array instead of tables.")
@setting("storage", "KEY=VALUE")
def command(lake: str, outcome: str, message: str, where: str, as_json: bool, storage: tuple[str, ...]) -> None:
    """Count dead letters by outcome and reason, and explain one of each.

    The reason is the first one of a letter, which is the closest miss. --where knows the columns of the table of dead
    letters: "_dead_at > now() - INTERVAL 1 DAY", "reasons[1].code = 'template_mismatch'".
    """
    from postroom.messages.matching.explain import explain_match
    from postroom.pipeline.lake.lake import open_lake
    from postroom.pipeline.spark.session import require_spark

    opened = open_lake(lake, storage_options(storage))
    require_spark()
    from postroom.pipeline.dead_letters.report import summarise_letters

    groups = summarise_letters(opened, outcome=outcome, message=message, where=where)
    if as_json:
        print_json([_as_json(group) for group in groups])
        return
    if not groups:
        click.echo("No dead letters of this kind." if outcome or message or where else "No dead letters.")
        return
    columns = ("outcome", "reason", "letters", "first seen", "last seen")
    rows = [(g.outcome, g.code or "-", g.letters, _time(g.first_seen), _time(g.last_seen)) for g in groups]
    print_table("Dead letters", columns, rows)
    for group in groups:
        click.echo(f"\n{explain_match(group.match, group.constraints(opened))}")
        click.echo(f"           {_start(group.record)}")
        click.echo(f"           {_source_position(group)}")


def _time(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M:%S}"


def _start(record: bytes) -> str:
    text = record[:SHOWN_BYTES].decode(errors="replace")
    return text + "…" if len(record) > SHOWN_BYTES else text


def _source_position(group: LetterGroup) -> str:
    """Where a letter came from; what its position counts depends on the source."""
    counted = "byte"
    if group.source.startswith("kafka://"):
        counted = "offset"
    elif group.source.endswith(".parquet") or "/" not in group.source:
        counted = "row"
    which = f", message {group.number + 1} of the batch" if group.number else ""
    return f"{group.source}, {counted} {group.position:,}{which}"


def _as_json(group: LetterGroup) -> dict[str, Any]:
    from postroom.messages.matching.explain import explain_reason

    return {
        "outcome": group.outcome,
        "code": group.code,
        "letters": group.letters,
        "first_seen": group.first_seen,
        "last_seen": group.last_seen,
        "messages": group.messages,
        "times": [{"from": when, "letters": letters} for when, letters in sorted(group.times.items())],
        "sample": {
            "record_id": group.record_id,
            "message": group.match.message,
            "reasons": group.match.reasons,
            "explained": [explain_reason(reason) for reason in group.match.reasons],
            "candidates": group.match.candidates,
            "record": group.record.decode(errors="replace"),
            "source": group.source,
            "position": group.position,
            "number": group.number,
        },
    }

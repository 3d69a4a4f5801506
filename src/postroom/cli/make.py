"""`postroom make`: messages from a definition."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import click

from postroom.cli.command import key_option, postroom_command, registry_option, setting, settings_from
from postroom.cli.output import print_json, progress
from postroom.errors import BadFlag, DocumentBroken, FileMissing


@postroom_command(
    example="postroom make --catalog demo/catalog station.offline --set depot=oslo --set station=S07 --data auto"
)
@click.argument("message")
@click.option("--catalog", required=True, metavar="SRC", help="A file, a folder, http(s)://… or sqlite:///path.db.")
@click.option(
    "--set", "assignments", multiple=True, metavar="NAME=VALUE", help="A value for a placeholder or attribute."
)
@click.option("--data", metavar="FILE|-|auto", help="The payload: a file, stdin, or invented from the schema.")
@click.option("--protocol", default="", metavar="P", help="KAFKA, MQTT/5.0, HTTP, …; default: the definition's own.")
@click.option("--mode", type=click.Choice(("binary", "structured")), help="How the CloudEvent travels.")
@click.option("--count", type=click.IntRange(1), default=1, show_default=True, help="How many to make.")
@click.option("--invalid", is_flag=True, help="Break exactly one declared rule; which one is said on stderr.")
@click.option("--seed", type=int, help="The same seed gives the same invented data.")
@setting("write_schema_ids")
@key_option
@registry_option
def command(
    message: str,
    catalog: str,
    assignments: tuple[str, ...],
    data: str | None,
    protocol: str,
    mode: str | None,
    count: int,
    invalid: bool,
    seed: int | None,
    write_schema_ids: bool,
) -> None:
    """Make messages from the definition MESSAGE (its xid, or its id where that is unique), as records."""
    from postroom.catalog.catalog import open_catalog
    from postroom.messages.making.make_invalid import make_invalid
    from postroom.messages.matching.explain import explain_reason
    from postroom.protocols.records import render_record

    settings = settings_from(write_schema_ids=write_schema_ids)
    with progress(f"Reading {catalog}"):
        template = open_catalog(catalog, settings=settings).message(message)
    variables = dict(_assignment(text) for text in assignments)
    payload = _payload(data)
    rng = random.Random(seed)  # noqa: S311 - sample data, no secrets
    for _ in range(count):
        options: dict[str, Any] = {"protocol": protocol, "mode": mode or "", "rng": rng}
        if invalid:
            record, reason = make_invalid(template.maker, variables, payload, **options)
            click.echo(f"broken: {reason.code}: {explain_reason(reason)}", err=True)
        else:
            record = template.maker.make(variables, payload, **options)
        print_json(render_record(record))


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise BadFlag(f"--set takes NAME=VALUE, not {text!r}.")
    return name, value


def _payload(data: str | None) -> Any:
    from postroom.messages.making.make import AUTO

    if data is None or data == "auto":
        return AUTO if data else None
    try:
        raw = sys.stdin.buffer.read() if data == "-" else Path(data).read_bytes()
    except OSError as error:
        raise FileMissing(f"cannot be read: {error.strerror}.", place=data) from None
    if not raw:
        raise DocumentBroken("there is no data in it.", place=data)
    return raw

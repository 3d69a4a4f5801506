"""`postroom schema`: check payload schemas, compare them, see the columns they give."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import click
import msgspec

from postroom.cli.command import postroom_command, settings_from
from postroom.cli.output import print_json, print_table

MODES = ("backward", "forward", "full")


@click.group("schema", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Check and compare payload schemas, and see the columns they give.

    Formats are JSON Schema, Avro, Protobuf, XSD and JSON Structure, found by the file's name and content. Files that
    a schema refers to are looked up in its folder; nothing is fetched.
    """


def schema_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of all three commands."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="JSON instead of sentences and tables."),
        click.option(
            "--root", metavar="DIR", default="", help="Folder that references stay in; the file's by default."
        ),
        click.option(
            "--format", "stated", metavar="NAME", default="", help="Format, such as Avro or JsonSchema/draft-07."
        ),
    ):
        function = option(function)
    return function


@postroom_command(example="postroom schema check demo/schemas/ride.avsc", name="check")
@click.argument("file")
@schema_options
def check(file: str, stated: str, root: str, as_json: bool) -> int:
    """Say whether FILE is a schema that its format allows; exit 1 when it is not."""
    from postroom.documents.schema_files import read_schema_file
    from postroom.errors import SchemaRefused
    from postroom.formats.format_table import check_schema

    read = read_schema_file(file, settings_from(), stated, root)
    try:
        check_schema(read.format, read.document, read.library)
    except SchemaRefused as error:
        if as_json:
            print_json({"valid": False, "format": read.format, "at": error.place, "reason": error.sentence})
        else:
            at = f":{error.place}" if error.place else ""
            click.echo(f"{file}{at}: {error.sentence} {error.remedy}".rstrip())
        return 1
    if as_json:
        print_json({"valid": True, "format": read.format})
    else:
        click.echo(f"{file}: a valid schema ({read.format}).")
    return 0


@postroom_command(
    example="postroom schema compat demo/schemas/ride-v1.json demo/schemas/ride-v2.json --mode backward",
    name="compat",
)
@click.argument("old")
@click.argument("new")
@click.option(
    "--mode", type=click.Choice(MODES), default="backward", show_default=True, help="Who must read whose data."
)
@click.option(
    "--strict",
    "is_strict",
    is_flag=True,
    help="Let payloads have members that only NEW declares (setting strict_compatibility).",
)
@schema_options
def compat(old: str, new: str, mode: str, is_strict: bool, stated: str, root: str, as_json: bool) -> int:
    """Say whether schema NEW may follow schema OLD, with a payload that proves it where it may not.

    backward: data written with OLD can be read with NEW; forward: the other way round; full: both. Exit 1 when it may
    not or when nobody can say.
    """
    from postroom.documents.schema_files import SchemaFile, read_schema_file
    from postroom.errors import FormatUnknown
    from postroom.formats.compatibility import compatible
    from postroom.formats.format_table import format_named, readable_documents
    from postroom.formats.schema import Verdict

    settings = settings_from()
    older, newer = (read_schema_file(name, settings, stated, root) for name in (old, new))
    families = [format_named(one.format) for one in (older, newer)]
    if all(families) and families[0].family != families[1].family:  # type: ignore[union-attr]  # both are there
        raise FormatUnknown(f"{old} is {older.format} and {new} is {newer.format}.", remedy="Compare like with like.")

    def readable(writer: SchemaFile, reader: SchemaFile) -> Verdict:
        return readable_documents(
            (writer.format, writer.document, writer.library),
            (reader.format, reader.document, reader.library),
            is_strict=is_strict or settings.strict_compatibility,
        )

    verdict = compatible([older], newer, mode, readable)
    if as_json:
        print_json({"mode": mode, **msgspec.to_builtins(verdict)})
    else:
        click.echo(f"{mode}: {verdict.answer}.{' ' + verdict.reason if verdict.reason else ''}")
        for label, text in (
            ("at, writer", verdict.writer_at),
            ("at, reader", verdict.reader_at),
            ("payload", verdict.shown),
        ):
            if text:
                click.echo(f"  {label}: {text}")
    return 0 if verdict.answer == "compatible" else 1


@postroom_command(example="postroom schema columns demo/schemas/ride.avsc", name="columns")
@click.argument("file")
@click.option("--type", "fragment", metavar="NAME", default="", help="Type of the document, where it has several.")
@schema_options
def columns(file: str, fragment: str, stated: str, root: str, as_json: bool) -> None:
    """List the table columns that payloads of schema FILE fill."""
    from postroom.documents.schema_files import read_schema_file
    from postroom.formats.column_types import flattened, type_name
    from postroom.formats.format_table import parse_schema

    read = read_schema_file(file, settings_from(), stated, root)
    found = parse_schema(read.format, read.document, fragment, read.library).columns()

    def rows() -> Iterator[tuple[str, str, str]]:
        for path, kind, description in flattened("data", found):
            yield path, type_name(kind), description

    if as_json:
        print_json([{"column": path, "type": kind, "description": text} for path, kind, text in rows()])
    else:
        print_table("", ("column", "type", "description"), rows())


for made in (check, compat, columns):
    command.add_command(made)

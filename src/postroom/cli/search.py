"""`postroom search`: find entities by words, and list the fields of payloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
import msgspec

from postroom.cli.command import key_option, postroom_command, settings_from
from postroom.cli.output import print_json, print_table

if TYPE_CHECKING:
    from postroom.registry.search.field_list import FieldsRequest
    from postroom.registry.search.search import Highlight, SearchRequest

LONGEST_TEXT, MOST_TEXTS = 60, 3


@postroom_command(example="postroom search order placed --catalog demo/catalog")
@click.argument("words", nargs=-1)
@click.option(
    "--catalog", required=True, metavar="SRC", help="A file, a folder, a store (sqlite:///path.db) or a service."
)
@click.option("--kind", metavar="TYPE", help="Only entities of this type: messages, schemas, messagegroups, …")
@click.option("--group", metavar="XID", help="Only this group and what is in it.")
@click.option("--format", metavar="FORMAT", help="Only what has this schema format.")
@click.option("--envelope", metavar="ENVELOPE", help="Only what has this envelope.")
@click.option("--protocol", metavar="PROTOCOL", help="Only what has this protocol.")
@click.option("--fields", is_flag=True, help="List the fields of payloads instead, with the schemas that have them.")
@click.option("--shared", is_flag=True, help="With --fields: only those that several schemas have.")
@click.option(
    "--limit", type=click.IntRange(1, 100), default=20, show_default=True, metavar="N", help="At most so many."
)
@click.option("--json", "as_json", is_flag=True, help="What GET /-/search, or GET /-/fields, answers.")
@key_option
def command(
    words: tuple[str, ...],
    catalog: str,
    fields: bool,
    shared: bool,
    limit: int,
    as_json: bool,
    **facets: str | None,
) -> int:
    """Find groups, messages, schemas and endpoints by words.

    All WORDS have to be found: in ids, names, descriptions, labels, other values, or properties of payload schemas. A
    word also finds longer ones that begin with it; quoted ones ('"order placed"') are a phrase. Without WORDS,
    everything is listed. Exit 1 when nothing is found.
    """
    from postroom.registry.search.field_list import FieldsRequest
    from postroom.registry.search.search import SearchRequest

    if shared and not fields:
        raise click.UsageError("--shared is about --fields.")
    q = " ".join(words)
    if fields:
        return _list_fields(catalog, FieldsRequest(q=q, is_shared=shared, limit=limit), as_json)
    chosen = {name: value for name, value in facets.items() if value is not None}
    return _search(catalog, SearchRequest(q=q, facets=chosen, limit=limit), as_json)


def _search(catalog: str, request: SearchRequest, as_json: bool) -> int:
    from postroom.catalog.search import search_catalog

    result = search_catalog(catalog, request, settings_from())
    if as_json:
        print_json(msgspec.to_builtins(result))
    elif not result.hits:
        click.echo("Nothing is found.")
    else:
        count = f"{result.total:,}" if result.is_complete else f"more than {result.total:,}"
        shown = "" if result.total == len(result.hits) else f", the best {len(result.hits)} are shown"
        rows = [(hit.xid, hit.name, "\n".join(map(_found, hit.highlights[:MOST_TEXTS]))) for hit in result.hits]
        print_table(f"Found: {count}{shown}", ("entity", "name", "found in"), rows, whole=("entity",))
    return 0 if result.hits else 1


def _found(highlight: Highlight) -> str:
    """What is around the first mark, in one line."""
    low, high = highlight.marks[0]
    start = max(0, low - LONGEST_TEXT // 3) if high > LONGEST_TEXT else 0
    text = highlight.text[start : start + LONGEST_TEXT]
    text = ("…" if start else "") + text + ("…" if start + LONGEST_TEXT < len(highlight.text) else "")
    return text if highlight.is_property else f"{highlight.path}: {' '.join(text.split())}"


def _list_fields(catalog: str, request: FieldsRequest, as_json: bool) -> int:
    from postroom.catalog.search import list_catalog_fields

    page = list_catalog_fields(catalog, request, settings_from())
    if as_json:
        print_json(msgspec.to_builtins(page))
    elif not page.fields:
        click.echo("No field is found.")
    else:
        rows = [
            (
                field.path,
                ", ".join(one.type for one in field.types),
                field.schemascount,
                field.messagescount,
                "\n".join((field.schemas or field.messages)[:3]),
            )
            for field in page.fields
        ]
        title = "Fields of payloads" + (f"; more follow {page.after}" if page.after else "")
        print_table(title, ("field", "type", "schemas", "messages", "first in"), rows, whole=("field",))
    return 0 if page.fields else 1

"""The table of payload schema formats. A new format is one new folder and one line here."""

from __future__ import annotations

import importlib
import random
from typing import Any, cast

import msgspec

from postroom.errors import FormatUnknown, SchemaRefused
from postroom.formats.schema import EmptyLibrary, Format, Library, PayloadSchema, SchemaDocument, Verdict
from postroom.formats.work_budget import BudgetExhausted, spend, work_limit


class Family(msgspec.Struct, frozen=True):
    """A format without its version: the name we write, other names seen in the wild, and the media types of payloads,
    the one that definitions imply first (C-21)."""

    name: str
    folder: str
    media_types: tuple[str, ...]
    aliases: tuple[str, ...] = ()


FAMILIES = (
    Family("JsonSchema", "jsonschema", ("application/json",), ("json-schema",)),
    Family(
        "Avro",
        "avro",
        ("application/avro", "avro/binary", "application/vnd.apache.avro+binary", "application/json"),
        ("apacheavro",),
    ),
    Family(
        "Protobuf",
        "protobuf",
        ("application/protobuf", "application/x-protobuf", "application/vnd.google.protobuf", "application/json"),
        ("proto",),
    ),
    Family("XSD", "xsd", ("application/xml", "text/xml"), ("xmlschema", "xml-schema")),
    Family("JsonStructure", "jsonstructure", ("application/json",), ("json-structure",)),
)

_BY_NAME = {name.lower(): family for family in FAMILIES for name in (family.name, *family.aliases)}


class FormatName(msgspec.Struct, frozen=True):
    """A format's name taken apart: its family and the version in lower case, without a trailing `.0` (C-28)."""

    family: Family
    version: str

    def __str__(self) -> str:
        return f"{self.family.name}/{self.version}" if self.version else self.family.name


def format_named(name: str) -> FormatName | None:
    """The format that a name means, in any spelling; None for one we do not know."""
    family, _, version = name.strip().partition("/")
    found = _BY_NAME.get(family.strip().lower())
    return None if found is None else FormatName(found, version.strip().lower().removesuffix(".0"))


def parse_schema(
    name: str, document: Any, fragment: str = "", library: Library | None = None, *, assert_formats: bool = False
) -> PayloadSchema:
    """Parse a schema document of a named format."""
    module, source = _source(name, document, fragment, library)
    return module.parse(msgspec.structs.replace(source, assert_formats=assert_formats) if assert_formats else source)


def check_schema(name: str, document: Any, library: Library | None = None) -> None:
    """Raise SchemaRefused unless a document is one that its format allows."""
    module, source = _source(name, document, "", library)
    module.check(source)


def readable(
    name: str, writer: Any, reader: Any, library: Library | None = None, *, is_strict: bool = False
) -> Verdict:
    """Compare two documents of one format: can every payload that fits the writer's be read with the reader's?"""
    return readable_documents((name, writer, library), (name, reader, library), is_strict=is_strict)


def readable_documents(
    writer: tuple[str, Any, Library | None], reader: tuple[str, Any, Library | None], *, is_strict: bool = False
) -> Verdict:
    """Compare two documents, each with a format and a library of its own.

    Members of JSON objects that only the reader declares count as absent; with `is_strict` they may be anything.
    """
    module, written = _source(writer[0], writer[1], "", writer[2])
    other, read = _source(reader[0], reader[1], "", reader[2])
    written = msgspec.structs.replace(written, undeclared_members=is_strict)
    if other is not module:
        return Verdict(answer="undecided", reason=f"{writer[0]} and {reader[0]} are different formats.")
    try:
        with work_limit():
            spend()
            return module.readable(written, read)
    except BudgetExhausted as error:
        return Verdict(answer="undecided", reason=f"the comparison was {error}.")


def sample_value(schema: PayloadSchema, rng: random.Random) -> Any:
    """A sample value that fits a schema; SchemaRefused when there is none, or finding one takes too long."""
    try:
        with work_limit():
            return schema.sample(rng)
    except BudgetExhausted as error:
        raise SchemaRefused(f"the search for fitting data was {error}.", remedy="Give your own with --data.") from None


def _source(name: str, document: Any, fragment: str, library: Library | None) -> tuple[Format, SchemaDocument]:
    known = format_named(name)
    if known is None:
        readable = ", ".join(family.name for family in FAMILIES)
        raise FormatUnknown(
            f"the schema format {name or '(none)'!r} is not one we read.", remedy=f"We read {readable}."
        )
    # Modules load on first use: a catalog without Avro needs no Avro library.
    module = importlib.import_module(f"postroom.formats.{known.family.folder}.format")
    source = SchemaDocument(
        document=document, version=known.version, fragment=fragment, library=library or EmptyLibrary()
    )
    return cast(Format, module), source

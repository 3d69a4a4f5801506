"""What a definition implies of its CloudEvents attributes `datacontenttype` and `dataschema` (MSG-061, MSG-062), and of
the content type of messages altogether."""

from __future__ import annotations

from typing import NamedTuple

from postroom.formats.format_table import format_named
from postroom.messages.definitions.catalog_tree import Tree
from postroom.messages.definitions.definition import SchemaSource
from postroom.messages.definitions.templates import has_placeholder

# What producers call payloads besides the names that a format has of its own.
_SUFFIXES = {"JsonSchema": ("text/json", "+json"), "JsonStructure": ("text/json", "+json"), "XSD": ("+xml",)}
_OF_BINARY_FORMATS = ("application/octet-stream", "+json")


class Implied(NamedTuple):
    """A value that a message implies, the member that implies it where the author wrote another, and its equals."""

    value: str = ""
    by: str = ""
    accepts: tuple[str, ...] = ()


NOT_IMPLIED = Implied()


def stated_type(message: Tree) -> str:
    """The content type that a message states as a whole; empty where it states none, or leaves it open."""
    stated = message.get("datacontenttype")
    return stated if isinstance(stated, str) and not has_placeholder(stated) else ""


def implied_type(schema: SchemaSource | None) -> tuple[str, tuple[str, ...]]:
    """The content type that the format of the schema implies, and the others that its payloads may have (C-21)."""
    known = format_named(schema.format) if schema is not None else None
    if known is None:
        return "", ()
    family = known.family
    return family.media_types[0], (*family.media_types, *_SUFFIXES.get(family.name, _OF_BINARY_FORMATS))


def implied_schema(message: Tree) -> tuple[str, str]:
    """The reference that a message implies for `dataschema`, and the member that has it; empty where there is none."""
    if message.get("dataschema") is None:
        for name in ("dataschemauri", "dataschemaxid"):
            reference = message.get(name)
            if isinstance(reference, str) and reference and not has_placeholder(reference):
                return reference, name
    return "", ""


def same_references(reference: str, schema: SchemaSource | None) -> tuple[str, ...]:
    """Other references to the schema that a reference names: its default version is meant by its own path too."""
    if schema is None or "/versions/" not in reference or not schema.place or "/versions/" in schema.place:
        return ()
    return (schema.place,)

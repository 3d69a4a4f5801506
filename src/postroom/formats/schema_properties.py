"""The properties of a payload schema with their types: what search and the list of fields show of a document.

Only the document itself counts: what it refers to elsewhere has readers of its own.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from postroom.errors import FormatUnknown, ReferenceMissing, SchemaRefused
from postroom.formats.column_types import ColumnType, ListOf, MapOf, StructOf, type_name
from postroom.formats.format_table import parse_schema
from postroom.formats.schema_text import load_json
from postroom.formats.work_budget import BudgetExhausted, work_limit

MOST_PROPERTIES = 2000
LONGEST_PATH = 500
_DEEPEST = 32

Property = tuple[str, str]
"""A path (`customer.email`; `items[].sku` steps into a list, `prices{}` into a map) and the name of its type."""


def schema_properties(form: str, document: bytes) -> tuple[Property, ...]:
    """The properties of a document; none where it is no schema of a format that we read."""
    try:
        with work_limit():
            found = _inside("", parse_schema(form, document).columns())
    except ReferenceMissing:
        found = _named_members(document)
    except (SchemaRefused, FormatUnknown, BudgetExhausted):
        return ()
    paths = {path: kind for path, kind in found if len(path) <= LONGEST_PATH}
    return tuple(itertools.islice(paths.items(), MOST_PROPERTIES))


def _inside(path: str, column: ColumnType) -> Iterator[Property]:
    if isinstance(column, StructOf):
        for field in column.fields:
            inner = f"{path}.{field.source}" if path else field.source
            yield inner, type_name(field.type)
            yield from _inside(inner, field.type)
    elif isinstance(column, ListOf):
        yield from _inside(f"{path}[]", column.item)
    elif isinstance(column, MapOf):
        yield from _inside(f"{path}{{}}", column.value)


def _named_members(document: bytes) -> Iterator[Property]:
    """The members that a JSON document declares by itself, where it cannot be read without others."""
    try:
        schema = load_json(document)
    except SchemaRefused:
        return iter(())
    return _members_of(schema, "", 0)


def _members_of(schema: Any, path: str, depth: int) -> Iterator[Property]:
    if isinstance(schema, list):
        for one in schema:
            yield from _members_of(one, path, depth)
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return
    for name, member in _declared(schema):
        inner = f"{path}.{name}" if path else name
        yield inner, _stated_type(member)
        yield from _members_of(member, inner, depth + 1)
    for keyword, step in (
        ("items", "[]"),
        ("additionalProperties", "{}"),
        ("values", "{}"),
        ("type", ""),
        ("allOf", ""),
    ):
        if isinstance(schema.get(keyword), dict | list):
            yield from _members_of(schema[keyword], path + step, depth + 1)


def _declared(schema: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    if isinstance(schema.get("properties"), dict):
        yield from schema["properties"].items()
    if isinstance(schema.get("fields"), list):
        for field in schema["fields"]:
            if isinstance(field, dict) and isinstance(field.get("name"), str):
                yield field["name"], field


def _stated_type(member: Any) -> str:
    stated = member.get("type") if isinstance(member, dict) else member
    if isinstance(stated, dict):
        stated = stated.get("type")
    return stated if isinstance(stated, str) else "any"

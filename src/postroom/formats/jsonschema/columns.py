"""The columns of a JSON Schema. Total: what has no single type becomes JSON text."""

from __future__ import annotations

from collections.abc import Iterable

from postroom.formats.column_types import (
    BOOLEAN,
    DATE_TEXT,
    DOUBLE,
    DURATION_TEXT,
    INT64,
    JSON_TEXT,
    STRING,
    TIMESTAMP_TEXT,
    ColumnType,
    Decimal,
    Field,
    ListOf,
    MapOf,
    StructOf,
    as_text,
)
from postroom.formats.jsonschema.merged_schema import Conjunction, MergedSchema, SchemaMerger
from postroom.formats.jsonschema.referenced_documents import DocumentSet
from postroom.formats.jsonschema.schema_addresses import Located
from postroom.formats.naming import column_names

_SCALARS = {"string": STRING, "number": DOUBLE, "boolean": BOOLEAN}
_TIMES = {"date-time": TIMESTAMP_TEXT, "date": DATE_TEXT, "duration": DURATION_TEXT}
_DEEPEST = 32
_MOST_COLUMNS = 5_000


def columns(documents: DocumentSet, start: Located) -> ColumnType:
    """The column type of values that fit a schema."""
    return _Mapper(SchemaMerger(documents)).column((start,), (), 0)


class _Mapper:
    def __init__(self, merger: SchemaMerger) -> None:
        self.merger = merger
        self.made = 0

    def column(self, node: Conjunction, inside: tuple[int, ...], depth: int) -> ColumnType:
        self.made += 1
        if depth > _DEEPEST or self.made > _MOST_COLUMNS:
            return JSON_TEXT
        merged = self.merger.merge(node)
        # A type inside itself has no end as columns.
        if merged is None or any(target in inside for target in merged.reference_targets):
            return JSON_TEXT
        inside = (*inside, *merged.reference_targets)
        if merged.choices:
            return self._common((choice for choice in merged.choices if not _is_null(choice)), inside, depth)
        if len(merged.types) != 1:
            return JSON_TEXT
        (type_name,) = merged.types
        if type_name == "object":
            return self._object(merged, inside, depth + 1)
        if type_name == "array":
            return JSON_TEXT if merged.items is None else ListOf(self.column(merged.items, inside, depth + 1))
        if type_name == "string" and len(merged.formats) == 1:
            return _TIMES.get(merged.formats[0], STRING)
        return _integer(*merged.bounds) if type_name == "integer" else _SCALARS.get(type_name, JSON_TEXT)

    def _common(self, choices: Iterable[Conjunction], inside: tuple[int, ...], depth: int) -> ColumnType:
        """The one column type of all alternatives."""
        found = {self.column(choice, inside, depth + 1) for choice in choices}
        if len(found) > 1:  # a date or a point in time: text
            found = set(map(as_text, found))
        return found.pop() if len(found) == 1 else JSON_TEXT

    def _object(self, merged: MergedSchema, inside: tuple[int, ...], depth: int) -> ColumnType:
        if merged.members:
            return StructOf(
                tuple(
                    Field(column, name, self.column(member, inside, depth), _description(member))
                    for column, (name, member) in zip(column_names(merged.members), merged.members.items(), strict=True)
                )
            )
        return JSON_TEXT if merged.extra is None else MapOf(self._common(merged.extra, inside, depth))


def _integer(lowest: float | None, highest: float | None) -> ColumnType:
    """64 bits, unless the schema itself says that larger numbers come."""
    stated = [bound for bound in (lowest, highest) if bound is not None]
    if all(-(2**63) <= bound < 2**63 for bound in stated):
        return INT64
    return Decimal(38, 0) if all(abs(bound) < 10**38 for bound in stated) else JSON_TEXT


def _is_null(node: Conjunction) -> bool:
    return node[0][0] in ({"type": "null"}, {"const": None}, {"enum": [None]})


def _description(node: Conjunction) -> str:
    texts = (schema.get("description") for schema, _ in node if isinstance(schema, dict))
    return next((text for text in texts if isinstance(text, str)), "")

"""JSON Schema to columns. Total: what has no single type becomes JSON text."""

from __future__ import annotations

from collections.abc import Iterable

from postroom.formats.column_types import (
    BOOLEAN,
    DOUBLE,
    INT64,
    JSON_TEXT,
    STRING,
    ColumnType,
    Decimal,
    Field,
    ListOf,
    MapOf,
    StructOf,
)
from postroom.formats.jsonschema.merged_schema import Node, Shape, Shapes
from postroom.formats.jsonschema.referenced_documents import Documents
from postroom.formats.jsonschema.schema_addresses import Located
from postroom.formats.naming import column_names

_SCALARS = {"string": STRING, "number": DOUBLE, "boolean": BOOLEAN}
_DEEPEST = 32
_MOST_COLUMNS = 5_000


def columns(documents: Documents, start: Located) -> ColumnType:
    """The column type of values that fit a schema."""
    return _Mapper(Shapes(documents)).column((start,), (), 0)


class _Mapper:
    def __init__(self, shapes: Shapes) -> None:
        self.shapes = shapes
        self.made = 0

    def column(self, node: Node, inside: tuple[int, ...], depth: int) -> ColumnType:
        self.made += 1
        if depth > _DEEPEST or self.made > _MOST_COLUMNS:
            return JSON_TEXT
        shape = self.shapes.shape(node)
        # A type inside itself has no end as columns.
        if shape is None or any(mark in inside for mark in shape.marks):
            return JSON_TEXT
        inside = (*inside, *shape.marks)
        if shape.choices:
            return self._common((choice for choice in shape.choices if not _is_null(choice)), inside, depth)
        if len(shape.kinds) != 1:
            return JSON_TEXT
        (kind,) = shape.kinds
        if kind == "object":
            return self._object(shape, inside, depth + 1)
        if kind == "array":
            return JSON_TEXT if shape.items is None else ListOf(self.column(shape.items, inside, depth + 1))
        return _integer(*shape.bounds) if kind == "integer" else _SCALARS.get(kind, JSON_TEXT)

    def _common(self, choices: Iterable[Node], inside: tuple[int, ...], depth: int) -> ColumnType:
        """The one column type of all alternatives."""
        found = {self.column(choice, inside, depth + 1) for choice in choices}
        return found.pop() if len(found) == 1 else JSON_TEXT

    def _object(self, shape: Shape, inside: tuple[int, ...], depth: int) -> ColumnType:
        if shape.members:
            return StructOf(
                tuple(
                    Field(column, name, self.column(member, inside, depth), _description(member))
                    for column, (name, member) in zip(column_names(shape.members), shape.members.items(), strict=True)
                )
            )
        return JSON_TEXT if shape.extra is None else MapOf(self._common(shape.extra, inside, depth))


def _integer(lowest: float | None, highest: float | None) -> ColumnType:
    """64 bits, unless the schema itself says that larger numbers come."""
    stated = [bound for bound in (lowest, highest) if bound is not None]
    if all(-(2**63) <= bound < 2**63 for bound in stated):
        return INT64
    return Decimal(38, 0) if all(abs(bound) < 10**38 for bound in stated) else JSON_TEXT


def _is_null(node: Node) -> bool:
    return node[0][0] in ({"type": "null"}, {"const": None}, {"enum": [None]})


def _description(node: Node) -> str:
    texts = (schema.get("description") for schema, _ in node if isinstance(schema, dict))
    return next((text for text in texts if isinstance(text, str)), "")

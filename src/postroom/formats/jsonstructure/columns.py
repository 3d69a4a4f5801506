"""JSON Structure types to columns. Total: what has no single type becomes JSON text."""

from __future__ import annotations

from postroom.formats.column_types import JSON_TEXT, ColumnType, Field, ListOf, MapOf, StructOf
from postroom.formats.jsonstructure.types import (
    Conditional,
    Listing,
    Mapping,
    Named,
    Primitive,
    Record,
    Shape,
    unwrapped,
)
from postroom.formats.jsonstructure.validation import primitives
from postroom.formats.naming import column_names

_DEEPEST = 32
_MOST_FIELDS = 5000


def columns(root: Shape) -> ColumnType:
    """The column type of values that fit a type."""
    return _Planner().column(root, ())


class _Planner:
    def __init__(self) -> None:
        self._fields = 0

    def column(self, shape: Shape, trail: tuple[int, ...]) -> ColumnType:
        real, _ = unwrapped(shape)
        if isinstance(real, Conditional) and real.base is not None:
            real, _ = unwrapped(real.base)
        # A type inside itself has no end as columns, and a graph of types may unfold beyond any table.
        if id(real) in trail or len(trail) > _DEEPEST or self._fields > _MOST_FIELDS:
            return JSON_TEXT
        inside = (*trail, id(real))
        if isinstance(real, Primitive):
            return primitives.column(real.name, real.rules)
        if isinstance(real, Record):
            return self._struct(real, inside)
        if isinstance(real, Listing):
            return ListOf(self.column(real.items, inside))
        if isinstance(real, Mapping):
            return MapOf(self.column(real.values, inside))
        return JSON_TEXT

    def _struct(self, shape: Record, trail: tuple[int, ...]) -> ColumnType:
        if not shape.members:
            return MapOf(self.column(shape.extra, trail)) if isinstance(shape.extra, Shape) else JSON_TEXT
        self._fields += len(shape.members)
        named = zip(column_names(shape.members), shape.members.items(), strict=True)
        return StructOf(
            tuple(
                Field(column, name, self.column(member, trail), _description(member))
                for column, (name, member) in named
            )
        )


def _description(shape: Shape) -> str:
    while not shape.description and isinstance(shape, Named) and shape.target is not None:
        shape = shape.target
    return shape.description

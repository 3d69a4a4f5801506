"""The columns of a JSON Structure type. Total: what has no single type becomes JSON text."""

from __future__ import annotations

from postroom.formats.column_types import JSON_TEXT, ColumnType, Field, ListOf, MapOf, StructOf
from postroom.formats.jsonstructure import types
from postroom.formats.jsonstructure.validation import primitives
from postroom.formats.naming import column_names

_DEEPEST = 32
_MOST_FIELDS = 5000


def columns(root: types.JsonType) -> ColumnType:
    """The column type of values that fit a type."""
    return _Planner().column(root, ())


class _Planner:
    def __init__(self) -> None:
        self._fields = 0

    def column(self, type_: types.JsonType, trail: tuple[int, ...]) -> ColumnType:
        real, _ = types.unwrapped(type_)
        if isinstance(real, types.JsonConditionalType) and real.base is not None:
            real, _ = types.unwrapped(real.base)
        # A type inside itself has no end as columns, and a graph of types may unfold beyond any table.
        if id(real) in trail or len(trail) > _DEEPEST or self._fields > _MOST_FIELDS:
            return JSON_TEXT
        inside = (*trail, id(real))
        if isinstance(real, types.JsonPrimitiveType):
            return primitives.column(real.name, real.rules)
        if isinstance(real, types.JsonObjectType):
            return self._struct(real, inside)
        if isinstance(real, types.JsonArrayType):
            return ListOf(self.column(real.items, inside))
        if isinstance(real, types.JsonMapType):
            return MapOf(self.column(real.values, inside))
        return JSON_TEXT

    def _struct(self, type_: types.JsonObjectType, trail: tuple[int, ...]) -> ColumnType:
        if not type_.members:
            return MapOf(self.column(type_.extra, trail)) if isinstance(type_.extra, types.JsonType) else JSON_TEXT
        self._fields += len(type_.members)
        named = zip(column_names(type_.members), type_.members.items(), strict=True)
        return StructOf(
            tuple(
                Field(column, name, self.column(member, trail), _description(member))
                for column, (name, member) in named
            )
        )


def _description(type_: types.JsonType) -> str:
    while not type_.description and isinstance(type_, types.TypeReference) and type_.target is not None:
        type_ = type_.target
    return type_.description

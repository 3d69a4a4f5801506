"""Fills columns from payloads of the typed decoder.

Most decoded values have the form of their columns already: strings, booleans, numbers, and objects made of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postroom.formats import column_types, fill_columns
from postroom.formats.column_types import ColumnType
from postroom.formats.jsonstructure import types
from postroom.formats.jsonstructure.typed_decoder import is_plain_list, is_plain_map, is_plain_object
from postroom.formats.jsonstructure.validation.primitives import INTEGERS
from postroom.formats.jsonstructure.validation.string_types import STRING_TYPES

# Changes a decoded value in place where it can.
Finish = Callable[[Any], Any]

_AS_DECODED: dict[column_types.Scalar, frozenset[str]] = {
    column_types.STRING: frozenset(STRING_TYPES) - {"date"} | {"string"},
    column_types.INT64: frozenset(INTEGERS) | {"int64"},
    column_types.DOUBLE: frozenset(("float", "float8", "double")),
    column_types.BOOLEAN: frozenset({"boolean"}),
    column_types.BINARY: frozenset({"binary"}),
}


def column_filler(type_: types.JsonType, column: ColumnType) -> Finish | None:
    """The function that turns decoded values of a type into those of its column; None where they are the same."""
    real, _ = types.unwrapped(type_)
    if isinstance(column, column_types.StructOf) and isinstance(real, types.JsonObjectType) and is_plain_object(real):
        return _members(real, column)
    if isinstance(column, column_types.ListOf) and isinstance(real, types.JsonArrayType) and is_plain_list(real):
        inner = column_filler(real.items, column.item)
        return None if inner is None else fill_columns.finish_items(inner)
    if isinstance(column, column_types.MapOf) and isinstance(real, types.JsonMapType) and is_plain_map(real):
        inner = column_filler(real.values, column.value)
        return None if inner is None else fill_columns.finish_values(inner)
    return (
        None
        if isinstance(real, types.JsonPrimitiveType) and _is_as_decoded(real, column)
        else fill_columns.filler(column)
    )


def _is_as_decoded(type_: types.JsonPrimitiveType, column: ColumnType) -> bool:
    if not isinstance(column, column_types.Scalar) or type_.name not in _AS_DECODED.get(column, ()):
        return False
    # A float with rules of its own may have been read as an integer.
    return column != column_types.DOUBLE or (not type_.rules and type_.values is None)


def _members(type_: types.JsonObjectType, column: column_types.StructOf) -> Finish | None:
    fields = [
        (field.source, field.name, column_filler(type_.members[field.source], field.type)) for field in column.fields
    ]
    if any(source != name for source, name, _ in fields):
        return _renamed(fields)
    steps = [(source, complete) for source, _, complete in fields if complete is not None]
    others = tuple(type_.reserved - type_.members.keys())
    if not steps and not others:
        return None

    def finish(value: dict[str, Any]) -> dict[str, Any]:
        for source, complete in steps:
            member = value.get(source)
            if member is not None:
                value[source] = complete(member)
        for other in others:
            value.pop(other, None)
        return value

    return finish


def _renamed(fields: list[tuple[str, str, Finish | None]]) -> Finish:
    return lambda value: {
        name: value[source] if complete is None or value[source] is None else complete(value[source])
        for source, name, complete in fields
        if source in value
    }

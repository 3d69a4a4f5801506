"""The quick way on to columns: what is left to do with a decoded payload so that it has the shape of its columns.

Most values have it already: texts, booleans, numbers, and objects made of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postroom.formats import fill_columns
from postroom.formats.column_types import (
    BINARY,
    BOOLEAN,
    DOUBLE,
    INT64,
    STRING,
    ColumnType,
    ListOf,
    MapOf,
    Scalar,
    StructOf,
)
from postroom.formats.jsonstructure.typed_decoder import is_plain_list, is_plain_map, is_plain_record
from postroom.formats.jsonstructure.types import Listing, Mapping, Primitive, Record, Shape, unwrapped
from postroom.formats.jsonstructure.validation.primitives import INTEGERS
from postroom.formats.jsonstructure.validation.string_types import TEXT_FORMS

# Changes a decoded value in place where it can.
Finish = Callable[[Any], Any]

_AS_DECODED: dict[Scalar, frozenset[str]] = {
    STRING: frozenset(TEXT_FORMS) - {"date"} | {"string"},
    INT64: frozenset(INTEGERS) | {"int64"},
    DOUBLE: frozenset(("float", "float8", "double")),
    BOOLEAN: frozenset({"boolean"}),
    BINARY: frozenset({"binary"}),
}


def finishing(shape: Shape, column: ColumnType) -> Finish | None:
    """The function that is left to call on values of a type, as the quick decoder makes them; None for nothing."""
    real, _ = unwrapped(shape)
    if isinstance(column, StructOf) and isinstance(real, Record) and is_plain_record(real):
        return _members(real, column)
    if isinstance(column, ListOf) and isinstance(real, Listing) and is_plain_list(real):
        inner = finishing(real.items, column.item)
        return None if inner is None else _items(inner)
    if isinstance(column, MapOf) and isinstance(real, Mapping) and is_plain_map(real):
        inner = finishing(real.values, column.value)
        return None if inner is None else _values(inner)
    return None if isinstance(real, Primitive) and _is_as_decoded(real, column) else fill_columns.filler(column)


def _is_as_decoded(shape: Primitive, column: ColumnType) -> bool:
    if not isinstance(column, Scalar) or shape.name not in _AS_DECODED.get(column, ()):
        return False
    # A float with rules of its own may have been read as an integer.
    return column != DOUBLE or (not shape.rules and shape.values is None)


def _members(shape: Record, column: StructOf) -> Finish | None:
    fields = [(field.source, field.name, finishing(shape.members[field.source], field.type)) for field in column.fields]
    if any(source != name for source, name, _ in fields):
        return _renamed(fields)
    steps = [(source, complete) for source, _, complete in fields if complete is not None]
    others = tuple(shape.reserved - shape.members.keys())
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


def _items(complete: Finish) -> Finish:
    return lambda value: [None if item is None else complete(item) for item in value]


def _values(complete: Finish) -> Finish:
    return lambda value: {key: None if item is None else complete(item) for key, item in value.items()}

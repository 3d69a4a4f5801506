"""From the values of messages to those of their columns: for most members nothing is left to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postroom.formats import fill_columns
from postroom.formats.column_types import ColumnType, ListOf, MapOf, Scalar, StructOf

Finish = Callable[[Any], Any]


def finishing(column: ColumnType) -> Finish | None:
    """The function that is left to call on values as messages are read; None for nothing.

    It makes what `filling.filler` makes, and may change the value that it is given.
    """
    if isinstance(column, Scalar):
        return None
    if isinstance(column, StructOf):
        return _members(column)
    if isinstance(column, ListOf):
        item = finishing(column.item)
        return None if item is None else lambda values: [None if one is None else item(one) for one in values]
    if isinstance(column, MapOf):
        value = finishing(column.value)
        if value is None:
            return None
        return lambda values: {key: None if one is None else value(one) for key, one in values.items()}
    return fill_columns.filler(column)


def _members(column: StructOf) -> Finish | None:
    fields = [(field.source, field.name, finishing(field.type)) for field in column.fields]
    steps = [(source, finish) for source, _, finish in fields if finish is not None]
    names = {source: name for source, name, _ in fields}
    is_renamed = any(source != name for source, name in names.items())
    if not steps and not is_renamed:
        return None

    def finish(value: dict[str, Any]) -> dict[str, Any]:
        for source, finish_member in steps:
            member = value.get(source)
            if member is not None:
                value[source] = finish_member(member)
            elif source in value:
                del value[source]  # a null of JSON: an empty column
        return {names[source]: member for source, member in value.items()} if is_renamed else value

    return finish

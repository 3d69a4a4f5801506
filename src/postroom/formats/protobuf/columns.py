"""Columns of messages, and the conversion of values to them: what has no end or no single type becomes JSON text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from postroom.formats import column_types
from postroom.formats.column_types import ColumnType
from postroom.formats.fill_columns import filler, finish_items, finish_values
from postroom.formats.naming import column_names
from postroom.formats.protobuf import well_known_types
from postroom.formats.protobuf.compile_schema import CompiledSchema
from postroom.formats.protobuf.fields import map_entry, member_name

Finish = Callable[[Any], Any]

_DEEPEST = 32
_MOST_COLUMNS = 20_000
_F = FieldDescriptor
_UNSIGNED = column_types.Decimal(20, 0)
_SCALARS: dict[int, ColumnType] = {
    **dict.fromkeys(
        (_F.TYPE_INT32, _F.TYPE_SINT32, _F.TYPE_SFIXED32, _F.TYPE_UINT32, _F.TYPE_FIXED32), column_types.INT64
    ),
    **dict.fromkeys((_F.TYPE_INT64, _F.TYPE_SINT64, _F.TYPE_SFIXED64), column_types.INT64),
    **dict.fromkeys((_F.TYPE_UINT64, _F.TYPE_FIXED64), _UNSIGNED),
    **dict.fromkeys((_F.TYPE_DOUBLE, _F.TYPE_FLOAT), column_types.DOUBLE),
    **dict.fromkeys((_F.TYPE_STRING, _F.TYPE_ENUM), column_types.STRING),
    _F.TYPE_BOOL: column_types.BOOLEAN,
    _F.TYPE_BYTES: column_types.BINARY,
}


def columns(compiled: CompiledSchema, message: Descriptor) -> ColumnType:
    """The column type of values of a message."""
    return _Columns(compiled).message(message, ())


class _Columns:
    def __init__(self, compiled: CompiledSchema) -> None:
        self.compiled = compiled
        self.left = _MOST_COLUMNS

    def message(self, message: Descriptor, around: tuple[str, ...]) -> ColumnType:
        known = _known(message)
        if known is not None:
            return known
        members = self.compiled.members(message)
        # A type inside itself has no end as columns; types that fan out have one that nobody wants to see.
        if message.full_name in around or len(around) >= _DEEPEST or (around and self.left < len(members)):
            return column_types.JSON_TEXT
        if not members:
            return column_types.JSON_TEXT
        self.left -= len(members)
        inside = (*around, message.full_name)
        names = column_names(map(member_name, members))
        return column_types.StructOf(
            tuple(
                column_types.Field(name, member_name(member), self.member(member, inside), self.comment(member))
                for name, member in zip(names, members, strict=True)
            )
        )

    def member(self, member: FieldDescriptor, around: tuple[str, ...]) -> ColumnType:
        entry = map_entry(member)
        if entry is not None:
            return (
                column_types.MapOf(self.item(entry.value, around))
                if entry.key.type == _F.TYPE_STRING
                else column_types.JSON_TEXT
            )
        item = self.item(member, around)
        return column_types.ListOf(item) if member.is_repeated else item

    def item(self, member: FieldDescriptor, around: tuple[str, ...]) -> ColumnType:
        if member.message_type is not None:
            return self.message(member.message_type, around)
        return _SCALARS[member.type]

    def comment(self, member: FieldDescriptor) -> str:
        return self.compiled.comments.get(member.full_name, "")


def _known(message: Descriptor) -> ColumnType | None:
    name = message.full_name
    if name in well_known_types.FREE_FORM:
        return column_types.JSON_TEXT
    if name == well_known_types.TIMESTAMP:
        return column_types.TIMESTAMP_TEXT
    if name == well_known_types.DURATION:
        return column_types.DURATION_TEXT
    if name == well_known_types.FIELD_MASK:
        return column_types.ListOf(column_types.STRING)
    return _SCALARS[message.fields_by_name["value"].type] if name in well_known_types.WRAPPERS else None


def compile_finisher(column: ColumnType) -> Finish | None:
    """Compile the function that converts values of messages to those of their columns; None where nothing differs.

    It makes what `fill_columns.filler` makes, and may change the value that it is given.
    """
    if isinstance(column, column_types.Scalar | column_types.TimeText):
        return None
    if isinstance(column, column_types.StructOf):
        return _finish_members(column)
    if isinstance(column, column_types.ListOf):
        item = compile_finisher(column.item)
        return None if item is None else finish_items(item)
    if isinstance(column, column_types.MapOf):
        value = compile_finisher(column.value)
        return None if value is None else finish_values(value)
    return filler(column)


def _finish_members(column: column_types.StructOf) -> Finish | None:
    fields = [(field.source, field.name, compile_finisher(field.type)) for field in column.fields]
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

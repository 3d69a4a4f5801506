"""Whether a payload means the same to its reader as to its writer: the definition that all rules of comparing serve.

A reader may know less than the writer: fields it does not declare are passed over. What both declare, by number or by
name, has to arrive with its value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError

from postroom.formats.protobuf import wire_format
from postroom.formats.protobuf.compile_schema import CompiledSchema
from postroom.formats.protobuf.fields import MapEntry, is_map, map_entry, member_name, message_class

_F = FieldDescriptor


def lost_meaning(
    payload: bytes, writer: tuple[CompiledSchema, Descriptor], reader: tuple[CompiledSchema, Descriptor]
) -> str:
    """What goes wrong when a writer's payload is read as another message; nothing if all is well."""
    written = message_class(writer[1]).FromString(payload)
    message_type = message_class(reader[1])
    try:
        read = message_type.FromString(payload)
    except DecodeError:
        found = wire_format.explain(payload, reader[1], reader[0])
        where = f" at {found[0].at or '/'}: {found[0].found}" if found else ""
        return f"the reader cannot parse it{where}"
    missing = wire_format.missing_members(read)
    if missing:
        return f"the reader misses the required member {missing[0].expected!r} in {missing[0].at or '/'}"
    return _ValueComparison(writer[0], reader[0]).message(written, read, "")


class _ValueComparison:
    def __init__(self, writer: CompiledSchema, reader: CompiledSchema) -> None:
        self.writer = writer
        self.reader = reader

    def message(self, written: Any, read: Any, at: str) -> str:
        members = self.reader.members(type(read).DESCRIPTOR)
        by_number = {member.number: member for member in members}
        names = {member_name(member): member.number for member in members}
        for field, value in type(written).ListFields(written):
            here = f"{at}/{member_name(field)}"
            member = by_number.get(field.number)
            if names.get(member_name(field), field.number) != field.number:
                found = f"{here} arrives as {member.name if member is not None else 'an unknown field'}"
            else:
                found = self.field(field, value, member, read, here) if member is not None else ""
            if found:
                return found
        return ""

    def field(self, field: FieldDescriptor, value: Any, member: FieldDescriptor, read: Any, at: str) -> str:
        there = read.Extensions[member] if member.is_extension else getattr(read, member.name)
        entry, other = map_entry(field), map_entry(member)
        if entry is not None and other is not None:
            return self.map(entry, value, other, there, at)
        before, after = _items(field, value), _items(member, there)
        if not member.is_repeated and member.has_presence and not _has(read, member):
            after = []
        if len(before) != len(after):
            return f"{at} has {len(before)} values, of which the reader sees {len(after)}"
        for one, other in zip(before, after, strict=True):
            found = self.item(field, one, member, other, at)
            if found:
                return found
        return ""

    def map(self, entry: MapEntry, value: Any, member: MapEntry, there: Any, at: str) -> str:
        if len(value) != len(there):
            return f"{at} has {len(value)} entries, of which the reader sees {len(there)}"
        for key, item in value.items():
            other = _entry(there, key)
            if other is None:
                return f"{at} has another key for the reader"
            found = self.item(entry.key, key, member.key, other[0], at) or self.item(
                entry.value, item, member.value, other[1], f"{at}/{key}"
            )
            if found:
                return found
        return ""

    def item(self, field: FieldDescriptor, one: Any, member: FieldDescriptor, other: Any, at: str) -> str:
        if field.message_type is not None:
            return self.submessage(one, member, other, at)
        if member.message_type is not None:
            return f"{at} is {_describe(one)} and is read as a message"
        if isinstance(one, str | bytes) or isinstance(other, str | bytes):
            return self.text(one, other, at)
        if one != other and not (one != one and other != other):
            return f"{at} is {_describe(one)} and is read as {_describe(other)}"
        if isinstance(one, float) != isinstance(other, float):
            return f"{at} is {_describe(one)} and is read as {_describe(other)}"
        return self.enum(field, one, member, at)

    def submessage(self, one: Any, member: FieldDescriptor, other: Any, at: str) -> str:
        if member.message_type is not None:
            return self.message(one, other, at)
        if member.type == _F.TYPE_BYTES and type(one).FromString(other) == one:
            return ""
        return f"{at} is a message and is read as {_describe(other)}"

    def text(self, one: Any, other: Any, at: str) -> str:
        if type(one) is type(other) and one == other:
            return ""
        if isinstance(one, str) and isinstance(other, bytes) and one.encode() == other:
            return ""
        return f"{at} is {_describe(one)} and is read as {_describe(other)}"

    def enum(self, field: FieldDescriptor, number: int, member: FieldDescriptor, at: str) -> str:
        if field.enum_type is None or member.enum_type is None:
            return ""
        for value in field.enum_type.values:
            other = member.enum_type.values_by_name.get(value.name) if value.number == number else None
            if other is not None and other.number != number:
                now = member.enum_type.values_by_number.get(number)
                return f"{at} is {value.name} and is read as {now.name if now is not None else number}"
        return ""


def _items(field: FieldDescriptor, value: Any) -> list[Any]:
    if is_map(field) and field.message_type is not None:
        entry = message_class(field.message_type)
        return [_as_entry(entry, key, item) for key, item in value.items()]
    return list(value) if field.is_repeated else [value]


def _as_entry(entry: Any, key: Any, item: Any) -> Any:
    made = entry(key=key)
    if isinstance(item, bool | int | float | str | bytes):
        made.value = item
    else:
        made.value.CopyFrom(item)
    return made


def _entry(there: Mapping[Any, Any], key: Any) -> tuple[Any, Any] | None:
    for found, item in there.items():
        if found == key and isinstance(found, str) == isinstance(key, str):
            return found, item
    return None


def _has(message: Any, member: FieldDescriptor) -> bool:
    message_type = type(message)
    return bool(
        message_type.HasExtension(message, member)
        if member.is_extension
        else message_type.HasField(message, member.name)
    )


def _describe(value: Any) -> str:
    text = repr(value) if isinstance(value, str | bytes | int | float) else "a message"
    return text if len(text) <= 80 else text[:79] + "…"

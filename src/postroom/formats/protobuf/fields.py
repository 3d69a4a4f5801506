"""The members of a message type: how values name them, and what maps are made of."""

from __future__ import annotations

from typing import Any, NamedTuple

from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from postroom.errors import SchemaRefused


class MapEntry(NamedTuple):
    """The two fields of a map's entries."""

    key: FieldDescriptor
    value: FieldDescriptor


def message_class(message: Descriptor) -> Any:
    """The Python class of a message type."""
    try:
        return message_factory.GetMessageClass(message)
    except RecursionError:
        # The runtime makes the classes of all members first, one inside the other.
        raise SchemaRefused(f"too long a chain of messages starts at {message.full_name}.") from None


def member_name(member: FieldDescriptor) -> str:
    """The name of a member in values: the field's own; extensions in brackets, as Protobuf's JSON writes them."""
    return f"[{member.full_name}]" if member.is_extension else member.name


def map_entry(member: FieldDescriptor) -> MapEntry | None:
    """The key and value of a map's entries; nothing for a field that is no map."""
    held = member.message_type
    if held is None or not member.is_repeated or not held.GetOptions().map_entry:
        return None
    return MapEntry(held.fields_by_name["key"], held.fields_by_name["value"])


def is_map(member: FieldDescriptor) -> bool:
    """Whether a field is a map."""
    return map_entry(member) is not None


def held_message(member: FieldDescriptor) -> Descriptor | None:
    """The message type of a field's values, or of a map's values."""
    entry = map_entry(member)
    return entry.value.message_type if entry is not None else member.message_type

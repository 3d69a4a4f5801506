"""Payloads that show a difference: the smallest message that holds given members at a given depth."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from postroom.formats.protobuf import well_known_types
from postroom.formats.protobuf.compile_schema import Compiled
from postroom.formats.protobuf.fields import entry_of, member_name, message_class
from postroom.formats.protobuf.message_writer import Writer

Path = tuple[tuple[Descriptor, FieldDescriptor], ...]
_DEEPEST = 60
_MOST_MEMBERS = 5_000


class NoExample(Exception):
    """No such payload can be made."""


def payload_at(
    compiled: Compiled, root: Descriptor, path: Path, message: Descriptor, members: dict[str, Any]
) -> tuple[bytes, Any]:
    """A payload whose message at the end of a path has the members, and the same as a value."""
    value: Any = {**_Least(compiled).message(message), **members}
    for parent, field in reversed(path):
        value = {**_Least(compiled).message(parent), member_name(field): _held(field, value)}
    made = message_class(root)()
    writer = Writer(compiled)
    writer.write(made, value)
    if writer.violations or not type(made).IsInitialized(made):
        raise NoExample
    payload: bytes = type(made).SerializeToString(made)
    return payload, value


def _held(field: FieldDescriptor, value: Any) -> Any:
    entry = entry_of(field)
    if entry is not None:
        key = value.get("key", _plain(entry.key))
        held = value.get("value", {} if entry.value.message_type is not None else _plain(entry.value))
        return {str(key).lower() if isinstance(key, bool) else str(key): held}
    return [value] if field.is_repeated else value


class _Least:
    """The required members of messages, and nothing else."""

    def __init__(self, compiled: Compiled) -> None:
        self.compiled = compiled
        self.left = _MOST_MEMBERS

    def message(self, message: Descriptor, depth: int = 0) -> dict[str, Any]:
        self.left -= 1
        if depth > _DEEPEST or self.left < 0:
            raise NoExample
        found: dict[str, Any] = {}
        for field in message.fields:
            if field.is_required:
                inner = field.message_type
                found[field.name] = _plain(field) if inner is None else self._inner(inner, depth)
        return found

    def _inner(self, message: Descriptor, depth: int) -> Any:
        if message.full_name in well_known_types.NAMES:
            raise NoExample
        return self.message(message, depth + 1)


def _plain(field: FieldDescriptor) -> Any:
    if field.enum_type is not None:
        return field.enum_type.values[0].number
    if field.type == FieldDescriptor.TYPE_BOOL:
        return False
    if field.type == FieldDescriptor.TYPE_STRING:
        return ""
    return b"" if field.type == FieldDescriptor.TYPE_BYTES else 0

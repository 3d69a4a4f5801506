"""Members that are called otherwise in another version of a schema.

A version reads what it wrote itself; the table has the names of the version that the definition refers to. A member
goes to the one of the same name. Where there is none, it goes to the one of the same number, which Protobuf takes for
the same member, unless the writer has a member of that name, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from postroom.errors import SchemaRefused
from postroom.formats.protobuf import well_known_types
from postroom.formats.protobuf.compile_schema import CompiledSchema
from postroom.formats.protobuf.fields import held_message, map_entry, member_name

_MOST_PAIRS = 5_000


class _Member(NamedTuple):
    """The new name of a member, how its values are renamed (not at all if None), and whether it is a map or a list."""

    name: str
    inner: Renames | None
    is_map: bool
    is_list: bool


Renames = dict[str, _Member]
Rename = Callable[[Any], Any]


def renaming(writer: CompiledSchema, written: Descriptor, reader: CompiledSchema, read: Descriptor) -> Rename | None:
    """The function that gives values of one message type the names of another; None where all have them already."""
    pairs = _Pairs(writer, reader)
    whole = pairs.renames(written, read)
    return (lambda value: _renamed(value, whole)) if pairs.differ else None


class _Pairs:
    def __init__(self, writer: CompiledSchema, reader: CompiledSchema) -> None:
        self._writer = writer
        self._reader = reader
        self._known: dict[tuple[str, str], Renames] = {}
        self.differ = False

    def renames(self, written: Descriptor, read: Descriptor) -> Renames:
        first = self._known.setdefault((written.full_name, read.full_name), {})
        # Types may hold each other in chains of thousands, so they are not followed by recursion.
        waiting = [(written, read, first)]
        while waiting:
            one, other, found = waiting.pop()
            own, theirs = self._writer.members(one), self._reader.members(other)
            for member, target in _targets(own, theirs):
                inner = self._inner(member, target, waiting)
                is_map = map_entry(member) is not None
                found[member_name(member)] = _Member(member_name(target), inner, is_map, member.is_repeated)
                self.differ = self.differ or member_name(member) != member_name(target)
        return first

    def _inner(
        self, member: FieldDescriptor, target: FieldDescriptor, waiting: list[tuple[Descriptor, Descriptor, Renames]]
    ) -> Renames | None:
        one, other = held_message(member), held_message(target)
        if (
            one is None
            or other is None
            or {one.full_name, other.full_name} & {*well_known_types.NAMES, well_known_types.ANY}
        ):
            return None
        key = (one.full_name, other.full_name)
        if key not in self._known:
            if len(self._known) >= _MOST_PAIRS:
                raise SchemaRefused(f"reading one with the other takes more than {_MOST_PAIRS:,} pairs of messages.")
            self._known[key] = {}
            waiting.append((one, other, self._known[key]))
        return self._known[key]


def _targets(
    own: list[FieldDescriptor], theirs: list[FieldDescriptor]
) -> list[tuple[FieldDescriptor, FieldDescriptor]]:
    names = {member_name(member): member for member in theirs}
    numbers = {member.number: member for member in theirs}
    taken = {member_name(member) for member in own}
    found = []
    for member in own:
        target = names.get(member_name(member))
        if target is None and member.number in numbers and member_name(numbers[member.number]) not in taken:
            target = numbers[member.number]
        if target is not None:
            found.append((member, target))
    return found


def _renamed(value: Any, renames: Renames) -> Any:
    if not isinstance(value, dict):
        return value
    return {
        renames[name].name if name in renames else name: _inside(member, renames.get(name))
        for name, member in value.items()
    }


def _inside(value: Any, member: _Member | None) -> Any:
    if member is None or member.inner is None:
        return value
    if member.is_map:
        return {key: _renamed(item, member.inner) for key, item in value.items()}
    return [_renamed(item, member.inner) for item in value] if member.is_list else _renamed(value, member.inner)

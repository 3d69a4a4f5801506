"""Readers of messages into plain values: a generated function for each message type.

Reading attributes in straight code is several times faster than asking descriptors for each message.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

from google.protobuf.descriptor import Descriptor, EnumDescriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from postroom.codegen import GeneratedCode, attribute
from postroom.errors import SchemaRefused
from postroom.formats.protobuf import well_known_types
from postroom.formats.protobuf.compile_schema import CompiledSchema
from postroom.formats.protobuf.fields import MapEntry, held_message, map_entry, member_name, message_class

Read = Callable[[Any], Any]
# The name under which the unknown fields of a message are kept, which no field can have.
UNKNOWN = "$unknown"


class Suspicious(Exception):
    """A message that may not fit its type; the walk over its bytes says whether, and where."""


class MessageReader:
    """Turns messages of a schema into values: members by their names in the schema, enums as names.

    A strict reader raises Suspicious for what a parser passes over: fields of another wire type than declared
    and numbers that a closed enum does not have. A closed one does so for any field that is not declared.
    """

    def __init__(self, compiled: CompiledSchema, strict: bool, closed: bool = False) -> None:
        self._compiled = compiled
        self._strict = strict
        self._names: dict[str, str] = {}
        self._enums: dict[str, str] = {}
        self._code = GeneratedCode(
            "Protobuf reader",
            unknown=UnknownFieldSet,
            look=refuse if closed else look,
            key=_key,
            any=self._any,
            **{f"known_{name}": read for name, read in _WELL_KNOWN.items()},
        )

    def compile(self, message: Descriptor) -> Read:
        """The function that reads messages of a type."""
        name = self._name(message)
        read: Read = self._code.names[name]
        return read

    def _name(self, message: Descriptor) -> str:
        found = self._names.get(message.full_name)
        if found is not None:
            return found
        name = self._names[message.full_name] = _short_name(message) or f"read_{len(self._names)}"
        if name.startswith("read_"):
            self._define(name, message)
        return name

    def _define(self, name: str, message: Descriptor) -> None:
        # Types may hold each other in chains of thousands, so they are not followed by recursion.
        waiting = [(name, message)]
        while waiting:
            name, message = waiting.pop()
            members = self._compiled.members(message)
            for member in members:
                inner = held_message(member)
                if inner is not None and inner.full_name not in self._names:
                    short = _short_name(inner)
                    self._names[inner.full_name] = short or f"read_{len(self._names)}"
                    if not short:
                        waiting.append((self._names[inner.full_name], inner))
            self._code.names[f"has_{name}"] = message_class(message).HasField
            self._code.names[f"known_{name}"] = frozenset(member.number for member in members)
            self._code.define(name, self._source(name, members))

    def _source(self, name: str, members: list[FieldDescriptor]) -> Iterator[str]:
        yield f"def {name}(m):"
        if self._strict:
            yield f"    if unknown(m): look(m, known_{name})"
        always = [member for member in members if not member.has_presence]
        yield "    d = {" + ", ".join(f"{_quoted(member)}: {self._expression(member)}" for member in always) + "}"
        for member in members:
            if member.has_presence:
                value = self._expression(member)
                present = (
                    f"m.HasExtension({self._code.constant(member)})"
                    if member.is_extension
                    else f"has_{name}(m, {member.name!r})"
                )
                yield f"    if {present}: d[{_quoted(member)}] = {value}"
        yield "    return d"

    def _expression(self, member: FieldDescriptor) -> str:
        whole = f"m.Extensions[{self._code.constant(member)}]" if member.is_extension else attribute("m", member.name)
        entry = map_entry(member)
        if entry is not None:
            return self._map(entry, whole)
        if member.is_repeated:
            item = self._item(member, "v")
            return f"list({whole})" if item == "v" else f"[{item} for v in {whole}]"
        return self._item(member, whole)

    def _map(self, entry: MapEntry, whole: str) -> str:
        key, item = self._item(entry.key, "k"), self._item(entry.value, "v")
        if entry.key.type != FieldDescriptor.TYPE_STRING:
            key = "key(k)"
        return f"dict({whole})" if (key, item) == ("k", "v") else f"{{{key}: {item} for k, v in {whole}.items()}}"

    def _item(self, member: FieldDescriptor, value: str) -> str:
        if member.message_type is not None:
            return f"{self._names[member.message_type.full_name]}({value})"
        if member.enum_type is not None:
            return f"{self._enum(member.enum_type)}[{value}]"
        return value

    def _enum(self, enum: EnumDescriptor) -> str:
        name = self._enums.get(enum.full_name)
        if name is None:
            numbers = EnumNames({number: value.name for number, value in enum.values_by_number.items()})
            name = self._enums[enum.full_name] = self._code.constant(numbers)
        return name

    def _any(self, message: Any) -> dict[str, Any]:
        """An Any as JSON: its members when the schema knows the type, else its bytes."""
        url: str = message.type_url
        try:
            held = self._compiled.pool.FindMessageTypeByName(url.rpartition("/")[2])
            value = self.compile(held)(message_class(held).FromString(message.value))
        except (KeyError, DecodeError, Suspicious, SchemaRefused, well_known_types.OutOfRange):
            return {"@type": url, "value": message.value}
        if held.full_name not in well_known_types.NAMES and isinstance(value, dict) and "@type" not in value:
            return {"@type": url, **value}
        return {"@type": url, "value": value}


class EnumNames(dict[int, str]):
    """The names of an enum's numbers; a number without a name is its own text."""

    def __missing__(self, number: int) -> str:
        return str(number)


def _quoted(member: FieldDescriptor) -> str:
    return repr(member_name(member))


def refuse(message: Message, known: frozenset[int]) -> None:
    """Raise Suspicious for a field that the parser set aside, whatever it is."""
    raise Suspicious


def look(message: Message, known: frozenset[int]) -> None:
    """Raise Suspicious if a field that the parser set aside has the number of a declared one."""
    for field in cast(Iterable[Any], UnknownFieldSet(message)):
        if field.field_number in known:
            raise Suspicious


def _key(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _short_name(message: Descriptor) -> str:
    name = message.full_name
    if name == well_known_types.ANY:
        return "any"
    return f"known_{name.rpartition('.')[2]}" if name in well_known_types.NAMES else ""


_WELL_KNOWN: dict[str, Read] = {
    "Timestamp": well_known_types.timestamp_text,
    "Duration": well_known_types.duration_text,
    "FieldMask": lambda message: list(message.paths),
    "Struct": well_known_types.struct_value,
    "Value": well_known_types.free_value,
    "ListValue": well_known_types.list_value,
    **{name.rpartition(".")[2]: lambda message: message.value for name in well_known_types.WRAPPERS},
}


def unknown_fields(message: Any) -> dict[str, Any] | None:
    """The fields of a message, and of those in it, that the schema does not declare; None where there are none.

    They have a number and bytes, but neither a name nor a type: they are the base64 of all of a message together.
    """
    left: dict[str, Any] = {}
    if len(UnknownFieldSet(message)):
        left[UNKNOWN] = base64.b64encode(_only_unknown(message)).decode()
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        entry = map_entry(field)
        found: Any
        if entry is not None:
            found = _of_values(value) if entry.value.message_type is not None else None
        else:
            found = _of_items(value) if field.is_repeated else unknown_fields(value)
        if found:
            left[member_name(field)] = found
    return left or None


def _of_values(values: Any) -> dict[str, Any]:
    found = ((str(key), unknown_fields(value)) for key, value in values.items())
    return {key: one for key, one in found if one is not None}


def _of_items(items: Any) -> list[Any]:
    found = [unknown_fields(item) for item in items]
    while found and found[-1] is None:
        found.pop()
    return found


def _only_unknown(message: Any) -> bytes:
    copy = type(message)()
    copy.CopyFrom(message)
    for field, _ in copy.ListFields():
        if field.is_extension:
            copy.ClearExtension(field)
        else:
            copy.ClearField(field.name)
    packed: bytes = copy.SerializePartialToString()
    return packed

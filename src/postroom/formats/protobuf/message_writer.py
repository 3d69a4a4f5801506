"""Writing plain values into messages: what users give, what reading returned, and payloads in Protobuf's JSON."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from postroom.errors import SchemaRefused
from postroom.formats.protobuf import well_known_types
from postroom.formats.protobuf.compile_schema import CompiledSchema
from postroom.formats.protobuf.fields import MapEntry, is_map, map_entry, member_name, message_class
from postroom.formats.protobuf.scalar_values import Unfit, map_key, scalar
from postroom.formats.protobuf.wire_format import DEEPEST, MOST_VIOLATIONS
from postroom.formats.schema import Violation
from postroom.formats.show_value import show_value
from postroom.model.json_pointers import pointer

Steps = tuple[object, ...]


class MessageWriter:
    """Fills one message from a value, and collects what does not fit."""

    def __init__(self, compiled: CompiledSchema) -> None:
        self._compiled = compiled
        self.violations: list[Violation] = []
        self._known: dict[str, Callable[[Any, Any, Steps, int], None]] = {
            well_known_types.TIMESTAMP: self._timestamp,
            well_known_types.DURATION: self._duration,
            well_known_types.FIELD_MASK: self._field_mask,
            well_known_types.STRUCT: self._struct,
            well_known_types.VALUE: self._free,
            well_known_types.LIST_VALUE: self._free_list,
            well_known_types.ANY: self._any,
            **dict.fromkeys(well_known_types.WRAPPERS, self._wrapper),
        }

    def write(self, message: Any, value: Any, steps: Steps = (), depth: int = 0) -> None:
        """Put a value into a message."""
        if depth > DEEPEST:
            self._add(steps, "payload_nesting", f"nested at most {DEEPEST} deep", "nested deeper")
            return
        known = self._known.get(type(message).DESCRIPTOR.full_name)
        if known is not None:
            known(message, value, steps, depth)
        elif isinstance(value, dict):
            self._members(message, value, steps, depth)
        else:
            self._misfit(steps, "payload_type", "an object", value)

    def _members(self, message: Any, value: dict[str, Any], steps: Steps, depth: int) -> None:
        members = self._names(type(message).DESCRIPTOR)
        taken: dict[str, str] = {}
        for name, item in value.items():
            if len(self.violations) >= MOST_VIOLATIONS:
                return
            member = members.get(name)
            here = (*steps, name)
            if member is None:
                self._add(steps, "payload_additional_properties", str(name), "an unknown member")
            elif item is not None or _takes_null(member):
                group = member.containing_oneof.full_name if member.containing_oneof is not None else member.full_name
                if taken.setdefault(group, name) != name:
                    self._add(here, "payload_one_of", f"absent, because {taken[group]} is there", "a value")
                else:
                    self._member(message, member, item, here, depth)

    def _names(self, message: Descriptor) -> dict[str, FieldDescriptor]:
        members = self._compiled.members(message)
        by_name = {member_name(member): member for member in members}
        return {**{member.json_name: member for member in members if not member.is_extension}, **by_name}

    def _member(self, message: Any, member: FieldDescriptor, value: Any, steps: Steps, depth: int) -> None:
        held = message.Extensions[member] if member.is_extension else getattr(message, member.name)
        entry = map_entry(member)
        if entry is not None:
            self._map(held, entry, value, steps, depth)
        elif member.is_repeated:
            self._list(held, member, value, steps, depth)
        elif member.message_type is not None:
            type(held).SetInParent(held)
            self.write(held, value, steps, depth + 1)
        else:
            try:
                plain = scalar(member, value)
            except Unfit as unfit:
                self._misfit(steps, unfit.code, unfit.expected, value)
                return
            if member.is_extension:
                message.Extensions[member] = plain
            else:
                setattr(message, member.name, plain)

    def _list(self, held: Any, member: FieldDescriptor, value: Any, steps: Steps, depth: int) -> None:
        if not isinstance(value, list | tuple):
            self._misfit(steps, "payload_type", "a list", value)
            return
        for index, item in enumerate(value):
            here = (*steps, index)
            if item is None and not _takes_null(member):
                self._misfit(here, "null_not_allowed", "a value", item)
            elif member.message_type is not None:
                self.write(held.add(), item, here, depth + 1)
            else:
                self._append(held, member, item, here)
            if len(self.violations) >= MOST_VIOLATIONS:
                return

    def _append(self, held: Any, member: FieldDescriptor, item: Any, steps: Steps) -> None:
        try:
            held.append(scalar(member, item))
        except Unfit as unfit:
            self._misfit(steps, unfit.code, unfit.expected, item)

    def _map(self, held: Any, entry: MapEntry, value: Any, steps: Steps, depth: int) -> None:
        if not isinstance(value, dict):
            self._misfit(steps, "payload_type", "an object", value)
            return
        for key, item in value.items():
            here = (*steps, key)
            if item is None and not _takes_null(entry.value):
                self._misfit(here, "null_not_allowed", "a value", item)
                continue
            try:
                plain = map_key(entry.key, key)
                if entry.value.message_type is None:
                    held[plain] = scalar(entry.value, item)
                    continue
            except Unfit as unfit:
                self._misfit(here, unfit.code, unfit.expected, item)
                continue
            self.write(held[plain], item, here, depth + 1)

    def _timestamp(self, message: Any, value: Any, steps: Steps, depth: int) -> None:
        try:
            message.seconds, message.nanos = well_known_types.timestamp_parts(value)
        except well_known_types.OutOfRange:
            self._misfit(steps, "payload_format", "a point in time as RFC 3339 text", value)

    def _duration(self, message: Any, value: Any, steps: Steps, depth: int) -> None:
        try:
            message.seconds, message.nanos = well_known_types.duration_parts(value)
        except well_known_types.OutOfRange:
            self._misfit(steps, "payload_format", "a duration as text such as 1.5s", value)

    def _field_mask(self, message: Any, value: Any, steps: Steps, depth: int) -> None:
        if isinstance(value, str):
            value = [well_known_types.snake(path) for path in value.split(",")] if value else []
        paths = type(message).DESCRIPTOR.fields_by_name["paths"]
        self._list(message.paths, paths, value, steps, depth)

    def _wrapper(self, message: Any, value: Any, steps: Steps, depth: int) -> None:
        self._member(message, type(message).DESCRIPTOR.fields_by_name["value"], value, steps, depth)

    def _struct(self, message: Any, value: Any, steps: Steps, depth: int) -> None:
        self._member(message, type(message).DESCRIPTOR.fields_by_name["fields"], value, steps, depth)

    def _free_list(self, message: Any, value: Any, steps: Steps, depth: int) -> None:
        self._list(message.values, type(message).DESCRIPTOR.fields_by_name["values"], value, steps, depth)

    def _free(self, message: Any, value: Any, steps: Steps, depth: int) -> None:
        if value is None:
            message.null_value = 0
        elif isinstance(value, dict):
            message.struct_value.SetInParent()
            self.write(message.struct_value, value, steps, depth + 1)
        elif isinstance(value, list | tuple):
            message.list_value.SetInParent()
            self.write(message.list_value, value, steps, depth + 1)
        else:
            value_type = "bool" if isinstance(value, bool) else "string" if isinstance(value, str) else "number"
            self._member(message, type(message).DESCRIPTOR.fields_by_name[f"{value_type}_value"], value, steps, depth)

    def _any(self, message: Any, value: Any, steps: Steps, depth: int) -> None:
        url = value.get("@type", None if value else "") if isinstance(value, dict) else None
        if not isinstance(url, str):
            self._misfit(steps, "payload_type", "an object with the member @type", value)
            return
        rest = {name: item for name, item in value.items() if name != "@type"}
        try:
            held = self._compiled.pool.FindMessageTypeByName(url.rpartition("/")[2])
            message_class(held)
        except (KeyError, SchemaRefused):
            held = None
        message.type_url = url
        if held is None or isinstance(rest.get("value"), bytes):
            self._raw_any(message, rest, steps)
            return
        inner = message_class(held)()
        nested = held.full_name in well_known_types.NAMES or "@type" in self._names(held)
        self.write(inner, rest.get("value") if nested else rest, steps, depth + 1)
        if not self.violations:
            message.value = type(inner).SerializePartialToString(inner)

    def _raw_any(self, message: Any, rest: dict[str, Any], steps: Steps) -> None:
        held = rest.get("value", b"")
        if set(rest) - {"value"} or not isinstance(held, bytes | str):
            self._add(steps, "payload_any", "a type that the schema imports", "an unknown type")
            return
        try:
            message.value = held if isinstance(held, bytes) else base64.b64decode(held, validate=True)
        except ValueError:
            self._misfit((*steps, "value"), "payload_type", "bytes as base64 text", held)

    def _misfit(self, steps: Steps, code: str, expected: str, value: Any) -> None:
        self._add(steps, "null_not_allowed" if value is None else code, expected, show_value(value))

    def _add(self, steps: Steps, code: str, expected: str, found: str) -> None:
        if len(self.violations) < MOST_VIOLATIONS:
            self.violations.append(Violation(pointer(steps), code, expected, found))


def _takes_null(member: FieldDescriptor) -> bool:
    return (
        member.message_type is not None
        and member.message_type.full_name == well_known_types.VALUE
        and not is_map(member)
    )

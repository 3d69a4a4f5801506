"""Inventing values that fit a message type."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from postroom.errors import SchemaRefused
from postroom.formats.protobuf import well_known_types
from postroom.formats.protobuf.compile_schema import CompiledSchema
from postroom.formats.protobuf.fields import map_entry, member_name
from postroom.formats.protobuf.scalar_values import INTEGERS

_DEEPEST = 4
_ENDLESS = 90
_MOST_VALUES = 20_000
_F = FieldDescriptor


def sample(compiled: CompiledSchema, message: Descriptor, rng: random.Random) -> Any:
    """A value of a message; deep inside, only what is required."""
    return _SampleGenerator(compiled, rng).message(message, 0)


class _SampleGenerator:
    def __init__(self, compiled: CompiledSchema, rng: random.Random) -> None:
        self.compiled = compiled
        self.rng = rng
        self.left = _MOST_VALUES

    def message(self, message: Descriptor, depth: int) -> Any:
        if message.full_name in well_known_types.NAMES:
            return self._known(message)
        self.left -= 1
        if depth > _ENDLESS or self.left < 0:
            raise SchemaRefused(
                "no fitting data could be invented for this schema: what it requires has no end.",
                remedy="Give your own with --data.",
            )
        chosen: dict[str, Any] = {}
        for member in self._picked(message, depth):
            value = self._member(member, depth)
            if value is not None:
                chosen[member_name(member)] = value
        return chosen

    def _picked(self, message: Descriptor, depth: int) -> list[FieldDescriptor]:
        favourites = {oneof.full_name: self.rng.choice(oneof.fields) for oneof in message.oneofs}
        picked = []
        for member in self.compiled.members(message):
            oneof = member.containing_oneof
            is_rival = oneof is not None and favourites[oneof.full_name].number != member.number
            is_cheap = depth < _DEEPEST and self.left > _MOST_VALUES // 2 and self.rng.random() < 0.8
            if member.is_required or (is_cheap and not is_rival):
                picked.append(member)
        return picked

    def _member(self, member: FieldDescriptor, depth: int) -> Any:
        entry = map_entry(member)
        if entry is not None:
            return {self._key(entry.key): self._item(entry.value, depth) for _ in range(self.rng.randint(0, 2))}
        if member.is_repeated:
            return [self._item(member, depth) for _ in range(self.rng.randint(0, 3))]
        return self._item(member, depth)

    def _item(self, member: FieldDescriptor, depth: int) -> Any:
        if member.message_type is not None:
            return self.message(member.message_type, depth + 1)
        self.left -= 1
        if member.enum_type is not None:
            return self.rng.choice(list(member.enum_type.values_by_number.values())).name
        return self._scalar(member.type)

    def _key(self, member: FieldDescriptor) -> str:
        key = self._scalar(member.type)
        return str(key).lower() if isinstance(key, bool) else str(key)

    def _scalar(self, field_type: int) -> Any:
        if field_type in INTEGERS:
            low, high = INTEGERS[field_type]
            return self.rng.randint(max(low, -1000), 1000) if self.rng.random() < 0.9 else self.rng.choice((low, high))
        made: dict[int, Callable[[], Any]] = {
            _F.TYPE_DOUBLE: lambda: round(self.rng.uniform(-1000, 1000), 3),
            # A quarter is exact in a float as well.
            _F.TYPE_FLOAT: lambda: self.rng.randint(-4000, 4000) / 4,
            _F.TYPE_BOOL: lambda: self.rng.random() < 0.5,
            _F.TYPE_BYTES: lambda: self.rng.randbytes(self.rng.randint(0, 8)),
        }
        return made[field_type]() if field_type in made else "".join(self.rng.choices(string.ascii_lowercase, k=8))

    def _known(self, message: Descriptor) -> Any:
        self.left -= 1
        name = message.full_name
        if name in well_known_types.WRAPPERS:
            return self._scalar(message.fields_by_name["value"].type)
        number = self.rng.randint(0, 59)
        made: dict[str, Any] = {
            well_known_types.TIMESTAMP: f"2026-01-{number % 28 + 1:02}T12:{number:02}:00.{number:03}Z",
            well_known_types.DURATION: f"{number}.5s",
            well_known_types.FIELD_MASK: [f"part_{number}"],
            well_known_types.STRUCT: {"number": number},
            well_known_types.VALUE: f"text {number}",
            well_known_types.LIST_VALUE: [number, True, None],
        }
        return made.get(name) or {"@type": "type.googleapis.com/google.protobuf.Empty", "value": self.rng.randbytes(0)}

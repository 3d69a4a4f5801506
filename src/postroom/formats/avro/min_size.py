"""Minimum sizes of values: types whose smallest values are still huge are refused.

A payload may then be decoded in memory that is a bounded multiple of its length.
"""

from __future__ import annotations

from typing import TypeVar

from postroom.errors import SchemaRefused
from postroom.formats.avro import types

_LEAST = {"null": 0, "float": 4, "double": 8}
# A value may have this many members, and more for each byte it takes.
_MEMBERS = 500
_MEMBERS_PER_BYTE = 100
_HUGE = 10**9

AnyType = TypeVar("AnyType", bound=types.AvroType)


def max_members(least: int) -> int:
    """How many members a value may have that takes so many bytes."""
    return _MEMBERS + _MEMBERS_PER_BYTE * least


class SizeChecker:
    """Measures types as they are built, from the inside out."""

    def __init__(self, deepest: int) -> None:
        self._deepest = deepest
        # Members, bytes and levels of the smallest value, by the identity of the type; the types are kept alive.
        self._known: dict[int, tuple[int, int, int]] = {}
        self._kept: list[types.AvroType] = []

    def check(self, schema: AnyType) -> AnyType:
        """Measure a type and return it; SchemaRefused for one that no payload could reasonably have."""
        members, least, levels = self._measure(schema)
        if levels > self._deepest:
            raise SchemaRefused(f"types are nested more than {self._deepest} deep.", place=schema.at)
        if members > max_members(least):
            raise SchemaRefused(
                f"every value of this type has {members} members or more, in {least} bytes.", place=schema.at
            )
        if isinstance(schema, types.RecordType):
            schema.least = least
        self._known[id(schema)] = (members, least, levels)
        self._kept.append(schema)
        return schema

    def _measure(self, schema: types.AvroType) -> tuple[int, int, int]:
        if isinstance(schema, types.PrimitiveType):
            return 1, _LEAST.get(schema.type_name, 1), 1
        if isinstance(schema, types.FixedType):
            return 1, schema.size, 1
        if isinstance(schema, types.EnumType):
            return 1, 1, 1
        if isinstance(schema, types.ArrayType):
            return 1, 1, 1 + self._levels(schema.items)
        if isinstance(schema, types.MapType):
            return 1, 1, 1 + self._levels(schema.values)
        if isinstance(schema, types.UnionType):
            return 1, 1, 1 + max(map(self._levels, schema.branches), default=0)
        return self._measure_record(schema)

    def _measure_record(self, record: types.RecordType) -> tuple[int, int, int]:
        inner = [self._known.get(id(field.type), (0, 0, 0)) for field in record.fields]
        members = min(1 + sum(one[0] for one in inner), _HUGE)
        return members, min(sum(one[1] for one in inner), _HUGE), 1 + max((one[2] for one in inner), default=0)

    def _levels(self, schema: types.AvroType) -> int:
        # A record that is still open contains this type: what it repeats, the depth of payloads bounds.
        return self._known.get(id(schema), (0, 0, 0))[2]

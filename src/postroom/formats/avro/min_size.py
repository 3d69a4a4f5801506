"""How small values of a type can be: types whose tiniest values are still huge are refused.

A payload may then be decoded in memory that is a bounded multiple of its length.
"""

from __future__ import annotations

from typing import TypeVar

from postroom.errors import SchemaRefused
from postroom.formats.avro.types import Array, AvroType, Enum, Fixed, Map, Primitive, Record, Union

_LEAST = {"null": 0, "float": 4, "double": 8}
# A value may have this many members, and more for each byte it takes.
_MEMBERS = 500
_MEMBERS_PER_BYTE = 100
_HUGE = 10**9

AnyType = TypeVar("AnyType", bound=AvroType)


def most_members(least: int) -> int:
    """How many members a value may have that takes so many bytes."""
    return _MEMBERS + _MEMBERS_PER_BYTE * least


class Sizes:
    """Measures types as they are built, from the inside out."""

    def __init__(self, deepest: int) -> None:
        self._deepest = deepest
        # Members, bytes and levels of the smallest value, by the identity of the type; the types are kept alive.
        self._known: dict[int, tuple[int, int, int]] = {}
        self._kept: list[AvroType] = []

    def measured(self, kind: AnyType) -> AnyType:
        """The same type, measured; SchemaRefused for one that no payload could reasonably have."""
        members, least, levels = self._measure(kind)
        if levels > self._deepest:
            raise SchemaRefused(f"types are nested more than {self._deepest} deep.", place=kind.at)
        if members > most_members(least):
            raise SchemaRefused(
                f"every value of this type has {members} members or more, in {least} bytes.", place=kind.at
            )
        if isinstance(kind, Record):
            kind.least = least
        self._known[id(kind)] = (members, least, levels)
        self._kept.append(kind)
        return kind

    def _measure(self, kind: AvroType) -> tuple[int, int, int]:
        if isinstance(kind, Primitive):
            return 1, _LEAST.get(kind.kind, 1), 1
        if isinstance(kind, Fixed):
            return 1, kind.size, 1
        if isinstance(kind, Enum):
            return 1, 1, 1
        if isinstance(kind, Array):
            return 1, 1, 1 + self._levels(kind.items)
        if isinstance(kind, Map):
            return 1, 1, 1 + self._levels(kind.values)
        if isinstance(kind, Union):
            return 1, 1, 1 + max(map(self._levels, kind.branches), default=0)
        return self._measure_record(kind)

    def _measure_record(self, record: Record) -> tuple[int, int, int]:
        inner = [self._known.get(id(field.type), (0, 0, 0)) for field in record.fields]
        members = min(1 + sum(one[0] for one in inner), _HUGE)
        return members, min(sum(one[1] for one in inner), _HUGE), 1 + max((one[2] for one in inner), default=0)

    def _levels(self, kind: AvroType) -> int:
        # A record that is still open contains this type: what it repeats, the depth of payloads bounds.
        return self._known.get(id(kind), (0, 0, 0))[2]

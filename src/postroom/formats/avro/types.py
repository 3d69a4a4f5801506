"""Avro types as plain values: what parsing makes of a schema document.

Types refer to each other by identity, because a record may contain itself; `at` is where in the document a type stands.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

PRIMITIVES = ("null", "boolean", "int", "long", "float", "double", "bytes", "string")

# A default that is not there; None is a default of its own.
NO_DEFAULT: Any = object()


@dataclass(frozen=True)
class LogicalType:
    """A logical type that applies to the type it stands on. Others are ignored, as the specification asks."""

    name: str
    precision: int = 0
    scale: int = 0


@dataclass(eq=False)
class PrimitiveType:
    """null, boolean, int, long, float, double, bytes or string."""

    type_name: str
    at: str
    logical: LogicalType | None = None


@dataclass(eq=False)
class FixedType:
    """A named type of so many bytes."""

    name: str
    size: int
    at: str
    aliases: tuple[str, ...] = ()
    logical: LogicalType | None = None
    type_name: str = "fixed"


@dataclass(eq=False)
class EnumType:
    """A named type with symbols; the default stands for symbols that a reader does not know."""

    name: str
    symbols: tuple[str, ...]
    at: str
    aliases: tuple[str, ...] = ()
    default: str | None = None
    type_name: str = "enum"

    @functools.cached_property
    def numbers(self) -> dict[str, int]:
        """The number that is written for each symbol."""
        return {symbol: number for number, symbol in enumerate(self.symbols)}


@dataclass(eq=False)
class ArrayType:
    """A list of items of one type."""

    items: AvroType
    at: str
    type_name: str = "array"


@dataclass(eq=False)
class MapType:
    """A map from text to values of one type."""

    values: AvroType
    at: str
    type_name: str = "map"


@dataclass(eq=False)
class UnionType:
    """One of several types."""

    branches: tuple[AvroType, ...]
    at: str
    type_name: str = "union"


@dataclass(eq=False)
class RecordField:
    """A member of a record."""

    name: str
    type: AvroType
    at: str
    default: Any = NO_DEFAULT
    aliases: tuple[str, ...] = ()
    doc: str = ""


@dataclass(eq=False)
class RecordType:
    """A named type with members.

    `fields` is filled once the members are parsed, for they may mention the record; `is_recursive` says that they do,
    and `least` is the number of bytes that every value takes.
    """

    name: str
    at: str
    aliases: tuple[str, ...] = ()
    doc: str = ""
    fields: tuple[RecordField, ...] = ()
    is_recursive: bool = False
    least: int = 0
    is_complete: bool = field(default=False, repr=False)
    type_name: str = "record"

    @functools.cached_property
    def names(self) -> frozenset[str]:
        """The names of the fields; to be asked for once the record is complete."""
        return frozenset(field.name for field in self.fields)


NamedType = FixedType | EnumType | RecordType
AvroType = PrimitiveType | FixedType | EnumType | ArrayType | MapType | UnionType | RecordType


def simple_name(name: str) -> str:
    """A full name without its namespace."""
    return name.rpartition(".")[2]


def branch_name(branch: AvroType) -> str:
    """How the JSON encoding and people call a branch of a union."""
    return branch.name if isinstance(branch, FixedType | EnumType | RecordType) else branch.type_name


def takes_no_bytes(schema: AvroType) -> bool:
    """Whether the encoding of a type has nothing in it."""
    if isinstance(schema, RecordType):
        return schema.least == 0
    return schema.type_name == "null" or (isinstance(schema, FixedType) and schema.size == 0)


def nullable(union: UnionType) -> AvroType | None:
    """The one type beside null that a union has; None for any other union."""
    real = [branch for branch in union.branches if branch.type_name != "null"]
    return real[0] if len(real) == 1 else None


def tagged_branch(schema: UnionType, value: Any) -> AvroType | None:
    """The branch that a value names, as Avro's JSON encoding has it: an object whose only member is the value."""
    if not isinstance(value, dict) or len(value) != 1:
        return None
    name = next(iter(value))
    for branch in schema.branches:
        if branch.type_name != "null" and name == branch_name(branch):
            return branch
    return next((branch for branch in schema.branches if name == simple_name(branch_name(branch)) != "null"), None)

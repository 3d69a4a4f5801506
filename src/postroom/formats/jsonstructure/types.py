"""The types of a JSON Structure schema: the graph that validating, columns, samples and comparing walk over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False, kw_only=True, slots=True)
class StructureType:
    """A type of the document: its JSON pointer, its description, and its constraint keywords, compiled (`rules`) and as
    `written`."""

    at: str
    description: str = ""
    rules: dict[str, Any] = field(default_factory=dict)
    written: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False, kw_only=True, slots=True)
class AnyType(StructureType):
    """Any JSON value; `values` are the only ones when given."""

    values: list[Any] | None = None


@dataclass(eq=False, kw_only=True, slots=True)
class PrimitiveType(StructureType):
    """A primitive type by its name; `values` are what `enum` or `const` leave of it."""

    name: str
    values: list[Any] | None = None


@dataclass(eq=False, kw_only=True, slots=True)
class ObjectType(StructureType):
    """An object with its own and inherited members.

    `extra` says what other members may be: None where the schema is silent, a boolean, or a type. `alternatives` are
    groups of sets of required members, of which exactly one set of each group is there.
    """

    members: dict[str, StructureType]
    required: frozenset[str] = frozenset()
    alternatives: tuple[tuple[frozenset[str], ...], ...] = ()
    extra: StructureType | bool | None = None
    reserved: frozenset[str] = frozenset()


@dataclass(eq=False, kw_only=True, slots=True)
class ArrayType(StructureType):
    """An array, or a set when its items are unique."""

    items: StructureType
    unique: bool = False
    contains: StructureType | None = None


@dataclass(eq=False, kw_only=True, slots=True)
class MapType(StructureType):
    """A map from text to values of one type."""

    values: StructureType


@dataclass(eq=False, kw_only=True, slots=True)
class TupleType(StructureType):
    """Named members in a fixed order, written as an array."""

    members: tuple[tuple[str, StructureType], ...]


@dataclass(eq=False, kw_only=True, slots=True)
class ChoiceType(StructureType):
    """A discriminated union: tagged, or inline when there is a selector."""

    choices: dict[str, StructureType]
    selector: str | None = None


@dataclass(eq=False, kw_only=True, slots=True)
class UnionType(StructureType):
    """One of several types; the first that fits counts."""

    alternatives: tuple[StructureType, ...]


@dataclass(eq=False, kw_only=True, slots=True)
class ConditionalType(StructureType):
    """A type (or none) with conditional composition on top; `source` is its JSON, for comparing."""

    base: StructureType | None
    all_of: tuple[StructureType, ...] = ()
    any_of: tuple[StructureType, ...] = ()
    one_of: tuple[StructureType, ...] = ()
    forbidden: StructureType | None = None
    test: StructureType | None = None
    then: StructureType | None = None
    otherwise: StructureType | None = None
    source: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False, kw_only=True, slots=True)
class TypeReference(StructureType):
    """A reference to a type of the document, which may still be under construction when it is made."""

    target: StructureType | None = None


def resolved(type_: StructureType) -> StructureType:
    """The type itself, where a reference stands for it."""
    while isinstance(type_, TypeReference):
        if type_.target is None:  # pragma: no cover - every reference is bound when a document is built
            raise TypeError(f"the reference at {type_.at} is not bound")
        type_ = type_.target
    return type_


def is_null(type_: StructureType) -> bool:
    """Whether a type is null and nothing else."""
    found = resolved(type_)
    return isinstance(found, PrimitiveType) and found.name == "null"


def unwrapped(type_: StructureType) -> tuple[StructureType, bool]:
    """A type without null, and whether null was one of its alternatives."""
    found, nullable = resolved(type_), False
    while isinstance(found, UnionType):
        real = [one for one in found.alternatives if not is_null(one)]
        nullable = nullable or len(real) < len(found.alternatives)
        if len(real) != 1:
            break
        found = resolved(real[0])
    return found, nullable

"""The types of a JSON Structure schema: the graph that validating, columns, samples and comparing walk over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False, kw_only=True, slots=True)
class JsonType:
    """A type of the document: its JSON pointer, its description, and its constraint keywords, compiled (`rules`) and as
    `written`."""

    at: str
    description: str = ""
    rules: dict[str, Any] = field(default_factory=dict)
    written: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False, kw_only=True, slots=True)
class JsonAnyType(JsonType):
    """Any JSON value; `values` are the only ones when given."""

    values: list[Any] | None = None


@dataclass(eq=False, kw_only=True, slots=True)
class JsonPrimitiveType(JsonType):
    """A primitive type by its name; `values` are what `enum` or `const` leave of it."""

    name: str
    values: list[Any] | None = None


@dataclass(eq=False, kw_only=True, slots=True)
class JsonObjectType(JsonType):
    """An object with its own and inherited members.

    `extra` says what other members may be: None where the schema is silent, a boolean, or a type. `alternatives` are
    groups of sets of required members, of which exactly one set of each group is there.
    """

    members: dict[str, JsonType]
    required: frozenset[str] = frozenset()
    alternatives: tuple[tuple[frozenset[str], ...], ...] = ()
    extra: JsonType | bool | None = None
    reserved: frozenset[str] = frozenset()


@dataclass(eq=False, kw_only=True, slots=True)
class JsonArrayType(JsonType):
    """An array, or a set when its items are unique."""

    items: JsonType
    unique: bool = False
    contains: JsonType | None = None


@dataclass(eq=False, kw_only=True, slots=True)
class JsonMapType(JsonType):
    """A map from text to values of one type."""

    values: JsonType


@dataclass(eq=False, kw_only=True, slots=True)
class JsonTupleType(JsonType):
    """Named members in a fixed order, written as an array."""

    members: tuple[tuple[str, JsonType], ...]


@dataclass(eq=False, kw_only=True, slots=True)
class JsonChoiceType(JsonType):
    """A discriminated union: tagged, or inline when there is a selector."""

    choices: dict[str, JsonType]
    selector: str | None = None


@dataclass(eq=False, kw_only=True, slots=True)
class JsonUnionType(JsonType):
    """One of several types; the first that fits counts."""

    alternatives: tuple[JsonType, ...]


@dataclass(eq=False, kw_only=True, slots=True)
class JsonConditionalType(JsonType):
    """A type (or none) with conditional composition on top; `source` is its JSON, for comparing."""

    base: JsonType | None
    all_of: tuple[JsonType, ...] = ()
    any_of: tuple[JsonType, ...] = ()
    one_of: tuple[JsonType, ...] = ()
    forbidden: JsonType | None = None
    test: JsonType | None = None
    then: JsonType | None = None
    otherwise: JsonType | None = None
    source: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False, kw_only=True, slots=True)
class TypeReference(JsonType):
    """A reference to a type of the document, which may still be under construction when it is made."""

    target: JsonType | None = None


def resolved(type_: JsonType) -> JsonType:
    """The type itself, where a reference stands for it."""
    while isinstance(type_, TypeReference):
        if type_.target is None:  # pragma: no cover - every reference is bound when a document is built
            raise TypeError(f"the reference at {type_.at} is not bound")
        type_ = type_.target
    return type_


def is_null(type_: JsonType) -> bool:
    """Whether a type is null and nothing else."""
    found = resolved(type_)
    return isinstance(found, JsonPrimitiveType) and found.name == "null"


def unwrapped(type_: JsonType) -> tuple[JsonType, bool]:
    """A type without null, and whether null was one of its alternatives."""
    found, nullable = resolved(type_), False
    while isinstance(found, JsonUnionType):
        real = [one for one in found.alternatives if not is_null(one)]
        nullable = nullable or len(real) < len(found.alternatives)
        if len(real) != 1:
            break
        found = resolved(real[0])
    return found, nullable

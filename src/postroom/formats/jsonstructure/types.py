"""What a JSON Structure schema says, taken apart: the graph of types that validating, columns, samples and comparing
walk over."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False, kw_only=True, slots=True)
class Shape:
    """A type of the document: where it stands, what it is for, and its constraint keywords, ready for use and as they
    are written."""

    at: str
    description: str = ""
    rules: dict[str, Any] = field(default_factory=dict)
    written: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False, kw_only=True, slots=True)
class Anything(Shape):
    """Any JSON value; `values` are the only ones when given."""

    values: list[Any] | None = None


@dataclass(eq=False, kw_only=True, slots=True)
class Primitive(Shape):
    """A primitive type by its name; `values` are what `enum` or `const` leave of it."""

    name: str
    values: list[Any] | None = None


@dataclass(eq=False, kw_only=True, slots=True)
class Record(Shape):
    """An object with its own and inherited members.

    `extra` says what other members may be: None where the schema is silent, a boolean, or a type. `alternatives` are
    groups of sets of required members, of which exactly one set of each group is there.
    """

    members: dict[str, Shape]
    required: frozenset[str] = frozenset()
    alternatives: tuple[tuple[frozenset[str], ...], ...] = ()
    extra: Shape | bool | None = None
    reserved: frozenset[str] = frozenset()


@dataclass(eq=False, kw_only=True, slots=True)
class Listing(Shape):
    """An array, or a set when its items are unique."""

    items: Shape
    unique: bool = False
    contains: Shape | None = None


@dataclass(eq=False, kw_only=True, slots=True)
class Mapping(Shape):
    """A map from text to values of one type."""

    values: Shape


@dataclass(eq=False, kw_only=True, slots=True)
class Tuple(Shape):
    """Named members in a fixed order, written as an array."""

    members: tuple[tuple[str, Shape], ...]


@dataclass(eq=False, kw_only=True, slots=True)
class Choice(Shape):
    """A discriminated union: tagged, or inline when there is a selector."""

    choices: dict[str, Shape]
    selector: str | None = None


@dataclass(eq=False, kw_only=True, slots=True)
class Union(Shape):
    """One of several types; the first that fits counts."""

    alternatives: tuple[Shape, ...]


@dataclass(eq=False, kw_only=True, slots=True)
class Conditional(Shape):
    """A type (or none) with conditional composition on top; `source` is its JSON, for comparing."""

    base: Shape | None
    all_of: tuple[Shape, ...] = ()
    any_of: tuple[Shape, ...] = ()
    one_of: tuple[Shape, ...] = ()
    forbidden: Shape | None = None
    test: Shape | None = None
    then: Shape | None = None
    otherwise: Shape | None = None
    source: dict[str, Any] = field(default_factory=dict)


@dataclass(eq=False, kw_only=True, slots=True)
class Named(Shape):
    """A reference to a type of the document, which may still be under construction when it is made."""

    target: Shape | None = None


def resolved(shape: Shape) -> Shape:
    """The type itself, where a reference stands for it."""
    while isinstance(shape, Named):
        if shape.target is None:  # pragma: no cover - every reference is bound when a document is built
            raise TypeError(f"the reference at {shape.at} is not bound")
        shape = shape.target
    return shape


def is_null(shape: Shape) -> bool:
    """Whether a type is null and nothing else."""
    found = resolved(shape)
    return isinstance(found, Primitive) and found.name == "null"


def unwrapped(shape: Shape) -> tuple[Shape, bool]:
    """A type without null, and whether null was one of its alternatives."""
    found, nullable = resolved(shape), False
    while isinstance(found, Union):
        real = [one for one in found.alternatives if not is_null(one)]
        nullable = nullable or len(real) < len(found.alternatives)
        if len(real) != 1:
            break
        found = resolved(real[0])
    return found, nullable

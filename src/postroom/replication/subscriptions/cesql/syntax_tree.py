"""A parsed expression: frozen values, one class for each form that the grammar has."""

from __future__ import annotations

import msgspec

from postroom.replication.subscriptions.cesql.like_patterns import LikePattern

Value = bool | int | str


class Literal(msgspec.Struct, frozen=True):
    """A boolean, an integer or a string."""

    value: Value


class AttributeReference(msgspec.Struct, frozen=True):
    """An attribute of the event."""

    name: str


class Exists(msgspec.Struct, frozen=True):
    """Whether the event has an attribute."""

    name: str


class Unary(msgspec.Struct, frozen=True):
    """`NOT x` or `-x`."""

    operator: str
    operand: Node


class Binary(msgspec.Struct, frozen=True):
    """Two operands and the operator between them."""

    operator: str
    left: Node
    right: Node


class Like(msgspec.Struct, frozen=True):
    """Whether a string fits a pattern."""

    operand: Node
    pattern: LikePattern
    negated: bool


class In(msgspec.Struct, frozen=True):
    """Whether a value is one of several."""

    operand: Node
    members: tuple[Node, ...]
    negated: bool


class Invocation(msgspec.Struct, frozen=True):
    """A function with its arguments; the name is in upper case."""

    name: str
    arguments: tuple[Node, ...]


Node = Literal | AttributeReference | Exists | Unary | Binary | Like | In | Invocation

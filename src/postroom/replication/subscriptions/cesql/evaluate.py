"""Evaluation of an expression for an event: always a value, and the errors that were met.

An operation whose operand failed gives the zero value of its own type and does nothing else (fail fast, CESQL 4.1):
as a filter the expression is false already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import singledispatch
from typing import Any

from postroom.replication.subscriptions.cesql import syntax_tree
from postroom.replication.subscriptions.cesql.errors import Failure, WorkExceeded
from postroom.replication.subscriptions.cesql.evaluation_context import EvaluationContext
from postroom.replication.subscriptions.cesql.functions import function
from postroom.replication.subscriptions.cesql.syntax_tree import Node, Value

BODY = frozenset(("data", "data_base64"))


def evaluate(node: Node, event: Mapping[str, Any]) -> tuple[Value, list[Failure]]:
    """The value of an expression and the errors; with errors it is the value that stands for them."""
    scope = EvaluationContext(event)
    try:
        return _value(node, scope), scope.failures
    except WorkExceeded:
        return False, [*scope.failures, Failure("generic", "the expression costs more work than one may")]


def passes(node: Node, event: Mapping[str, Any]) -> bool:
    """Whether an event passes the expression as a filter: true, and not a single error (CESQL 1.2)."""
    value, failures = evaluate(node, event)
    return value is True and not failures


@singledispatch
def _value(node: Any, scope: EvaluationContext) -> Value:
    raise TypeError(f"no node of an expression: {node!r}")


@_value.register
def _(node: syntax_tree.Literal, scope: EvaluationContext) -> Value:
    scope.spend(1)
    return node.value


@_value.register
def _(node: syntax_tree.AttributeReference, scope: EvaluationContext) -> Value:
    scope.spend(1)
    value = scope.attributes.get(node.name) if node.name not in BODY else None
    if value is None:
        scope.fail("missingAttribute", f"the event has no attribute {node.name}")
        return False
    return value if isinstance(value, bool | int | str) else str(value)


@_value.register
def _(node: syntax_tree.Exists, scope: EvaluationContext) -> Value:
    scope.spend(1)
    return node.name not in BODY and scope.attributes.get(node.name) is not None


@_value.register
def _(node: syntax_tree.Unary, scope: EvaluationContext) -> Value:
    operand = _value(node.operand, scope)
    if node.operator == "NOT":
        return not scope.failures and not scope.cast(operand, bool)
    return 0 if scope.failures else scope.in_range(-scope.cast(operand, int))


@_value.register
def _(node: syntax_tree.Like, scope: EvaluationContext) -> Value:
    operand = _value(node.operand, scope)
    if scope.failures:
        return False
    text = scope.cast(operand, str)
    scope.spend(node.pattern.cost(text))
    return node.pattern.matches(text) != node.negated


@_value.register
def _(node: syntax_tree.In, scope: EvaluationContext) -> Value:
    """The operand's type is what the members are cast to."""
    operand = _value(node.operand, scope)
    for member in node.members:
        value = _value(member, scope)
        if scope.failures:
            return False
        if scope.cast(value, type(operand)) == operand:
            return not scope.failures and not node.negated
    return not scope.failures and node.negated


@_value.register
def _(node: syntax_tree.Invocation, scope: EvaluationContext) -> Value:
    found = function(node.name, len(node.arguments))
    if found is None:
        scope.fail("missingFunction", f"there is no function {node.name} with {len(node.arguments)} arguments")
        return False
    values = [_value(argument, scope) for argument in node.arguments]
    if scope.failures:
        return found.gives()
    more = (found.more or str,) * (len(values) - len(found.parameters))
    arguments = [scope.cast(value, kind) for value, kind in zip(values, found.parameters + more, strict=True)]
    scope.spend(1 + sum(len(argument) for argument in arguments if isinstance(argument, str)))
    result: Value = found.gives() if scope.failures else found.call(scope, *arguments)
    return result


@_value.register
def _(node: syntax_tree.Binary, scope: EvaluationContext) -> Value:
    """A chain of operators nests to the left, as deep as it is long; so it is walked, not descended."""
    chain: list[syntax_tree.Binary] = []
    first: Node = node
    while isinstance(first, syntax_tree.Binary):
        chain.append(first)
        first = first.left
    value = _value(first, scope)
    while chain:
        value = _step(chain.pop(), value, scope)
    return value


def _step(node: syntax_tree.Binary, left: Value, scope: EvaluationContext) -> Value:
    scope.spend(1)
    if node.operator in ("AND", "OR") and not scope.failures:
        left = bool(scope.cast(left, bool))
        if left == (node.operator == "OR"):
            return left
    right = False if scope.failures else _value(node.right, scope)
    if scope.failures:
        return 0 if node.operator in _ARITHMETIC else False
    return _combined(node.operator, left, right, scope)


def _combined(operator: str, left: Value, right: Value, scope: EvaluationContext) -> Value:
    if operator in ("=", "!=", "<>"):
        # There is one of them for each type, and the right operand's type decides which is meant (CESQL 3.7).
        is_equal = scope.cast(left, type(right)) == right
        return not scope.failures and is_equal == (operator == "=")
    if operator in ("AND", "OR", "XOR"):
        second = bool(scope.cast(right, bool))
        return scope.cast(left, bool) != second if operator == "XOR" else second
    first, last = scope.cast(left, int), scope.cast(right, int)
    if operator in _ORDER:
        return not scope.failures and _ORDER[operator](first, last)
    return 0 if scope.failures else scope.in_range(_ARITHMETIC[operator](scope, first, last))


def _quotient(scope: EvaluationContext, left: int, right: int) -> int:
    """Rounded towards zero."""
    if right == 0:
        scope.fail("math", f"{left} cannot be divided by 0")
        return 0
    quotient = abs(left) // abs(right)
    return quotient if (left < 0) == (right < 0) else -quotient


def _remainder(scope: EvaluationContext, left: int, right: int) -> int:
    """It has the sign of the left operand."""
    return left - _quotient(scope, left, right) * right if right else _quotient(scope, left, right)


_ORDER: dict[str, Callable[[int, int], bool]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}
_ARITHMETIC: dict[str, Callable[[EvaluationContext, int, int], int]] = {
    "+": lambda _, left, right: left + right,
    "-": lambda _, left, right: left - right,
    "*": lambda _, left, right: left * right,
    "/": _quotient,
    "%": _remainder,
}

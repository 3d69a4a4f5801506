"""The rules of containment for numbers, strings, lists and objects, one for each keyword of the reader's schema."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from postroom.formats.jsonschema.compat.merged_assertions import (
    NUMBERS,
    MergedAssertions,
    Nodes,
    accepts_nothing,
    elements,
    exact,
    longest_prefix,
    matches,
    members,
    named_members,
)
from postroom.formats.jsonschema.compat.normal_form import Node

if TYPE_CHECKING:
    from postroom.formats.jsonschema.compat.containment import Prover

try:  # the standard library's own parser of regular expressions
    from re import _parser  # type: ignore[attr-defined]  # has no type stubs
except ImportError:  # pragma: no cover - Python that hides it
    _parser = None

_MOST_POSITIONS = 64


def _for(*types: str) -> Callable[[Any], Any]:
    """Restrict a rule to values of some types."""

    def wrap(rule: Any) -> Any:
        def wrapped(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
            return not assertions.types & set(types) or rule(prover, given, assertions, goal, level)

        return wrapped

    return wrap


def _bound(keyword: str) -> Any:
    is_lower = keyword in ("minimum", "exclusiveMinimum")

    @_for(*NUMBERS)
    def rule(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
        bound, found = exact(goal[keyword]), assertions.low if is_lower else assertions.high
        if found is None:
            return False
        number, strict = found
        if number == bound:
            return strict or keyword in ("minimum", "maximum")
        return (number > bound) == is_lower

    return rule


@_for(*NUMBERS)
def _multiple(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    wanted = exact(goal["multipleOf"])
    steps = (*assertions.steps, *([Fraction(1)] if "fraction" not in assertions.types else []))
    return any((step / wanted).denominator == 1 for step in steps)


def _at_least(what: str, type_name: str) -> Any:
    @_for(type_name)
    def rule(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
        return bool(assertions.least[what] >= goal[f"min{what}"])

    return rule


def _at_most(what: str, type_name: str) -> Any:
    @_for(type_name)
    def rule(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
        return bool(assertions.most.get(what, math.inf) <= goal[f"max{what}"])

    return rule


@_for("object")
def _few_members(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    if assertions.most.get("Properties", math.inf) <= goal["maxProperties"]:
        return True
    names = [name for name in named_members(given) if not any(map(accepts_nothing, members(given, name)))]
    return any(map(accepts_nothing, prover.context.others(given, ()))) and len(names) <= goal["maxProperties"]


@_for("string")
def _pattern(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    return ("pattern", goal["pattern"]) in assertions.string_rules or matches_everything(goal["pattern"])


@_for("string")
def _format(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    return ("format", goal["format"]) in assertions.string_rules


def matches_everything(pattern: str) -> bool:
    """Whether a pattern matches every string, because it matches the empty one anywhere."""
    try:
        # The second look is the validator's: Python reads some patterns differently.
        return _parser is not None and _is_optional(_parser.parse(pattern)) and matches(pattern, "")
    except (re.error, RecursionError, OverflowError, ValueError):
        return False


def _is_optional(sequence: Any) -> bool:
    return all(_needs_nothing(str(type_name), argument) for type_name, argument in sequence)


def _needs_nothing(type_name: str, argument: Any) -> bool:
    if type_name in ("MAX_REPEAT", "MIN_REPEAT"):
        return argument[0] == 0 or _is_optional(argument[2])
    if type_name == "SUBPATTERN":
        return _is_optional(argument[-1])
    return type_name == "BRANCH" and any(map(_is_optional, argument[1]))


@_for("array")
def _unique(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    return assertions.unique or assertions.most.get("Items", math.inf) <= 1


@_for("array")
def _first_items(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    return all(
        index >= assertions.most.get("Items", math.inf) or prover.holds(elements(given, index), part, level + 1)
        for index, part in enumerate(goal["prefixItems"])
    )


@_for("array")
def _items(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    start = len(goal.get("prefixItems", ()))
    end = max(start, longest_prefix(given))
    if end - start > _MOST_POSITIONS:
        return False
    return all(
        index >= assertions.most.get("Items", math.inf)
        or prover.holds(elements(given, index), goal["items"], level + 1)
        for index in range(start, end + 1)
    )


@_for("array")
def _contains(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    wanted, least, most = goal["contains"], goal.get("minContains", 1), goal.get("maxContains")
    if most is not None and assertions.most.get("Items", math.inf) > most:
        return False
    if least == 0:
        return True
    for node in given:
        enough = "contains" in node and node.get("minContains", 1) >= least
        if enough and prover.holds((node["contains"],), wanted, level + 1):
            return True
    return assertions.least["Items"] >= least and all(
        prover.holds(elements(given, index), wanted, level + 1)
        for index in range(min(longest_prefix(given) + 1, assertions.least["Items"]))
    )


@_for("object")
def _required(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    return assertions.required.issuperset(goal["required"])


def _may_have(prover: Prover, given: Nodes, assertions: MergedAssertions, name: str) -> bool:
    """Whether a member may be there, as far as names decide."""
    if assertions.most.get("Properties") == 0:
        return False
    return all(prover.context.accepts((node["propertyNames"],), name) for node in given if "propertyNames" in node)


@_for("object")
def _properties(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    return all(
        prover.holds(members(given, name), part, level + 1) or not _may_have(prover, given, assertions, name)
        for name, part in goal["properties"].items()
    )


@_for("object")
def _pattern_properties(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    if assertions.most.get("Properties") == 0:
        return True
    for pattern, part in goal["patternProperties"].items():
        named = [name for name in named_members(given) if matches(pattern, name)]
        if not all(prover.holds(members(given, name), part, level + 1) for name in named):
            return False
        if not prover.holds(prover.context.others(given, (), pattern), part, level + 1):
            return False
    return True


@_for("object")
def _additional(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    if assertions.most.get("Properties") == 0:
        return True
    part, patterns = goal["additionalProperties"], goal.get("patternProperties", {})
    for name in named_members(given):
        covered = name in goal.get("properties", ()) or any(matches(pattern, name) for pattern in patterns)
        if not covered and not prover.holds(members(given, name), part, level + 1):
            return False
    return prover.holds(prover.context.others(given, patterns), part, level + 1)


@_for("object")
def _property_names(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    wanted, context = goal["propertyNames"], prover.context
    if assertions.most.get("Properties") == 0:
        return True
    stated = tuple(node["propertyNames"] for node in given if "propertyNames" in node)
    text = context.made(("kind", "string"), {"type": ["string"]})
    if prover.holds((*stated, text), wanted, level + 1):
        return True
    if prover.opaque or not any(map(accepts_nothing, context.others(given, ()))):
        return False
    possible = [name for name in named_members(given) if not any(map(accepts_nothing, members(given, name)))]
    return all(context.accepts((wanted,), name) for name in possible)


@_for("object")
def _dependent_required(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    return all(
        prover.holds(
            _having(prover, given, name), prover.context.made(("needs", id(needed)), {"required": needed}), level
        )
        for name, needed in goal["dependentRequired"].items()
    )


@_for("object")
def _dependent_schemas(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    return all(
        prover.holds(_having(prover, given, name), part, level) for name, part in goal["dependentSchemas"].items()
    )


def _having(prover: Prover, given: Nodes, name: str) -> Nodes:
    return (*given, prover.context.made(("having", name), {"type": ["object"], "required": [name]}))


RULES: dict[str, Any] = {
    **{name: _bound(name) for name in ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum")},
    "multipleOf": _multiple,
    "minLength": _at_least("Length", "string"),
    "maxLength": _at_most("Length", "string"),
    "pattern": _pattern,
    "format": _format,
    "minItems": _at_least("Items", "array"),
    "maxItems": _at_most("Items", "array"),
    "uniqueItems": _unique,
    "prefixItems": _first_items,
    "items": _items,
    "contains": _contains,
    "required": _required,
    "minProperties": _at_least("Properties", "object"),
    "maxProperties": _few_members,
    "properties": _properties,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional,
    "propertyNames": _property_names,
    "dependentRequired": _dependent_required,
    "dependentSchemas": _dependent_schemas,
}

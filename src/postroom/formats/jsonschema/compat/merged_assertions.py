"""Merged assertions: what several subschemas that apply to one value demand together."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import jsonschema_rs
import msgspec

from postroom.formats.jsonschema.compat.normal_form import Node
from postroom.formats.work_budget import spend

Nodes = tuple[Node, ...]

NUMBERS = frozenset({"integer", "fraction"})
# The types of values; a number is an integer or a fraction, so that `number` without `integer` can be said.
TYPE_NAMES = NUMBERS | {"null", "boolean", "string", "array", "object"}

ANYTHING: Node = {}


class MergedAssertions(msgspec.Struct):
    """The assertions of all subschemas, merged keyword by keyword; None where there is no limit."""

    types: frozenset[str] = TYPE_NAMES
    values: list[Any] | None = None
    low: tuple[Fraction, bool] | None = None
    high: tuple[Fraction, bool] | None = None
    steps: tuple[Fraction, ...] = ()
    least: dict[str, int] = {}
    most: dict[str, int] = {}
    string_rules: frozenset[tuple[str, str]] = frozenset()
    required: frozenset[str] = frozenset()
    unique: bool = False
    exact_integers: bool = False
    opaque: frozenset[str] = frozenset()


def merge_assertions(nodes: Nodes) -> MergedAssertions:
    """Merge the simple keywords; combinations, members and items are left to the caller."""
    found = MergedAssertions(least={"Length": 0, "Items": 0, "Properties": 0})
    spend(sum(len(node.get("required", ())) for node in nodes) // 20)
    for node in nodes:
        _read(node, found)
    found.required = frozenset(name for node in nodes for name in node.get("required", ()))
    found.least["Properties"] = max(found.least["Properties"], len(found.required))
    _tighten(found, nodes)
    return found


def types_of(node: Node) -> frozenset[str]:
    """The types that a subschema's own `type` allows."""
    stated = node.get("type")
    if stated is None:
        return TYPE_NAMES
    return frozenset(type_name for name in stated for type_name in (NUMBERS if name == "number" else (name,)))


def type_of(value: Any) -> str:
    """The type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, float):
        return "integer" if value.is_integer() else "fraction"
    return {int: "integer", str: "string", list: "array", dict: "object"}.get(type(value), "fraction")


def accepts_nothing(node: Node) -> bool:
    """Whether a subschema obviously accepts no value."""
    return node.get("not") == {} or node.get("enum") == []


def exact(number: float) -> Fraction:
    """A number as its author wrote it: 0.1 is a tenth."""
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


@functools.lru_cache(maxsize=2048)
def _matcher(pattern: str) -> jsonschema_rs.Validator:
    spend(100)
    options = jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000)
    return jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=options, offline=True)


def matches(pattern: str, text: str) -> bool:
    """Whether a text matches, as the validator sees it."""
    spend()
    return _matcher(pattern).is_valid(text)


def members(nodes: Iterable[Node], name: str) -> Nodes:
    """The subschemas that apply to the member of a name."""
    found: list[Node] = []
    for node in nodes:
        named = [node["properties"][name]] if name in node.get("properties", ()) else []
        named += [part for pattern, part in node.get("patternProperties", {}).items() if matches(pattern, name)]
        found += named or [node.get("additionalProperties", ANYTHING)]
    return tuple(found)


def named_members(nodes: Iterable[Node]) -> list[str]:
    """All names of members that the subschemas mention."""
    return sorted({name for node in nodes for name in node.get("properties", ())})


def elements(nodes: Iterable[Node], index: int) -> Nodes:
    """The subschemas that apply to the list item at an index."""
    found = []
    for node in nodes:
        first = node.get("prefixItems", ())
        found.append(first[index] if index < len(first) else node.get("items", ANYTHING))
    return tuple(found)


def longest_prefix(nodes: Iterable[Node]) -> int:
    """How many items have a subschema of their own."""
    return max((len(node.get("prefixItems", ())) for node in nodes), default=0)


def _read(node: Node, found: MergedAssertions) -> None:
    found.types &= types_of(node)
    refused = node.get("not")
    if refused is not None and set(refused) == {"type"}:
        found.types -= types_of(refused)
    if "enum" in node:
        found.values = node["enum"] if found.values is None else _in_both(found.values, node["enum"])
    for keyword, strict in (("minimum", False), ("exclusiveMinimum", True)):
        if keyword in node:
            bound = (exact(node[keyword]), strict)
            found.low = bound if found.low is None else max(found.low, bound)
    for keyword, strict in (("maximum", False), ("exclusiveMaximum", True)):
        if keyword in node:
            bound = (exact(node[keyword]), strict)
            found.high = bound if found.high is None else min(found.high, bound, key=lambda b: (b[0], not b[1]))
    if node.get("multipleOf"):
        found.steps = (*found.steps, exact(node["multipleOf"]))
    for what in ("Length", "Items", "Properties"):
        if f"min{what}" in node:
            found.least[what] = max(found.least[what], math.ceil(node[f"min{what}"]))
        if f"max{what}" in node:
            limit = math.floor(node[f"max{what}"])
            found.most[what] = min(found.most.get(what, limit), limit)
    found.string_rules |= {(keyword, node[keyword]) for keyword in ("pattern", "format") if keyword in node}
    found.unique = found.unique or "uniqueItems" in node
    found.exact_integers = found.exact_integers or "integerToken" in node
    found.opaque |= set(node.get("opaque", ()))


def _in_both(first: list[Any], second: list[Any]) -> list[Any]:
    if len(second) < len(first):
        first, second = second, first
    others = set(map(_simple, second))
    # Lists and objects may equal others that are written differently: they stay.
    return [value for value in first if isinstance(value, list | dict) or _simple(value) in others]


def _simple(value: Any) -> Any:
    type_name = type_of(value)
    return (
        (type_name, exact(value))
        if type_name in NUMBERS
        else None
        if type_name in ("array", "object")
        else (type_name, value)
    )


def _tighten(found: MergedAssertions, nodes: Nodes) -> None:
    if found.values is not None:
        found.types &= {type_of(value) for value in found.values}
    if found.low and found.high and (found.low[0] > found.high[0] or _is_gap(found.low, found.high)):
        found.types -= NUMBERS
    if found.types & NUMBERS == {"integer"}:
        _round(found)
    for what, type_name in (("Length", "string"), ("Items", "array"), ("Properties", "object")):
        if what == "Items":
            _end_list(found, nodes)
        if found.most.get(what, math.inf) < found.least[what]:
            found.types -= {type_name}


def _is_gap(low: tuple[Fraction, bool], high: tuple[Fraction, bool]) -> bool:
    return low[0] == high[0] and (low[1] or high[1])


def _round(found: MergedAssertions) -> None:
    if found.low:
        number, strict = found.low
        found.low = (Fraction(math.floor(number) + 1 if strict else math.ceil(number)), False)
    if found.high:
        number, strict = found.high
        found.high = (Fraction(math.ceil(number) - 1 if strict else math.floor(number)), False)
    if found.low and found.high and found.low[0] > found.high[0]:
        found.types -= NUMBERS


def _end_list(found: MergedAssertions, nodes: Nodes) -> None:
    for index in range(longest_prefix(nodes) + 1):
        if any(map(accepts_nothing, elements(nodes, index))):
            found.most["Items"] = min(found.most.get("Items", index), index)
            return

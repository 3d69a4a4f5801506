"""Proofs that every value of one JSON Schema fits another.

The prover is sound and incomplete: `contained` answers True only for a proof. Values are finite, so a goal that returns
while proving it for a smaller value (a member, an item) may be taken for granted; the same goal for the same value not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postroom.formats.jsonschema.compat import containment_rules as parts
from postroom.formats.jsonschema.compat import merged_assertions
from postroom.formats.jsonschema.compat.compare_context import CompareContext
from postroom.formats.jsonschema.compat.equivalence import EquivalenceClasses
from postroom.formats.jsonschema.compat.merged_assertions import MergedAssertions, Nodes
from postroom.formats.jsonschema.compat.normal_form import Node

_DEEPEST = 40
_MOST_BRANCHES = 128

Goal = tuple[tuple[int, ...], int]


class Prover:
    """One attempt at a proof; `failed` is the first pair of subschemas, and the keyword, that no rule covered."""

    def __init__(
        self, context: CompareContext, equivalence: EquivalenceClasses, *, opaque: bool, exact_integers: bool
    ) -> None:
        self.context = context
        self.equivalence = equivalence
        self.failed: tuple[Nodes, Node, str] | None = None
        self.opaque = opaque
        self._exact_integers = exact_integers
        self._open: dict[Goal, int] = {}
        self._proven: dict[Goal, int] = {}
        self._trail: list[Goal] = []
        self._refuted: set[Goal] = set()
        self._proving_empty: set[tuple[int, ...]] = set()
        self._depth = 0

    def contained(self, writer: Node, reader: Node) -> bool:
        """Whether every value of the writer's schema fits the reader's; False means not proven."""
        return self.holds((writer,), reader, 0)

    def holds(self, given: Nodes, goal: Node, level: int) -> bool:
        """Whether values that fit all of `given` fit `goal`; `level` counts the steps into members and items."""
        self.context.spend()
        goal = self.equivalence.resolved(goal)
        wanted = self.equivalence.of(goal)
        if not goal or any(self.equivalence.of(node) == wanted for node in given):
            return True
        given = self.context.flat(given)
        self.context.spend(len(given) // 4)
        key = (tuple(sorted(map(self.equivalence.of, given))), wanted)
        if key in self._open:
            return self._open[key] < level
        if key in self._proven and self._proven[key] <= level:
            return True
        if key in self._refuted or self._depth >= _DEEPEST:
            return False
        return self._attempt(key, given, goal, level)

    def _attempt(self, key: Goal, given: Nodes, goal: Node, level: int) -> bool:
        before = len(self._trail)
        self._open[key] = level
        self._depth += 1
        try:
            proven = self._prove(given, goal, level)
        finally:
            del self._open[key]
            self._depth -= 1
        if proven:
            self._proven[key] = level
            self._trail.append(key)
        else:
            # What was proven meanwhile may rest on this goal.
            for goal_key in self._trail[before:]:
                self._proven.pop(goal_key, None)
            del self._trail[before:]
            self._refuted.add(key)
        return proven

    def _prove(self, given: Nodes, goal: Node, level: int) -> bool:
        wanted = self.equivalence.of(goal)
        if any(self.equivalence.of(node) == wanted for node in given) or self.empty(given, level):
            return True
        assertions = merged_assertions.merge_assertions(given)
        if assertions.values is not None or assertions.types <= {"null", "boolean"}:
            return self._one_by_one(given, assertions, goal)
        missing = self._uncovered(given, assertions, goal, level)
        if not missing or self._by_cases(given, assertions, goal, level):
            return True
        self.failed = self.failed or (given, goal, missing)
        return False

    def _uncovered(self, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> str:
        for keyword in goal:
            rule = _RULES.get(keyword)
            if keyword in _ALONE and self._is_stated(given, keyword, goal[keyword]):
                continue
            if rule is not None and not rule(self, given, assertions, goal, level):
                return keyword
        return ""

    def _is_stated(self, given: Nodes, keyword: str, value: Any) -> bool:
        wanted = self.equivalence.of_keyword(keyword, value)
        return any(keyword in node and self.equivalence.of_keyword(keyword, node[keyword]) == wanted for node in given)

    def _one_by_one(self, given: Nodes, assertions: MergedAssertions, goal: Node) -> bool:
        if self.opaque:
            return False
        values = assertions.values if assertions.values is not None else [None, False, True]
        if self._exact_integers:
            if any(isinstance(value, dict | list) for value in values):
                return False
            values = [*values, *(float(v) for v in values if type(v) is int and abs(v) < 2**53)]
        return all(self.context.accepts((goal,), value) for value in values if self.context.accepts(given, value))

    def _by_cases(self, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
        cases = self._cases(given, assertions)
        return bool(cases) and all(self.holds(case, goal, level) for case in cases)

    def _cases(self, given: Nodes, assertions: MergedAssertions) -> list[Nodes]:
        """Split the values into cases by one keyword; the other keywords are split in the next round."""
        if len(assertions.types) > 1:
            return [(*given, self._of_type(type_name)) for type_name in sorted(assertions.types)]
        for node in given:
            for keyword in ("anyOf", "oneOf"):
                if 0 < len(node.get(keyword, ())) <= _MOST_BRANCHES:
                    rest = self._except(given, node, keyword)
                    return [(*rest, branch) for branch in node[keyword]]
            if "if" in node:
                rest = self._except(given, node, "if", "then", "else")
                yes = (*rest, node["if"], *([node["then"]] if "then" in node else []))
                no = (*rest, self.context.negated(node["if"]), *([node["else"]] if "else" in node else []))
                return [yes, no]
        return []

    def _of_type(self, type_name: str) -> Node:
        made = {"type": ["number"], "not": {"type": ["integer"]}} if type_name == "fraction" else {"type": [type_name]}
        return self.context.made(("kind", type_name), made)

    def _except(self, given: Nodes, node: Node, *keywords: str) -> Nodes:
        return tuple(self.context.without(other, *keywords) if other is node else other for other in given)

    def empty(self, given: Nodes, level: int) -> bool:
        """Whether it is proven that no value fits all of `given`."""
        self.context.spend()
        given = self.context.flat(given)
        self.context.spend(len(given) // 4)
        key = tuple(map(id, given))
        if any(map(merged_assertions.accepts_nothing, given)):
            return True
        if key in self._proving_empty or self._depth >= _DEEPEST:
            return False
        self._proving_empty.add(key)
        self._depth += 1
        try:
            return self._is_empty(given, merged_assertions.merge_assertions(given), level)
        finally:
            self._proving_empty.discard(key)
            self._depth -= 1

    def _is_empty(self, given: Nodes, assertions: MergedAssertions, level: int) -> bool:
        if not assertions.types:
            return True
        if assertions.values is not None and not self.opaque and not self._exact_integers:
            return not any(self.context.accepts(given, value) for value in assertions.values)
        if assertions.types == {"object"} and any(
            self.empty(merged_assertions.members(given, name), level + 1) for name in sorted(assertions.required)
        ):
            return True
        if assertions.types == {"array"} and any(
            self.empty(merged_assertions.elements(given, index), level + 1)
            for index in range(min(assertions.least["Items"], merged_assertions.longest_prefix(given) + 1))
        ):
            return True
        return self._is_refused(given, level) or self._has_no_branch(given, assertions, level)

    def _is_refused(self, given: Nodes, level: int) -> bool:
        return any("not" in node and self.holds(self._except(given, node, "not"), node["not"], level) for node in given)

    def _has_no_branch(self, given: Nodes, assertions: MergedAssertions, level: int) -> bool:
        for node in given:
            for keyword in ("anyOf", "oneOf"):
                if 0 < len(node.get(keyword, ())) <= _MOST_BRANCHES:
                    rest = self._except(given, node, keyword)
                    if all(self.empty((*rest, branch), level) for branch in node[keyword]):
                        return True
        return False


Rule = Callable[[Prover, Nodes, MergedAssertions, Node, int], bool]


def _reference(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    return prover.holds(given, prover.context.target(goal), level)


def _all_of(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    return all(prover.holds(given, part, level) for part in goal["allOf"])


def _any_of(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    return any(prover.holds(given, part, level) for part in goal["anyOf"])


def _one_of(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    for part in goal["oneOf"]:
        others = [other for other in goal["oneOf"] if other is not part]
        if prover.holds(given, part, level) and all(prover.empty((*given, other), level) for other in others):
            return True
    return False


def _refused(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    return prover.empty((*given, goal["not"]), level)


def _condition(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    condition = goal["if"]
    then = "then" not in goal or prover.holds((*given, condition), goal["then"], level)
    return then and (
        "else" not in goal or prover.holds((*given, prover.context.negated(condition)), goal["else"], level)
    )


def _type(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    whole = any(step.denominator == 1 for step in assertions.steps)
    types = assertions.types - {"fraction"} if whole else assertions.types
    return types <= merged_assertions.types_of(goal)


def _integer_token(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    return assertions.exact_integers or not assertions.types & merged_assertions.NUMBERS


def _unproven(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    return False


def _hidden(prover: Prover, given: Nodes, assertions: MergedAssertions, goal: Node, level: int) -> bool:
    return assertions.opaque.issuperset(goal["opaque"])


# Keywords that mean the same whatever stands beside them.
_ALONE = frozenset(
    {"enum", "not", "anyOf", "oneOf", "properties", "patternProperties", "propertyNames", "dependentSchemas"}
)
_RULES: dict[str, Rule] = {
    "$ref": _reference,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "not": _refused,
    "if": _condition,
    "type": _type,
    "integerToken": _integer_token,
    "enum": _unproven,
    "unevaluatedProperties": _unproven,
    "unevaluatedItems": _unproven,
    "opaque": _hidden,
    **parts.RULES,
}

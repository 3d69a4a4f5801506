"""The context of a comparison: definitions, validators, derived subschemas, and the work spent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jsonschema_rs

from postroom.formats.jsonschema.compat.merged_assertions import ANYTHING, Nodes
from postroom.formats.jsonschema.compat.normal_form import Node
from postroom.formats.jsonschema.validator_panics import panics_as
from postroom.formats.work_budget import spend

_DEFS = "#/$defs/"
_UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
_PER_PART = 10


class OutOfWork(Exception):
    """The work allowed for a proof or a search is spent."""


class CompareContext:
    """What a proof and a search share. Subschemas are compared by identity, so derived ones are kept and made once."""

    def __init__(self, defs: dict[str, Node], work: int) -> None:
        self.defs = defs
        self.work = work
        self._made: dict[Any, Node] = {}
        self._origins: dict[int, Node] = {}
        self._kept: list[Any] = []
        self._validators: dict[tuple[int, ...], jsonschema_rs.Validator] = {}
        self._flat: dict[tuple[int, ...], Nodes] = {}
        self._size = sum(map(_size, defs.values()))

    def spend(self, amount: int = 1) -> None:
        """Count work, here and for the whole comparison."""
        spend(amount)
        self.work -= amount
        if self.work < 0:
            raise OutOfWork

    def target(self, node: Node) -> Node:
        """The definition that a reference means."""
        return self.defs[node["$ref"][len(_DEFS) :]]

    def made(self, key: Any, node: Node) -> Node:
        """A derived subschema, made once for each key."""
        return self._made.setdefault(key, node)

    def without(self, node: Node, *keywords: str) -> Node:
        """A subschema with some of its keywords left out."""
        if not any(keyword in node for keyword in keywords):
            return node
        # What is unevaluated depends on the neighbours; without them it would refuse more.
        rest = {name: part for name, part in node.items() if name not in (*keywords, *_UNEVALUATED)}
        made = self.made(("without", id(node), keywords), rest)
        self._origins.setdefault(id(made), node)
        return made

    def original(self, node: Node) -> Node:
        """The subschema of a document that a part was made from."""
        while id(node) in self._origins:
            node = self._origins[id(node)]
        return node

    def negated(self, node: Node) -> Node:
        """The negation of a subschema."""
        return self.made(("not", id(node)), {"not": node})

    def flat(self, nodes: Iterable[Node]) -> Nodes:
        """All subschemas that apply together with these: through references, `allOf` and dependencies that apply.

        Those keywords themselves are left out, so that a part can be replaced without coming back.
        """
        start = tuple(nodes)
        key = tuple(map(id, start))
        if key not in self._flat:
            self._kept.append(start)
            self._flat[key] = self._flatten(start)
        return self._flat[key]

    def _flatten(self, start: Nodes) -> Nodes:
        found: dict[int, Node] = {}
        pending = list(start)
        required: set[str] = set()
        while pending:
            node = pending.pop()
            if node == ANYTHING or id(node) in found:
                continue
            self.spend()
            found[id(node)] = node
            if "$ref" in node:
                pending.append(self.target(node))
            pending += node.get("allOf", ())
            required |= set(node.get("required", ()))
            spend(len(node.get("required", ())) // 20)
            if not pending:
                pending = self._triggered(found.values(), required)
        return self._leaves(found.values(), required)

    def _leaves(self, nodes: Iterable[Node], required: set[str]) -> Nodes:
        left = []
        is_object = _is_object(nodes)
        for node in nodes:
            leaf = self.without(node, "$ref", "allOf")
            parts = leaf.get("dependentSchemas", {})
            if is_object and not required.isdisjoint(parts):
                leaf = self.without(leaf, "dependentSchemas")
                if not required.issuperset(parts):
                    rest = {name: part for name, part in parts.items() if name not in required}
                    left.append(self.made(("rest", id(node), *sorted(rest)), {"dependentSchemas": rest}))
            if leaf:
                left.append(leaf)
        return tuple(sorted(left, key=id))

    def _triggered(self, nodes: Iterable[Node], required: set[str]) -> list[Node]:
        more: list[Node] = []
        is_object = _is_object(nodes)
        for node in list(nodes):
            spend(len(node.get("dependentSchemas", ())) + len(node.get("dependentRequired", ())))
            parts = node.get("dependentSchemas", {}).items() if is_object else ()
            more += [part for name, part in parts if name in required]
            for name, needed in node.get("dependentRequired", {}).items():
                if name in required and not required.issuperset(needed):
                    more.append(self.made(("needed", id(node), name), {"required": needed}))
        known = {id(node) for node in nodes}
        return [node for node in more if id(node) not in known]

    def others(self, nodes: Nodes, patterns: Iterable[str], wanted: str = "") -> Nodes:
        """The subschemas that apply to unnamed members that match none of some patterns, or match a wanted one."""
        left_out = set(patterns)
        found = []
        for node in nodes:
            rest = node.get("additionalProperties", ANYTHING)
            by_pattern = {p: part for p, part in node.get("patternProperties", {}).items() if p not in left_out}
            if wanted and wanted in by_pattern:
                found.append(by_pattern[wanted])
            elif by_pattern:
                choices = [*by_pattern.values(), rest]
                found.append(self.made(("any", tuple(map(id, choices))), {"anyOf": choices}))
            else:
                found.append(rest)
        return tuple(found)

    def accepts(self, nodes: Nodes, value: Any) -> bool:
        """Whether a value fits all subschemas, by the validator."""
        self.spend()
        if not nodes:
            return True
        key = tuple(sorted(map(id, nodes)))
        if key not in self._validators:
            self.spend(1 + len(self.defs) // 10)
            # A validator is made of all definitions.
            spend(_PER_PART * (self._size + sum(map(_size, nodes))))
            self._kept.append(nodes)
            self._validators[key] = _validator({"allOf": list(nodes), "$defs": self.defs})
        with panics_as(ValueError("the validator gave up")):
            return self._validators[key].is_valid(value)

    def errors(self, node: Node, value: Any) -> list[Any]:
        """The validator's errors of a value for a subschema."""
        with panics_as(ValueError("the validator gave up")):
            return list(_validator({"allOf": [node], "$defs": self.defs}).iter_errors(value))


def _size(node: Any) -> int:
    """How many objects and lists a subschema is written with, those that it refers to not counted."""
    count, pending = 0, [node]
    while pending:
        part = pending.pop()
        if isinstance(part, dict | list):
            count += 1
            pending += part.values() if isinstance(part, dict) else part
    return count


def _is_object(nodes: Iterable[Node]) -> bool:
    # Only objects have members to require; other values pass.
    return any(node.get("type") == ["object"] for node in nodes)


class _IntegerToken:
    """Draft 4: a number written with a fraction is no integer, even if that fraction is zero."""

    def __init__(self, parent_schema: Any, value: Any, schema_path: Any) -> None:
        del parent_schema, value, schema_path

    def validate(self, instance: Any) -> None:
        if isinstance(instance, float):
            raise ValueError("a number with a fraction")  # noqa: TRY004 - what jsonschema-rs expects


def _content_format(name: str) -> Any:
    keyword, _, value = name.partition(":")
    return jsonschema_rs.Draft7Validator({keyword: value}, offline=True).is_valid


def _formats(node: Any) -> Iterable[str]:
    pending = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            name = part.get("format")
            if isinstance(name, str) and name.startswith("content"):
                yield name
            pending += [inner for keyword, inner in part.items() if keyword != "enum"]
        elif isinstance(part, list):
            pending += part


def _validator(document: Node) -> jsonschema_rs.Validator:
    with panics_as(ValueError("the validator gave up")):
        return jsonschema_rs.Draft202012Validator(
            document,
            pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000),
            validate_formats=True,
            formats={name: _content_format(name) for name in _formats(document)},
            keywords={"integerToken": _IntegerToken},
            offline=True,
        )

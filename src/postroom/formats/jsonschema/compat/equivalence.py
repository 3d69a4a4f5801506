"""Equivalence of subschemas in two documents, however they are spread over definitions.

Two subschemas are equivalent when they have the same keywords with equivalent parts, through all references: the
coarsest such partition is found by refining a single class until nothing changes. What did not change between two
versions of a schema then needs no proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from postroom.formats.jsonschema.compat.merged_assertions import exact
from postroom.formats.jsonschema.compat.normal_form import Node

_ONE = frozenset(
    {"not", "if", "then", "else", "items", "contains", "propertyNames", "additionalProperties"}
    | {"unevaluatedProperties", "unevaluatedItems"}
)
_SETS = frozenset({"allOf", "anyOf", "oneOf"})
_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas"})
_MOST_WORK = 300_000


class EquivalenceClasses:
    """The classes of equivalent subschemas."""

    def __init__(self, roots: Iterable[Node], defs: dict[str, Node]) -> None:
        self._defs = defs
        self._classes: dict[int, int] = {}
        self._seen: dict[Any, int] = {}
        # Made parts get a class when they are met; keeping them keeps their identity.
        self._kept: list[Node] = []
        nodes = self._reachable([*roots, *defs.values()])
        self._classes = self._refined(nodes)

    def of(self, node: Node) -> int:
        """The class of a subschema."""
        node = self.resolved(node)
        found = self._classes.get(id(node))
        if found is None:
            self._kept.append(node)
            signature = self._signature(node, self.of)
            found = self._seen.setdefault(signature, len(self._seen))
            self._classes[id(node)] = found
        return found

    def of_keyword(self, keyword: str, value: Any) -> Any:
        """The class of one keyword's value."""
        return self._value(keyword, value, self.of)

    def resolved(self, node: Node) -> Node:
        """The subschema itself, where there is only a reference to it."""
        while len(node) == 1 and "$ref" in node:
            node = self._defs[node["$ref"].rpartition("/")[2]]
        return node

    def _reachable(self, roots: list[Node]) -> list[Node]:
        found: dict[int, Node] = {}
        pending = roots
        while pending:
            node = self.resolved(pending.pop())
            if id(node) not in found:
                found[id(node)] = node
                for keyword, value in node.items():
                    if keyword in _ONE:
                        pending.append(value)
                    elif keyword in _SETS or keyword == "prefixItems":
                        pending += value
                    elif keyword in _MAPS:
                        pending += value.values()
        return list(found.values())

    def _refined(self, nodes: list[Node]) -> dict[int, int]:
        self._kept += nodes
        classes = dict.fromkeys(map(id, nodes), 0)
        count, work = 1, 0
        while work < _MOST_WORK:
            finer = self._finer(nodes, classes)
            found = len(set(finer.values()))
            if found == count:
                return self._named(nodes, finer)
            classes, count, work = finer, found, work + len(nodes)
        # Not finished: nothing is known to be equivalent.
        return self._named(nodes, {id(node): index for index, node in enumerate(nodes)})

    def _finer(self, nodes: list[Node], classes: dict[int, int]) -> dict[int, int]:
        seen: dict[Any, int] = {}
        finer = {}
        for node in nodes:
            signature = (classes[id(node)], self._signature(node, lambda part: classes[id(self.resolved(part))]))
            finer[id(node)] = seen.setdefault(signature, len(seen))
        return finer

    def _named(self, nodes: list[Node], classes: dict[int, int]) -> dict[int, int]:
        for node in nodes:
            signature = self._signature(node, lambda part: classes[id(self.resolved(part))])
            self._seen.setdefault(signature, classes[id(node)])
        # Classes of parts made later start behind these.
        for number in range(len(self._seen), len(nodes)):
            self._seen[number] = number
        return classes

    def _signature(self, node: Node, of: Callable[[Node], int]) -> Any:
        return tuple(sorted((keyword, self._value(keyword, value, of)) for keyword, value in node.items()))

    def _value(self, keyword: str, value: Any, of: Callable[[Node], int]) -> Any:
        if keyword in _ONE:
            return of(value)
        if keyword in _SETS:
            return tuple(sorted(map(of, value)))
        if keyword == "prefixItems":
            return tuple(map(of, value))
        if keyword in _MAPS:
            return tuple(sorted((name, of(part)) for name, part in value.items()))
        if keyword == "$ref":
            return of(self._defs[value.rpartition("/")[2]])
        if keyword == "enum":
            return tuple(sorted(msgspec.json.encode(item, order="sorted") for item in value))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return exact(value)
        return msgspec.json.encode(value, order="sorted")

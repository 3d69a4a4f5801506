"""Inventing payloads that fit a writer's schema and that a reader's schema is likely to refuse.

Values are built from the boundaries that both schemas state, and varied at one place at a time; what does not fit the
writer's subschema at that place is dropped at once. Everything is deterministic.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import combinations, islice
from typing import Any

import msgspec

from postroom.formats.jsonschema import boundaries
from postroom.formats.jsonschema.facts import (
    Facts,
    Nodes,
    elements,
    facts_of,
    is_nothing,
    longest_prefix,
    matches,
    members,
)
from postroom.formats.jsonschema.normalforms import Node
from postroom.formats.jsonschema.world import World

_DEEPEST = 7
_MOST_CASES = 24
_MOST_HINTS = 300
_MOST_AT_TOP = 1500
_MOST_BELOW = 60
_MOST_NAMES = 60
_MOST_ITEMS = 60
_IN_PLACE = ("not", "if", "then", "else")


class Inventor:
    """Finds values that fit the writer's subschemas, guided by hints: subschemas of both sides for the same place."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._known: dict[tuple[Any, ...], list[Any]] = {}
        self._busy: dict[tuple[Any, ...], int] = {}

    def values(self, given: Nodes, hints: Nodes, depth: int = 0) -> list[Any]:
        """Values that fit all of `given`, the plainest first."""
        given, hints = self.world.flat(given), self._all_hints((*given, *hints))
        if depth and not given and not hints:
            return boundaries.odd_values()
        identity = (tuple(map(id, given)), tuple(map(id, hints)))
        key = (*identity, depth)
        if key in self._known:
            return self._known[key]
        if self._busy.get(identity, 0) >= 2 or depth > _DEEPEST:
            return []
        self._busy[identity] = self._busy.get(identity, 0) + 1
        try:
            most = _MOST_AT_TOP if depth == 0 else _MOST_BELOW
            found = list(islice(self._fitting(given, self._invented(given, hints, depth)), most))
        finally:
            self._busy[identity] -= 1
        self._known[key] = found
        return found

    def _fitting(self, given: Nodes, values: Iterable[Any]) -> Iterator[Any]:
        seen: set[bytes] = set()
        for value in values:
            text = msgspec.json.encode(value)
            self.world.spend(len(text) // 100)
            if text not in seen:
                seen.add(text)
                if self.world.accepts(given, value):
                    yield value

    def _all_hints(self, nodes: Nodes) -> Nodes:
        found: dict[int, Node] = {}
        pending = list(nodes)
        while pending and len(found) < _MOST_HINTS:
            node = pending.pop()
            if node and id(node) not in found:
                self.world.spend()
                found[id(node)] = node
                pending += [self.world.target(node)] if "$ref" in node else []
                pending += [part for keyword in ("allOf", "anyOf", "oneOf") for part in node.get(keyword, ())]
                pending += [node[keyword] for keyword in _IN_PLACE if keyword in node]
                pending += node.get("dependentSchemas", {}).values()
        return tuple(sorted(found.values(), key=id))

    def _invented(self, given: Nodes, hints: Nodes, depth: int) -> Iterator[Any]:
        streams = []
        for case in islice(self._cases(given), _MOST_CASES):
            facts = facts_of(case)
            if facts.values is not None:
                streams.append(iter(facts.values))
            streams += [self._of_kind(kind, case, facts, hints, depth) for kind in _ORDER if kind in facts.kinds]
        streams.append(value for node in hints for value in node.get("enum", ()))
        return _in_turns(streams)

    def _cases(self, given: Nodes) -> Iterator[Nodes]:
        for node in given:
            for keyword in ("anyOf", "oneOf"):
                for branch in node.get(keyword, ()):
                    rest = tuple(self.world.without(n, keyword) if n is node else n for n in given)
                    yield from self._cases(self.world.flat((*rest, branch)))
                if keyword in node:
                    return
            if "if" in node:
                rest = tuple(self.world.without(n, "if", "then", "else") if n is node else n for n in given)
                yes = [node["if"], *([node["then"]] if "then" in node else [])]
                yield from self._cases(self.world.flat((*rest, *yes)))
                yield from self._cases(self.world.flat((*rest, *([node["else"]] if "else" in node else []))))
                return
        yield given

    def _of_kind(self, kind: str, case: Nodes, facts: Facts, hints: Nodes, depth: int) -> Iterator[Any]:
        both = (*case, *hints)
        if kind == "object":
            return self._objects(case, facts, hints, depth)
        if kind == "array":
            return self._arrays(case, facts, hints, depth)
        if kind == "string":
            return boundaries.texts(both)
        if kind == "boolean":
            return iter([True, False])
        return iter([None]) if kind == "null" else boundaries.numbers(both)

    def _objects(self, case: Nodes, facts: Facts, hints: Nodes, depth: int) -> Iterator[Any]:
        choices = self._members(case, facts, hints, depth)
        if any(not choices.get(name) for name in facts.required):
            return
        least = {name: choices[name][0] for name in sorted(facts.required)}
        optional = [name for name in choices if choices[name] and name not in least]
        for name in optional:
            if len(least) >= facts.least["Properties"]:
                break
            least[name] = choices[name][0]
        yield from self._enlarged(least, case, facts, hints, depth)
        full = {**least, **{name: choices[name][0] for name in optional}}
        yield full
        yield from _in_turns([self._varied(least, name, choices[name]) for name in choices], 2)
        for name in optional:
            yield {other: value for other, value in full.items() if other != name}
        for first, second in islice(combinations(choices, 2), 200):
            for one in choices[first][:4]:
                for two in choices[second][:4]:
                    yield {**least, first: one, second: two}

    def _varied(self, least: dict[str, Any], name: str, choices: list[Any]) -> Iterator[dict[str, Any]]:
        return ({**least, name: value} for value in choices)

    def _members(self, case: Nodes, facts: Facts, hints: Nodes, depth: int) -> dict[str, list[Any]]:
        lengths = boundaries.lengths(tuple(n for h in hints for n in self._names_of(h)), "Length", 60)
        wanted = dict.fromkeys(
            (*sorted(facts.required), *boundaries.names((*case, *hints)), *("n" * count for count in lengths))
        )
        found = {}
        for name in islice(wanted, _MOST_NAMES):
            part = members(case, name)
            if not any(map(is_nothing, part)):
                found[name] = self.values(part, _member_hints(hints, name), depth + 1)
        return found

    def _names_of(self, node: Node) -> Nodes:
        return self._all_hints((node["propertyNames"],)) if "propertyNames" in node else ()

    def _enlarged(
        self, least: dict[str, Any], case: Nodes, facts: Facts, hints: Nodes, depth: int
    ) -> Iterator[dict[str, Any]]:
        yield least
        names = [f"member{index:06}" for index in range(_MOST_ITEMS)]
        choices = self.values(members(case, names[0]), _member_hints(hints, names[0]), depth + 1)
        for count in boundaries.lengths((*case, *hints), "Properties", _MOST_ITEMS) if choices else ():
            yield {**least, **dict.fromkeys(names[: max(0, count - len(least))], choices[0])}

    def _arrays(self, case: Nodes, facts: Facts, hints: Nodes, depth: int) -> Iterator[Any]:
        most = min(facts.most.get("Items", _MOST_ITEMS), _MOST_ITEMS)
        prefix = longest_prefix((*case, *hints))
        counts = {0, 1, 2, prefix, prefix + 1, *boundaries.lengths((*case, *hints), "Items", _MOST_ITEMS)}
        choices = [self._items(case, hints, index, depth) for index in range(min(prefix + 2, most, 8))]
        for count in sorted(count for count in counts if facts.least["Items"] <= count <= most):
            base = [_pick(choices, index, index) for index in range(count)]
            if all(base):
                yield [values[0] for values in base]
                yield [_pick(choices, index, 0)[0] for index in range(count)]
                for index in range(min(count, len(choices))):
                    for value in choices[index]:
                        yield [*(v[0] for v in base[:index]), value, *(v[0] for v in base[index + 1 :])]

    def _items(self, case: Nodes, hints: Nodes, index: int, depth: int) -> list[Any]:
        below = tuple(part for node in hints for part in elements((node,), index))
        below += tuple(node["contains"] for node in hints if "contains" in node)
        part = elements(case, index)
        wanted = tuple(node["contains"] for node in case if "contains" in node)
        found = self.values((*part, *wanted), below, depth + 1) if wanted else []
        return found + self.values(part, below, depth + 1)


def _pick(choices: list[list[Any]], index: int, turn: int) -> list[Any]:
    values = choices[min(index, len(choices) - 1)] if choices else []
    start = turn % len(values) if values else 0
    return values[start : start + 1]


def _member_hints(hints: Nodes, name: str) -> Nodes:
    found: list[Node] = []
    for node in hints:
        found += [part for n, part in node.get("properties", {}).items() if n == name]
        found += [part for pattern, part in node.get("patternProperties", {}).items() if matches(pattern, name)]
        found += [node[key] for key in ("additionalProperties", "unevaluatedProperties") if key in node]
    return tuple(found)


_ORDER = ("object", "array", "string", "integer", "fraction", "boolean", "null")


def _in_turns(streams: list[Iterator[Any]], turn: int = 4) -> Iterator[Any]:
    while streams:
        left = []
        for stream in streams:
            taken = list(islice(stream, turn))
            yield from taken
            if len(taken) == turn:
                left.append(stream)
        streams = left


def mixtures(values: list[Any], rng: random.Random, count: int) -> Iterator[Any]:
    """New values by exchanging and changing parts of known ones."""
    if not values:
        return
    for _ in range(count):
        yield _mixed(rng.choice(values), rng.choice(values), rng)


def _mixed(first: Any, second: Any, rng: random.Random) -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        names = sorted({*first, *second})
        mixed = {name: rng.choice([v[name] for v in (first, second) if name in v]) for name in names}
        chosen = [name for name in names if rng.random() < 0.7]
        if chosen and rng.random() < 0.3:
            name = rng.choice(chosen)
            mixed[name] = _mixed(mixed[name], rng.choice(boundaries.odd_values()), rng)
        return {name: mixed[name] for name in chosen}
    if isinstance(first, list) and isinstance(second, list):
        both = [*first, *second]
        return [rng.choice(both) for _ in range(rng.randint(0, min(len(both), 8)))]
    return rng.choice((first, second))


def simpler(value: Any) -> Iterator[Any]:
    """The same value with one thing less."""
    if isinstance(value, dict):
        for name in value:
            yield {other: part for other, part in value.items() if other != name}
        for name, part in value.items():
            yield from ({**value, name: less} for less in simpler(part))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
        for index, part in enumerate(value):
            yield from ([*value[:index], less, *value[index + 1 :]] for less in simpler(part))

"""The search for counterexamples: payloads that fit a writer's schema and that a reader's schema is likely to refuse.

Values are built from the boundaries that both schemas state, and varied at one position at a time; what does not fit
the writer's subschema there is dropped at once. Everything is deterministic.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import combinations, islice
from typing import Any

import msgspec

from postroom.formats.jsonschema.compat import boundary_values
from postroom.formats.jsonschema.compat.compare_context import CompareContext
from postroom.formats.jsonschema.compat.equivalence import EquivalenceClasses
from postroom.formats.jsonschema.compat.merged_assertions import (
    MergedAssertions,
    Nodes,
    accepts_nothing,
    elements,
    longest_prefix,
    matches,
    members,
    merge_assertions,
)
from postroom.formats.jsonschema.compat.normal_form import Node

_DEEPEST = 12
_MOST_CASES = 24
_MOST_HINTS = 300
_MOST_AT_TOP = 1500
_MOST_BELOW = 60
_MOST_ALIKE = 3
_ENOUGH = 8
_MOST_NAMES = 60
_MOST_SPARE = 6
_MOST_ITEMS = 60
_IN_PLACE = ("not", "if", "then", "else")


class _Position(msgspec.Struct, frozen=True):
    """A position in a payload: one case of the writer's subschemas there, and the reader's subschemas."""

    case: Nodes
    assertions: MergedAssertions
    reader: Nodes
    hints: Nodes
    depth: int


class CounterexampleSearch:
    """Generates values that fit the writer's subschemas at a position, those first that the reader's refuse there."""

    def __init__(self, context: CompareContext, equivalence: EquivalenceClasses) -> None:
        self.context = context
        self._equivalence = equivalence
        self._known: dict[tuple[Any, ...], list[Any]] = {}
        self._busy: dict[tuple[Any, ...], int] = {}

    def values(self, given: Nodes, reader: Nodes, maybe: Nodes = (), depth: int = 0) -> list[Any]:
        """Values that fit all of `given`; `reader` are the reader's subschemas that always apply to them, `maybe` those
        that apply under conditions."""
        given, reader = self.context.flat(given), self.context.flat(reader)
        hints = self._all_hints((*reader, *maybe))
        if depth and not given and not hints:
            return boundary_values.odd_values()
        identity = (tuple(map(id, given)), tuple(map(id, reader)), tuple(map(id, hints)))
        key = (*identity, depth)
        if key in self._known:
            return self._known[key]
        if self._busy.get(identity, 0) >= 2 or depth > _DEEPEST:
            return []
        self._busy[identity] = self._busy.get(identity, 0) + 1
        try:
            found = self._chosen(given, reader, hints, depth)
        finally:
            self._busy[identity] -= 1
        self._known[key] = found
        return found

    def _chosen(self, given: Nodes, reader: Nodes, hints: Nodes, depth: int) -> list[Any]:
        fitting = self._fitting(given, self._candidates(given, reader, hints, depth))
        if depth and not self._differs(given, hints):
            return list(islice(fitting, _MOST_ALIKE))
        refused: list[Any] = []
        accepted: list[Any] = []
        for value in islice(fitting, _MOST_BELOW if depth else _MOST_AT_TOP):
            (accepted if self.context.accepts(reader, value) else refused).append(value)
            if len(refused) >= _ENOUGH:
                break
        return refused + accepted

    def _differs(self, given: Nodes, hints: Nodes) -> bool:
        """Whether the reader could refuse anything here."""
        stated = set(map(self._equivalence.of, given))
        return any(self._equivalence.of(node) not in stated for node in hints)

    def _fitting(self, given: Nodes, values: Iterable[Any]) -> Iterator[Any]:
        seen: set[bytes] = set()
        for value in values:
            text = msgspec.json.encode(value)
            self.context.spend(len(text) // 100)
            if text not in seen:
                seen.add(text)
                if self.context.accepts(given, value):
                    yield value

    def _all_hints(self, nodes: Nodes) -> Nodes:
        found: dict[int, Node] = {}
        pending = list(nodes)
        while pending and len(found) < _MOST_HINTS:
            node = pending.pop()
            if node and id(node) not in found:
                self.context.spend()
                found[id(node)] = node
                pending += [self.context.target(node)] if "$ref" in node else []
                pending += [part for keyword in ("allOf", "anyOf", "oneOf") for part in node.get(keyword, ())]
                pending += [node[keyword] for keyword in _IN_PLACE if keyword in node]
                pending += node.get("dependentSchemas", {}).values()
        return tuple(sorted(found.values(), key=id))

    def _candidates(self, given: Nodes, reader: Nodes, hints: Nodes, depth: int) -> Iterator[Any]:
        streams: list[Iterator[Any]] = []
        stated = self._all_hints(given)
        known = set(map(self._equivalence.of, hints))
        for case in islice(self._cases(given, known), _MOST_CASES):
            assertions = merge_assertions(case)
            if assertions.values is not None:
                streams.append(iter(assertions.values))
            position = _Position(case, assertions, reader, hints, depth)
            streams += [
                self._of_type(type_name, position, (*case, *stated))
                for type_name in _ORDER
                if type_name in assertions.types
            ]
        streams.append(value for node in (*stated, *hints) for value in node.get("enum", ()))
        return _round_robin(streams)

    def _cases(self, given: Nodes, known: set[int]) -> Iterator[Nodes]:
        """The writer's alternatives, those first that the reader's side does not know."""
        for node in given:
            for keyword in ("anyOf", "oneOf"):
                for branch in sorted(node.get(keyword, ()), key=lambda part: self._equivalence.of(part) in known):
                    rest = tuple(self.context.without(n, keyword) if n is node else n for n in given)
                    yield from self._cases(self.context.flat((*rest, branch)), known)
                if keyword in node:
                    return
            if "if" in node:
                rest = tuple(self.context.without(n, "if", "then", "else") if n is node else n for n in given)
                yes = [node["if"], *([node["then"]] if "then" in node else [])]
                yield from self._cases(self.context.flat((*rest, *yes)), known)
                yield from self._cases(self.context.flat((*rest, *([node["else"]] if "else" in node else []))), known)
                return
        yield given

    def _of_type(self, type_name: str, position: _Position, stated: Nodes) -> Iterator[Any]:
        if type_name == "object":
            return self._objects(position)
        if type_name == "array":
            return self._arrays(position)
        if type_name == "string":
            return boundary_values.strings((*stated, *position.hints))
        if type_name == "boolean":
            return iter([True, False])
        return iter([None]) if type_name == "null" else boundary_values.numbers((*stated, *position.hints))

    def _objects(self, position: _Position) -> Iterator[Any]:
        choices, required = self._members(position), position.assertions.required
        if any(not choices.get(name) for name in required):
            return
        least = {name: choices[name][0] for name in sorted(required)}
        optional = [name for name in choices if choices[name] and name not in least]
        for name in optional:
            if len(least) >= position.assertions.least["Properties"]:
                break
            least[name] = choices[name][0]
        yield least
        yield from _round_robin([_varied(least, name, choices[name]) for name in choices], 2)
        full = {**least, **{name: choices[name][0] for name in optional}}
        yield full
        yield from self._enlarged(least, position)
        for name in optional:
            yield {other: value for other, value in full.items() if other != name}
        for first, second in islice(combinations(choices, 2), 200):
            for one in choices[first][:4]:
                for two in choices[second][:4]:
                    yield {**least, first: one, second: two}

    def _members(self, position: _Position) -> dict[str, list[Any]]:
        """Values for members, by name: those first on which the two schemas differ."""
        lengths = boundary_values.lengths(tuple(n for h in position.hints for n in self._names_of(h)), "Length", 60)
        named = boundary_values.names((*position.case, *position.hints))
        required = position.assertions.required
        wanted = dict.fromkeys((*sorted(required), *named, *("n" * count for count in lengths)))
        possible = {
            name: part for name in wanted if not any(map(accepts_nothing, part := members(position.case, name)))
        }
        needed = [name for name in possible if name in required]
        spare = [name for name in possible if name not in required]
        differing = [name for name in spare if self._differs_at(possible[name], position.hints, name)]
        alike = [name for name in spare if name not in set(differing)]
        chosen = [*needed, *differing[:_MOST_NAMES], *alike[:_MOST_SPARE]]
        return {name: self._member(position, name, possible[name]) for name in chosen}

    def _differs_at(self, part: Nodes, hints: Nodes, name: str) -> bool:
        return self._differs(self.context.flat(part), self._all_hints(_member_hints(hints, name)))

    def _member(self, position: _Position, name: str, part: Nodes) -> list[Any]:
        return self.values(
            part, members(position.reader, name), _member_hints(position.hints, name), position.depth + 1
        )

    def _names_of(self, node: Node) -> Nodes:
        return self._all_hints((node["propertyNames"],)) if "propertyNames" in node else ()

    def _enlarged(self, least: dict[str, Any], position: _Position) -> Iterator[dict[str, Any]]:
        names = [f"member{index:06}" for index in range(_MOST_ITEMS)]
        counts = boundary_values.lengths((*position.case, *position.hints), "Properties", _MOST_ITEMS)
        choices = self._member(position, names[0], members(position.case, names[0])) if counts else []
        for count in counts if choices else ():
            yield {**least, **dict.fromkeys(names[: max(0, count - len(least))], choices[0])}

    def _arrays(self, position: _Position) -> Iterator[Any]:
        both, assertions = (*position.case, *position.hints), position.assertions
        most = min(assertions.most.get("Items", _MOST_ITEMS), _MOST_ITEMS)
        prefix = longest_prefix(both)
        counts = {0, 1, 2, prefix, prefix + 1, *boundary_values.lengths(both, "Items", _MOST_ITEMS)}
        choices = [self._items(position, index) for index in range(min(prefix + 2, most, 8))]
        for count in sorted(count for count in counts if assertions.least["Items"] <= count <= most):
            base = [_pick(choices, index, index) for index in range(count)]
            if all(base):
                yield [values[0] for values in base]
                yield [_pick(choices, index, 0)[0] for index in range(count)]
                for index in range(min(count, len(choices))):
                    for value in choices[index]:
                        yield [*(v[0] for v in base[:index]), value, *(v[0] for v in base[index + 1 :])]

    def _items(self, position: _Position, index: int) -> list[Any]:
        maybe = tuple(part for node in position.hints for part in elements((node,), index))
        maybe += tuple(node["contains"] for node in position.hints if "contains" in node)
        part, reader = elements(position.case, index), elements(position.reader, index)
        wanted = tuple(node["contains"] for node in position.case if "contains" in node)
        found = self.values((*part, *wanted), reader, maybe, position.depth + 1) if wanted else []
        return found + self.values(part, reader, maybe, position.depth + 1)


def _varied(least: dict[str, Any], name: str, choices: list[Any]) -> Iterator[dict[str, Any]]:
    return ({**least, name: value} for value in choices)


def _pick(choices: list[list[Any]], index: int, turn: int) -> list[Any]:
    values = choices[min(index, len(choices) - 1)] if choices else []
    start = turn % len(values) if values else 0
    return values[start : start + 1]


def _member_hints(hints: Nodes, name: str) -> Nodes:
    found: list[Node] = []
    for node in hints:
        named = [node["properties"][name]] if name in node.get("properties", ()) else []
        named += [part for pattern, part in node.get("patternProperties", {}).items() if matches(pattern, name)]
        rest = [node[key] for key in ("additionalProperties", "unevaluatedProperties") if key in node]
        found += named or rest
    return tuple(found)


_ORDER = ("object", "array", "string", "integer", "fraction", "boolean", "null")


def _round_robin(streams: list[Iterator[Any]], turn: int = 4) -> Iterator[Any]:
    while streams:
        left = []
        for stream in streams:
            batch = list(islice(stream, turn))
            yield from batch
            if len(batch) == turn:
                left.append(stream)
        streams = left


def combine_values(values: list[Any], rng: random.Random, count: int) -> Iterator[Any]:
    """New values with exchanged and changed parts of known ones."""
    if not values:
        return
    for _ in range(count):
        yield _combine(rng.choice(values), rng.choice(values), rng)


def _combine(first: Any, second: Any, rng: random.Random) -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        names = sorted({*first, *second})
        mixed = {name: rng.choice([v[name] for v in (first, second) if name in v]) for name in names}
        chosen = [name for name in names if rng.random() < 0.7]
        if chosen and rng.random() < 0.3:
            name = rng.choice(chosen)
            mixed[name] = _combine(mixed[name], rng.choice(boundary_values.odd_values()), rng)
        return {name: mixed[name] for name in chosen}
    if isinstance(first, list) and isinstance(second, list):
        both = [*first, *second]
        return [rng.choice(both) for _ in range(rng.randint(0, min(len(both), 8)))]
    return rng.choice((first, second))


def simplify(value: Any) -> Iterator[Any]:
    """Variants of a value, each with one member or item removed."""
    if isinstance(value, dict):
        for name in value:
            yield {other: part for other, part in value.items() if other != name}
        for name, part in value.items():
            yield from ({**value, name: less} for less in simplify(part))
    elif isinstance(value, list):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
        for index, part in enumerate(value):
            yield from ([*value[:index], less, *value[index + 1 :]] for less in simplify(part))

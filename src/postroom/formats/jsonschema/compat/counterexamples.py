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

from postroom.formats.jsonschema.compat import boundary_values
from postroom.formats.jsonschema.compat.compare_context import World
from postroom.formats.jsonschema.compat.equivalence import Likeness
from postroom.formats.jsonschema.compat.merged_assertions import (
    Facts,
    Nodes,
    elements,
    facts_of,
    is_nothing,
    longest_prefix,
    matches,
    members,
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


class _Place(msgspec.Struct, frozen=True):
    """One place of a payload: one case of the writer's subschemas there, and what the reader's side has to say."""

    case: Nodes
    facts: Facts
    reader: Nodes
    hints: Nodes
    depth: int


class Inventor:
    """Finds values that fit the writer's subschemas at a place, those first that the reader's refuse there."""

    def __init__(self, world: World, like: Likeness) -> None:
        self.world = world
        self._like = like
        self._known: dict[tuple[Any, ...], list[Any]] = {}
        self._busy: dict[tuple[Any, ...], int] = {}

    def values(self, given: Nodes, reader: Nodes, maybe: Nodes = (), depth: int = 0) -> list[Any]:
        """Values that fit all of `given`; `reader` are the subschemas that must take them on the other side, `maybe`
        those that play a part there under conditions."""
        given, reader = self.world.flat(given), self.world.flat(reader)
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
        fitting = self._fitting(given, self._invented(given, reader, hints, depth))
        if depth and not self._differs(given, hints):
            return list(islice(fitting, _MOST_ALIKE))
        refused: list[Any] = []
        accepted: list[Any] = []
        for value in islice(fitting, _MOST_BELOW if depth else _MOST_AT_TOP):
            (accepted if self.world.accepts(reader, value) else refused).append(value)
            if len(refused) >= _ENOUGH:
                break
        return refused + accepted

    def _differs(self, given: Nodes, hints: Nodes) -> bool:
        """Whether the reader could refuse anything here."""
        stated = set(map(self._like.of, given))
        return any(self._like.of(node) not in stated for node in hints)

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

    def _invented(self, given: Nodes, reader: Nodes, hints: Nodes, depth: int) -> Iterator[Any]:
        streams: list[Iterator[Any]] = []
        stated = self._all_hints(given)
        known = set(map(self._like.of, hints))
        for case in islice(self._cases(given, known), _MOST_CASES):
            facts = facts_of(case)
            if facts.values is not None:
                streams.append(iter(facts.values))
            place = _Place(case, facts, reader, hints, depth)
            streams += [self._of_kind(kind, place, (*case, *stated)) for kind in _ORDER if kind in facts.kinds]
        streams.append(value for node in (*stated, *hints) for value in node.get("enum", ()))
        return _in_turns(streams)

    def _cases(self, given: Nodes, known: set[int]) -> Iterator[Nodes]:
        """The writer's alternatives, those first that the reader's side does not know."""
        for node in given:
            for keyword in ("anyOf", "oneOf"):
                for branch in sorted(node.get(keyword, ()), key=lambda part: self._like.of(part) in known):
                    rest = tuple(self.world.without(n, keyword) if n is node else n for n in given)
                    yield from self._cases(self.world.flat((*rest, branch)), known)
                if keyword in node:
                    return
            if "if" in node:
                rest = tuple(self.world.without(n, "if", "then", "else") if n is node else n for n in given)
                yes = [node["if"], *([node["then"]] if "then" in node else [])]
                yield from self._cases(self.world.flat((*rest, *yes)), known)
                yield from self._cases(self.world.flat((*rest, *([node["else"]] if "else" in node else []))), known)
                return
        yield given

    def _of_kind(self, kind: str, place: _Place, stated: Nodes) -> Iterator[Any]:
        if kind == "object":
            return self._objects(place)
        if kind == "array":
            return self._arrays(place)
        if kind == "string":
            return boundary_values.texts((*stated, *place.hints))
        if kind == "boolean":
            return iter([True, False])
        return iter([None]) if kind == "null" else boundary_values.numbers((*stated, *place.hints))

    def _objects(self, place: _Place) -> Iterator[Any]:
        choices, required = self._members(place), place.facts.required
        if any(not choices.get(name) for name in required):
            return
        least = {name: choices[name][0] for name in sorted(required)}
        optional = [name for name in choices if choices[name] and name not in least]
        for name in optional:
            if len(least) >= place.facts.least["Properties"]:
                break
            least[name] = choices[name][0]
        yield least
        yield from _in_turns([_varied(least, name, choices[name]) for name in choices], 2)
        full = {**least, **{name: choices[name][0] for name in optional}}
        yield full
        yield from self._enlarged(least, place)
        for name in optional:
            yield {other: value for other, value in full.items() if other != name}
        for first, second in islice(combinations(choices, 2), 200):
            for one in choices[first][:4]:
                for two in choices[second][:4]:
                    yield {**least, first: one, second: two}

    def _members(self, place: _Place) -> dict[str, list[Any]]:
        """Values for members, by name: those first on which the two schemas differ."""
        lengths = boundary_values.lengths(tuple(n for h in place.hints for n in self._names_of(h)), "Length", 60)
        named = boundary_values.names((*place.case, *place.hints))
        required = place.facts.required
        wanted = dict.fromkeys((*sorted(required), *named, *("n" * count for count in lengths)))
        possible = {name: part for name in wanted if not any(map(is_nothing, part := members(place.case, name)))}
        needed = [name for name in possible if name in required]
        spare = [name for name in possible if name not in required]
        differing = [name for name in spare if self._differs_at(possible[name], place.hints, name)]
        alike = [name for name in spare if name not in set(differing)]
        chosen = [*needed, *differing[:_MOST_NAMES], *alike[:_MOST_SPARE]]
        return {name: self._member(place, name, possible[name]) for name in chosen}

    def _differs_at(self, part: Nodes, hints: Nodes, name: str) -> bool:
        return self._differs(self.world.flat(part), self._all_hints(_member_hints(hints, name)))

    def _member(self, place: _Place, name: str, part: Nodes) -> list[Any]:
        return self.values(part, members(place.reader, name), _member_hints(place.hints, name), place.depth + 1)

    def _names_of(self, node: Node) -> Nodes:
        return self._all_hints((node["propertyNames"],)) if "propertyNames" in node else ()

    def _enlarged(self, least: dict[str, Any], place: _Place) -> Iterator[dict[str, Any]]:
        names = [f"member{index:06}" for index in range(_MOST_ITEMS)]
        counts = boundary_values.lengths((*place.case, *place.hints), "Properties", _MOST_ITEMS)
        choices = self._member(place, names[0], members(place.case, names[0])) if counts else []
        for count in counts if choices else ():
            yield {**least, **dict.fromkeys(names[: max(0, count - len(least))], choices[0])}

    def _arrays(self, place: _Place) -> Iterator[Any]:
        both, facts = (*place.case, *place.hints), place.facts
        most = min(facts.most.get("Items", _MOST_ITEMS), _MOST_ITEMS)
        prefix = longest_prefix(both)
        counts = {0, 1, 2, prefix, prefix + 1, *boundary_values.lengths(both, "Items", _MOST_ITEMS)}
        choices = [self._items(place, index) for index in range(min(prefix + 2, most, 8))]
        for count in sorted(count for count in counts if facts.least["Items"] <= count <= most):
            base = [_pick(choices, index, index) for index in range(count)]
            if all(base):
                yield [values[0] for values in base]
                yield [_pick(choices, index, 0)[0] for index in range(count)]
                for index in range(min(count, len(choices))):
                    for value in choices[index]:
                        yield [*(v[0] for v in base[:index]), value, *(v[0] for v in base[index + 1 :])]

    def _items(self, place: _Place, index: int) -> list[Any]:
        maybe = tuple(part for node in place.hints for part in elements((node,), index))
        maybe += tuple(node["contains"] for node in place.hints if "contains" in node)
        part, reader = elements(place.case, index), elements(place.reader, index)
        wanted = tuple(node["contains"] for node in place.case if "contains" in node)
        found = self.values((*part, *wanted), reader, maybe, place.depth + 1) if wanted else []
        return found + self.values(part, reader, maybe, place.depth + 1)


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
            mixed[name] = _mixed(mixed[name], rng.choice(boundary_values.odd_values()), rng)
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

"""Sample JSON values that fit a type."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from postroom.errors import SchemaRefused
from postroom.formats.jsonstructure import types
from postroom.formats.jsonstructure.samples.min_depth import MinDepths
from postroom.formats.jsonstructure.samples.sample_primitives import any_value, sample_primitive
from postroom.formats.schema import Violation
from postroom.formats.work_budget import spend

_TRIES = 60
_DEEPEST = 6
_MOST_PARTS = 5000

Validate = Callable[[Any], tuple[Any, list[Violation]]]


def sample(root: types.JsonType, rng: random.Random, validate: Validate) -> Any:
    """A decoded sample value that the exact checks accepted."""
    generator = SampleGenerator(root, rng)
    for attempt in range(_TRIES):
        # Later attempts leave out what they can: rules between members are easier to meet with few.
        value = generator.generate(root, likely=0.8 if attempt < _TRIES // 2 else 0.1)
        decoded, violations = validate(value)
        if not violations:
            return decoded
    raise SchemaRefused("no fitting data could be invented for this schema.", remedy="Give your own with --data.")


class SampleGenerator:
    """Makes JSON values for the types below one root; they fit except for rules that tie parts together."""

    def __init__(self, root: types.JsonType, rng: random.Random) -> None:
        self._min_depths = MinDepths(root)
        self._rng = rng
        self._likely = 0.8
        self._parts = 0

    def generate(self, type_: types.JsonType, likely: float = 0.8) -> Any:
        """A JSON value for a type; `likely` is the probability of each optional member."""
        if self._min_depths.of(type_) == math.inf:
            raise SchemaRefused("no value fits this schema: some type has none.", place=type_.at)
        self._likely, self._parts = likely, 0
        return self._value(type_, 0)

    def _value(self, type_: types.JsonType, depth: int) -> Any:
        spend()
        self._parts += 1
        if self._parts > _MOST_PARTS or depth > 300:
            raise SchemaRefused("the values of this schema are too large to be invented.", place=type_.at)
        real = types.resolved(type_)
        if isinstance(real, types.JsonPrimitiveType):
            return sample_primitive(real, self._rng)
        if isinstance(real, types.JsonAnyType):
            return any_value(self._rng) if real.values is None else self._rng.choice(real.values or [None])
        if isinstance(real, types.JsonObjectType):
            return self._object(real, depth)
        if isinstance(real, types.JsonArrayType):
            return self._listing(real, depth)
        if isinstance(real, types.JsonMapType):
            return self._mapping(real, depth)
        if isinstance(real, types.JsonTupleType):
            return [self._value(member, depth + 1) for _, member in real.members]
        if isinstance(real, types.JsonChoiceType):
            return self._choice(real, depth)
        if isinstance(real, types.JsonUnionType):
            return self._value(self._one_of(real.alternatives, depth), depth)
        if isinstance(real, types.JsonConditionalType):
            return self._conditional(real, depth)
        raise TypeError(f"no samples for {real!r}")

    def _one_of(self, candidates: tuple[types.JsonType, ...], depth: int) -> types.JsonType:
        finite = [type_ for type_ in candidates if self._min_depths.of(type_) < math.inf]
        if not finite:
            raise SchemaRefused("no value fits this schema: some type has none.", place=candidates[0].at)
        return min(finite, key=self._min_depths.of) if depth > _DEEPEST else self._rng.choice(finite)

    def _is_wanted(self, type_: types.JsonType, depth: int) -> bool:
        return depth < _DEEPEST and self._min_depths.of(type_) < math.inf and self._rng.random() < self._likely

    def _object(self, type_: types.JsonObjectType, depth: int) -> dict[str, Any]:
        musts = set(type_.required)
        barred: set[str] = set()
        for group in type_.alternatives:
            chosen = self._rng.choice(group)
            musts |= chosen
            barred |= set().union(*group) - chosen
        made = {
            name: self._value(member, depth + 1)
            for name, member in type_.members.items()
            if name in musts or (name not in barred and self._is_wanted(member, depth))
        }
        for name in sorted(musts - made.keys()):
            made[name] = any_value(self._rng)
        if isinstance(type_.extra, types.JsonType) and self._is_wanted(type_.extra, depth) and not type_.rules:
            made.setdefault("further", self._value(type_.extra, depth + 1))
        return made

    def _count(self, least: int, most: int | None, item: types.JsonType, depth: int) -> int:
        if least > _MOST_PARTS:
            raise SchemaRefused("the values of this schema are too large to be invented.", place=item.at)
        wanted = least + (self._rng.randint(0, 2) if depth < _DEEPEST and self._min_depths.of(item) < math.inf else 0)
        return wanted if most is None else max(least, min(wanted, most))

    def _listing(self, type_: types.JsonArrayType, depth: int) -> list[Any]:
        least = type_.rules.get("minItems", 0)
        if type_.contains is not None:
            least = max(least, type_.rules.get("minContains", 1))
        made: list[Any] = []
        for number in range(self._count(least, type_.rules.get("maxItems"), type_.items, depth)):
            wanted = type_.contains is not None and number < type_.rules.get("minContains", 1)
            source = type_.contains if wanted and type_.contains is not None else type_.items
            item = self._value(source, depth + 1)
            for _ in range(10):
                if not type_.unique or item not in made:
                    break
                item = self._value(source, depth + 1)
            if not type_.unique or item not in made:
                made.append(item)
        return made

    def _mapping(self, type_: types.JsonMapType, depth: int) -> dict[str, Any]:
        count = self._count(type_.rules.get("minEntries", 0), type_.rules.get("maxEntries"), type_.values, depth)
        names = type_.rules.get("keyNames")
        made: dict[str, Any] = {}
        for number in range(count):
            key = str(self._value(names, depth + 1)) if isinstance(names, types.JsonType) else f"key{number}"
            made[key] = self._value(type_.values, depth + 1)
        return made

    def _choice(self, type_: types.JsonChoiceType, depth: int) -> dict[str, Any]:
        names = [name for name, choice in type_.choices.items() if self._min_depths.of(choice) < math.inf]
        if depth > _DEEPEST:
            names = [min(names, key=lambda name: self._min_depths.of(type_.choices[name]))]
        name = self._rng.choice(names)
        value = self._value(type_.choices[name], depth + 1)
        if type_.selector is None:
            return {name: value}
        return {**value, type_.selector: name} if isinstance(value, dict) else value

    def _conditional(self, type_: types.JsonConditionalType, depth: int) -> Any:
        wanted = list(type_.all_of)
        wanted += [self._one_of(group, depth) for group in (type_.any_of, type_.one_of) if group]
        branch = self._rng.choice([(type_.test, type_.then), (type_.otherwise,), ()])
        wanted += [part for part in branch if part is not None]
        if type_.base is not None and (not wanted or self._rng.random() < 0.9):
            wanted.insert(0, type_.base)
        made = [self._value(part, depth + 1) for part in wanted]
        if made and all(isinstance(value, dict) for value in made):
            return {key: item for value in made for key, item in value.items()}
        return self._rng.choice(made) if made else any_value(self._rng)

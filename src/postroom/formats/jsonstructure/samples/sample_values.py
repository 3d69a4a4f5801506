"""Inventing JSON values that fit a type."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from postroom.errors import SchemaRefused
from postroom.formats.jsonstructure.samples.min_depth import Heights
from postroom.formats.jsonstructure.samples.sample_primitives import any_value, scalar
from postroom.formats.jsonstructure.types import (
    Anything,
    Choice,
    Conditional,
    Listing,
    Mapping,
    Primitive,
    Record,
    Shape,
    Tuple,
    Union,
    resolved,
)
from postroom.formats.schema import Violation
from postroom.formats.work_budget import spend

_TRIES = 60
_DEEPEST = 6
_MOST_PARTS = 5000

Judge = Callable[[Any], tuple[Any, list[Violation]]]


def sample(root: Shape, rng: random.Random, judge: Judge) -> Any:
    """What an invented JSON value means, after the exact checks accepted it."""
    inventor = Inventor(root, rng)
    for attempt in range(_TRIES):
        # Later attempts leave out what they can: rules between members are easier to meet with few.
        value = inventor.invent(root, likely=0.8 if attempt < _TRIES // 2 else 0.1)
        meaning, violations = judge(value)
        if not violations:
            return meaning
    raise SchemaRefused("no fitting data could be invented for this schema.", remedy="Give your own with --data.")


class Inventor:
    """Makes JSON values for the types below one root; they fit except for rules that tie parts together."""

    def __init__(self, root: Shape, rng: random.Random) -> None:
        self._heights = Heights(root)
        self._rng = rng
        self._likely = 0.8
        self._parts = 0

    def invent(self, shape: Shape, likely: float = 0.8) -> Any:
        """A JSON value for a type; `likely` is the chance of each optional member."""
        if self._heights.of(shape) == math.inf:
            raise SchemaRefused("no value fits this schema: some type has none.", place=shape.at)
        self._likely, self._parts = likely, 0
        return self._value(shape, 0)

    def _value(self, shape: Shape, depth: int) -> Any:
        spend()
        self._parts += 1
        if self._parts > _MOST_PARTS or depth > 300:
            raise SchemaRefused("the values of this schema are too large to be invented.", place=shape.at)
        real = resolved(shape)
        if isinstance(real, Primitive):
            return scalar(real, self._rng)
        if isinstance(real, Anything):
            return any_value(self._rng) if real.values is None else self._rng.choice(real.values or [None])
        if isinstance(real, Record):
            return self._record(real, depth)
        if isinstance(real, Listing):
            return self._listing(real, depth)
        if isinstance(real, Mapping):
            return self._mapping(real, depth)
        if isinstance(real, Tuple):
            return [self._value(member, depth + 1) for _, member in real.members]
        if isinstance(real, Choice):
            return self._choice(real, depth)
        if isinstance(real, Union):
            return self._value(self._one_of(real.alternatives, depth), depth)
        if isinstance(real, Conditional):
            return self._conditional(real, depth)
        raise TypeError(f"no way to invent {real!r}")

    def _one_of(self, shapes: tuple[Shape, ...], depth: int) -> Shape:
        finite = [shape for shape in shapes if self._heights.of(shape) < math.inf]
        if not finite:
            raise SchemaRefused("no value fits this schema: some type has none.", place=shapes[0].at)
        return min(finite, key=self._heights.of) if depth > _DEEPEST else self._rng.choice(finite)

    def _is_wanted(self, shape: Shape, depth: int) -> bool:
        return depth < _DEEPEST and self._heights.of(shape) < math.inf and self._rng.random() < self._likely

    def _record(self, shape: Record, depth: int) -> dict[str, Any]:
        musts = set(shape.required)
        barred: set[str] = set()
        for group in shape.alternatives:
            chosen = self._rng.choice(group)
            musts |= chosen
            barred |= set().union(*group) - chosen
        made = {
            name: self._value(member, depth + 1)
            for name, member in shape.members.items()
            if name in musts or (name not in barred and self._is_wanted(member, depth))
        }
        for name in sorted(musts - made.keys()):
            made[name] = any_value(self._rng)
        if isinstance(shape.extra, Shape) and self._is_wanted(shape.extra, depth) and not shape.rules:
            made.setdefault("further", self._value(shape.extra, depth + 1))
        return made

    def _count(self, least: int, most: int | None, item: Shape, depth: int) -> int:
        if least > _MOST_PARTS:
            raise SchemaRefused("the values of this schema are too large to be invented.", place=item.at)
        wanted = least + (self._rng.randint(0, 2) if depth < _DEEPEST and self._heights.of(item) < math.inf else 0)
        return wanted if most is None else max(least, min(wanted, most))

    def _listing(self, shape: Listing, depth: int) -> list[Any]:
        least = shape.rules.get("minItems", 0)
        if shape.contains is not None:
            least = max(least, shape.rules.get("minContains", 1))
        made: list[Any] = []
        for number in range(self._count(least, shape.rules.get("maxItems"), shape.items, depth)):
            wanted = shape.contains is not None and number < shape.rules.get("minContains", 1)
            source = shape.contains if wanted and shape.contains is not None else shape.items
            item = self._value(source, depth + 1)
            for _ in range(10):
                if not shape.unique or item not in made:
                    break
                item = self._value(source, depth + 1)
            if not shape.unique or item not in made:
                made.append(item)
        return made

    def _mapping(self, shape: Mapping, depth: int) -> dict[str, Any]:
        count = self._count(shape.rules.get("minEntries", 0), shape.rules.get("maxEntries"), shape.values, depth)
        names = shape.rules.get("keyNames")
        made: dict[str, Any] = {}
        for number in range(count):
            key = str(self._value(names, depth + 1)) if isinstance(names, Shape) else f"key{number}"
            made[key] = self._value(shape.values, depth + 1)
        return made

    def _choice(self, shape: Choice, depth: int) -> dict[str, Any]:
        names = [name for name, choice in shape.choices.items() if self._heights.of(choice) < math.inf]
        if depth > _DEEPEST:
            names = [min(names, key=lambda name: self._heights.of(shape.choices[name]))]
        name = self._rng.choice(names)
        value = self._value(shape.choices[name], depth + 1)
        if shape.selector is None:
            return {name: value}
        return {**value, shape.selector: name} if isinstance(value, dict) else value

    def _conditional(self, shape: Conditional, depth: int) -> Any:
        wanted = list(shape.all_of)
        wanted += [self._one_of(group, depth) for group in (shape.any_of, shape.one_of) if group]
        branch = self._rng.choice([(shape.test, shape.then), (shape.otherwise,), ()])
        wanted += [part for part in branch if part is not None]
        if shape.base is not None and (not wanted or self._rng.random() < 0.9):
            wanted.insert(0, shape.base)
        made = [self._value(part, depth + 1) for part in wanted]
        if made and all(isinstance(value, dict) for value in made):
            return {key: item for value in made for key, item in value.items()}
        return self._rng.choice(made) if made else any_value(self._rng)

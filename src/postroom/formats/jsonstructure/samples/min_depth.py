"""How deep the flattest value of each type is: which types have values, and the shortest way out of recursion."""

from __future__ import annotations

import math
from collections.abc import Iterator

from postroom.formats.jsonstructure.types import (
    Choice,
    Conditional,
    Listing,
    Mapping,
    Named,
    Primitive,
    Record,
    Shape,
    Tuple,
    Union,
)

_MOST_VISITS = 2_000_000


class Heights:
    """The heights of all types that a type leads to."""

    def __init__(self, root: Shape) -> None:
        self._shapes = _reachable(root)
        self._heights: dict[int, float] = {id(shape): math.inf for shape in self._shapes}
        for _ in range(max(_MOST_VISITS // len(self._shapes), 10)):
            if not self._lower():
                break

    def of(self, shape: Shape) -> float:
        """The height of a type; infinite when it has no value."""
        return self._heights.get(id(shape), math.inf)

    def _lower(self) -> bool:
        changed = False
        for shape in reversed(self._shapes):
            height = self._height(shape)
            if height < self._heights[id(shape)]:
                self._heights[id(shape)] = height
                changed = True
        return changed

    def _height(self, shape: Shape) -> float:
        if isinstance(shape, Named):
            return math.inf if shape.target is None else self.of(shape.target)
        if isinstance(shape, Primitive):
            return math.inf if shape.values == [] else 0
        if isinstance(shape, Record):
            return 1 + self._highest(shape.members[name] for name in needed(shape) if name in shape.members)
        if isinstance(shape, Listing):
            return 1 + self.of(shape.items) if shape.rules.get("minItems") else 0
        if isinstance(shape, Mapping):
            return 1 + self.of(shape.values) if shape.rules.get("minEntries") else 0
        if isinstance(shape, Tuple):
            return 1 + self._highest(member for _, member in shape.members)
        if isinstance(shape, Choice):
            return 1 + min(self.of(choice) for choice in shape.choices.values())
        if isinstance(shape, Union):
            return min(self.of(alternative) for alternative in shape.alternatives)
        if isinstance(shape, Conditional):
            return self._conditional(shape)
        return 0

    def _conditional(self, shape: Conditional) -> float:
        parts = [*shape.all_of] if shape.base is None else [shape.base, *shape.all_of]
        heights = [self.of(part) for part in parts]
        heights += [min(self.of(part) for part in group) for group in (shape.any_of, shape.one_of) if group]
        return max(heights, default=0)

    def _highest(self, shapes: Iterator[Shape]) -> float:
        return max((self.of(shape) for shape in shapes), default=0)


def needed(shape: Record) -> frozenset[str]:
    """Names that an object cannot do without; of alternative sets, the first."""
    return shape.required.union(*(group[0] for group in shape.alternatives))


def _reachable(root: Shape) -> list[Shape]:
    found, seen, waiting = [], {id(root)}, [root]
    while waiting:
        shape = waiting.pop()
        found.append(shape)
        for part in parts(shape):
            if id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)
    return found


def parts(shape: Shape) -> Iterator[Shape]:
    """The types that a type is made of."""
    if isinstance(shape, Named) and shape.target is not None:
        yield shape.target
    elif isinstance(shape, Record):
        yield from shape.members.values()
        if isinstance(shape.extra, Shape):
            yield shape.extra
    elif isinstance(shape, Listing):
        yield shape.items
    elif isinstance(shape, Mapping):
        yield shape.values
    elif isinstance(shape, Tuple):
        yield from (member for _, member in shape.members)
    elif isinstance(shape, Choice):
        yield from shape.choices.values()
    elif isinstance(shape, Union):
        yield from shape.alternatives
    elif isinstance(shape, Conditional):
        single = (shape.base, shape.then, shape.otherwise, shape.test, shape.forbidden)
        yield from (part for part in single if part is not None)
        yield from (*shape.all_of, *shape.any_of, *shape.one_of)

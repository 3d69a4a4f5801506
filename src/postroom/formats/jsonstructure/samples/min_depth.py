"""The minimal depth of the values of each type: which types have values, and the shortest end of a recursion."""

from __future__ import annotations

import math
from collections.abc import Iterator

from postroom.formats.jsonstructure import types

_MOST_VISITS = 2_000_000


class MinDepths:
    """The minimal depths of all types that a type leads to."""

    def __init__(self, root: types.JsonType) -> None:
        self._types = _reachable(root)
        self._min_depths: dict[int, float] = {id(type_): math.inf for type_ in self._types}
        for _ in range(max(_MOST_VISITS // len(self._types), 10)):
            if not self._lower():
                break

    def of(self, type_: types.JsonType) -> float:
        """The minimal depth of a type; infinite when it has no value."""
        return self._min_depths.get(id(type_), math.inf)

    def _lower(self) -> bool:
        changed = False
        for type_ in reversed(self._types):
            depth = self._depth_of(type_)
            if depth < self._min_depths[id(type_)]:
                self._min_depths[id(type_)] = depth
                changed = True
        return changed

    def _depth_of(self, type_: types.JsonType) -> float:
        if isinstance(type_, types.TypeReference):
            return math.inf if type_.target is None else self.of(type_.target)
        if isinstance(type_, types.JsonPrimitiveType):
            return math.inf if type_.values == [] else 0
        if isinstance(type_, types.JsonObjectType):
            return 1 + self._deepest(type_.members[name] for name in needed(type_) if name in type_.members)
        if isinstance(type_, types.JsonArrayType):
            return 1 + self.of(type_.items) if type_.rules.get("minItems") else 0
        if isinstance(type_, types.JsonMapType):
            return 1 + self.of(type_.values) if type_.rules.get("minEntries") else 0
        if isinstance(type_, types.JsonTupleType):
            return 1 + self._deepest(member for _, member in type_.members)
        if isinstance(type_, types.JsonChoiceType):
            return 1 + min(self.of(choice) for choice in type_.choices.values())
        if isinstance(type_, types.JsonUnionType):
            return min(self.of(alternative) for alternative in type_.alternatives)
        if isinstance(type_, types.JsonConditionalType):
            return self._conditional(type_)
        return 0

    def _conditional(self, type_: types.JsonConditionalType) -> float:
        parts = [*type_.all_of] if type_.base is None else [type_.base, *type_.all_of]
        depths = [self.of(part) for part in parts]
        depths += [min(self.of(part) for part in group) for group in (type_.any_of, type_.one_of) if group]
        return max(depths, default=0)

    def _deepest(self, parts: Iterator[types.JsonType]) -> float:
        return max((self.of(type_) for type_ in parts), default=0)


def needed(type_: types.JsonObjectType) -> frozenset[str]:
    """Names that an object cannot do without; of alternative sets, the first."""
    return type_.required.union(*(group[0] for group in type_.alternatives))


def _reachable(root: types.JsonType) -> list[types.JsonType]:
    found, seen, waiting = [], {id(root)}, [root]
    while waiting:
        type_ = waiting.pop()
        found.append(type_)
        for part in parts(type_):
            if id(part) not in seen:
                seen.add(id(part))
                waiting.append(part)
    return found


def parts(type_: types.JsonType) -> Iterator[types.JsonType]:
    """The types that a type is made of."""
    if isinstance(type_, types.TypeReference) and type_.target is not None:
        yield type_.target
    elif isinstance(type_, types.JsonObjectType):
        yield from type_.members.values()
        if isinstance(type_.extra, types.JsonType):
            yield type_.extra
    elif isinstance(type_, types.JsonArrayType):
        yield type_.items
    elif isinstance(type_, types.JsonMapType):
        yield type_.values
    elif isinstance(type_, types.JsonTupleType):
        yield from (member for _, member in type_.members)
    elif isinstance(type_, types.JsonChoiceType):
        yield from type_.choices.values()
    elif isinstance(type_, types.JsonUnionType):
        yield from type_.alternatives
    elif isinstance(type_, types.JsonConditionalType):
        single = (type_.base, type_.then, type_.otherwise, type_.test, type_.forbidden)
        yield from (part for part in single if part is not None)
        yield from (*type_.all_of, *type_.any_of, *type_.one_of)

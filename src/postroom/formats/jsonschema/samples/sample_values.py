"""Inventing values that fit a JSON Schema."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.jsonschema.merged_schema import Node
from postroom.formats.jsonschema.referenced_documents import Documents
from postroom.formats.jsonschema.samples.sample_constraints import Gatherer, TooMuch, Wishes
from postroom.formats.jsonschema.samples.sample_strings import TextMaker
from postroom.formats.jsonschema.schema_addresses import Located

_TRIES = 40
_DEEPEST = 8
_FATHOMLESS = 40
_MOST_VALUES = 20_000
# In all tries together.
_MOST_INVENTED = 30_000
_REMEDY = "Give your own with --data."


def sample(documents: Documents, start: Located, rng: random.Random, is_valid: Callable[[Any], bool]) -> Any:
    """A value the validator accepts, within a bounded number of tries."""
    texts, gatherer = TextMaker(rng), Gatherer(documents, rng)
    invented = 0
    for attempt in range(_TRIES):
        # Members that may be left out are left out more and more: fewer of them, fewer contradictions.
        inventor = _Inventor(gatherer, texts, generosity=max(0.0, 0.8 - attempt / 15))
        gatherer.start()
        try:
            value = inventor.value((start,), 0)
            if is_valid(value):
                return value
        except (TooMuch, RecursionError, ValueError):
            # Another choice may end sooner.
            if gatherer.exhausted:
                break
        invented += inventor.made
        if invented > _MOST_INVENTED:
            break
    raise SchemaRefused("no fitting data could be invented for this schema.", remedy=_REMEDY)


class _Inventor:
    def __init__(self, gatherer: Gatherer, texts: TextMaker, generosity: float) -> None:
        self.gatherer = gatherer
        self.rng = gatherer.rng
        self.texts = texts
        self.generosity = generosity
        self.made = 0

    def value(self, node: Node, depth: int) -> Any:
        self.made += 1
        if depth > _FATHOMLESS or self.made > _MOST_VALUES:
            raise TooMuch
        wishes = self.gatherer.wishes(node)
        if wishes.values is not None:
            return self.rng.choice(_of_kinds(wishes.values, wishes.kinds) or [None])
        kind = self._kind(wishes)
        makers: dict[str, Callable[[Wishes], Any]] = {
            "object": lambda wishes: self._object(node, wishes, depth),
            "array": lambda wishes: self._array(wishes, depth),
            "string": self._string,
            "integer": self._integer,
            "number": self._number,
            "boolean": lambda _: self.rng.random() < 0.5,
        }
        return makers[kind](wishes) if kind in makers else None

    def _kind(self, wishes: Wishes) -> str:
        if wishes.kinds is None:
            return wishes.hints[0] if wishes.hints else "string"
        real = sorted(wishes.kinds - {"null"})
        if "number" in real and len(real) > 1:
            real.remove("integer")
        return self.rng.choice(real) if real else "null"

    def _object(self, node: Node, wishes: Wishes, depth: int) -> dict[str, Any]:
        names = self._names(wishes, depth)
        again = self.gatherer.wishes(node, tuple(names)) if wishes.needs or _has_dependents(node) else wishes
        if again is not wishes:
            names = list(dict.fromkeys([*names, *self._names(again, depth)]))
            wishes = again
        chosen = {name: self.value(self._member(wishes, name), depth + 1) for name in names}
        for _ in range(wishes.sizes.get("minProperties", 0) * 5):
            if len(chosen) >= wishes.sizes.get("minProperties", 0):
                break
            name = self._new_name(wishes, len(chosen))
            chosen[name] = self.value(self._member(wishes, name), depth + 1)
        return chosen

    def _names(self, wishes: Wishes, depth: int) -> list[str]:
        possible = [name for name, member in wishes.members.items() if all(schema is not False for schema, _ in member)]
        generosity = self.generosity * (1 - depth / _DEEPEST / 2) if depth < _DEEPEST else 0
        wanted = dict(wishes.required)
        optional = [name for name in possible if name not in wanted]
        room = wishes.sizes.get("maxProperties", len(possible) + len(wanted)) - len(wanted)
        wanted.update(dict.fromkeys([name for name in optional if self.rng.random() < generosity][: max(0, room)]))
        for name in optional:
            if len(wanted) < wishes.sizes.get("minProperties", 0):
                wanted[name] = None
        pending = list(wanted)
        while pending:
            for needed in wishes.needs.get(pending.pop(), ()):
                if needed not in wanted:
                    wanted[needed] = None
                    pending.append(needed)
        # In the order of the schema, so that data reads like it.
        order = {name: place for place, name in enumerate(wishes.members)}
        return sorted(wanted, key=lambda name: order.get(name, len(order)))

    def _member(self, wishes: Wishes, name: str) -> Node:
        patterned = (located for pattern, located in wishes.patterned if self.texts.matches(pattern, name))
        return (*wishes.members.get(name, ()), *patterned) or wishes.others

    def _new_name(self, wishes: Wishes, count: int) -> str:
        if wishes.names:
            return str(self.value(wishes.names, _DEEPEST))
        if wishes.patterned and (wishes.closed or self.rng.random() < 0.5):
            pattern = self.rng.choice(wishes.patterned)[0]
            short = self.texts.text([pattern], [], 0, None)
            # Most patterns of names are only their beginning.
            return next((name for name in (f"{short}{count}", short) if self.texts.matches(pattern, name)), short)
        return f"member{count}"

    def _array(self, wishes: Wishes, depth: int) -> list[Any]:
        least = wishes.sizes.get("minItems", 0)
        usual = max(least, 1 if depth < _DEEPEST and self.generosity > 0 else 0)
        most = min(wishes.sizes.get("maxItems", usual + 2), usual + 2)
        if wishes.items and any(schema is False for schema, _ in wishes.items):
            most = min(most, len(wishes.first_items))
        length = self.rng.randint(min(usual, max(most, least)), max(least, most))
        wanted: list[Node] = [(part,) for part, count in wishes.contains for _ in range(min(count, 100))]
        made: list[Any] = []
        seen: set[bytes] = set()
        for index in range(max(length, min(len(wishes.first_items), most), len(wanted))):
            node = wishes.first_items[index] if index < len(wishes.first_items) else wishes.items
            node = (*node, *wanted[index]) if index < len(wanted) else node
            item = self._new_item(node, depth, seen) if wishes.unique else self.value(node, depth + 1)
            made.append(item)
        return made

    def _new_item(self, node: Node, depth: int, seen: set[bytes]) -> Any:
        for _ in range(10):
            item = self.value(node, depth + 1)
            text = msgspec.json.encode(item, order="deterministic")
            if text not in seen:
                break
        seen.add(text)
        return item

    def _string(self, wishes: Wishes) -> str:
        return self.texts.text(
            wishes.patterns, wishes.formats, wishes.sizes.get("minLength", 0), wishes.sizes.get("maxLength")
        )

    def _integer(self, wishes: Wishes) -> int:
        steps = [Fraction(str(step)) for step in wishes.steps]
        found = self._multiple([*steps, Fraction(1)], *_range(wishes))
        return int(found)

    def _number(self, wishes: Wishes) -> float:
        low, high, beyond_low, beyond_high = _range(wishes)
        if wishes.steps:
            found = self._multiple([Fraction(str(step)) for step in wishes.steps], low, high, beyond_low, beyond_high)
            return int(found) if found.denominator == 1 else float(found)
        for digits in (2, 3, 6, 17):
            picked = Fraction(str(round(self.rng.uniform(float(low), float(high)), digits)))
            if low <= picked <= high and not (beyond_low and picked == low) and not (beyond_high and picked == high):
                return float(picked)
        return float(low if not beyond_low else high if not beyond_high else (low + high) / 2)

    def _multiple(
        self, steps: list[Fraction], low: Fraction, high: Fraction, beyond_low: bool, beyond_high: bool
    ) -> Fraction:
        common = _common_multiple(steps)
        first, last = math.ceil(low / common), math.floor(high / common)
        first += beyond_low and first * common == low
        last -= beyond_high and last * common == high
        return self.rng.randint(first, max(first, last)) * common


def _range(wishes: Wishes) -> tuple[Fraction, Fraction, bool, bool]:
    """The range of a number, and whether each end is outside of it."""
    lows = [(Fraction(str(bound)), beyond) for bound, beyond in wishes.lows]
    highs = [(Fraction(str(bound)), beyond) for bound, beyond in wishes.highs]
    room = max(Fraction(100), *(20 * Fraction(str(step)) for step in wishes.steps), Fraction(0))
    low = max(lows, default=None)
    high = min(highs, key=lambda bound: (bound[0], not bound[1]), default=None)
    if low is None:
        low = (Fraction(0) if high is None or high[0] > 0 else high[0] - room, False)
    if high is None:
        high = (low[0] + room, False)
    return low[0], high[0], low[1], high[1]


def _common_multiple(steps: list[Fraction]) -> Fraction:
    found = steps[0]
    for step in itertools.islice(steps, 1, None):
        scale = math.lcm(found.denominator, step.denominator)
        found = Fraction(math.lcm(int(found * scale), int(step * scale)), scale)
    return found


def _has_dependents(node: Node) -> bool:
    return any(isinstance(schema, dict) for schema, _ in node)


def _of_kinds(values: list[Any], kinds: set[str] | None) -> list[Any]:
    names: dict[type, str] = {
        bool: "boolean",
        int: "integer",
        float: "number",
        str: "string",
        list: "array",
        dict: "object",
        type(None): "null",
    }
    return [value for value in values if kinds is None or names.get(type(value)) in kinds]

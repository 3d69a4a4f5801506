"""Sample values that fit a JSON Schema."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.jsonschema.merged_schema import Conjunction
from postroom.formats.jsonschema.referenced_documents import DocumentSet
from postroom.formats.jsonschema.samples.sample_constraints import (
    ConstraintCollector,
    SampleConstraints,
    SampleTooLarge,
)
from postroom.formats.jsonschema.samples.sample_strings import StringGenerator
from postroom.formats.jsonschema.schema_addresses import Located

_TRIES = 40
_DEEPEST = 8
_MAX_DEPTH = 40
_MOST_VALUES = 20_000
# In all tries together.
_MOST_INVENTED = 30_000
_REMEDY = "Give your own with --data."


def sample(documents: DocumentSet, start: Located, rng: random.Random, is_valid: Callable[[Any], bool]) -> Any:
    """A value the validator accepts, within a bounded number of tries."""
    strings, collector = StringGenerator(rng), ConstraintCollector(documents, rng)
    invented = 0
    for attempt in range(_TRIES):
        # Members that may be left out are left out more and more: fewer of them, fewer contradictions.
        generator = _ValueGenerator(collector, strings, optional_probability=max(0.0, 0.8 - attempt / 15))
        collector.start()
        try:
            value = generator.value((start,), 0)
            if is_valid(value):
                return value
        except (SampleTooLarge, RecursionError, ValueError):
            # Another choice may end sooner.
            if collector.exhausted:
                break
        invented += generator.made
        if invented > _MOST_INVENTED:
            break
    raise SchemaRefused("no fitting data could be invented for this schema.", remedy=_REMEDY)


class _ValueGenerator:
    def __init__(self, collector: ConstraintCollector, strings: StringGenerator, optional_probability: float) -> None:
        self.collector = collector
        self.rng = collector.rng
        self.strings = strings
        self.optional_probability = optional_probability
        self.made = 0

    def value(self, node: Conjunction, depth: int) -> Any:
        self.made += 1
        if depth > _MAX_DEPTH or self.made > _MOST_VALUES:
            raise SampleTooLarge
        constraints = self.collector.constraints(node)
        if constraints.values is not None:
            return self.rng.choice(_of_types(constraints.values, constraints.types) or [None])
        type_name = self._type_name(constraints)
        makers: dict[str, Callable[[SampleConstraints], Any]] = {
            "object": lambda constraints: self._object(node, constraints, depth),
            "array": lambda constraints: self._array(constraints, depth),
            "string": self._string,
            "integer": self._integer,
            "number": self._number,
            "boolean": lambda _: self.rng.random() < 0.5,
        }
        return makers[type_name](constraints) if type_name in makers else None

    def _type_name(self, constraints: SampleConstraints) -> str:
        if constraints.types is None:
            return constraints.hints[0] if constraints.hints else "string"
        real = sorted(constraints.types - {"null"})
        if "number" in real and len(real) > 1:
            real.remove("integer")
        return self.rng.choice(real) if real else "null"

    def _object(self, node: Conjunction, constraints: SampleConstraints, depth: int) -> dict[str, Any]:
        names = self._names(constraints, depth)
        again = (
            self.collector.constraints(node, tuple(names))
            if constraints.dependents or _has_dependents(node)
            else constraints
        )
        if again is not constraints:
            names = list(dict.fromkeys([*names, *self._names(again, depth)]))
            constraints = again
        chosen = {name: self.value(self._member(constraints, name), depth + 1) for name in names}
        for _ in range(constraints.sizes.get("minProperties", 0) * 5):
            if len(chosen) >= constraints.sizes.get("minProperties", 0):
                break
            name = self._new_name(constraints, len(chosen))
            chosen[name] = self.value(self._member(constraints, name), depth + 1)
        return chosen

    def _names(self, constraints: SampleConstraints, depth: int) -> list[str]:
        possible = [
            name for name, member in constraints.members.items() if all(schema is not False for schema, _ in member)
        ]
        optional_probability = self.optional_probability * (1 - depth / _DEEPEST / 2) if depth < _DEEPEST else 0
        wanted = dict(constraints.required)
        optional = [name for name in possible if name not in wanted]
        room = constraints.sizes.get("maxProperties", len(possible) + len(wanted)) - len(wanted)
        wanted.update(
            dict.fromkeys([name for name in optional if self.rng.random() < optional_probability][: max(0, room)])
        )
        for name in optional:
            if len(wanted) < constraints.sizes.get("minProperties", 0):
                wanted[name] = None
        pending = list(wanted)
        while pending:
            for needed in constraints.dependents.get(pending.pop(), ()):
                if needed not in wanted:
                    wanted[needed] = None
                    pending.append(needed)
        # In the order of the schema, so that data reads like it.
        order = {name: index for index, name in enumerate(constraints.members)}
        return sorted(wanted, key=lambda name: order.get(name, len(order)))

    def _member(self, constraints: SampleConstraints, name: str) -> Conjunction:
        patterned = (located for pattern, located in constraints.patterned if self.strings.matches(pattern, name))
        return (*constraints.members.get(name, ()), *patterned) or constraints.others

    def _new_name(self, constraints: SampleConstraints, count: int) -> str:
        if constraints.names:
            return str(self.value(constraints.names, _DEEPEST))
        if constraints.patterned and (constraints.closed or self.rng.random() < 0.5):
            pattern = self.rng.choice(constraints.patterned)[0]
            short = self.strings.string([pattern], [], 0, None)
            # Most patterns of names are only their beginning.
            return next((name for name in (f"{short}{count}", short) if self.strings.matches(pattern, name)), short)
        return f"member{count}"

    def _array(self, constraints: SampleConstraints, depth: int) -> list[Any]:
        least = constraints.sizes.get("minItems", 0)
        usual = max(least, 1 if depth < _DEEPEST and self.optional_probability > 0 else 0)
        most = min(constraints.sizes.get("maxItems", usual + 2), usual + 2)
        if constraints.items and any(schema is False for schema, _ in constraints.items):
            most = min(most, len(constraints.first_items))
        length = self.rng.randint(min(usual, max(most, least)), max(least, most))
        wanted: list[Conjunction] = [(part,) for part, count in constraints.contains for _ in range(min(count, 100))]
        made: list[Any] = []
        seen: set[bytes] = set()
        for index in range(max(length, min(len(constraints.first_items), most), len(wanted))):
            node = constraints.first_items[index] if index < len(constraints.first_items) else constraints.items
            node = (*node, *wanted[index]) if index < len(wanted) else node
            item = self._new_item(node, depth, seen) if constraints.unique else self.value(node, depth + 1)
            made.append(item)
        return made

    def _new_item(self, node: Conjunction, depth: int, seen: set[bytes]) -> Any:
        for _ in range(10):
            item = self.value(node, depth + 1)
            text = msgspec.json.encode(item, order="deterministic")
            if text not in seen:
                break
        seen.add(text)
        return item

    def _string(self, constraints: SampleConstraints) -> str:
        return self.strings.string(
            constraints.patterns,
            constraints.formats,
            constraints.sizes.get("minLength", 0),
            constraints.sizes.get("maxLength"),
        )

    def _integer(self, constraints: SampleConstraints) -> int:
        steps = [Fraction(str(step)) for step in constraints.steps]
        found = self._multiple([*steps, Fraction(1)], *_range(constraints))
        return int(found)

    def _number(self, constraints: SampleConstraints) -> float:
        low, high, exclusive_low, exclusive_high = _range(constraints)
        if constraints.steps:
            found = self._multiple(
                [Fraction(str(step)) for step in constraints.steps], low, high, exclusive_low, exclusive_high
            )
            return int(found) if found.denominator == 1 else float(found)
        for digits in (2, 3, 6, 17):
            picked = Fraction(str(round(self.rng.uniform(float(low), float(high)), digits)))
            if (
                low <= picked <= high
                and not (exclusive_low and picked == low)
                and not (exclusive_high and picked == high)
            ):
                return float(picked)
        return float(low if not exclusive_low else high if not exclusive_high else (low + high) / 2)

    def _multiple(
        self, steps: list[Fraction], low: Fraction, high: Fraction, exclusive_low: bool, exclusive_high: bool
    ) -> Fraction:
        common = _common_multiple(steps)
        first, last = math.ceil(low / common), math.floor(high / common)
        first += exclusive_low and first * common == low
        last -= exclusive_high and last * common == high
        return self.rng.randint(first, max(first, last)) * common


def _range(constraints: SampleConstraints) -> tuple[Fraction, Fraction, bool, bool]:
    """The range of a number, and whether each end is outside of it."""
    lows = [(Fraction(str(bound)), exclusive) for bound, exclusive in constraints.lows]
    highs = [(Fraction(str(bound)), exclusive) for bound, exclusive in constraints.highs]
    room = max(Fraction(100), *(20 * Fraction(str(step)) for step in constraints.steps), Fraction(0))
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


def _has_dependents(node: Conjunction) -> bool:
    return any(isinstance(schema, dict) for schema, _ in node)


def _of_types(values: list[Any], types: set[str] | None) -> list[Any]:
    names: dict[type, str] = {
        bool: "boolean",
        int: "integer",
        float: "number",
        str: "string",
        list: "array",
        dict: "object",
        type(None): "null",
    }
    return [value for value in values if types is None or names.get(type(value)) in types]

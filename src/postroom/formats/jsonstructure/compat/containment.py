"""Comparison of types: the rules by which every payload of one type can be read with another.

An empty list of differences is a proof. Recursive types are compared under the assumption that they fit; a reason that
they do not is found in one of their parts or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

from postroom.formats.jsonstructure.compat import ranges
from postroom.formats.jsonstructure.compat.differences import TypeDifference, difference
from postroom.formats.jsonstructure.compat.objects_and_maps import compare_objects, same_rules
from postroom.formats.jsonstructure.types import (
    JsonAnyType,
    JsonArrayType,
    JsonChoiceType,
    JsonConditionalType,
    JsonMapType,
    JsonObjectType,
    JsonPrimitiveType,
    JsonTupleType,
    JsonType,
    JsonUnionType,
    resolved,
)
from postroom.formats.work_budget import spend

_MOST_STEPS = 10_000
_MOST_ITEMS = 1000
_MOST_TRIED = 100
_CONTAINS = ("contains", "minContains", "maxContains")
Pairs = frozenset[tuple[int, int]]


class ComparisonTooLarge(Exception):
    """The schemas unfold to more pairs of types than we compare."""


class TypeComparison:
    """Compares the types of two documents; `generate` makes JSON values of the writer, `accepts` asks the reader."""

    def __init__(self, generate: Callable[[JsonType], list[Any]], accepts: Callable[[JsonType, Any], bool]) -> None:
        self.generate = generate
        self._accepts = accepts
        self._steps = 0
        self._assumptions = 0
        # The types are kept with their identities, which are only theirs as long as they live.
        self._proven: dict[tuple[int, int], tuple[JsonType, JsonType]] = {}

    def differences(self, writer: JsonType, reader: JsonType, assumed: Pairs = frozenset()) -> list[TypeDifference]:
        """The differences that keep a type of the writer from being readable with one of the reader."""
        writer, reader = resolved(writer), resolved(reader)
        pair = (id(writer), id(reader))
        spend()
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise ComparisonTooLarge
        if pair in self._proven or (isinstance(reader, JsonAnyType) and reader.values is None):
            return []
        if pair in assumed:
            self._assumptions += 1
            return []
        before = self._assumptions
        found = self._differences(writer, reader, assumed | {pair})
        if not found and self._assumptions == before:
            # Proved without any assumption, so it holds wherever the pair comes up again.
            self._proven[pair] = (writer, reader)
        return found

    def _differences(self, writer: JsonType, reader: JsonType, assumed: Pairs) -> list[TypeDifference]:
        if isinstance(writer, JsonUnionType):
            return [one for part in writer.alternatives for one in self.differences(part, reader, assumed)]
        if isinstance(writer, JsonConditionalType) or isinstance(reader, JsonConditionalType):
            return self._conditional(writer, reader, assumed)
        if isinstance(reader, JsonUnionType):
            return self._into_union(writer, reader, assumed)
        if isinstance(writer, JsonPrimitiveType) and isinstance(reader, JsonPrimitiveType):
            return ranges.compare(writer, reader, lambda value: self._accepts(reader, value))
        if isinstance(writer, JsonObjectType | JsonMapType) and isinstance(reader, JsonObjectType | JsonMapType):
            return compare_objects(self, writer, reader, assumed)
        if isinstance(writer, JsonArrayType) and isinstance(reader, JsonArrayType):
            return self._listing(writer, reader, assumed)
        if isinstance(writer, JsonTupleType) and isinstance(reader, JsonTupleType | JsonArrayType):
            return self._tuple(writer, reader, assumed)
        if isinstance(writer, JsonChoiceType) and isinstance(reader, JsonChoiceType):
            return self._choice(writer, reader, assumed)
        return self.different("the types are of different kinds", writer, reader)

    def different(self, reason: str, writer: JsonType, reader: JsonType) -> list[TypeDifference]:
        """A difference that any value of the writer may show."""
        edges = ranges.edges(writer) if isinstance(writer, JsonPrimitiveType) else []
        return difference(reason, writer, reader, [*edges, *self.generate(writer)])

    def _into_union(self, writer: JsonType, reader: JsonUnionType, assumed: Pairs) -> list[TypeDifference]:
        found: list[TypeDifference] = []
        for alternative in reader.alternatives:
            differences = self.differences(writer, alternative, assumed)
            if not differences:
                return []
            found += differences
        counterexamples = islice((value for one in found for value in one.counterexamples), _MOST_TRIED)
        values = [value for value in counterexamples if not self._accepts(reader, value)]
        return difference("no alternative of the reader takes all that the writer allows", writer, reader, values)

    def _conditional(self, writer: JsonType, reader: JsonType, assumed: Pairs) -> list[TypeDifference]:
        if isinstance(reader, JsonConditionalType):
            if not _same_conditions(writer, reader):
                return self.different("the reader has conditions of its own", writer, reader)
            if reader.base is None:
                return []
            reader = reader.base
        if isinstance(writer, JsonConditionalType):
            # Conditions only take away from a type, so its base is enough of a proof.
            if writer.base is None:
                parts = writer.any_of or writer.one_of
                if not parts:
                    return self.different("the writer's type is not known without its conditions", writer, reader)
                return [one for part in parts for one in self.differences(part, reader, assumed)]
            writer = writer.base
        return self.differences(writer, reader, assumed)

    def _listing(self, writer: JsonArrayType, reader: JsonArrayType, assumed: Pairs) -> list[TypeDifference]:
        least = writer.rules.get("minItems", 0)

        def around(value: Any) -> Any:
            if writer.unique or not 1 < least <= _MOST_ITEMS:
                return [value]
            return [value] * least

        found = [one.around(around) for one in self.differences(writer.items, reader.items, assumed)]
        if writer.rules.get("maxItems") == 0:
            found = []
        if reader.unique and not writer.unique and writer.rules.get("maxItems", 2) > 1:
            twice = [[value] * min(max(least, 2), _MOST_ITEMS) for value in self.generate(writer.items)]
            found += difference("the writer allows equal items", writer, reader, twice)
        found += self._counts(writer, reader, "minItems", "maxItems")
        if reader.contains is not None and not same_rules(writer, reader, _CONTAINS):
            found += self.different("the reader asks for certain items", writer, reader)
        return found

    def _counts(self, writer: JsonArrayType, reader: JsonArrayType, low: str, high: str) -> list[TypeDifference]:
        least, most = writer.rules.get(low, 0), writer.rules.get(high)
        fewest, limit = reader.rules.get(low, 0), reader.rules.get(high)
        found: list[TypeDifference] = []
        items = self.generate(writer.items) or [None]
        if least < fewest and least <= _MOST_ITEMS:
            found += difference("the writer allows fewer items", writer, reader, [_distinct(items, least)])
        elif least < fewest:
            found += difference("the writer allows fewer items", writer, reader)
        if limit is not None and (most is None or most > limit) and limit < _MOST_ITEMS:
            values = [[items[0]] * (limit + 1), _distinct(items, limit + 1)]
            found += difference("the writer allows more items", writer, reader, values)
        elif limit is not None and (most is None or most > limit):
            found += difference("the writer allows more items", writer, reader)
        return found

    def _tuple(
        self, writer: JsonTupleType, reader: JsonTupleType | JsonArrayType, assumed: Pairs
    ) -> list[TypeDifference]:
        if isinstance(reader, JsonArrayType):
            count = len(writer.members)
            within = reader.rules.get("minItems", 0) <= count <= reader.rules.get("maxItems", count)
            if not within or reader.unique or reader.contains is not None:
                return self.different("the reader's array asks for more than a tuple gives", writer, reader)
            readers = [reader.items] * count
        else:
            if len(writer.members) != len(reader.members):
                return difference("the tuples have different lengths", writer, reader, self.generate(writer))
            readers = [member for _, member in reader.members]
        found: list[TypeDifference] = []
        for number, ((_, member), other) in enumerate(zip(writer.members, readers, strict=True)):
            inside = self.differences(member, other, assumed)
            samples = self.generate(writer) if inside else []
            found += [one.around(partial(_with_item, samples, number)) for one in inside]
        return found

    def _choice(self, writer: JsonChoiceType, reader: JsonChoiceType, assumed: Pairs) -> list[TypeDifference]:
        if writer.selector != reader.selector:
            return self.different("the choices are told apart in different ways", writer, reader)
        found: list[TypeDifference] = []
        for name, choice in writer.choices.items():

            def around(value: Any, name: str = name) -> Any:
                if writer.selector is None:
                    return {name: value}
                return {**value, writer.selector: name} if isinstance(value, dict) else value

            if name in reader.choices and self._declares(choice, writer) != self._declares(
                reader.choices[name], reader
            ):
                # Only a variant that declares the selector checks its value.
                found += difference("the selector is declared in one schema only", writer, reader)
            elif name in reader.choices:
                found += [one.around(around) for one in self.differences(choice, reader.choices[name], assumed)]
            else:
                values = [around(value) for value in self.generate(choice)]
                found += difference(f"the reader does not know the choice {name}", writer, reader, values)
        return found

    def _declares(self, variant: JsonType, choice: JsonChoiceType) -> bool:
        real = resolved(variant)
        return isinstance(real, JsonObjectType) and choice.selector in real.members


def _same_conditions(writer: JsonType, reader: JsonConditionalType) -> bool:
    # References may mean other things in the other document.
    return (
        isinstance(writer, JsonConditionalType) and writer.source == reader.source and "$ref" not in repr(writer.source)
    )


def _distinct(items: list[Any], count: int) -> list[Any]:
    kept: list[Any] = []
    for item in items:
        if item not in kept:
            kept.append(item)
    return (kept * (count // len(kept) + 1))[:count] if kept else []


def _with_item(samples: list[Any], number: int, value: Any) -> Any:
    if not samples:
        return [value]
    return [value if position == number else item for position, item in enumerate(samples[0])]

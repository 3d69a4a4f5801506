"""Comparing types: the rules by which every payload of one type can be read with another.

An empty list of gaps is a proof. Types that refer to themselves are compared under the assumption that they fit; a
reason that they do not is found somewhere along the way or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any

from postroom.formats.jsonstructure.compat import ranges
from postroom.formats.jsonstructure.compat.differences import Gap, gap
from postroom.formats.jsonstructure.compat.objects_and_maps import compare_records, same_rules
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
from postroom.formats.work_budget import spend

_MOST_STEPS = 10_000
_MOST_ITEMS = 1000
_MOST_TRIED = 100
_CONTAINS = ("contains", "minContains", "maxContains")
Pairs = frozenset[tuple[int, int]]


class TooLarge(Exception):
    """The schemas unfold to more pairs of types than we compare."""


class Comparison:
    """Compares the types of two documents; `invent` makes JSON values of the writer, `accepts` asks the reader."""

    def __init__(self, invent: Callable[[Shape], list[Any]], accepts: Callable[[Shape, Any], bool]) -> None:
        self.invent = invent
        self._accepts = accepts
        self._steps = 0
        self._assumptions = 0
        # The types are kept with their identities, which are only theirs as long as they live.
        self._proven: dict[tuple[int, int], tuple[Shape, Shape]] = {}

    def gaps(self, writer: Shape, reader: Shape, assumed: Pairs = frozenset()) -> list[Gap]:
        """What keeps a type of the writer from being readable with one of the reader."""
        writer, reader = resolved(writer), resolved(reader)
        pair = (id(writer), id(reader))
        spend()
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooLarge
        if pair in self._proven or (isinstance(reader, Anything) and reader.values is None):
            return []
        if pair in assumed:
            self._assumptions += 1
            return []
        before = self._assumptions
        found = self._gaps(writer, reader, assumed | {pair})
        if not found and self._assumptions == before:
            # Proved without any assumption, so it holds wherever the pair comes up again.
            self._proven[pair] = (writer, reader)
        return found

    def _gaps(self, writer: Shape, reader: Shape, assumed: Pairs) -> list[Gap]:
        if isinstance(writer, Union):
            return [one for part in writer.alternatives for one in self.gaps(part, reader, assumed)]
        if isinstance(writer, Conditional) or isinstance(reader, Conditional):
            return self._conditional(writer, reader, assumed)
        if isinstance(reader, Union):
            return self._into_union(writer, reader, assumed)
        if isinstance(writer, Primitive) and isinstance(reader, Primitive):
            return ranges.compare(writer, reader, lambda value: self._accepts(reader, value))
        if isinstance(writer, Record | Mapping) and isinstance(reader, Record | Mapping):
            return compare_records(self, writer, reader, assumed)
        if isinstance(writer, Listing) and isinstance(reader, Listing):
            return self._listing(writer, reader, assumed)
        if isinstance(writer, Tuple) and isinstance(reader, Tuple | Listing):
            return self._tuple(writer, reader, assumed)
        if isinstance(writer, Choice) and isinstance(reader, Choice):
            return self._choice(writer, reader, assumed)
        return self.different("the types are of different kinds", writer, reader)

    def different(self, reason: str, writer: Shape, reader: Shape) -> list[Gap]:
        """A gap that any value of the writer may show."""
        edges = ranges.edges(writer) if isinstance(writer, Primitive) else []
        return gap(reason, writer, reader, [*edges, *self.invent(writer)])

    def _into_union(self, writer: Shape, reader: Union, assumed: Pairs) -> list[Gap]:
        found: list[Gap] = []
        for alternative in reader.alternatives:
            gaps = self.gaps(writer, alternative, assumed)
            if not gaps:
                return []
            found += gaps
        witnesses = islice((value for one in found for value in one.witnesses), _MOST_TRIED)
        values = [value for value in witnesses if not self._accepts(reader, value)]
        return gap("no alternative of the reader takes all that the writer allows", writer, reader, values)

    def _conditional(self, writer: Shape, reader: Shape, assumed: Pairs) -> list[Gap]:
        if isinstance(reader, Conditional):
            if not _same_conditions(writer, reader):
                return self.different("the reader has conditions of its own", writer, reader)
            if reader.base is None:
                return []
            reader = reader.base
        if isinstance(writer, Conditional):
            # Conditions only take away from a type, so its base is enough of a proof.
            if writer.base is None:
                parts = writer.any_of or writer.one_of
                if not parts:
                    return self.different("the writer's type is not known without its conditions", writer, reader)
                return [one for part in parts for one in self.gaps(part, reader, assumed)]
            writer = writer.base
        return self.gaps(writer, reader, assumed)

    def _listing(self, writer: Listing, reader: Listing, assumed: Pairs) -> list[Gap]:
        least = writer.rules.get("minItems", 0)

        def around(value: Any) -> Any:
            if writer.unique or not 1 < least <= _MOST_ITEMS:
                return [value]
            return [value] * least

        found = [one.around(around) for one in self.gaps(writer.items, reader.items, assumed)]
        if writer.rules.get("maxItems") == 0:
            found = []
        if reader.unique and not writer.unique and writer.rules.get("maxItems", 2) > 1:
            twice = [[value] * min(max(least, 2), _MOST_ITEMS) for value in self.invent(writer.items)]
            found += gap("the writer allows equal items", writer, reader, twice)
        found += self._counts(writer, reader, "minItems", "maxItems")
        if reader.contains is not None and not same_rules(writer, reader, _CONTAINS):
            found += self.different("the reader asks for certain items", writer, reader)
        return found

    def _counts(self, writer: Listing, reader: Listing, low: str, high: str) -> list[Gap]:
        least, most = writer.rules.get(low, 0), writer.rules.get(high)
        fewest, limit = reader.rules.get(low, 0), reader.rules.get(high)
        found: list[Gap] = []
        items = self.invent(writer.items) or [None]
        if least < fewest and least <= _MOST_ITEMS:
            found += gap("the writer allows fewer items", writer, reader, [_distinct(items, least)])
        elif least < fewest:
            found += gap("the writer allows fewer items", writer, reader)
        if limit is not None and (most is None or most > limit) and limit < _MOST_ITEMS:
            values = [[items[0]] * (limit + 1), _distinct(items, limit + 1)]
            found += gap("the writer allows more items", writer, reader, values)
        elif limit is not None and (most is None or most > limit):
            found += gap("the writer allows more items", writer, reader)
        return found

    def _tuple(self, writer: Tuple, reader: Tuple | Listing, assumed: Pairs) -> list[Gap]:
        if isinstance(reader, Listing):
            count = len(writer.members)
            within = reader.rules.get("minItems", 0) <= count <= reader.rules.get("maxItems", count)
            if not within or reader.unique or reader.contains is not None:
                return self.different("the reader's array asks for more than a tuple gives", writer, reader)
            readers = [reader.items] * count
        else:
            if len(writer.members) != len(reader.members):
                return gap("the tuples have different lengths", writer, reader, self.invent(writer))
            readers = [member for _, member in reader.members]
        found: list[Gap] = []
        for number, ((_, member), other) in enumerate(zip(writer.members, readers, strict=True)):
            inside = self.gaps(member, other, assumed)
            samples = self.invent(writer) if inside else []
            found += [one.around(partial(_with_item, samples, number)) for one in inside]
        return found

    def _choice(self, writer: Choice, reader: Choice, assumed: Pairs) -> list[Gap]:
        if writer.selector != reader.selector:
            return self.different("the choices are told apart in different ways", writer, reader)
        found: list[Gap] = []
        for name, choice in writer.choices.items():

            def around(value: Any, name: str = name) -> Any:
                if writer.selector is None:
                    return {name: value}
                return {**value, writer.selector: name} if isinstance(value, dict) else value

            if name in reader.choices and self._declares(choice, writer) != self._declares(
                reader.choices[name], reader
            ):
                # Only a variant that declares the selector checks its value.
                found += gap("the selector is declared in one schema only", writer, reader)
            elif name in reader.choices:
                found += [one.around(around) for one in self.gaps(choice, reader.choices[name], assumed)]
            else:
                values = [around(value) for value in self.invent(choice)]
                found += gap(f"the reader does not know the choice {name}", writer, reader, values)
        return found

    def _declares(self, variant: Shape, choice: Choice) -> bool:
        real = resolved(variant)
        return isinstance(real, Record) and choice.selector in real.members


def _same_conditions(writer: Shape, reader: Conditional) -> bool:
    # References may mean other things in the other document.
    return isinstance(writer, Conditional) and writer.source == reader.source and "$ref" not in repr(writer.source)


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

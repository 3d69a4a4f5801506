"""Comparison of objects and maps."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from postroom.formats.jsonstructure.compat.differences import TypeDifference, difference
from postroom.formats.jsonstructure.types import JsonAnyType, JsonMapType, JsonObjectType, JsonType, resolved

if TYPE_CHECKING:
    from postroom.formats.jsonstructure.compat.containment import Pairs, TypeComparison

_COUNTS = {"minProperties", "maxProperties"}
_AS_OBJECT = {
    "minEntries": "minProperties",
    "maxEntries": "maxProperties",
    "keyNames": "propertyNames",
    "patternKeys": "patternProperties",
}
_UNKNOWN_NAME = "x_unheard_of"


def compare_objects(
    comparison: TypeComparison,
    writer: JsonObjectType | JsonMapType,
    reader: JsonObjectType | JsonMapType,
    assumed: Pairs,
) -> list[TypeDifference]:
    """The differences of two objects or maps; a map is an object without members of its own."""
    return _Pair(
        comparison, _object(writer), _object(reader), assumed, partial(comparison.generate, writer)
    ).differences()


def same_rules(writer: JsonType, reader: JsonType, names: tuple[str, ...]) -> bool:
    """Whether rules are written alike in both schemas, without references that may mean different types."""
    pairs = [(writer.written.get(name), reader.written.get(name)) for name in names]
    return all(one == other for one, other in pairs) and "$ref" not in repr(pairs)


def _object(type_: JsonObjectType | JsonMapType) -> JsonObjectType:
    if isinstance(type_, JsonObjectType):
        return type_
    rules = {_AS_OBJECT.get(name, name): value for name, value in type_.rules.items()}
    written = {_AS_OBJECT.get(name, name): value for name, value in type_.written.items()}
    return JsonObjectType(at=type_.at, rules=rules, written=written, members={}, extra=type_.values)


class _Pair:
    def __init__(
        self,
        comparison: TypeComparison,
        writer: JsonObjectType,
        reader: JsonObjectType,
        assumed: Pairs,
        generate: Callable[[], list[Any]],
    ) -> None:
        self._comparison = comparison
        self._writer = writer
        self._reader = reader
        self._assumed = assumed
        self._generate = generate

    @cached_property
    def _samples(self) -> list[Any]:
        # The shortest first: they lack what is optional. Made only where a difference needs them.
        return sorted((one for one in self._generate() if isinstance(one, dict)), key=len)

    def differences(self) -> list[TypeDifference]:
        found = [*self._required(), *self._members(), *self._extra()]
        found += [*self._alternatives(), *self._counts(), *self._rules()]
        return found

    def _with(self, name: str, value: Any) -> Any:
        return {**(self._samples[0] if self._samples else {}), name: value}

    def _required(self) -> list[TypeDifference]:
        writer, reader = self._writer, self._reader
        found: list[TypeDifference] = []
        for name in sorted(reader.required - writer.required):
            values = [{key: item for key, item in one.items() if key != name} for one in self._samples[:3]]
            found += difference(f"the reader requires {name}", writer, reader, values)
        return found

    def _members(self) -> list[TypeDifference]:
        """Members that the reader knows."""
        found: list[TypeDifference] = []
        for name, member in self._reader.members.items():
            written = self._writer.members.get(name, self._written_extra())
            # A schema that is silent about other members is taken to write none.
            if written is not None:
                found += self._inside(name, written, member)
        return found

    def _extra(self) -> list[TypeDifference]:
        """Members that only the writer knows, and those that neither does."""
        writer, reader = self._writer, self._reader
        if reader.extra is None or reader.extra is True:
            return []
        found: list[TypeDifference] = []
        unknown = {name: member for name, member in writer.members.items() if name not in reader.members}
        extra = self._written_extra()
        if extra is not None:
            unknown[_UNKNOWN_NAME] = extra
        for name, member in unknown.items():
            if isinstance(reader.extra, JsonType):
                found += self._inside(name, member, reader.extra)
            else:
                values = [self._with(name, value) for value in self._comparison.generate(member)]
                found += difference(f"the reader allows no member {name}", writer, reader, values)
        return found

    def _written_extra(self) -> JsonType | None:
        if self._writer.extra is True:
            return JsonAnyType(at=self._writer.at)
        return self._writer.extra or None

    def _inside(self, name: str, written: JsonType, read: JsonType) -> list[TypeDifference]:
        if isinstance(resolved(written), JsonAnyType) and isinstance(resolved(read), JsonAnyType):
            return self._comparison.differences(written, read, self._assumed)
        differences = self._comparison.differences(written, read, self._assumed)
        return [one.around(lambda value: self._with(name, value)) for one in differences]

    def _alternatives(self) -> list[TypeDifference]:
        known = {frozenset(group) for group in self._writer.alternatives}
        for group in self._reader.alternatives:
            if frozenset(group) not in known:
                return difference(
                    "the reader has alternative sets of members", self._writer, self._reader, self._samples
                )
        return []

    def _counts(self) -> list[TypeDifference]:
        writer, reader = self._writer, self._reader
        found: list[TypeDifference] = []
        least = max(writer.rules.get("minProperties", 0), len(writer.required))
        if least < reader.rules.get("minProperties", 0):
            found += difference("the writer allows fewer members", writer, reader, self._samples[:3])
        limit = reader.rules.get("maxProperties")
        closed = writer.extra is None or writer.extra is False
        most = writer.rules.get("maxProperties", len(writer.members) if closed else None)
        if limit is not None and (most is None or most > limit):
            values = [*self._samples[-3:], *self._many(limit + 1)]
            found += difference("the writer allows more members", writer, reader, values)
        return found

    def _many(self, count: int) -> list[Any]:
        extra = self._written_extra()
        values = self._comparison.generate(extra) if extra is not None else []
        return [{f"{_UNKNOWN_NAME}{number}": values[0] for number in range(count)}] if values and count < 1000 else []

    def _rules(self) -> list[TypeDifference]:
        for name in self._reader.rules.keys() - _COUNTS:
            if same_rules(self._writer, self._reader, (name,)):
                continue
            values = [*self._samples, *self._many(1)]
            return difference(f"the reader has the rule {name}", self._writer, self._reader, values)
        return []

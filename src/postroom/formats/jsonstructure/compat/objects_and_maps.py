"""Comparing objects and maps."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from postroom.formats.jsonstructure.compat.differences import Gap, gap
from postroom.formats.jsonstructure.types import Anything, Mapping, Record, Shape, resolved

if TYPE_CHECKING:
    from postroom.formats.jsonstructure.compat.containment import Comparison, Pairs

_COUNTS = {"minProperties", "maxProperties"}
_AS_RECORD = {
    "minEntries": "minProperties",
    "maxEntries": "maxProperties",
    "keyNames": "propertyNames",
    "patternKeys": "patternProperties",
}
_UNHEARD_OF = "x_unheard_of"


def compare_records(
    comparison: Comparison, writer: Record | Mapping, reader: Record | Mapping, assumed: Pairs
) -> list[Gap]:
    """The gaps between two objects or maps; a map is an object without members of its own."""
    return _Pair(comparison, _record(writer), _record(reader), assumed, partial(comparison.invent, writer)).gaps()


def same_rules(writer: Shape, reader: Shape, names: tuple[str, ...]) -> bool:
    """Whether rules are written alike in both schemas, without references that may mean different types."""
    pairs = [(writer.written.get(name), reader.written.get(name)) for name in names]
    return all(one == other for one, other in pairs) and "$ref" not in repr(pairs)


def _record(shape: Record | Mapping) -> Record:
    if isinstance(shape, Record):
        return shape
    rules = {_AS_RECORD.get(name, name): value for name, value in shape.rules.items()}
    written = {_AS_RECORD.get(name, name): value for name, value in shape.written.items()}
    return Record(at=shape.at, rules=rules, written=written, members={}, extra=shape.values)


class _Pair:
    def __init__(
        self,
        comparison: Comparison,
        writer: Record,
        reader: Record,
        assumed: Pairs,
        invent: Callable[[], list[Any]],
    ) -> None:
        self._comparison = comparison
        self._writer = writer
        self._reader = reader
        self._assumed = assumed
        self._invent = invent

    @cached_property
    def _samples(self) -> list[Any]:
        # The shortest first: they lack what is optional. Made only where a gap asks for them.
        return sorted((one for one in self._invent() if isinstance(one, dict)), key=len)

    def gaps(self) -> list[Gap]:
        found = [*self._required(), *self._members(), *self._extra()]
        found += [*self._alternatives(), *self._counts(), *self._rules()]
        return found

    def _with(self, name: str, value: Any) -> Any:
        return {**(self._samples[0] if self._samples else {}), name: value}

    def _required(self) -> list[Gap]:
        writer, reader = self._writer, self._reader
        found: list[Gap] = []
        for name in sorted(reader.required - writer.required):
            values = [{key: item for key, item in one.items() if key != name} for one in self._samples[:3]]
            found += gap(f"the reader requires {name}", writer, reader, values)
        return found

    def _members(self) -> list[Gap]:
        """Members that the reader knows."""
        found: list[Gap] = []
        for name, member in self._reader.members.items():
            written = self._writer.members.get(name, self._written_extra())
            # A schema that is silent about other members is taken to write none.
            if written is not None:
                found += self._inside(name, written, member)
        return found

    def _extra(self) -> list[Gap]:
        """Members that only the writer knows, and those that neither does."""
        writer, reader = self._writer, self._reader
        if reader.extra is None or reader.extra is True:
            return []
        found: list[Gap] = []
        unknown = {name: member for name, member in writer.members.items() if name not in reader.members}
        extra = self._written_extra()
        if extra is not None:
            unknown[_UNHEARD_OF] = extra
        for name, member in unknown.items():
            if isinstance(reader.extra, Shape):
                found += self._inside(name, member, reader.extra)
            else:
                values = [self._with(name, value) for value in self._comparison.invent(member)]
                found += gap(f"the reader allows no member {name}", writer, reader, values)
        return found

    def _written_extra(self) -> Shape | None:
        if self._writer.extra is True:
            return Anything(at=self._writer.at)
        return self._writer.extra or None

    def _inside(self, name: str, written: Shape, read: Shape) -> list[Gap]:
        if isinstance(resolved(written), Anything) and isinstance(resolved(read), Anything):
            return self._comparison.gaps(written, read, self._assumed)
        gaps = self._comparison.gaps(written, read, self._assumed)
        return [one.around(lambda value: self._with(name, value)) for one in gaps]

    def _alternatives(self) -> list[Gap]:
        known = {frozenset(group) for group in self._writer.alternatives}
        for group in self._reader.alternatives:
            if frozenset(group) not in known:
                return gap("the reader has alternative sets of members", self._writer, self._reader, self._samples)
        return []

    def _counts(self) -> list[Gap]:
        writer, reader = self._writer, self._reader
        found: list[Gap] = []
        least = max(writer.rules.get("minProperties", 0), len(writer.required))
        if least < reader.rules.get("minProperties", 0):
            found += gap("the writer allows fewer members", writer, reader, self._samples[:3])
        limit = reader.rules.get("maxProperties")
        closed = writer.extra is None or writer.extra is False
        most = writer.rules.get("maxProperties", len(writer.members) if closed else None)
        if limit is not None and (most is None or most > limit):
            values = [*self._samples[-3:], *self._many(limit + 1)]
            found += gap("the writer allows more members", writer, reader, values)
        return found

    def _many(self, count: int) -> list[Any]:
        extra = self._written_extra()
        values = self._comparison.invent(extra) if extra is not None else []
        return [{f"{_UNHEARD_OF}{number}": values[0] for number in range(count)}] if values and count < 1000 else []

    def _rules(self) -> list[Gap]:
        for name in self._reader.rules.keys() - _COUNTS:
            if same_rules(self._writer, self._reader, (name,)):
                continue
            values = [*self._samples, *self._many(1)]
            return gap(f"the reader has the rule {name}", self._writer, self._reader, values)
        return []

"""Schema resolution: where a writer's type and a reader's type do not go together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from postroom.formats.avro.logical_types import is_same_logical_type
from postroom.formats.avro.samples import Step
from postroom.formats.avro.types import (
    NO_DEFAULT,
    ArrayType,
    AvroType,
    EnumType,
    FixedType,
    MapType,
    PrimitiveType,
    RecordField,
    RecordType,
    UnionType,
    branch_name,
    simple_name,
)
from postroom.formats.work_budget import spend

_MOST_NAMED = 20
# What a reader's primitive type reads beside itself.
PROMOTED = {
    "long": ("int",),
    "float": ("int", "long"),
    "double": ("int", "long", "float"),
    "string": ("bytes",),
    "bytes": ("string",),
}


@dataclass(frozen=True)
class Mismatch:
    """A pair of types where resolution fails, with the steps in the writer's values that lead to it.

    An undecided one is where the specification and its implementations disagree.
    """

    reason: str
    writer_at: str
    reader_at: str
    steps: tuple[Step, ...] = ()
    is_undecided: bool = False

    def below(self, step: Step) -> Mismatch:
        """The mismatch as seen from the container."""
        return replace(self, steps=(step, *self.steps))


class Resolution:
    """Compares pairs of types, each once."""

    def __init__(self) -> None:
        # Pairs that go together, or are assumed to while they are being compared: a record may contain itself.
        self._fitting: dict[tuple[int, int], None] = {}
        self._failing: dict[tuple[int, int], Mismatch] = {}
        self._named: dict[int, dict[str, list[AvroType]]] = {}

    def mismatch(self, writer: AvroType, reader: AvroType) -> Mismatch | None:
        """Why values of the writer's type cannot all be read with the reader's; None when they can."""
        pair = (id(writer), id(reader))
        if pair in self._fitting:
            return None
        if pair in self._failing:
            return self._failing[pair]
        spend()
        before = len(self._fitting)
        self._fitting[pair] = None
        found = self._compare(writer, reader)
        if found is not None:
            # What was concluded from the assumption goes with it.
            while len(self._fitting) > before:
                self._fitting.popitem()
            self._failing[pair] = found
        return found

    def _compare(self, writer: AvroType, reader: AvroType) -> Mismatch | None:
        if isinstance(writer, UnionType):
            return _worst(_below(self.mismatch(branch, reader), index) for index, branch in enumerate(writer.branches))
        if isinstance(reader, UnionType):
            return self._into_union(writer, reader)
        if isinstance(writer, RecordType) and isinstance(reader, RecordType):
            return _names(writer, reader) or self._records(writer, reader)
        if isinstance(writer, ArrayType) and isinstance(reader, ArrayType):
            return _below(self.mismatch(writer.items, reader.items), 0)
        if isinstance(writer, MapType) and isinstance(reader, MapType):
            return _below(self.mismatch(writer.values, reader.values), 0)
        if isinstance(writer, EnumType) and isinstance(reader, EnumType):
            return _names(writer, reader) or _symbols(writer, reader)
        if isinstance(writer, FixedType) and isinstance(reader, FixedType):
            return _names(writer, reader) or _sizes(writer, reader) or _meanings(writer, reader)
        if isinstance(writer, PrimitiveType) and isinstance(reader, PrimitiveType):
            return _primitives(writer, reader) or _meanings(writer, reader)
        return _different(writer, reader)

    def _into_union(self, writer: AvroType, reader: UnionType) -> Mismatch | None:
        found = []
        for branch in self._candidates(writer, reader):
            mismatch = self.mismatch(writer, branch)
            if mismatch is None:
                return None
            found.append((branch, mismatch))
        undecided = [mismatch for _, mismatch in found if mismatch.is_undecided]
        # A branch of the same name was meant; why that one fails says more than that none fits.
        alike = [m for branch, m in found if branch.type_name == writer.type_name and same_name(writer, branch)]
        if undecided or alike:
            return (undecided or alike)[0]
        names = ", ".join(map(branch_name, reader.branches[:_MOST_NAMED])) or "none"
        names += ", …" if len(reader.branches) > _MOST_NAMED else ""
        return Mismatch(f"no branch of the reader's union ({names}) reads {branch_name(writer)}.", writer.at, reader.at)

    def _candidates(self, writer: AvroType, reader: UnionType) -> list[AvroType]:
        """The branches that could read a type: for one with a name, those of the same name."""
        if id(reader) not in self._named:
            self._named[id(reader)] = _by_name(reader)
        named = self._named[id(reader)]
        if not isinstance(writer, RecordType | EnumType | FixedType):
            return named.get("", [])
        found = [*named.get(simple_name(writer.name), ()), *named.get(f"={writer.name}", ())]
        return [branch for branch in found if branch.type_name == writer.type_name]

    def _records(self, writer: RecordType, reader: RecordType) -> Mismatch | None:
        found = matching_fields(writer, reader)
        return _worst(self._field(writer, found.get(field.name), field) for field in reader.fields)

    def _field(self, writer: RecordType, source: RecordField | None, field: RecordField) -> Mismatch | None:
        spend()
        if source is not None:
            return _below(self.mismatch(source.type, field.type), source.name)
        if field.default is not NO_DEFAULT:
            return None
        reason = f"the reader's field {field.name!r} has no default, and the writer has no such field."
        return Mismatch(reason, writer.at, field.at)


def _by_name(union: UnionType) -> dict[str, list[AvroType]]:
    """The branches by their unqualified names, and by `=` and their aliases; those without a name under ""."""
    found: dict[str, list[AvroType]] = {}
    for branch in union.branches:
        if not isinstance(branch, RecordType | EnumType | FixedType):
            found.setdefault("", []).append(branch)
            continue
        found.setdefault(simple_name(branch.name), []).append(branch)
        for alias in branch.aliases:
            found.setdefault(f"={alias}", []).append(branch)
    return found


def matching_fields(writer: RecordType, reader: RecordType) -> dict[str, RecordField]:
    """The writer's fields by the names of the reader's fields that they fill: those of the same name, and for a field
    whose name the writer does not have, the first of its aliases that fills no other."""
    written = {field.name: field for field in writer.fields}
    found = {field.name: written[field.name] for field in reader.fields if field.name in written}
    taken = set(found)
    for field in reader.fields:
        alias = next((alias for alias in field.aliases if alias in written and alias not in taken), None)
        if field.name not in found and alias is not None:
            found[field.name] = written[alias]
            taken.add(alias)
    return found


def _worst(mismatches: Iterable[Mismatch | None]) -> Mismatch | None:
    """The first certain mismatch, else the first undecided one."""
    undecided: Mismatch | None = None
    for mismatch in mismatches:
        if mismatch is not None and not mismatch.is_undecided:
            return mismatch
        undecided = undecided or mismatch
    return undecided


def _below(mismatch: Mismatch | None, step: Step) -> Mismatch | None:
    return None if mismatch is None else mismatch.below(step)


def same_name(writer: Any, reader: Any) -> bool:
    """Whether two types of one kind may be called as they are; those without a name may."""
    # Namespaces may differ: the specification compares unqualified names.
    if not isinstance(writer, RecordType | EnumType | FixedType):
        return True
    return simple_name(writer.name) == simple_name(reader.name) or writer.name in reader.aliases


def _names(writer: RecordType | EnumType | FixedType, reader: RecordType | EnumType | FixedType) -> Mismatch | None:
    if same_name(writer, reader):
        return None
    reason = f"the writer's {writer.type_name} is called {writer.name!r}, the reader's {reader.name!r}."
    return Mismatch(reason, writer.at, reader.at)


def _symbols(writer: EnumType, reader: EnumType) -> Mismatch | None:
    missing = next((symbol for symbol in writer.symbols if symbol not in reader.numbers), None)
    if missing is None or reader.default is not None:
        return None
    reason = f"the reader's enum has no symbol {missing!r} and no default."
    return Mismatch(reason, f"{writer.at}/symbols/{writer.symbols.index(missing)}", reader.at, (missing,))


def _sizes(writer: FixedType, reader: FixedType) -> Mismatch | None:
    if writer.size == reader.size:
        return None
    reason = f"the writer's {writer.name!r} has {writer.size} bytes, the reader's {reader.size}."
    return Mismatch(reason, writer.at, reader.at)


def _primitives(writer: PrimitiveType, reader: PrimitiveType) -> Mismatch | None:
    if writer.type_name == reader.type_name or writer.type_name in PROMOTED.get(reader.type_name, ()):
        return None
    return _different(writer, reader)


def _meanings(writer: PrimitiveType | FixedType, reader: PrimitiveType | FixedType) -> Mismatch | None:
    """Logical types that do not mean the same. The specification speaks of decimals only, and implementations read the
    plain value as the reader's type says: a number of days as one of milliseconds."""
    first, second = writer.logical, reader.logical
    if first is None or second is None or is_same_logical_type(first, second):
        return None
    if first.name == second.name:
        reason = (
            f"the writer's decimal has precision {first.precision} and scale {first.scale}, the reader's "
            f"{second.precision} and {second.scale}: the specification does not let them match, but implementations do."
        )
    else:
        reason = f"the writer's {first.name} is not the reader's {second.name}, though both are written alike."
    return Mismatch(reason, writer.at, reader.at, is_undecided=True)


def _different(writer: AvroType, reader: AvroType) -> Mismatch:
    reason = f"the reader's {branch_name(reader)} does not read the writer's {branch_name(writer)}."
    return Mismatch(reason, writer.at, reader.at)

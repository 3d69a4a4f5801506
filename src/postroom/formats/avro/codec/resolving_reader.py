"""Reading with another schema: what one schema wrote, as values of the other.

A pair of types is turned once into a function, as in `reading`. Which type of the reader a writer's type goes to is
said by the specification (Schema Resolution); where they do not go together, the function raises once it is called, for
a payload need not come there. Logical types are those of the reader.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from postroom.errors import SchemaRefused
from postroom.formats.avro.codec.binary_reader import (
    Compiler,
    Read,
    array_reader,
    cut_off,
    enum_reader,
    guarded,
    map_reader,
    meaning_reader,
    plain_reader,
    shallow,
    union_reader,
)
from postroom.formats.avro.compat.resolution_rules import PROMOTED, same_name, sources
from postroom.formats.avro.defaults import value_of
from postroom.formats.avro.logical_types import meaning, meaning_of_other, means_same
from postroom.formats.avro.min_size import most_members
from postroom.formats.avro.types import (
    NO_DEFAULT,
    Array,
    AvroType,
    Enum,
    Field,
    Fixed,
    Map,
    Primitive,
    Record,
    Union,
    branch_name,
)
from postroom.formats.avro.value_errors import Misfit

# Pairs of records, all of them together: two schemas of a hundred records each that all lie in each other.
_MOST_PAIRS = 10_000


def resolving_reader(writer: AvroType, reader: AvroType) -> Read:
    """The function that reads what was written with one type as the other; it raises nothing but Misfit.

    SchemaRefused for schemas that are too large for each other.
    """
    return guarded(writer, _Compiler().read(writer, reader))


class _Compiler:
    def __init__(self) -> None:
        self._records: dict[tuple[int, int], Read] = {}
        self._skipping = Compiler(means=False)

    def read(self, writer: AvroType, reader: AvroType) -> Read:
        if isinstance(writer, Union):
            return union_reader(writer, [self.read(branch, reader) for branch in writer.branches])
        if isinstance(reader, Union):
            branch = _branch(writer, reader)
            return _never(writer, reader) if branch is None else self.read(writer, branch)
        if not _matches(writer, reader):
            return _never(writer, reader)
        if isinstance(writer, Record) and isinstance(reader, Record):
            return self._record(writer, reader)
        if isinstance(writer, Enum) and isinstance(reader, Enum):
            return _enum(writer, reader)
        if isinstance(writer, Array) and isinstance(reader, Array):
            return array_reader(writer, self.read(writer.items, reader.items))
        if isinstance(writer, Map) and isinstance(reader, Map):
            return map_reader(writer, self.read(writer.values, reader.values))
        return _plain(writer, reader)

    def _record(self, writer: Record, reader: Record) -> Read:
        pair = (id(writer), id(reader))
        if pair in self._records:
            return self._records[pair]
        if len(self._records) >= _MOST_PAIRS:
            raise SchemaRefused(f"reading one with the other takes more than {_MOST_PAIRS:,} pairs of records.")
        found = sources(writer, reader)
        missing = [field for field in reader.fields if field.name not in found]
        lacking = next((field for field in missing if field.default is NO_DEFAULT), None)
        if lacking is not None:
            expected = f"{branch_name(reader)}, whose {lacking.name!r} has no default"
            return _failing(expected, f"{branch_name(writer)} without {lacking.name!r}")
        fields: list[tuple[Field, str | None, Read]] = []
        read = _record_reader(fields, _defaults(missing, writer), [field.name for field in reader.fields])
        self._records[pair] = read = shallow(writer, read)
        targets = {source.name: name for name, source in found.items()}
        types = {field.name: field.type for field in reader.fields}
        for field in writer.fields:
            name = targets.get(field.name)
            # What the reader does not have is read all the same, to get behind it.
            inner = self._skipping.read(field.type) if name is None else self.read(field.type, types[name])
            fields.append((field, name, inner))
        return read


def _defaults(fields: list[Field], writer: Record) -> dict[str, Any]:
    """The values of fields that a writer does not have, few enough for the bytes of its records."""
    budget = [most_members(writer.least)]
    try:
        return {field.name: value_of(field.default, field.type, budget) for field in fields}
    except (Misfit, OverflowError, RecursionError) as error:
        names = ", ".join(field.name for field in fields)
        raise SchemaRefused(f"a default stands for no value ({names}): {error}.", place=writer.at) from None


def _record_reader(fields: list[tuple[Field, str | None, Read]], defaults: dict[str, Any], names: list[str]) -> Read:
    def read_record(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        values = defaults.copy()
        for source, name, read in fields:
            try:
                value, position = read(buffer, position, depth)
            except Misfit as misfit:
                misfit.steps.append(source.name)
                raise
            except (IndexError, struct.error):
                raise cut_off(source.type, source.name) from None
            if name is not None:
                values[name] = value
        # In the reader's order, as if it had been written with that schema: some parts become JSON text.
        return {name: values[name] for name in names}, position

    return read_record


def _enum(writer: Enum, reader: Enum) -> Read:
    found = [symbol if symbol in reader.numbers else reader.default for symbol in writer.symbols]
    read = enum_reader(writer, found)
    if None not in found:
        return read
    numbers = enum_reader(writer, range(len(found)))

    def read_known(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        symbol, end = read(buffer, position, depth)
        if symbol is None:
            unknown = writer.symbols[numbers(buffer, position, depth)[0]]
            expected = f"{branch_name(reader)}, which has no such symbol and no default"
            raise Misfit("payload_resolution", expected, f"the symbol {unknown!r}")
        return symbol, end

    return read_known


def _plain(writer: AvroType, reader: AvroType) -> Read:
    if not isinstance(writer, Primitive | Fixed) or not isinstance(reader, Primitive | Fixed):
        raise TypeError(f"no way to read {writer!r}")
    read = plain_reader(writer)
    promote = _PROMOTIONS.get((writer.kind, reader.kind))
    if promote is not None:
        read = meaning_reader(read, promote)
    if reader.logical is None:
        return read
    if writer.logical is None:
        return meaning_reader(read, meaning(reader.logical, reader.kind))
    if not means_same(writer.logical, reader.logical):
        return _failing(_logical_name(reader), _logical_name(writer))
    return meaning_reader(read, meaning_of_other(writer.logical, writer.kind, reader.logical, reader.kind))


def _branch(writer: AvroType, reader: Union) -> AvroType | None:
    """The first type of a union that matches; before others of its simple name, the one of its full name."""
    found = [branch for branch in reader.branches if _matches(writer, branch)]
    if isinstance(writer, Record | Enum | Fixed):
        found.sort(key=lambda branch: branch_name(branch) != writer.name)
    return found[0] if found else None


def _matches(writer: AvroType, reader: AvroType) -> bool:
    """Whether types match by what the specification asks of them before it looks inside."""
    if isinstance(writer, Union) or isinstance(reader, Union):
        return True
    if isinstance(writer, Array) and isinstance(reader, Array):
        return _matches(writer.items, reader.items)
    if isinstance(writer, Map) and isinstance(reader, Map):
        return _matches(writer.values, reader.values)
    if isinstance(writer, Fixed) and isinstance(reader, Fixed) and writer.size != reader.size:
        return False
    if isinstance(writer, Primitive) and isinstance(reader, Primitive):
        return writer.kind == reader.kind or writer.kind in PROMOTED.get(reader.kind, ())
    return writer.kind == reader.kind and same_name(writer, reader)


def _never(writer: AvroType, reader: AvroType) -> Read:
    return _failing(_shown(reader), _shown(writer))


def _failing(expected: str, found: str) -> Read:
    def fail(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        raise Misfit("payload_resolution", expected, found)

    return fail


def _shown(kind: AvroType) -> str:
    if isinstance(kind, Union):
        return f"one of {', '.join(map(branch_name, kind.branches)) or 'no types'}"
    size = f" of {kind.size} bytes" if isinstance(kind, Fixed) else ""
    return f"{kind.kind} {kind.name}{size}" if isinstance(kind, Record | Enum | Fixed) else kind.kind


def _logical_name(kind: Primitive | Fixed) -> str:
    logical = kind.logical
    if logical is None or logical.name != "decimal":
        return logical.name if logical is not None else kind.kind
    return f"a decimal of precision {logical.precision} and scale {logical.scale}"


def _text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        found = f"bytes that are not UTF-8 ({raw[error.start]:#04x} at {error.start})"
        raise Misfit("payload_utf8", "text", found) from None


_PROMOTIONS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("int", "float"): float,
    ("int", "double"): float,
    ("long", "float"): float,
    ("long", "double"): float,
    ("bytes", "string"): _text,
    ("string", "bytes"): str.encode,
}

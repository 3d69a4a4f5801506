"""Readers that resolve: what one schema wrote, as values of another.

A pair of types is compiled once to a function, as in `binary_reader`. Which type of the reader a writer's type resolves
to is said by the specification (Schema Resolution); where none does, the function raises when it is called, for a
payload need not come there. Logical types are those of the reader.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from postroom.errors import SchemaRefused
from postroom.formats.avro import types
from postroom.formats.avro.codec import binary_reader
from postroom.formats.avro.compat.resolution_rules import PROMOTED, matching_fields, same_name
from postroom.formats.avro.defaults import default_value
from postroom.formats.avro.logical_types import is_same_logical_type, logical_decoder, resolved_decoder
from postroom.formats.avro.min_size import max_members
from postroom.formats.avro.value_errors import Misfit

# Pairs of records, all of them together: two schemas of a hundred records each that all lie in each other.
_MOST_PAIRS = 10_000


def resolving_reader(writer: types.AvroType, reader: types.AvroType) -> binary_reader.Read:
    """Compile the function that reads what was written with one type as the other; it raises nothing but Misfit.

    SchemaRefused for schemas that are too large for each other.
    """
    return binary_reader.guarded(writer, _ResolvingReaderCompiler().read(writer, reader))


def resolving_part(writer: types.AvroType, reader: types.AvroType) -> binary_reader.Read:
    """Compile the function that reads a part of a payload so; what it raises is for its caller to understand."""
    return _ResolvingReaderCompiler().read(writer, reader)


def skipping_reader(writer: types.AvroType) -> binary_reader.Read:
    """Compile the function that reads what a writer wrote and nobody wants."""
    return binary_reader.ReaderCompiler(logical=False).read(writer)


class _ResolvingReaderCompiler:
    def __init__(self) -> None:
        self._records: dict[tuple[int, int], binary_reader.Read] = {}
        self._skipping = binary_reader.ReaderCompiler(logical=False)

    def read(self, writer: types.AvroType, reader: types.AvroType) -> binary_reader.Read:
        if isinstance(writer, types.UnionType):
            return binary_reader.union_reader(writer, [self.read(branch, reader) for branch in writer.branches])
        if isinstance(reader, types.UnionType):
            branch = _branch(writer, reader)
            return _never(writer, reader) if branch is None else self.read(writer, branch)
        if not _matches(writer, reader):
            return _never(writer, reader)
        if isinstance(writer, types.RecordType) and isinstance(reader, types.RecordType):
            return self._record(writer, reader)
        if isinstance(writer, types.EnumType) and isinstance(reader, types.EnumType):
            return _enum(writer, reader)
        if isinstance(writer, types.ArrayType) and isinstance(reader, types.ArrayType):
            return binary_reader.array_reader(writer, self.read(writer.items, reader.items))
        if isinstance(writer, types.MapType) and isinstance(reader, types.MapType):
            return binary_reader.map_reader(writer, self.read(writer.values, reader.values))
        return _plain(writer, reader)

    def _record(self, writer: types.RecordType, reader: types.RecordType) -> binary_reader.Read:
        pair = (id(writer), id(reader))
        if pair in self._records:
            return self._records[pair]
        if len(self._records) >= _MOST_PAIRS:
            raise SchemaRefused(f"reading one with the other takes more than {_MOST_PAIRS:,} pairs of records.")
        found = matching_fields(writer, reader)
        missing = [field for field in reader.fields if field.name not in found]
        lacking = next((field for field in missing if field.default is types.NO_DEFAULT), None)
        if lacking is not None:
            expected = f"{types.branch_name(reader)}, whose {lacking.name!r} has no default"
            return _failing(expected, f"{types.branch_name(writer)} without {lacking.name!r}")
        fields: list[tuple[types.RecordField, str | None, binary_reader.Read]] = []
        read = _record_reader(fields, default_values(missing, writer), [field.name for field in reader.fields])
        self._records[pair] = read = binary_reader.limit_depth(writer, read)
        targets = {source.name: name for name, source in found.items()}
        reader_types = {field.name: field.type for field in reader.fields}
        for field in writer.fields:
            name = targets.get(field.name)
            # What the reader does not have is read all the same, to get behind it.
            inner = self._skipping.read(field.type) if name is None else self.read(field.type, reader_types[name])
            fields.append((field, name, inner))
        return read


def default_values(fields: list[types.RecordField], writer: types.RecordType) -> dict[str, Any]:
    """The values of fields that a writer does not have, few enough for the bytes of its records."""
    budget = [max_members(writer.least)]
    try:
        return {field.name: default_value(field.default, field.type, budget) for field in fields}
    except (Misfit, OverflowError, RecursionError) as error:
        names = ", ".join(field.name for field in fields)
        raise SchemaRefused(f"a default stands for no value ({names}): {error}.", place=writer.at) from None


def _record_reader(
    fields: list[tuple[types.RecordField, str | None, binary_reader.Read]], defaults: dict[str, Any], names: list[str]
) -> binary_reader.Read:
    def read_record(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        values = defaults.copy()
        for source, name, read in fields:
            try:
                value, position = read(buffer, position, depth)
            except Misfit as misfit:
                misfit.steps.append(source.name)
                raise
            except (IndexError, struct.error):
                raise binary_reader.truncated(source.type, source.name) from None
            if name is not None:
                values[name] = value
        # In the reader's order, as if it had been written with that schema: some parts become JSON text.
        return {name: values[name] for name in names}, position

    return read_record


def _enum(writer: types.EnumType, reader: types.EnumType) -> binary_reader.Read:
    found = [symbol if symbol in reader.numbers else reader.default for symbol in writer.symbols]
    read = binary_reader.enum_reader(writer, found)
    if None not in found:
        return read
    numbers = binary_reader.enum_reader(writer, range(len(found)))

    def read_known(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        symbol, end = read(buffer, position, depth)
        if symbol is None:
            unknown = writer.symbols[numbers(buffer, position, depth)[0]]
            expected = f"{types.branch_name(reader)}, which has no such symbol and no default"
            raise Misfit("payload_resolution", expected, f"the symbol {unknown!r}")
        return symbol, end

    return read_known


def _plain(writer: types.AvroType, reader: types.AvroType) -> binary_reader.Read:
    if not isinstance(writer, types.PrimitiveType | types.FixedType) or not isinstance(
        reader, types.PrimitiveType | types.FixedType
    ):
        raise TypeError(f"there is no reader for {writer!r}")
    read = binary_reader.plain_reader(writer)
    promote = _PROMOTIONS.get((writer.type_name, reader.type_name))
    if promote is not None:
        read = binary_reader.converting_reader(read, promote)
    if reader.logical is None:
        return read
    if writer.logical is None:
        return binary_reader.converting_reader(read, logical_decoder(reader.logical, reader.type_name))
    if not is_same_logical_type(writer.logical, reader.logical):
        return _failing(_logical_name(reader), _logical_name(writer))
    return binary_reader.converting_reader(
        read, resolved_decoder(writer.logical, writer.type_name, reader.logical, reader.type_name)
    )


def _branch(writer: types.AvroType, reader: types.UnionType) -> types.AvroType | None:
    """The first type of a union that matches; before others of its simple name, the one of its full name."""
    found = [branch for branch in reader.branches if _matches(writer, branch)]
    if isinstance(writer, types.RecordType | types.EnumType | types.FixedType):
        found.sort(key=lambda branch: types.branch_name(branch) != writer.name)
    return found[0] if found else None


def _matches(writer: types.AvroType, reader: types.AvroType) -> bool:
    """Whether types match by what the specification asks of them before it looks inside."""
    if isinstance(writer, types.UnionType) or isinstance(reader, types.UnionType):
        return True
    if isinstance(writer, types.ArrayType) and isinstance(reader, types.ArrayType):
        return _matches(writer.items, reader.items)
    if isinstance(writer, types.MapType) and isinstance(reader, types.MapType):
        return _matches(writer.values, reader.values)
    if isinstance(writer, types.FixedType) and isinstance(reader, types.FixedType) and writer.size != reader.size:
        return False
    if isinstance(writer, types.PrimitiveType) and isinstance(reader, types.PrimitiveType):
        return writer.type_name == reader.type_name or writer.type_name in PROMOTED.get(reader.type_name, ())
    return writer.type_name == reader.type_name and same_name(writer, reader)


def _never(writer: types.AvroType, reader: types.AvroType) -> binary_reader.Read:
    return _failing(_describe(reader), _describe(writer))


def _failing(expected: str, found: str) -> binary_reader.Read:
    def fail(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        raise Misfit("payload_resolution", expected, found)

    return fail


def _describe(schema: types.AvroType) -> str:
    if isinstance(schema, types.UnionType):
        return f"one of {', '.join(map(types.branch_name, schema.branches)) or 'no types'}"
    size = f" of {schema.size} bytes" if isinstance(schema, types.FixedType) else ""
    return (
        f"{schema.type_name} {schema.name}{size}"
        if isinstance(schema, types.RecordType | types.EnumType | types.FixedType)
        else schema.type_name
    )


def _logical_name(schema: types.PrimitiveType | types.FixedType) -> str:
    logical = schema.logical
    if logical is None or logical.name != "decimal":
        return logical.name if logical is not None else schema.type_name
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

"""Readers of the binary encoding: each type is compiled once to the function that reads it.

fastavro is not used, because it crashes on payloads that nest deeply and gives wrong values for invalid ones;
docs/formats/avro.md has the list.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import singledispatchmethod
from typing import Any

from postroom.formats.avro import types
from postroom.formats.avro.codec.varints import read_long
from postroom.formats.avro.logical_types import logical_decoder
from postroom.formats.avro.value_errors import Misfit

# A buffer, a position and how many records lie around it: the value there and the position behind it.
Read = Callable[[bytes, int, int], tuple[Any, int]]

# How often records may lie in themselves.
DEEPEST = 100
# Items without bytes cost a payload nothing, so there may not be many.
_MOST_EMPTY_ITEMS = 100

_unpack_float = struct.Struct("<f").unpack_from
_unpack_double = struct.Struct("<d").unpack_from


def compile_reader(schema: types.AvroType) -> Read:
    """Compile the function that reads a type; it raises nothing but Misfit."""
    return guarded(schema, ReaderCompiler().read(schema))


def compile_lenient_reader(schema: types.AvroType) -> Read:
    """Compile the function that reads a type and keeps plain values that its logical type cannot decode."""
    return guarded(schema, ReaderCompiler(lenient=True).read(schema))


def guarded(schema: types.AvroType, read: Read) -> Read:
    """Raise Misfit where the buffer ends too early."""

    def decode_all(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        try:
            return read(buffer, position, depth)
        except (IndexError, struct.error):
            raise truncated(schema) from None

    return decode_all


class ReaderCompiler:
    """Compiles types to functions; without `logical`, logical types are ignored, if `lenient` only where they fail."""

    def __init__(self, *, logical: bool = True, lenient: bool = False) -> None:
        self._records: dict[int, Read] = {}
        self._logical = logical
        self._lenient = lenient

    def read(self, schema: types.AvroType) -> Read:
        """The function that reads a type; IndexError and struct.error say that the buffer ended."""
        if isinstance(schema, types.PrimitiveType | types.FixedType):
            plain = plain_reader(schema)
            if schema.logical is None or not self._logical:
                return plain
            convert = logical_decoder(schema.logical, schema.type_name)
            return converting_reader(plain, _if_possible(convert) if self._lenient else convert)
        return self._read(schema)

    @singledispatchmethod
    def _read(self, schema: Any) -> Read:
        raise TypeError(f"there is no reader for {schema!r}")

    @_read.register
    def _(self, schema: types.EnumType) -> Read:
        return enum_reader(schema, schema.symbols)

    @_read.register
    def _(self, schema: types.UnionType) -> Read:
        return union_reader(schema, tuple(map(self.read, schema.branches)))

    @_read.register
    def _(self, schema: types.ArrayType) -> Read:
        return array_reader(schema, self.read(schema.items))

    @_read.register
    def _(self, schema: types.MapType) -> Read:
        return map_reader(schema, self.read(schema.values))

    @_read.register
    def _(self, schema: types.RecordType) -> Read:
        if id(schema) in self._records:
            return self._records[id(schema)]
        fields: list[tuple[str, Read]] = []
        self._records[id(schema)] = read = limit_depth(schema, _record(schema, fields))
        fields.extend((field.name, self.read(field.type)) for field in schema.fields)
        return read


def plain_reader(schema: types.PrimitiveType | types.FixedType) -> Read:
    """The function that reads a type without its logical type."""
    return PRIMITIVE_READERS[schema.type_name] if isinstance(schema, types.PrimitiveType) else _fixed(schema)


def enum_reader(schema: types.EnumType, meanings: Sequence[Any]) -> Read:
    """The function that reads an enum, with the value of each symbol."""
    count = len(schema.symbols)

    def read_enum(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        index = buffer[position]
        if index < 128 and not index & 1:
            index >>= 1
            position += 1
        else:
            index, position = read_long(buffer, position)
        if not 0 <= index < count:
            raise Misfit("payload_enum", f"one of the {count} symbols of {schema.name}", f"symbol {index}")
        return meanings[index], position

    return read_enum


def union_reader(schema: types.UnionType, branches: Sequence[Read]) -> Read:
    """The function that reads a union, with those of its branches."""
    count = len(schema.branches)
    names = ", ".join(map(types.branch_name, schema.branches))

    def read_union(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        index = buffer[position]
        if index < 128 and not index & 1:
            index >>= 1
            position += 1
        else:
            index, position = read_long(buffer, position)
        if not 0 <= index < count:
            raise Misfit("payload_union", f"a branch of the union ({names})", f"branch {index}")
        return branches[index](buffer, position, depth)

    return read_union


def array_reader(schema: types.ArrayType, item: Read) -> Read:
    """The function that reads a list, with that of its items."""
    most = _MOST_EMPTY_ITEMS if types.takes_no_bytes(schema.items) else None

    def read_array(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        values: list[Any] = []
        try:
            while True:
                count, position = _block(buffer, position)
                if count == 0:
                    return values, position
                if most is not None:
                    _require_few(len(values) + count, most)
                for _ in range(count):
                    value, position = item(buffer, position, depth)
                    values.append(value)
        except Misfit as misfit:
            misfit.steps.append(len(values))
            raise
        except (IndexError, struct.error):
            raise truncated(schema.items, len(values)) from None

    return read_array


def map_reader(schema: types.MapType, item: Read) -> Read:
    """The function that reads a map, with that of its values."""

    def read_map(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        values: dict[str, Any] = {}
        key = ""
        try:
            while True:
                count, position = _block(buffer, position)
                if count == 0:
                    return values, position
                for _ in range(count):
                    key, position = _string(buffer, position, depth)
                    values[key], position = item(buffer, position, depth)
        except Misfit as misfit:
            misfit.steps.append(key)
            raise
        except (IndexError, struct.error):
            raise truncated(schema.values, key) from None

    return read_map


def _record(schema: types.RecordType, fields: list[tuple[str, Read]]) -> Read:
    def read_record(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        values: dict[str, Any] = {}
        name = ""
        try:
            for name, read in fields:
                values[name], position = read(buffer, position, depth)
        except Misfit as misfit:
            misfit.steps.append(name)
            raise
        except (IndexError, struct.error):
            raise truncated(schema.fields[len(values)].type, name) from None
        return values, position

    return read_record


def limit_depth(schema: types.RecordType, read: Read) -> Read:
    """Bound how often a record may lie in itself."""
    if not schema.is_recursive:
        return read

    def read_recursive(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        if depth >= DEEPEST:
            raise Misfit("payload_depth", f"nested at most {DEEPEST} deep", "deeper")
        return read(buffer, position, depth + 1)

    return read_recursive


def converting_reader(plain: Read, convert: Callable[[Any], Any]) -> Read:
    """The function that reads a value and converts it."""

    def read_meaning(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        value, position = plain(buffer, position, depth)
        return convert(value), position

    return read_meaning


def _if_possible(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def meaning_or_plain(value: Any) -> Any:
        try:
            return convert(value)
        except Misfit:
            return value

    return meaning_or_plain


def _block(buffer: bytes, position: int) -> tuple[int, int]:
    """The number of items in the next block; a negative one has the block's length in bytes behind it."""
    count, position = read_long(buffer, position)
    if count < 0:
        length, position = read_long(buffer, position)
        if length < 0:
            raise Misfit("payload_length", "a block of a length", f"{length} bytes long")
        return -count, position
    return count, position


def _require_few(count: int, most: int) -> None:
    if count > most:
        raise Misfit("payload_items", f"a list of at most {most} empty items", f"a list of {count}")


def truncated(schema: types.AvroType, *steps: str | int) -> Misfit:
    """The error for a buffer that ends inside a type."""
    misfit = Misfit("payload_truncated", types.branch_name(schema), "cut off")
    misfit.steps.extend(steps)
    return misfit


def _null(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
    return None, position


def _boolean(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
    byte = buffer[position]
    if byte > 1:
        raise Misfit("payload_type", "boolean", f"the byte {byte:#04x}")
    return byte == 1, position + 1


def _int(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
    byte = buffer[position]
    if byte < 128:
        return (byte >> 1) ^ -(byte & 1), position + 1
    number, position = read_long(buffer, position)
    if not -0x80000000 <= number <= 0x7FFFFFFF:
        raise Misfit("payload_range", "an integer of 32 bits", str(number))
    return number, position


def _float(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
    return _unpack_float(buffer, position)[0], position + 4


def _double(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
    return _unpack_double(buffer, position)[0], position + 8


def _string(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
    length = buffer[position]
    if length < 128 and not length & 1:
        position += 1
        end = position + (length >> 1)
    else:
        length, position = read_long(buffer, position)
        if length < 0:
            raise Misfit("payload_length", "a text of a length", f"{length} bytes long")
        end = position + length
    if end > len(buffer):
        raise IndexError
    try:
        return str(buffer[position:end], "utf-8"), end
    except UnicodeDecodeError as error:
        found = f"bytes that are not UTF-8 ({buffer[position + error.start]:#04x} at {error.start})"
        raise Misfit("payload_utf8", "text", found) from None


def _bytes(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
    length, position = read_long(buffer, position)
    if length < 0:
        raise Misfit("payload_length", "bytes of a length", f"{length} bytes long")
    end = position + length
    if end > len(buffer):
        raise IndexError
    return buffer[position:end], end


def _fixed(schema: types.FixedType) -> Read:
    size = schema.size

    def read_fixed(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        end = position + size
        if end > len(buffer):
            raise IndexError
        return buffer[position:end], end

    return read_fixed


PRIMITIVE_READERS: dict[str, Read] = {
    "null": _null,
    "boolean": _boolean,
    "int": _int,
    "long": read_long,
    "float": _float,
    "double": _double,
    "bytes": _bytes,
    "string": _string,
}

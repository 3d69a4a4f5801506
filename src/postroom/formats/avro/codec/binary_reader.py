"""Reading the binary encoding.

A type is turned once into a function that reads it. fastavro reads as fast, but it dies of payloads that nest deeply,
takes a negative branch or symbol for one counted from the end, and rounds decimals that are too long.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import singledispatchmethod
from typing import Any

from postroom.formats.avro.codec.varints import read_long
from postroom.formats.avro.logical_types import meaning
from postroom.formats.avro.types import (
    Array,
    AvroType,
    Enum,
    Fixed,
    Map,
    Primitive,
    Record,
    Union,
    branch_name,
    takes_no_bytes,
)
from postroom.formats.avro.value_errors import Misfit

# A buffer, a position and how many records lie around it: the value there and the position behind it.
Read = Callable[[bytes, int, int], tuple[Any, int]]

# How often records may lie in themselves.
DEEPEST = 100
# Items without bytes cost a payload nothing, so there may not be many.
_MOST_EMPTY_ITEMS = 100

_unpack_float = struct.Struct("<f").unpack_from
_unpack_double = struct.Struct("<d").unpack_from


def reader(kind: AvroType) -> Read:
    """The function that reads a type; it raises nothing but Misfit."""
    return guarded(kind, Compiler().read(kind))


def lenient_reader(kind: AvroType) -> Read:
    """The function that reads a type, and leaves plain values as they are that stand for nothing."""
    return guarded(kind, Compiler(lenient=True).read(kind))


def guarded(kind: AvroType, read: Read) -> Read:
    """A function that reads a type, told by Misfit where the buffer ends too early."""

    def decode_all(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        try:
            return read(buffer, position, depth)
        except (IndexError, struct.error):
            raise cut_off(kind) from None

    return decode_all


class Compiler:
    """Makes functions of types; without `means`, logical types are passed over, if `lenient` only where they fail."""

    def __init__(self, *, means: bool = True, lenient: bool = False) -> None:
        self._records: dict[int, Read] = {}
        self._means = means
        self._lenient = lenient

    def read(self, kind: AvroType) -> Read:
        """The function that reads a type; IndexError and struct.error say that the buffer ended."""
        if isinstance(kind, Primitive | Fixed):
            plain = plain_reader(kind)
            if kind.logical is None or not self._means:
                return plain
            meant = meaning(kind.logical, kind.kind)
            return meaning_reader(plain, _if_possible(meant) if self._lenient else meant)
        return self._read(kind)

    @singledispatchmethod
    def _read(self, kind: Any) -> Read:
        raise TypeError(f"no way to read {kind!r}")

    @_read.register
    def _(self, kind: Enum) -> Read:
        return enum_reader(kind, kind.symbols)

    @_read.register
    def _(self, kind: Union) -> Read:
        return union_reader(kind, tuple(map(self.read, kind.branches)))

    @_read.register
    def _(self, kind: Array) -> Read:
        return array_reader(kind, self.read(kind.items))

    @_read.register
    def _(self, kind: Map) -> Read:
        return map_reader(kind, self.read(kind.values))

    @_read.register
    def _(self, kind: Record) -> Read:
        if id(kind) in self._records:
            return self._records[id(kind)]
        fields: list[tuple[str, Read]] = []
        self._records[id(kind)] = read = shallow(kind, _record(kind, fields))
        fields.extend((field.name, self.read(field.type)) for field in kind.fields)
        return read


def plain_reader(kind: Primitive | Fixed) -> Read:
    """The function that reads a type without its logical type."""
    return PRIMITIVE_READERS[kind.kind] if isinstance(kind, Primitive) else _fixed(kind)


def enum_reader(kind: Enum, meanings: Sequence[Any]) -> Read:
    """The function that reads an enum, with what each symbol stands for."""
    count = len(kind.symbols)

    def read_enum(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        index = buffer[position]
        if index < 128 and not index & 1:
            index >>= 1
            position += 1
        else:
            index, position = read_long(buffer, position)
        if not 0 <= index < count:
            raise Misfit("payload_enum", f"one of the {count} symbols of {kind.name}", f"symbol {index}")
        return meanings[index], position

    return read_enum


def union_reader(kind: Union, branches: Sequence[Read]) -> Read:
    """The function that reads a union, with those of its branches."""
    count = len(kind.branches)
    names = ", ".join(map(branch_name, kind.branches))

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


def array_reader(kind: Array, item: Read) -> Read:
    """The function that reads a list, with that of its items."""
    most = _MOST_EMPTY_ITEMS if takes_no_bytes(kind.items) else None

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
            raise cut_off(kind.items, len(values)) from None

    return read_array


def map_reader(kind: Map, item: Read) -> Read:
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
            raise cut_off(kind.values, key) from None

    return read_map


def _record(kind: Record, fields: list[tuple[str, Read]]) -> Read:
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
            raise cut_off(kind.fields[len(values)].type, name) from None
        return values, position

    return read_record


def shallow(kind: Record, read: Read) -> Read:
    """The same function, for a record that may lie in itself only so often."""
    if not kind.is_recursive:
        return read

    def read_recursive(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        if depth >= DEEPEST:
            raise Misfit("payload_depth", f"nested at most {DEEPEST} deep", "deeper")
        return read(buffer, position, depth + 1)

    return read_recursive


def meaning_reader(plain: Read, meant: Callable[[Any], Any]) -> Read:
    """The function that reads what plain values stand for."""

    def read_meaning(buffer: bytes, position: int, depth: int) -> tuple[Any, int]:
        value, position = plain(buffer, position, depth)
        return meant(value), position

    return read_meaning


def _if_possible(meant: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def meaning_or_plain(value: Any) -> Any:
        try:
            return meant(value)
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


def cut_off(kind: AvroType, *steps: str | int) -> Misfit:
    """What is wrong with a buffer that ends inside a type."""
    misfit = Misfit("payload_truncated", branch_name(kind), "cut off")
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


def _fixed(kind: Fixed) -> Read:
    size = kind.size

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

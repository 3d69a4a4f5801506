"""Records read by a function that is written for them: no call for a field, and columns filled on the way.

Accepting is all that happens here: such a function gives the members of what `filling.filler` makes of the value that
`reading` reads. Whatever it does not take at once, wrong or merely unusual, it leaves to those by raising.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import singledispatchmethod
from typing import Any

from postroom.codegen import GeneratedCode
from postroom.formats.avro.codec.binary_reader import reader
from postroom.formats.avro.codec.varints import read_long
from postroom.formats.avro.logical_types import meaning
from postroom.formats.avro.payload_framing import SINGLE_OBJECT
from postroom.formats.avro.types import AvroType, Enum, Fixed, Primitive, Record, Union, nullable
from postroom.formats.avro.value_errors import Misfit
from postroom.formats.column_types import ColumnType, StructOf
from postroom.formats.fill_columns import ColumnMismatch, filler

FastRead = Callable[[bytes], tuple[Any, ...]]

UNSURE = (ValueError, LookupError, RecursionError, struct.error, Misfit, ColumnMismatch)
"""What such a function raises."""

_MOST_FIELDS = 500
_DEEPEST = 8
_MOST_SYMBOLS = 64  # those whose numbers are one byte


def fast_reader(kind: AvroType, column: ColumnType) -> FastRead | None:
    """The function that reads the members of a record in the shape of their columns, None for those that are absent;
    None for what is no plain record."""
    if not isinstance(kind, Record) or not isinstance(column, StructOf) or kind.is_recursive:
        return None
    writer = _Writer()
    members = writer.members(kind, column)
    lines = [
        "def read(b):",
        " if b[0] == first and b[:2] == frame: raise Doubt",
        " p = 0",
        *writer.lines,
        " if p != len(b): raise Doubt",
        f" return {', '.join(members)},",
    ]
    read: FastRead = writer.code.define("read", lines)
    return read


class _Writer:
    """Writes the lines of a function: `b` is the payload, `p` the position in it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.code = GeneratedCode(
            "Avro reader",
            read_long=read_long,
            unpack_float=struct.Struct("<f").unpack_from,
            unpack_double=struct.Struct("<d").unpack_from,
            Doubt=ValueError,
            frame=SINGLE_OBJECT,
            first=SINGLE_OBJECT[0],
        )
        self._constant = self.code.constant
        self._indent = " "
        self._made = 0
        self._depth = 0

    def members(self, kind: Record, column: StructOf) -> list[str]:
        """Write what reads the fields of a record; the names of the variables that have the values then."""
        fields = zip(kind.fields, column.fields, strict=True)
        return [self.value(field.type, member.type) for field, member in fields]

    def value(self, kind: AvroType, column: ColumnType) -> str:
        """Write what reads a type; the name of the variable that has the value then."""
        self._made += 1
        name = f"v{self._made}"
        self._write(kind, column, name)
        return name

    @singledispatchmethod
    def _write(self, kind: Any, column: ColumnType, name: str) -> None:
        self._add_any(kind, column, name)

    @_write.register
    def _(self, kind: Record, column: ColumnType, name: str) -> None:
        if not isinstance(column, StructOf) or kind.is_recursive or not self._has_room(kind):
            self._add_any(kind, column, name)
            return
        self._depth += 1
        values = self.members(kind, column)
        self._depth -= 1
        found = zip(kind.fields, column.fields, values, strict=True)
        named = [(self._constant(member.name), value, _may_be_null(field.type)) for field, member, value in found]
        self._add(f"{name} = {{{', '.join(f'{key}: {value}' for key, value, absent in named if not absent)}}}")
        for key, value, absent in named:
            if absent:
                self._add(f"if {value} is not None: {name}[{key}] = {value}")

    @_write.register
    def _(self, kind: Primitive, column: ColumnType, name: str) -> None:
        _PRIMITIVES[kind.kind](self, name)
        self._add_meaning(kind, column, name)

    @_write.register
    def _(self, kind: Fixed, column: ColumnType, name: str) -> None:
        self._add(f"{name} = b[p:p + {kind.size}]", f"p += {kind.size}")
        self._add_meaning(kind, column, name)

    @_write.register
    def _(self, kind: Enum, column: ColumnType, name: str) -> None:
        symbols = self._constant({2 * number: text for number, text in enumerate(kind.symbols[:_MOST_SYMBOLS])})
        self._add(f"{name} = {symbols}[b[p]]", "p += 1")

    @_write.register
    def _(self, kind: Union, column: ColumnType, name: str) -> None:
        only = nullable(kind)
        if only is None or len(kind.branches) != 2:
            self._add_any(kind, column, name)
            return
        self._add("n = b[p]", "p += 1", f"if n == {2 * kind.branches.index(only)}:")
        self._indent += " "
        value = self.value(only, column)
        self._add(f"{name} = {value}")
        self._indent = self._indent[1:]
        self._add(f"elif n == {2 * (1 - kind.branches.index(only))}: {name} = None", "else: raise Doubt")

    def _add_any(self, kind: AvroType, column: ColumnType, name: str) -> None:
        """What is read as everywhere: lists, maps, unions of several."""
        read, fill = self._constant(reader(kind)), self._constant(filler(column))
        self._add(f"{name}, p = {read}(b, p, 0)", f"{name} = {fill}({name})")

    def add_long(self, name: str) -> None:
        """A number of variable length."""
        self._add(
            f"{name} = b[p]",
            f"if {name} < 128:",
            f" {name} = ({name} >> 1) ^ -({name} & 1)",
            " p += 1",
            "elif (n := b[p + 1]) < 128:",
            f" {name} = ({name} & 127 | n << 7) >> 1 ^ -({name} & 1)",
            " p += 2",
            "elif (m := b[p + 2]) < 128:",
            f" {name} = ({name} & 127 | (n & 127) << 7 | m << 14) >> 1 ^ -({name} & 1)",
            " p += 3",
            "else:",
            f" {name}, p = read_long(b, p)",
        )

    def add_int(self, name: str) -> None:
        """The same, of 32 bits."""
        self.add_long(name)
        self._add(f"if not -0x80000000 <= {name} <= 0x7FFFFFFF: raise Doubt")

    def add_bytes(self, name: str) -> None:
        """Bytes of a length that is in front of them; that there are as many is seen at the end of the payload."""
        self._add(
            "n = b[p]",
            "if n < 128 and not n & 1:",
            " p += 1",
            " n >>= 1",
            "else:",
            " n, p = read_long(b, p)",
            " if n < 0: raise Doubt",
            f"{name} = b[p:p + n]",
            "p += n",
        )

    def add_string(self, name: str) -> None:
        """Text."""
        self.add_bytes(name)
        self._add(f"{name} = {name}.decode()")

    def add_boolean(self, name: str) -> None:
        """A byte that is one or zero."""
        self._add("n = b[p]", "if n > 1: raise Doubt", f"{name} = n == 1", "p += 1")

    def add_float(self, name: str) -> None:
        """Four bytes."""
        self._add(f"{name}, = unpack_float(b, p)", "p += 4")

    def add_double(self, name: str) -> None:
        """Eight bytes."""
        self._add(f"{name}, = unpack_double(b, p)", "p += 8")

    def add_null(self, name: str) -> None:
        """No bytes at all."""
        self._add(f"{name} = None")

    def _add_meaning(self, kind: Primitive | Fixed, column: ColumnType, name: str) -> None:
        if kind.logical is not None:
            meant, fill = self._constant(meaning(kind.logical, kind.kind)), self._constant(filler(column))
            self._add(f"{name} = {fill}({meant}({name}))")

    def _has_room(self, kind: Record) -> bool:
        return self._depth < _DEEPEST and self._made + len(kind.fields) <= _MOST_FIELDS

    def _add(self, *lines: str) -> None:
        self.lines += [self._indent + line for line in lines]


_PRIMITIVES: dict[str, Callable[[_Writer, str], None]] = {
    "null": _Writer.add_null,
    "boolean": _Writer.add_boolean,
    "int": _Writer.add_int,
    "long": _Writer.add_long,
    "float": _Writer.add_float,
    "double": _Writer.add_double,
    "bytes": _Writer.add_bytes,
    "string": _Writer.add_string,
}


def _may_be_null(kind: AvroType) -> bool:
    return isinstance(kind, Union) or kind.kind == "null"

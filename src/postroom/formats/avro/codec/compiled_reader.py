"""Generated readers of records: no call per field, and columns are filled while reading.

A generated reader only accepts: it returns the members of what `fill_columns.filler` makes of the value that
`binary_reader` reads. Whatever it does not accept at once, wrong or merely unusual, it leaves to those by raising.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import singledispatchmethod
from typing import Any, NamedTuple

from postroom.codegen import GeneratedCode
from postroom.formats.avro.codec.binary_reader import compile_reader
from postroom.formats.avro.codec.resolving_reader import default_values, resolving_part, skipping_reader
from postroom.formats.avro.codec.varints import read_long
from postroom.formats.avro.compat.resolution_rules import matching_fields, same_name
from postroom.formats.avro.logical_types import logical_decoder
from postroom.formats.avro.payload_framing import SINGLE_OBJECT
from postroom.formats.avro.types import (
    NO_DEFAULT,
    ArrayType,
    AvroType,
    EnumType,
    FixedType,
    MapType,
    PrimitiveType,
    RecordType,
    UnionType,
    nullable,
)
from postroom.formats.avro.value_errors import Misfit
from postroom.formats.column_types import ColumnType, StructOf
from postroom.formats.fill_columns import ColumnMismatch, filler

FastRead = Callable[[bytes], tuple[Any, ...]]

FALLBACK_ERRORS = (ValueError, LookupError, RecursionError, struct.error, Misfit, ColumnMismatch)
"""What a generated reader raises for payloads that it leaves to the exact reader."""

_MOST_FIELDS = 500
_DEEPEST = 8
_MOST_SYMBOLS = 64  # those whose numbers are one byte


def compile_fast_reader(schema: AvroType, column: ColumnType) -> FastRead | None:
    """Generate the reader of a record: its members in the shape of their columns, None for those that are absent.

    None for types other than plain records.
    """
    if not isinstance(schema, RecordType) or not isinstance(column, StructOf) or schema.is_recursive:
        return None
    writer = _Writer()
    members = writer.members(schema, column)
    lines = [
        "def read(b):",
        " if b[0] == first and b[:2] == frame: raise Fallback",
        " p = 0",
        *writer.lines,
        " if p != len(b): raise Fallback",
        f" return {', '.join(members)},",
    ]
    read: FastRead = writer.code.define("read", lines)
    return read


class FastResolvedReader(NamedTuple):
    """A generated reader of what another schema wrote; `drops`: that may have more than the columns hold."""

    read: FastRead
    drops: bool


def compile_resolving_fast_reader(writer: AvroType, reader: AvroType, column: ColumnType) -> FastResolvedReader | None:
    """Generate the reader of a record that another schema wrote, as `compile_fast_reader` does; None for others."""
    if not isinstance(writer, RecordType) or not isinstance(reader, RecordType) or not isinstance(column, StructOf):
        return None
    if writer.is_recursive or reader.is_recursive or not same_name(writer, reader):
        return None
    lines = _ResolvingWriter()
    members = lines.resolved_members(writer, reader, column)
    if members is None:
        return None
    code = ["def read(b):", " p = 0", *lines.lines, " if p != len(b): raise Fallback", f" return {', '.join(members)},"]
    return FastResolvedReader(lines.code.define("read", code), lines.drops)


class _Writer:
    """Writes the lines of a function: `b` is the payload, `p` the position in it."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.code = GeneratedCode(
            "Avro reader",
            read_long=read_long,
            unpack_float=struct.Struct("<f").unpack_from,
            unpack_double=struct.Struct("<d").unpack_from,
            Fallback=ValueError,
            frame=SINGLE_OBJECT,
            first=SINGLE_OBJECT[0],
        )
        self._constant = self.code.constant
        self._indent = " "
        self._made = 0
        self._depth = 0

    def members(self, schema: RecordType, column: StructOf) -> list[str]:
        """Write the lines that read the fields of a record; return the variables that hold the values."""
        fields = zip(schema.fields, column.fields, strict=True)
        return [self.value(field.type, member.type) for field, member in fields]

    def value(self, schema: AvroType, column: ColumnType) -> str:
        """Write the lines that read a type; return the variable that holds the value."""
        self._made += 1
        name = f"v{self._made}"
        self._write(schema, column, name)
        return name

    @singledispatchmethod
    def _write(self, schema: Any, column: ColumnType, name: str) -> None:
        self._add_any(schema, column, name)

    @_write.register
    def _(self, schema: RecordType, column: ColumnType, name: str) -> None:
        if not isinstance(column, StructOf) or schema.is_recursive or not self._has_room(schema):
            self._add_any(schema, column, name)
            return
        self._depth += 1
        values = self.members(schema, column)
        self._depth -= 1
        self._add_record(schema, column, values, name)

    def _add_record(self, schema: RecordType, column: StructOf, values: list[str], name: str) -> None:
        """Put the values of a record together."""
        found = zip(schema.fields, column.fields, values, strict=True)
        named = [(self._constant(member.name), value, _may_be_null(field.type)) for field, member, value in found]
        self._add(f"{name} = {{{', '.join(f'{key}: {value}' for key, value, absent in named if not absent)}}}")
        for key, value, absent in named:
            if absent:
                self._add(f"if {value} is not None: {name}[{key}] = {value}")

    @_write.register
    def _(self, schema: PrimitiveType, column: ColumnType, name: str) -> None:
        _PRIMITIVES[schema.type_name](self, name)
        self._add_meaning(schema, column, name)

    @_write.register
    def _(self, schema: FixedType, column: ColumnType, name: str) -> None:
        self._add(f"{name} = b[p:p + {schema.size}]", f"p += {schema.size}")
        self._add_meaning(schema, column, name)

    @_write.register
    def _(self, schema: EnumType, column: ColumnType, name: str) -> None:
        symbols = self._constant({2 * number: text for number, text in enumerate(schema.symbols[:_MOST_SYMBOLS])})
        self._add(f"{name} = {symbols}[b[p]]", "p += 1")

    @_write.register
    def _(self, schema: UnionType, column: ColumnType, name: str) -> None:
        only = nullable(schema)
        if only is None or len(schema.branches) != 2:
            self._add_any(schema, column, name)
            return
        self._add("n = b[p]", "p += 1", f"if n == {2 * schema.branches.index(only)}:")
        self._indent += " "
        value = self.value(only, column)
        self._add(f"{name} = {value}")
        self._indent = self._indent[1:]
        self._add(f"elif n == {2 * (1 - schema.branches.index(only))}: {name} = None", "else: raise Fallback")

    def _add_any(self, schema: AvroType, column: ColumnType, name: str) -> None:
        """Call the exact reader, for lists, maps and unions of several types."""
        read, fill = self._constant(compile_reader(schema)), self._constant(filler(column))
        self._add(f"{name}, p = {read}(b, p, 0)", f"{name} = {fill}({name})")

    def add_long(self, name: str) -> None:
        """An integer of variable length, of 64 bits."""
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
        """An integer of variable length, of 32 bits."""
        self.add_long(name)
        self._add(f"if not -0x80000000 <= {name} <= 0x7FFFFFFF: raise Fallback")

    def add_bytes(self, name: str) -> None:
        """Bytes of a length that is in front of them; that there are as many is seen at the end of the payload."""
        self._add(
            "n = b[p]",
            "if n < 128 and not n & 1:",
            " p += 1",
            " n >>= 1",
            "else:",
            " n, p = read_long(b, p)",
            " if n < 0: raise Fallback",
            f"{name} = b[p:p + n]",
            "p += n",
        )

    def add_string(self, name: str) -> None:
        """A string."""
        self.add_bytes(name)
        self._add(f"{name} = {name}.decode()")

    def add_boolean(self, name: str) -> None:
        """A byte that is one or zero."""
        self._add("n = b[p]", "if n > 1: raise Fallback", f"{name} = n == 1", "p += 1")

    def add_float(self, name: str) -> None:
        """Four bytes."""
        self._add(f"{name}, = unpack_float(b, p)", "p += 4")

    def add_double(self, name: str) -> None:
        """Eight bytes."""
        self._add(f"{name}, = unpack_double(b, p)", "p += 8")

    def add_null(self, name: str) -> None:
        """No bytes at all."""
        self._add(f"{name} = None")

    def _add_meaning(self, schema: PrimitiveType | FixedType, column: ColumnType, name: str) -> None:
        if schema.logical is not None:
            convert, fill = (
                self._constant(logical_decoder(schema.logical, schema.type_name)),
                self._constant(filler(column)),
            )
            self._add(f"{name} = {fill}({convert}({name}))")

    def _has_room(self, schema: RecordType) -> bool:
        return self._depth < _DEEPEST and self._made + len(schema.fields) <= _MOST_FIELDS

    def _add(self, *lines: str) -> None:
        self.lines += [self._indent + line for line in lines]


class _ResolvingWriter(_Writer):
    """Writes the lines that read what one schema wrote as values of another."""

    def __init__(self) -> None:
        super().__init__()
        self.drops = False

    def resolved_members(self, writer: RecordType, reader: RecordType, column: StructOf) -> list[str] | None:
        """Write the lines that read the fields of a record; the variables with those of the reader, or None."""
        sources = matching_fields(writer, reader)
        missing = [field for field in reader.fields if field.name not in sources]
        if any(field.default is NO_DEFAULT for field in missing):
            return None
        defaults = default_values(missing, writer)
        targets = {source.name: name for name, source in sources.items()}
        pairs = {field.name: (field, member) for field, member in zip(reader.fields, column.fields, strict=True)}
        values: dict[str, str] = {}
        for field in writer.fields:
            if field.name in targets:
                own, member = pairs[targets[field.name]]
                values[own.name] = self._resolved(field.type, own.type, member.type)
            else:
                self._skip(field.type)
        for field in missing:
            self._made += 1
            values[field.name] = f"v{self._made}"
            fill, default = self._constant(filler(pairs[field.name][1].type)), self._constant(defaults[field.name])
            # Made anew for each record where it could be changed later.
            is_plain = isinstance(defaults[field.name], str | int | float | bytes | None)
            made = self._constant(filler(pairs[field.name][1].type)(defaults[field.name])) if is_plain else ""
            self._add(f"{values[field.name]} = {made or f'{fill}({default})'}")
        return [values[field.name] for field in reader.fields]

    def _resolved(self, writer: AvroType, reader: AvroType, column: ColumnType) -> str:
        self._made += 1
        name = f"v{self._made}"
        only = nullable(reader) if isinstance(reader, UnionType) and len(reader.branches) == 2 else None
        if isinstance(writer, UnionType):
            inner = nullable(writer) if len(writer.branches) == 2 else None
            if inner is None or only is None or not _are_alike(inner, only):
                self._add_resolved(writer, reader, column, name)
                return name
            self._write(writer, column, name)
            return name
        target = reader if only is None else only
        if isinstance(writer, RecordType) and isinstance(target, RecordType) and isinstance(column, StructOf):
            return self._resolved_record(writer, target, column, name)
        if _are_alike(writer, target):
            self._write(writer, column, name)
        else:
            self._add_resolved(writer, reader, column, name)
        return name

    def _resolved_record(self, writer: RecordType, reader: RecordType, column: StructOf, name: str) -> str:
        is_small = self._has_room(writer) and self._has_room(reader)
        if writer.is_recursive or reader.is_recursive or not is_small or not same_name(writer, reader):
            self._add_resolved(writer, reader, column, name)
            return name
        self._depth += 1
        values = self.resolved_members(writer, reader, column)
        self._depth -= 1
        if values is None:
            self._add_resolved(writer, reader, column, name)
        else:
            self._add_record(reader, column, values, name)
        return name

    def _skip(self, writer: AvroType) -> None:
        """Read what the reader does not have."""
        self.drops = True
        self._add(f"_, p = {self._constant(skipping_reader(writer))}(b, p, 0)")

    def _add_resolved(self, writer: AvroType, reader: AvroType, column: ColumnType, name: str) -> None:
        """Call the exact reader."""
        self.drops = self.drops or _has_records(writer)
        read, fill = self._constant(resolving_part(writer, reader)), self._constant(filler(column))
        self._add(f"{name}, p = {read}(b, p, 0)", f"{name} = {fill}({name})")


def _are_alike(writer: AvroType, reader: AvroType) -> bool:
    """Whether plain values of one type are read as the other just as they are."""
    if isinstance(writer, PrimitiveType) and isinstance(reader, PrimitiveType):
        return writer.type_name == reader.type_name and writer.logical == reader.logical
    if isinstance(writer, EnumType) and isinstance(reader, EnumType):
        return same_name(writer, reader) and set(writer.symbols) <= set(reader.symbols)
    return False


def _has_records(schema: AvroType) -> bool:
    if isinstance(schema, UnionType):
        return any(map(_has_records, schema.branches))
    if isinstance(schema, ArrayType):
        return _has_records(schema.items)
    return _has_records(schema.values) if isinstance(schema, MapType) else isinstance(schema, RecordType)


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


def _may_be_null(schema: AvroType) -> bool:
    return isinstance(schema, UnionType) or schema.type_name == "null"

"""Which field types can be read as which others: the table of safe changes, and values that show the unsafe ones."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import EnumDescriptor, FieldDescriptor

from postroom.formats.protobuf.scalar_values import INTEGERS

_F = FieldDescriptor
# Each value of the first type is the same value of the others.
_SAFE: dict[int, tuple[int, ...]] = {
    _F.TYPE_INT32: (_F.TYPE_INT64,),
    _F.TYPE_UINT32: (_F.TYPE_UINT64, _F.TYPE_INT64),
    _F.TYPE_SINT32: (_F.TYPE_SINT64,),
    _F.TYPE_BOOL: (_F.TYPE_INT32, _F.TYPE_INT64, _F.TYPE_UINT32, _F.TYPE_UINT64),
    _F.TYPE_STRING: (_F.TYPE_BYTES,),
    _F.TYPE_MESSAGE: (_F.TYPE_BYTES,),
}
# Small ones first: they read best.
_EDGES = (1, 2, 99, -1, 2**31, 2**32, 2**33 + 1, 2**63)
_TEXTS = ("text", "\x07", "\x0b")
_BYTES = (b"\xff", b"\x07", b"text")
_NAMES = {
    number: name.removeprefix("TYPE_").lower()
    for name, number in vars(FieldDescriptor).items()
    if name.startswith("TYPE_") and isinstance(number, int)
}


def type_name(field: FieldDescriptor) -> str:
    """The type of a field as a schema writes it."""
    named = field.message_type or field.enum_type
    return str(named.name) if named is not None else _NAMES[field.type]


def is_safe(writer: FieldDescriptor, reader: FieldDescriptor) -> bool:
    """Whether each single value of one field is the same value of another; messages are compared elsewhere."""
    enum, other = writer.enum_type, reader.enum_type
    if enum is not None and other is not None:
        return _enums_are_safe(enum, other)
    if enum is not None:
        return _enum_fits(enum, reader.type)
    if other is not None:
        return _becomes_enum(writer.type, other)
    return writer.type == reader.type or reader.type in _SAFE.get(writer.type, ())


def candidates(writer: FieldDescriptor, reader: FieldDescriptor) -> list[Any]:
    """Values of a field among which one shows that another field reads something else."""
    if writer.enum_type is not None:
        return _enum_candidates(writer.enum_type, reader.enum_type)
    if writer.type in INTEGERS:
        low, high = INTEGERS[writer.type]
        return [number for number in (*_EDGES, low, high) if low <= number <= high]
    if writer.type == _F.TYPE_BOOL:
        return [True]
    if writer.type in (_F.TYPE_FLOAT, _F.TYPE_DOUBLE):
        return [1.5]
    return list(_TEXTS if writer.type == _F.TYPE_STRING else _BYTES)


def _enums_are_safe(writer: EnumDescriptor, reader: EnumDescriptor) -> bool:
    moved = any(
        value.name in reader.values_by_name and reader.values_by_name[value.name].number != value.number
        for value in writer.values
    )
    known = not reader.is_closed or (writer.is_closed and set(writer.values_by_number) <= set(reader.values_by_number))
    return known and not moved


def _enum_fits(enum: EnumDescriptor, field_type: int) -> bool:
    if field_type in (_F.TYPE_INT32, _F.TYPE_INT64):
        return True
    numbers = set(enum.values_by_number) if enum.is_closed else {-1, 2}
    if field_type in (_F.TYPE_UINT32, _F.TYPE_UINT64):
        return min(numbers) >= 0
    return field_type == _F.TYPE_BOOL and numbers <= {0, 1}


def _becomes_enum(field_type: int, enum: EnumDescriptor) -> bool:
    if field_type == _F.TYPE_INT32:
        return not enum.is_closed
    return field_type == _F.TYPE_BOOL and (not enum.is_closed or {0, 1} <= set(enum.values_by_number))


def _enum_candidates(writer: EnumDescriptor, reader: EnumDescriptor | None) -> list[int]:
    numbers = [value.number for value in writer.values]
    if reader is not None:
        # What both name comes first, then what the reader does not know: the wrong ones among few.
        numbers.sort(key=lambda number: (number in reader.values_by_number, number == 0))
        named = reader.values_by_name
        moved = [
            value.number for value in writer.values if value.name in named and named[value.name].number != value.number
        ]
        numbers = [*moved, *numbers]
    free = [] if writer.is_closed else [number for number in (99, -1, 2, 2**31 - 1) if number not in numbers]
    return [*[number for number in numbers if number != 0][:20], *free, *numbers[:20]]

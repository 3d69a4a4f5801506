"""Writer of the binary encoding.

Values are those that reading gives, and those that people write in JSON: see `logical_types` for the strings of dates
and times; bytes may be a string with a character for each byte.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from postroom.formats.avro.codec.varints import write_long
from postroom.formats.avro.logical_types import logical_decoder, logical_encoder
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
    nullable,
    tagged_branch,
)
from postroom.formats.avro.value_errors import Misfit
from postroom.formats.show_value import show_value

_RANGES = {"int": range(-(2**31), 2**31), "long": range(-(2**63), 2**63)}
_NOT_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


@dataclass(frozen=True)
class ChosenBranch:
    """A value for one branch of a union, chosen by its index and not by the type of the value."""

    branch: int
    value: Any


def write(schema: AvroType, value: Any) -> bytes:
    """The bytes of a value; Misfit when it does not fit."""
    return _write(schema, value, False)


def _write(schema: AvroType, value: Any, exactly: bool) -> bytes:
    """With `exactly`, only what reading would give fits."""
    if isinstance(schema, UnionType):
        return _write_union(schema, value, exactly)
    if isinstance(schema, RecordType):
        return _write_record(schema, value, exactly)
    if isinstance(schema, ArrayType):
        return _write_array(schema, value, exactly)
    if isinstance(schema, MapType):
        return _write_map(schema, value, exactly)
    if isinstance(schema, EnumType):
        if not isinstance(value, str) or value not in schema.numbers:
            raise Misfit("payload_enum", f"a symbol of {schema.name}", show_value(value))
        return write_long(schema.numbers[value])
    raw = _plain(schema, value)
    written = (
        _write_fixed(schema, raw, exactly)
        if isinstance(schema, FixedType)
        else _PRIMITIVES[schema.type_name](raw, exactly)
    )
    if exactly and schema.logical is not None:
        _require_same(schema, raw, value)
    return written


def _plain(schema: PrimitiveType | FixedType, value: Any) -> Any:
    if schema.logical is None:
        return value
    return logical_encoder(schema.logical, schema.type_name, schema.size if isinstance(schema, FixedType) else 0)(value)


def _require_same(schema: PrimitiveType | FixedType, raw: Any, value: Any) -> None:
    logical = schema.logical
    again = logical_decoder(logical, schema.type_name)(raw) if logical is not None else raw
    if type(again) is not type(value) or again != value:
        raise Misfit("payload_type", branch_name(schema), show_value(value))


def _write_union(schema: UnionType, value: Any, exactly: bool) -> bytes:
    if isinstance(value, ChosenBranch):
        return write_long(value.branch) + _write(schema.branches[value.branch], value.value, exactly)
    only, why = nullable(schema), None
    # What fits exactly wins: a date is not a number, and a tenth is a double before it is a float.
    for strictly in (True,) if exactly else (True, False):
        for index, branch in enumerate(schema.branches):
            try:
                return write_long(index) + _write(branch, value, strictly)
            except Misfit as misfit:
                why = misfit if branch is only else why
    tagged = None if exactly else tagged_branch(schema, value)
    if tagged is not None:
        return write_long(schema.branches.index(tagged)) + _write(tagged, next(iter(value.values())), False)
    if why is not None and value is not None:
        raise why
    raise Misfit("payload_union", f"one of {', '.join(map(branch_name, schema.branches))}", show_value(value))


def _write_record(schema: RecordType, value: Any, exactly: bool) -> bytes:
    _require(isinstance(value, dict), f"the record {schema.name}", value)
    unknown = [name for name in value if name not in schema.names]
    if unknown:
        raise Misfit("payload_additional_properties", ", ".join(map(str, unknown))[:200], show_value(value))
    written = bytearray()
    for field in schema.fields:
        try:
            written += _write(field.type, _member(value, field, exactly), exactly)
        except Misfit as misfit:
            misfit.steps.append(field.name)
            raise
    return bytes(written)


def _member(value: dict[str, Any], field: RecordField, exactly: bool) -> Any:
    if field.name in value:
        return value[field.name]
    if not exactly and field.default is not NO_DEFAULT:
        return field.default
    if (
        not exactly
        and isinstance(field.type, UnionType)
        and any(branch.type_name == "null" for branch in field.type.branches)
    ):
        return None
    raise Misfit("payload_type", branch_name(field.type), "missing")


def _write_array(schema: ArrayType, value: Any, exactly: bool) -> bytes:
    _require(isinstance(value, list | tuple), "a list", value)
    written = bytearray(write_long(len(value)) if value else b"")
    for index, item in enumerate(value):
        try:
            written += _write(schema.items, item, exactly)
        except Misfit as misfit:
            misfit.steps.append(index)
            raise
    return bytes(written) + b"\0"


def _write_map(schema: MapType, value: Any, exactly: bool) -> bytes:
    _require(isinstance(value, dict), "a map", value)
    written = bytearray(write_long(len(value)) if value else b"")
    for key, item in value.items():
        try:
            written += _write_string(key, exactly)
            written += _write(schema.values, item, exactly)
        except Misfit as misfit:
            misfit.steps.append(str(key))
            raise
    return bytes(written) + b"\0"


def _require(holds: bool, expected: str, value: Any) -> None:
    if not holds:
        code = "null_not_allowed" if value is None else "payload_type"
        raise Misfit(code, expected, show_value(value))


def _write_null(value: Any, exactly: bool) -> bytes:
    _require(value is None, "null", value)
    return b""


def _write_boolean(value: Any, exactly: bool) -> bytes:
    _require(isinstance(value, bool), "boolean", value)
    return b"\1" if value else b"\0"


def _writes_integer(type_name: str) -> Callable[[Any, bool], bytes]:
    within = _RANGES[type_name]

    def write_integer(value: Any, exactly: bool) -> bytes:
        if isinstance(value, float) and value.is_integer() and not exactly:
            value = int(value)
        _require(isinstance(value, int) and not isinstance(value, bool) and value in within, type_name, value)
        return write_long(value)

    return write_integer


def _writes_number(type_name: str, packed: struct.Struct) -> Callable[[Any, bool], bytes]:
    def write_number(value: Any, exactly: bool) -> bytes:
        if not exactly:
            value = _NOT_FINITE.get(value, value) if isinstance(value, str) else value
            value = float(value) if isinstance(value, int) and not isinstance(value, bool) else value
        _require(isinstance(value, float), type_name, value)
        written = packed.pack(value)
        _require(not exactly or packed.unpack(written)[0] == value or value != value, type_name, value)
        return written

    def write_checked(value: Any, exactly: bool) -> bytes:
        try:
            return write_number(value, exactly)
        except OverflowError:
            raise Misfit("payload_range", f"a {type_name}", show_value(value)) from None

    return write_checked


def _write_string(value: Any, exactly: bool) -> bytes:
    _require(isinstance(value, str), "string", value)
    try:
        written = value.encode()
    except UnicodeEncodeError:
        raise Misfit("payload_utf8", "text", "text with lone surrogates") from None
    return write_long(len(written)) + bytes(written)


def _write_bytes(value: Any, exactly: bool) -> bytes:
    written = _bytes_of(value, "bytes", exactly)
    return write_long(len(written)) + written


def _write_fixed(schema: FixedType, value: Any, exactly: bool) -> bytes:
    written = _bytes_of(value, schema.name, exactly)
    if len(written) != schema.size:
        raise Misfit("payload_length", f"{schema.size} bytes", f"{len(written)} bytes long")
    return written


def _bytes_of(value: Any, expected: str, exactly: bool) -> bytes:
    if isinstance(value, str) and not exactly:
        try:
            return value.encode("latin-1")
        except UnicodeEncodeError:
            raise Misfit(
                "payload_type", f"{expected}, as text with a character for each byte", show_value(value)
            ) from None
    _require(isinstance(value, bytes), expected, value)
    return bytes(value)


_PRIMITIVES: dict[str, Callable[[Any, bool], bytes]] = {
    "null": _write_null,
    "boolean": _write_boolean,
    "int": _writes_integer("int"),
    "long": _writes_integer("long"),
    "float": _writes_number("float", struct.Struct("<f")),
    "double": _writes_number("double", struct.Struct("<d")),
    "bytes": _write_bytes,
    "string": _write_string,
}

"""Writing the binary encoding.

Values are those that reading gives, and those that people write in JSON: see `logical` for the texts that stand for
dates and times, and bytes as text with a character for each byte.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from postroom.formats.avro.codec.varints import write_long
from postroom.formats.avro.logical_types import meaning, plain
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
    nullable,
    tagged_branch,
)
from postroom.formats.avro.value_errors import Misfit
from postroom.formats.show_value import show_value

_RANGES = {"int": range(-(2**31), 2**31), "long": range(-(2**63), 2**63)}
_NOT_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


@dataclass(frozen=True)
class Chosen:
    """A value for one branch of a union, where its position decides and not its shape."""

    branch: int
    value: Any


def write(kind: AvroType, value: Any) -> bytes:
    """The bytes of a value; Misfit when it does not fit."""
    return _write(kind, value, False)


def _write(kind: AvroType, value: Any, exactly: bool) -> bytes:
    """With `exactly`, only what reading would give fits."""
    if isinstance(kind, Union):
        return _write_union(kind, value, exactly)
    if isinstance(kind, Record):
        return _write_record(kind, value, exactly)
    if isinstance(kind, Array):
        return _write_array(kind, value, exactly)
    if isinstance(kind, Map):
        return _write_map(kind, value, exactly)
    if isinstance(kind, Enum):
        if not isinstance(value, str) or value not in kind.numbers:
            raise Misfit("payload_enum", f"a symbol of {kind.name}", show_value(value))
        return write_long(kind.numbers[value])
    raw = _plain(kind, value)
    written = _write_fixed(kind, raw, exactly) if isinstance(kind, Fixed) else _PRIMITIVES[kind.kind](raw, exactly)
    if exactly and kind.logical is not None:
        _require_same(kind, raw, value)
    return written


def _plain(kind: Primitive | Fixed, value: Any) -> Any:
    if kind.logical is None:
        return value
    return plain(kind.logical, kind.kind, kind.size if isinstance(kind, Fixed) else 0)(value)


def _require_same(kind: Primitive | Fixed, raw: Any, value: Any) -> None:
    logical = kind.logical
    again = meaning(logical, kind.kind)(raw) if logical is not None else raw
    if type(again) is not type(value) or again != value:
        raise Misfit("payload_type", branch_name(kind), show_value(value))


def _write_union(kind: Union, value: Any, exactly: bool) -> bytes:
    if isinstance(value, Chosen):
        return write_long(value.branch) + _write(kind.branches[value.branch], value.value, exactly)
    only, why = nullable(kind), None
    # What fits exactly wins: a date is not a number, and a tenth is a double before it is a float.
    for strictly in (True,) if exactly else (True, False):
        for index, branch in enumerate(kind.branches):
            try:
                return write_long(index) + _write(branch, value, strictly)
            except Misfit as misfit:
                why = misfit if branch is only else why
    tagged = None if exactly else tagged_branch(kind, value)
    if tagged is not None:
        return write_long(kind.branches.index(tagged)) + _write(tagged, next(iter(value.values())), False)
    if why is not None and value is not None:
        raise why
    raise Misfit("payload_union", f"one of {', '.join(map(branch_name, kind.branches))}", show_value(value))


def _write_record(kind: Record, value: Any, exactly: bool) -> bytes:
    _require(isinstance(value, dict), f"the record {kind.name}", value)
    unknown = [name for name in value if name not in kind.names]
    if unknown:
        raise Misfit("payload_additional_properties", ", ".join(map(str, unknown))[:200], show_value(value))
    written = bytearray()
    for field in kind.fields:
        try:
            written += _write(field.type, _member(value, field, exactly), exactly)
        except Misfit as misfit:
            misfit.steps.append(field.name)
            raise
    return bytes(written)


def _member(value: dict[str, Any], field: Field, exactly: bool) -> Any:
    if field.name in value:
        return value[field.name]
    if not exactly and field.default is not NO_DEFAULT:
        return field.default
    if not exactly and isinstance(field.type, Union) and any(branch.kind == "null" for branch in field.type.branches):
        return None
    raise Misfit("payload_type", branch_name(field.type), "missing")


def _write_array(kind: Array, value: Any, exactly: bool) -> bytes:
    _require(isinstance(value, list | tuple), "a list", value)
    written = bytearray(write_long(len(value)) if value else b"")
    for index, item in enumerate(value):
        try:
            written += _write(kind.items, item, exactly)
        except Misfit as misfit:
            misfit.steps.append(index)
            raise
    return bytes(written) + b"\0"


def _write_map(kind: Map, value: Any, exactly: bool) -> bytes:
    _require(isinstance(value, dict), "a map", value)
    written = bytearray(write_long(len(value)) if value else b"")
    for key, item in value.items():
        try:
            written += _write_string(key, exactly)
            written += _write(kind.values, item, exactly)
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


def _writes_integer(kind: str) -> Callable[[Any, bool], bytes]:
    within = _RANGES[kind]

    def write_integer(value: Any, exactly: bool) -> bytes:
        if isinstance(value, float) and value.is_integer() and not exactly:
            value = int(value)
        _require(isinstance(value, int) and not isinstance(value, bool) and value in within, kind, value)
        return write_long(value)

    return write_integer


def _writes_number(kind: str, packed: struct.Struct) -> Callable[[Any, bool], bytes]:
    def write_number(value: Any, exactly: bool) -> bytes:
        if not exactly:
            value = _NOT_FINITE.get(value, value) if isinstance(value, str) else value
            value = float(value) if isinstance(value, int) and not isinstance(value, bool) else value
        _require(isinstance(value, float), kind, value)
        written = packed.pack(value)
        _require(not exactly or packed.unpack(written)[0] == value or value != value, kind, value)
        return written

    def write_checked(value: Any, exactly: bool) -> bytes:
        try:
            return write_number(value, exactly)
        except OverflowError:
            raise Misfit("payload_range", f"a {kind}", show_value(value)) from None

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


def _write_fixed(kind: Fixed, value: Any, exactly: bool) -> bytes:
    written = _bytes_of(value, kind.name, exactly)
    if len(written) != kind.size:
        raise Misfit("payload_length", f"{kind.size} bytes", f"{len(written)} bytes long")
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

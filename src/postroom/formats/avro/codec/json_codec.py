"""Avro's JSON encoding, and the plainer JSON that many producers send by an Avro schema.

Where both are possible Avro's own encoding wins: a union's value is first looked for under the name of a branch. What
is not written so is plain JSON: the value itself, dates, times and long integers as text, numbers for decimals, and
members that have a default, or may be null, left out.
"""

from __future__ import annotations

import math
import re
from typing import Any

import msgspec

from postroom.formats.avro.codec.binary_reader import DEEPEST, compile_reader
from postroom.formats.avro.codec.binary_writer import write
from postroom.formats.avro.codec.varints import read_long
from postroom.formats.avro.logical_types import logical_decoder, logical_encoder
from postroom.formats.avro.types import (
    NO_DEFAULT,
    ArrayType,
    AvroType,
    EnumType,
    FixedType,
    LogicalType,
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
from postroom.formats.schema import Violation
from postroom.formats.show_value import show_value

_MOST_VIOLATIONS = 20
_STEPS = 200_000
_STEPS_PER_BYTE = 4
_DECIMALS = ("decimal", "big-decimal")
# Digits alone are bytes, as Avro's encoding has it; only what can hardly be bytes is a number.
_NUMBER = re.compile(r"-?\d+\.\d+\Z")
# Producers protect integers of 64 bits from readers that keep 53.
_DIGITS = re.compile(r"-?\d{1,19}\Z")
_EXACT = {"int": int, "long": int, "float": float, "double": float, "string": str, "boolean": bool}


class _Misfits(Exception):
    def __init__(self, found: list[Misfit]) -> None:
        super().__init__(found)
        self.found = found


class _Missing(Exception):
    pass


class _Tangled(Exception):
    pass


class _TooDeep(Exception):
    pass


def read_json(schema: AvroType, payload: bytes) -> tuple[Any, list[Violation]]:
    """The value in a JSON payload, or the payload and what does not fit."""
    try:
        document = msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return None, [Violation("", "payload_not_json", "JSON", str(error).splitlines()[0])]
    except RecursionError:
        return None, [_TOO_DEEP]
    try:
        return _Reader(_STEPS + _STEPS_PER_BYTE * len(payload)).value(schema, document, False, 0), []
    except (Misfit, _Misfits) as error:
        # With the document as it came, which may fit once nulls are taken for absent.
        return document, [misfit.violation() for misfit in _all(error)[:_MOST_VIOLATIONS]]
    except (RecursionError, _TooDeep):
        return None, [_TOO_DEEP]
    except _Tangled:
        found = "one with too many possibilities"
        return None, [Violation("", "payload_union", "a value whose unions can be told apart", found)]


_TOO_DEEP = Violation("", "payload_depth", f"nested at most {DEEPEST} deep", "deeper")


def _all(error: Misfit | _Misfits) -> list[Misfit]:
    return error.found if isinstance(error, _Misfits) else [error]


class _Reader:
    """Reads one document. `left` bounds the steps, for unions in unions can be tried in exponentially many ways."""

    def __init__(self, left: int) -> None:
        self._left = left

    def value(self, schema: AvroType, value: Any, exactly: bool, depth: int) -> Any:
        """The value that JSON stands for; `exactly` leaves no room for plainer JSON."""
        self._left -= 1
        if self._left < 0:
            raise _Tangled
        if isinstance(schema, UnionType):
            return self._union(schema, value, exactly, depth)
        if value is None and schema.type_name != "null":
            raise Misfit("null_not_allowed", branch_name(schema), "null")
        if isinstance(schema, RecordType):
            return self._record(schema, value, exactly, depth)
        if isinstance(schema, ArrayType):
            return self._array(schema, value, exactly, depth)
        if isinstance(schema, MapType):
            return self._map(schema, value, exactly, depth)
        if isinstance(schema, EnumType):
            if not isinstance(value, str) or value not in schema.numbers:
                raise Misfit("payload_enum", _symbols(schema), show_value(value))
            return value
        return _leaf(schema, value, exactly)

    def _record(self, schema: RecordType, value: Any, exactly: bool, depth: int) -> Any:
        _require(isinstance(value, dict), f"the record {schema.name}", value)
        if depth >= DEEPEST:
            raise _TooDeep
        values: dict[str, Any] = {}
        found: list[Misfit] = []
        for field in schema.fields:
            try:
                values[field.name] = self._member(field, value, exactly, depth + schema.is_recursive)
            except (Misfit, _Misfits) as error:
                found += _below(error, field.name)
            except _Missing:
                found.append(Misfit("payload_required", field.name, "missing"))
        extra = [str(name) for name in value if name not in schema.names]
        if extra:
            found.append(Misfit("payload_additional_properties", ", ".join(extra[:20])[:200], show_value(value)))
        if found:
            raise _Misfits(found[:_MOST_VIOLATIONS])
        return values

    def _member(self, field: RecordField, value: dict[str, Any], exactly: bool, depth: int) -> Any:
        if field.name in value:
            return self.value(field.type, value[field.name], exactly, depth)
        if field.default is not NO_DEFAULT:
            return self.value(field.type, field.default, False, depth)
        if isinstance(field.type, UnionType) and any(branch.type_name == "null" for branch in field.type.branches):
            return None
        raise _Missing

    def _array(self, schema: ArrayType, value: Any, exactly: bool, depth: int) -> Any:
        _require(isinstance(value, list), "a list", value)
        return [item for _, item in self._items(schema.items, enumerate(value), exactly, depth)]

    def _map(self, schema: MapType, value: Any, exactly: bool, depth: int) -> Any:
        _require(isinstance(value, dict), "a map", value)
        return dict(self._items(schema.values, value.items(), exactly, depth))

    def _items(self, schema: AvroType, items: Any, exactly: bool, depth: int) -> list[tuple[Any, Any]]:
        values = []
        found: list[Misfit] = []
        for step, item in items:
            try:
                values.append((step, self.value(schema, item, exactly, depth)))
            except (Misfit, _Misfits) as error:
                found += _below(error, step)
                if len(found) >= _MOST_VIOLATIONS:
                    break
        if found:
            raise _Misfits(found)
        return values

    def _union(self, schema: UnionType, value: Any, exactly: bool, depth: int) -> Any:
        if value is None:
            if any(branch.type_name == "null" for branch in schema.branches):
                return None
            raise Misfit("null_not_allowed", _branches(schema), "null")
        why: Misfit | _Misfits | None = None
        tagged = tagged_branch(schema, value)
        if tagged is not None:
            try:
                return self.value(tagged, next(iter(value.values())), exactly, depth)
            except (Misfit, _Misfits) as error:
                for misfit in _all(error):
                    misfit.steps.append(branch_name(tagged))
                why = error
        only = nullable(schema)
        for strictly in (True,) if exactly else (True, False):
            for branch in schema.branches:
                try:
                    return self.value(branch, value, strictly, depth)
                except (Misfit, _Misfits) as error:
                    why = why or (error if branch is only and not strictly else None)
        raise why or Misfit("payload_union", _branches(schema), show_value(value))


def _below(error: Misfit | _Misfits, step: str | int) -> list[Misfit]:
    found = _all(error)
    for misfit in found:
        misfit.steps.append(step)
    return found


def _leaf(schema: PrimitiveType | FixedType, value: Any, exactly: bool) -> Any:
    if exactly and schema.logical is None:
        fitting = _EXACT.get(schema.type_name)
        _require(fitting is None or type(value) is fitting, schema.type_name, value)
    _require(not (exactly and schema.type_name in ("bytes", "fixed")), schema.type_name, value)
    logical = schema.logical
    if logical is None:
        return _checked(schema, value)
    if logical.name == "timestamp-millis" and isinstance(value, str):
        # The column holds microseconds, so those that a text has are kept.
        logical = LogicalType("timestamp-micros")
    _require(not exactly or isinstance(value, str) == (schema.type_name == "string"), logical.name, value)
    if logical.name in _DECIMALS and isinstance(value, str) and _NUMBER.match(value) is None:
        raw = _latin(value, logical.name)
    else:
        raw = logical_encoder(logical, schema.type_name, schema.size if isinstance(schema, FixedType) else 0)(value)
    return logical_decoder(logical, schema.type_name)(_checked(_bare(schema), raw))


def _bare(schema: PrimitiveType | FixedType) -> PrimitiveType | FixedType:
    return (
        FixedType(schema.name, schema.size, schema.at)
        if isinstance(schema, FixedType)
        else PrimitiveType(schema.type_name, schema.at)
    )


def _checked(schema: PrimitiveType | FixedType, value: Any) -> Any:
    """A plain value, known to fit: what can be written."""
    if schema.type_name == "long" and isinstance(value, str) and _DIGITS.match(value):
        value = int(value)
    write(schema, value)
    if schema.type_name in ("bytes", "fixed"):
        return _latin(value, schema.type_name) if isinstance(value, str) else value
    if schema.type_name in ("int", "long"):
        return int(value)
    return float(value) if schema.type_name in ("float", "double") else value


def _latin(value: str, expected: str) -> bytes:
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        raise Misfit("payload_type", f"{expected}, as text with a character for each byte", show_value(value)) from None


def _require(holds: bool, expected: str, value: Any) -> None:
    if not holds:
        raise Misfit("payload_type", expected, show_value(value))


def _symbols(schema: EnumType) -> str:
    text = "one of " + ", ".join(schema.symbols[:20])
    return text + (", …" if len(schema.symbols) > 20 else "")


def _branches(schema: UnionType) -> str:
    return "one of " + ", ".join(map(branch_name, schema.branches))


def write_json(schema: AvroType, value: Any) -> bytes:
    """The JSON of a value; Misfit when it does not fit."""
    # By way of the bytes, where every union has its branch and every logical type its plain value.
    document, _ = _json(schema, write(schema, value), 0)
    return msgspec.json.encode(document)


def _json(schema: AvroType, buffer: bytes, position: int) -> tuple[Any, int]:
    if isinstance(schema, UnionType):
        index, position = read_long(buffer, position)
        branch = schema.branches[index]
        value, position = _json(branch, buffer, position)
        return (None if branch.type_name == "null" else {branch_name(branch): value}), position
    if isinstance(schema, RecordType):
        members: dict[str, Any] = {}
        for field in schema.fields:
            members[field.name], position = _json(field.type, buffer, position)
        return members, position
    if isinstance(schema, ArrayType | MapType):
        return _json_collection(schema, buffer, position)
    if isinstance(schema, EnumType):
        index, position = read_long(buffer, position)
        return schema.symbols[index], position
    return _json_leaf(schema, buffer, position)


def _json_collection(schema: ArrayType | MapType, buffer: bytes, position: int) -> tuple[Any, int]:
    count, position = read_long(buffer, position)
    items: list[Any] = []
    keys: list[str] = []
    for _ in range(count):
        if isinstance(schema, MapType):
            key, position = _json_leaf(_TEXT, buffer, position)
            keys.append(key)
        item, position = _json(schema.items if isinstance(schema, ArrayType) else schema.values, buffer, position)
        items.append(item)
    # Our own writing puts all items into one block, with the end behind it.
    position += count > 0
    return (dict(zip(keys, items, strict=True)) if isinstance(schema, MapType) else items), position


def _json_leaf(schema: PrimitiveType | FixedType, buffer: bytes, position: int) -> tuple[Any, int]:
    value, position = compile_reader(_bare(schema))(buffer, position, 0)
    if isinstance(value, bytes):
        return value.decode("latin-1"), position
    if isinstance(value, float) and not math.isfinite(value):
        return ("NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"), position
    return value, position


_TEXT = PrimitiveType("string", "")

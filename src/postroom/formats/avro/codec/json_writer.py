"""Writing Avro's own JSON encoding."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from postroom.formats.avro.codec.binary_reader import reader
from postroom.formats.avro.codec.binary_writer import write
from postroom.formats.avro.codec.varints import read_long
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
)


def write_json(kind: AvroType, value: Any) -> bytes:
    """The JSON of a value; Misfit when it does not fit."""
    # By way of the bytes, where every union has its branch and every logical type its plain value.
    document, _ = _json(kind, write(kind, value), 0)
    return msgspec.json.encode(document)


def _json(kind: AvroType, buffer: bytes, position: int) -> tuple[Any, int]:
    if isinstance(kind, Union):
        index, position = read_long(buffer, position)
        branch = kind.branches[index]
        value, position = _json(branch, buffer, position)
        return (None if branch.kind == "null" else {branch_name(branch): value}), position
    if isinstance(kind, Record):
        members: dict[str, Any] = {}
        for field in kind.fields:
            members[field.name], position = _json(field.type, buffer, position)
        return members, position
    if isinstance(kind, Array | Map):
        return _collection(kind, buffer, position)
    if isinstance(kind, Enum):
        index, position = read_long(buffer, position)
        return kind.symbols[index], position
    return _leaf(kind, buffer, position)


def _collection(kind: Array | Map, buffer: bytes, position: int) -> tuple[Any, int]:
    count, position = read_long(buffer, position)
    items: list[Any] = []
    keys: list[str] = []
    for _ in range(count):
        if isinstance(kind, Map):
            key, position = _leaf(_TEXT, buffer, position)
            keys.append(key)
        item, position = _json(kind.items if isinstance(kind, Array) else kind.values, buffer, position)
        items.append(item)
    # Our own writing puts all items into one block, with the end behind it.
    position += count > 0
    return (dict(zip(keys, items, strict=True)) if isinstance(kind, Map) else items), position


def _leaf(kind: Primitive | Fixed, buffer: bytes, position: int) -> tuple[Any, int]:
    bare = Fixed(kind.name, kind.size, kind.at) if isinstance(kind, Fixed) else Primitive(kind.kind, kind.at)
    value, position = reader(bare)(buffer, position, 0)
    if isinstance(value, bytes):
        return value.decode("latin-1"), position
    if isinstance(value, float) and not math.isfinite(value):
        return ("NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"), position
    return value, position


_TEXT = Primitive("string", "")

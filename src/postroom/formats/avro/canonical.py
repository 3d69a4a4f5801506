"""The parsing canonical form and the fingerprint that single-object encoding carries."""

from __future__ import annotations

import json
from typing import Any

import fastavro.schema

from postroom.formats.avro.types import Array, AvroType, Enum, Fixed, Map, Record, Union


def canonical_form(kind: AvroType) -> str:
    """What the specification calls Parsing Canonical Form."""
    return json.dumps(_canonical(kind, set()), ensure_ascii=False, separators=(",", ":"))


def fingerprint(kind: AvroType) -> bytes:
    """The CRC-64-AVRO fingerprint, in the order of bytes that payloads carry it."""
    # fastavro writes the eight bytes in that order already, as hexadecimal digits.
    return bytes.fromhex(fastavro.schema.fingerprint(canonical_form(kind), "CRC-64-AVRO"))


def _canonical(kind: AvroType, defined: set[str]) -> Any:
    if isinstance(kind, Array):
        return {"type": "array", "items": _canonical(kind.items, defined)}
    if isinstance(kind, Map):
        return {"type": "map", "values": _canonical(kind.values, defined)}
    if isinstance(kind, Union):
        return [_canonical(branch, defined) for branch in kind.branches]
    if not isinstance(kind, Record | Enum | Fixed):
        return kind.kind
    if kind.name in defined:
        return kind.name
    defined.add(kind.name)
    if isinstance(kind, Enum):
        return {"name": kind.name, "type": "enum", "symbols": kind.symbols}
    if isinstance(kind, Fixed):
        return {"name": kind.name, "type": "fixed", "size": kind.size}
    fields = [{"name": field.name, "type": _canonical(field.type, defined)} for field in kind.fields]
    return {"name": kind.name, "type": "record", "fields": fields}

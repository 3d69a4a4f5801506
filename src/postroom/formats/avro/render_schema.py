"""Types rendered as schema documents: for other libraries, in canonical form, and the fingerprint of that.

Documents have full names and define each type once.
"""

from __future__ import annotations

import json
from typing import Any

import fastavro.schema

from postroom.formats.avro import types

# The attributes that the form keeps, in the order in which it has them.
_KEPT = ("name", "type", "fields", "symbols", "items", "values", "size")


def render_schema(schema: types.AvroType) -> Any:
    """The document of a type, with what resolution needs: names, aliases and defaults, no logical types."""
    return _rendered(schema, set())


def _rendered(schema: types.AvroType, defined: set[str]) -> Any:
    if isinstance(schema, types.ArrayType):
        return {"type": "array", "items": _rendered(schema.items, defined)}
    if isinstance(schema, types.MapType):
        return {"type": "map", "values": _rendered(schema.values, defined)}
    if isinstance(schema, types.UnionType):
        return [_rendered(branch, defined) for branch in schema.branches]
    if not isinstance(schema, types.RecordType | types.EnumType | types.FixedType):
        return schema.type_name
    if schema.name in defined:
        return schema.name
    defined.add(schema.name)
    document: dict[str, Any] = {"type": schema.type_name, "name": schema.name, "aliases": list(schema.aliases)}
    if isinstance(schema, types.EnumType):
        document["symbols"] = list(schema.symbols)
        if schema.default is not None:
            document["default"] = schema.default
    elif isinstance(schema, types.FixedType):
        document["size"] = schema.size
    else:
        document["fields"] = [_field(field, defined) for field in schema.fields]
    return document


def _field(field: types.RecordField, defined: set[str]) -> dict[str, Any]:
    document = {"name": field.name, "type": _rendered(field.type, defined), "aliases": list(field.aliases)}
    return document if field.default is types.NO_DEFAULT else {**document, "default": field.default}


def canonical_form(schema: types.AvroType) -> str:
    """What the specification calls Parsing Canonical Form."""
    return json.dumps(_canonical(render_schema(schema)), ensure_ascii=False, separators=(",", ":"))


def fingerprint(schema: types.AvroType) -> bytes:
    """The CRC-64-AVRO fingerprint, in the order of bytes that payloads carry it."""
    # fastavro writes the eight bytes in that order already, as hexadecimal digits.
    return bytes.fromhex(fastavro.schema.fingerprint(canonical_form(schema), "CRC-64-AVRO"))


def _canonical(document: Any) -> Any:
    if isinstance(document, list):
        return [_canonical(item) for item in document]
    if not isinstance(document, dict):
        return document
    return {name: _canonical(document[name]) for name in _KEPT if name in document}

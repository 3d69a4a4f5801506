"""The parsing canonical form and the fingerprint that single-object encoding carries."""

from __future__ import annotations

import json
from typing import Any

import fastavro.schema

from postroom.formats.avro.render_schema import rendered
from postroom.formats.avro.types import AvroType

# The attributes that the form keeps, in the order in which it has them.
_KEPT = ("name", "type", "fields", "symbols", "items", "values", "size")


def canonical_form(kind: AvroType) -> str:
    """What the specification calls Parsing Canonical Form."""
    return json.dumps(_canonical(rendered(kind)), ensure_ascii=False, separators=(",", ":"))


def fingerprint(kind: AvroType) -> bytes:
    """The CRC-64-AVRO fingerprint, in the order of bytes that payloads carry it."""
    # fastavro writes the eight bytes in that order already, as hexadecimal digits.
    return bytes.fromhex(fastavro.schema.fingerprint(canonical_form(kind), "CRC-64-AVRO"))


def _canonical(document: Any) -> Any:
    if isinstance(document, list):
        return [_canonical(item) for item in document]
    if not isinstance(document, dict):
        return document
    return {name: _canonical(document[name]) for name in _KEPT if name in document}

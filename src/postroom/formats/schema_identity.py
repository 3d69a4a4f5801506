"""What makes two schema documents the same schema, for formats whose schemas are numbered.

Blanks, comments and the order of JSON members say nothing; everything else does.
"""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.avro.names import is_name, namespace_of, qualified
from postroom.formats.avro.types import PRIMITIVES
from postroom.formats.format_table import format_named
from postroom.formats.protobuf.schema_files import tokens
from postroom.formats.schema_text import load_json, load_text

NUMBERED = {"Avro": "AVRO", "JsonSchema": "JSON", "Protobuf": "PROTOBUF"}
"""The formats whose schemas have ids, by the names that schema registries have for them."""
_NAMED = ("record", "error", "enum", "fixed")
_COMPLEX = (*_NAMED, "array", "map")


def numbered_type(name: str) -> str:
    """The name that schema registries have for a format; empty for formats that they do not know."""
    known = format_named(name)
    return "" if known is None else NUMBERED.get(known.family.name, "")


def schema_identity(name: str, document: bytes) -> bytes | None:
    """The bytes that equal documents of a format share; None for formats whose schemas are not numbered."""
    kind = numbered_type(name)
    if not kind:
        return None
    try:
        text = normal_schema(kind, document)
    except SchemaRefused:  # whether a broken document may be stored is for others to say
        return kind.encode() + b"\0" + document
    return f"{kind}\0{text}".encode("utf-8", "replace")


def document_bytes(name: str, document: Any) -> bytes:
    """A document as it would be stored; text is that of the document, but for the name of an Avro type alone."""
    if isinstance(document, bytes):
        return document
    is_text = isinstance(document, str) and not (numbered_type(name) == "AVRO" and is_name(document.strip()))
    return document.encode() if is_text else msgspec.json.encode(document)


def normal_schema(kind: str, document: bytes | str) -> str:
    """A schema in its one spelling; SchemaRefused for what is no JSON, or no text."""
    if kind == "PROTOBUF":
        return " ".join(tokens(load_text(document)))
    value = load_json(document)
    try:
        return msgspec.json.encode(_plain(value) if kind == "AVRO" else value, order="sorted").decode()
    except RecursionError:
        raise SchemaRefused("the document is nested too deeply.") from None


def _plain(schema: Any, namespace: str = "") -> Any:
    """An Avro schema with all names in full, and `{"type": "string"}` written as `"string"`."""
    if isinstance(schema, str):
        return schema if schema in PRIMITIVES else qualified(schema, namespace)
    if isinstance(schema, list):
        return [_plain(one, namespace) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if schema.keys() == {"type"}:
        return _plain(schema["type"], namespace)
    kind, name = schema.get("type"), schema.get("name")
    plain = dict(schema)
    if kind in _NAMED and isinstance(name, str):
        own = plain.pop("namespace", None)
        plain["name"] = qualified(name, own if isinstance(own, str) else namespace)
        namespace = namespace_of(plain["name"])
    elif not isinstance(kind, str) or kind not in _COMPLEX:
        plain["type"] = _plain(kind, namespace)
    for member in ("items", "values"):
        if member in plain:
            plain[member] = _plain(plain[member], namespace)
    if isinstance(plain.get("fields"), list):
        plain["fields"] = [_plain_field(one, namespace) for one in plain["fields"]]
    return plain


def _plain_field(field: Any, namespace: str) -> Any:
    if not isinstance(field, dict):
        return field
    return {name: _plain(value, namespace) if name == "type" else value for name, value in field.items()}

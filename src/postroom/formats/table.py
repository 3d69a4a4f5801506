"""The payload schema formats we know. A new one is one new module and one line here."""

from __future__ import annotations

import importlib
from typing import Any

from postroom.errors import FormatUnknown
from postroom.formats.schema import PayloadSchema

# Modules load on first use: a catalog without Avro needs no Avro library.
_MODULES = {"jsonschema": "postroom.formats.jsonschema"}


def parse_schema(name: str, document: Any, fragment: str = "") -> PayloadSchema:
    """Parse a schema document of a named format (`NAME/VERSION`, case ignored)."""
    family, _, version = name.partition("/")
    module = _MODULES.get(family.lower())
    if module is None:
        raise FormatUnknown(f"the schema format {name or '(none)'!r} is not one we read.")
    parsed: PayloadSchema = importlib.import_module(module).parse(version.lower(), document, fragment)
    return parsed

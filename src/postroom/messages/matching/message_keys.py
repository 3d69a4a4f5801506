"""Keys of messages that name their schema, as serialisers of schema registries write them.

They are read before anything is compared: a definition compares the text that a key stands for, and tables keep the
bytes that it had.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from postroom.formats.fill_columns import json_text
from postroom.formats.schema_versions import Versions
from postroom.protocols.protocol_table import wire_named
from postroom.protocols.records import Record

Fault = tuple[str, str, str]
"""Why a key cannot be read: code, expected, found."""


class KeyReader:
    """Reads the keys of messages on topics whose keys have a schema."""

    def __init__(self, versions: Mapping[str, Versions]) -> None:
        self._versions = versions

    def read(self, record: Record) -> tuple[Record, Fault | None]:
        """A record whose key is the text that it stands for; one without a schema's id stays as it is."""
        if not self._versions:
            return record, None
        wire = wire_named(record.protocol)
        versions = self._versions.get(wire.lookup(record.metadata, wire.channel)) if wire.key_schema_id else None
        if versions is None:
            return record, None
        raw, header = _bytes(record.metadata), wire.schema_header(record.metadata, of_key=True)
        if raw is None or not (header or raw.startswith(b"\0")):
            return record, None
        value, violations, writer, _ = versions.validate(raw, "", header)
        if violations:
            first = violations[0]
            return record, (first.code, first.expected, f"{first.found} in its key")
        if writer is None:
            return record, None
        text = value if isinstance(value, str) else json_text(value)
        key = {"key": text, "key_base64": base64.b64encode(raw).decode()}
        return Record(record.protocol, {**record.metadata, **key}, record.payload), None


def _bytes(metadata: Mapping[str, Any]) -> bytes | None:
    text, encoded = metadata.get("key"), metadata.get("key_base64")
    if isinstance(text, str):
        return text.encode()
    try:
        return base64.b64decode(encoded, validate=True) if isinstance(encoded, str) else None
    except ValueError:
        return None

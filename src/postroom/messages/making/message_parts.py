"""Drafts: the parts of a message before they are put on the wire."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.messages.making.metadata_placement import without
from postroom.protocols.cloudevents import JSON_DATA, media_type, wrap
from postroom.protocols.protocol_table import wire_named
from postroom.protocols.records import Record


class Draft(msgspec.Struct, frozen=True):
    """A message about to go on the wire. `attributes` is None for a message without an envelope."""

    protocol: str
    metadata: dict[str, Any]
    attributes: dict[str, Any] | None
    body: bytes
    mode: str

    def record(self) -> Record:
        """The message on the wire."""
        if self.attributes is None:
            return Record(self.protocol, self.metadata, self.body)
        wire = wire_named(self.protocol)
        if not (wire.contenttype and wire.contenttype[0] in self.metadata):
            return wrap(self.protocol, self.metadata, self.attributes, self.body, self.mode)
        # The definition may state the content type; a message has it once.
        metadata = without(wire, self.metadata, wire.contenttype)
        record = wrap(self.protocol, metadata, self.attributes, self.body, self.mode)
        if self.mode == "structured" and media_type(wire.content_type(self.metadata)) == JSON_DATA:
            return Record(record.protocol, self.metadata, record.payload)  # as many producers label such events
        return record

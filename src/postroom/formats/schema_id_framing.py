"""The header that serialisers of schema registries put in front of a payload: a zero byte and the schema's id.

In a header of the message, a GUID may stand there: a byte 1 and 16 bytes.
"""

from __future__ import annotations

import uuid
from typing import Any

from postroom.formats.schema import Frame, FramedReader, FramedSchema, PayloadSchema, Violation

ID_BYTES = 4
"""How many bytes an id has, where no setting says 8."""
GUID_LENGTH = 17

# Registries count from one: an id of four bytes has a zero in front.
_LARGE = 2**24


def registry_frame(payload: bytes, id_bytes: int = ID_BYTES, *, is_sure: bool) -> Frame | None:
    """The header of a registry, if a payload begins like one."""
    length = 1 + id_bytes
    if payload[:1] != b"\0" or len(payload) < length:
        return None
    number = int.from_bytes(payload[1:length])
    return Frame(number, length, is_sure, number < _LARGE)


def guid_in(header: bytes) -> str:
    """The GUID that a header of a message begins with; empty where it begins with none."""
    is_guid = header[:1] == b"\1" and len(header) >= GUID_LENGTH
    return str(uuid.UUID(bytes=header[1:GUID_LENGTH])) if is_guid else ""


class JsonFraming:
    """Headers in front of JSON, which never begins with a zero byte itself."""

    def validate(self, payload: bytes, contenttype: str = "") -> tuple[Any, list[Violation]]:
        """Validate a payload without a header."""
        raise NotImplementedError

    def frame(self, payload: bytes, contenttype: str, id_bytes: int) -> Frame | None:
        """The header of a registry, if there is one."""
        return registry_frame(payload, id_bytes, is_sure=True)

    def validate_unframed(self, payload: bytes, contenttype: str) -> tuple[Any, list[Violation]]:
        """Validate a payload as one without a header."""
        return self.validate(payload, contenttype)

    def validate_framed(self, payload: bytes, start: int, contenttype: str) -> tuple[Any, list[Violation]]:
        """Validate the payload behind a header."""
        return self.validate(payload[start:], contenttype)

    def strip_header(self, payload: bytes, start: int) -> bytes | None:
        """The payload behind a header."""
        return payload[start:]

    def behind_id(self, contenttype: str) -> bytes:
        """Nothing: a payload follows its id."""
        return b""

    def reader_for(self, writer: PayloadSchema) -> FramedReader | None:
        """The version that wrote a payload reads it: JSON describes itself."""
        return writer if isinstance(writer, FramedSchema) else None

    def fingerprint(self) -> bytes:
        """Empty: headers in front of JSON carry none."""
        return b""

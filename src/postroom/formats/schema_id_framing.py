"""The header that serialisers of schema registries put in front of a payload: a zero byte and the schema's id."""

from __future__ import annotations

from typing import Any

from postroom.formats.schema import Frame, FramedReader, FramedSchema, PayloadSchema, Violation

HEADER_LENGTH = 5

# Registries count from one: an id of four bytes has a zero in front.
_LARGE = 2**24


def registry_frame(payload: bytes, *, is_sure: bool) -> Frame | None:
    """The header of a registry, if a payload begins like one."""
    if payload[:1] != b"\0" or len(payload) < HEADER_LENGTH:
        return None
    number = int.from_bytes(payload[1:HEADER_LENGTH])
    return Frame(number, HEADER_LENGTH, is_sure, number < _LARGE)


class JsonFraming:
    """Headers in front of JSON, which never begins with a zero byte itself."""

    def validate(self, payload: bytes, contenttype: str = "") -> tuple[Any, list[Violation]]:
        """Validate a payload without a header."""
        raise NotImplementedError

    def frame(self, payload: bytes, contenttype: str) -> Frame | None:
        """The header of a registry, if there is one."""
        return registry_frame(payload, is_sure=True)

    def validate_unframed(self, payload: bytes, contenttype: str) -> tuple[Any, list[Violation]]:
        """Validate a payload as one without a header."""
        return self.validate(payload, contenttype)

    def validate_framed(self, payload: bytes, start: int, contenttype: str) -> tuple[Any, list[Violation]]:
        """Validate the payload behind a header."""
        return self.validate(payload[start:], contenttype)

    def strip_header(self, payload: bytes, start: int) -> bytes | None:
        """The payload behind a header."""
        return payload[start:]

    def reader_for(self, writer: PayloadSchema) -> FramedReader | None:
        """The version that wrote a payload reads it: JSON describes itself."""
        return writer if isinstance(writer, FramedSchema) else None

    def fingerprint(self) -> bytes:
        """Empty: headers in front of JSON carry none."""
        return b""

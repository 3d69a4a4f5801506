"""The header that the serialisers of schema registries put in front of a payload: a zero byte and the schema's id."""

from __future__ import annotations

from typing import Any

from postroom.formats.schema import Frame, FramedSchema, PayloadSchema, Reading, Violation

HEADER = 5

# Registries count from one: an id of four bytes has a zero in front.
_LARGE = 2**24


def registry_frame(payload: bytes, *, is_sure: bool) -> Frame | None:
    """The header of a registry, if a payload begins like one."""
    if payload[:1] != b"\0" or len(payload) < HEADER:
        return None
    number = int.from_bytes(payload[1:HEADER])
    return Frame(number, HEADER, is_sure, number < _LARGE)


class JsonFraming:
    """Headers in front of JSON, which never begins with a zero byte itself."""

    def judge(self, payload: bytes, contenttype: str = "") -> tuple[Any, list[Violation]]:
        """What the schema says about a payload without a header."""
        raise NotImplementedError

    def frame(self, payload: bytes, contenttype: str) -> Frame | None:
        """The header of a registry, if there is one."""
        return registry_frame(payload, is_sure=True)

    def judge_bare(self, payload: bytes, contenttype: str) -> tuple[Any, list[Violation]]:
        """Judge a payload as one without a header."""
        return self.judge(payload, contenttype)

    def judge_behind(self, payload: bytes, start: int, contenttype: str) -> tuple[Any, list[Violation]]:
        """Judge what stands behind a header."""
        return self.judge(payload[start:], contenttype)

    def bare(self, payload: bytes, start: int) -> bytes | None:
        """What stands behind a header."""
        return payload[start:]

    def written_by(self, writer: PayloadSchema) -> Reading | None:
        """JSON says itself what is what: the version that wrote a payload reads it."""
        return writer if isinstance(writer, FramedSchema) else None

    def fingerprint(self) -> bytes:
        """None is carried."""
        return b""

"""Records: one message as it was on the wire (CONTRACT "Records")."""

from __future__ import annotations

import base64
import binascii
from typing import Any

import msgspec

from postroom.errors import RecordRefused

JSON_EVENT = "application/cloudevents+json"
JSON_BATCH = "application/cloudevents-batch+json"


class Record(msgspec.Struct, frozen=True, gc=False):
    """A message on the wire: protocol, the protocol's own metadata, and the exact bytes of the body.

    `protocol` is empty for a structured CloudEvent that came on its own, without a transport.
    """

    protocol: str
    metadata: dict[str, Any]
    payload: bytes


class _Line(msgspec.Struct, gc=False):
    protocol: str | None = None
    metadata: dict[str, Any] | None = None
    payload: str | None = None
    payload_base64: str | None = None
    specversion: Any = None


_decoder = msgspec.json.Decoder(_Line)


def parse_record(line: bytes) -> Record:
    """Read one line of JSON Lines. A line that is itself a CloudEvent, or a batch of them, is a bare record."""
    stripped = line.strip()
    if stripped[:1] == b"[":
        return Record("", {"content_type": JSON_BATCH}, stripped)
    try:
        fields = _decoder.decode(stripped)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordRefused(f"this line is not a record: {error}") from None
    if fields.protocol is None:
        if fields.specversion is not None:
            return Record("", {"content_type": JSON_EVENT}, stripped)
        raise RecordRefused("this line has neither `protocol` (a record) nor `specversion` (a CloudEvent).")
    text, encoded = fields.payload, fields.payload_base64
    payload = text.encode() if encoded is None and text is not None else _body(text, encoded)
    return Record(fields.protocol, fields.metadata or {}, payload)


def line_of(value: Any) -> bytes:
    """The line of a record that is given as text, bytes or a dict of the same shape."""
    if isinstance(value, bytes | bytearray):
        return bytes(value)
    return value.encode() if isinstance(value, str) else msgspec.json.encode(value)


def render_record(record: Record) -> dict[str, Any]:
    """The record as one JSON object; text bodies stay text, others become base64."""
    shown: dict[str, Any] = {"protocol": record.protocol, "metadata": record.metadata} if record.protocol else {}
    if not record.protocol:
        loaded: dict[str, Any] = msgspec.json.decode(record.payload)
        return loaded
    if record.payload:
        try:
            shown["payload"] = record.payload.decode()
        except UnicodeDecodeError:
            shown["payload_base64"] = base64.b64encode(record.payload).decode()
    return shown


def _body(text: str | None, encoded: str | None) -> bytes:
    if encoded is None:
        return (text or "").encode()
    if text is not None:
        raise RecordRefused("a record has `payload` or `payload_base64`, not both.")
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise RecordRefused("`payload_base64` is not valid base64.") from None

"""CloudEvents: from a record to messages and from a message to a record, in binary, structured and batch mode."""

from __future__ import annotations

import base64
import binascii
from typing import Any
from urllib.parse import quote

import msgspec

from postroom.protocols.records import JSON_BATCH, JSON_EVENT, Record
from postroom.protocols.table import wire_named
from postroom.protocols.wire import Wire

ENVELOPE = "CloudEvents/1.0"
_UNENCODED = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"%')
JSON_DATA = "application/json"
_BODY = frozenset(("data", "data_base64"))
_IDENTIFYING = ("specversion", "id", "source", "type")

_envelope_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_batch_decoder = msgspec.json.Decoder(list[msgspec.Raw])


class Message(msgspec.Struct, frozen=True, gc=False):
    """One message taken off the wire.

    `attributes` is None where there is no CloudEvents envelope; `contenttype` is the body's, "" where nobody says.
    """

    protocol: str
    metadata: dict[str, Any]
    attributes: dict[str, Any] | None
    body: bytes
    mode: str = ""
    contenttype: str = ""


class Malformed(msgspec.Struct, frozen=True, gc=False):
    """Why bytes are not a message at all."""

    at: str
    code: str
    expected: str
    found: str


def unwrap(record: Record) -> list[Message | Malformed]:
    """The messages a record carries: one, or all those of a CloudEvents batch."""
    wire = wire_named(record.protocol)
    stated = wire.content_type(record.metadata) if record.protocol else record.metadata.get("content_type", "")
    media = media_type(stated)
    if media == JSON_EVENT:
        return [_structured(record, record.payload)]
    if media == JSON_BATCH:
        return _batch(record)
    binary = wire.event_headers(record.metadata)
    if "specversion" in binary or all(name in binary for name in _IDENTIFYING[1:]):
        if stated and "datacontenttype" not in binary:
            binary["datacontenttype"] = stated
        contenttype = binary.get("datacontenttype", "")
        return [Message(record.protocol, record.metadata, binary, record.payload, "binary", str(contenttype))]
    if media in ("", "application/json") and record.payload.lstrip()[:1] == b"{":
        guessed = _structured(record, record.payload)
        if isinstance(guessed, Message) and all(name in (guessed.attributes or ()) for name in _IDENTIFYING):
            return [guessed]
    return [Message(record.protocol, record.metadata, None, record.payload, contenttype=stated)]


def media_type(content_type: str) -> str:
    """The type without its parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def _batch(record: Record) -> list[Message | Malformed]:
    try:
        events = _batch_decoder.decode(record.payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return [Malformed("/payload", "batch_broken", "a JSON array of CloudEvents", str(error))]
    if not events:
        # A record must end somewhere; an empty batch says nothing that could land.
        return [Malformed("/payload", "empty_batch", "at least one event", "an empty batch")]
    return [_structured(record, bytes(event)) for event in events]


def _structured(record: Record, text: bytes) -> Message | Malformed:
    try:
        members = _envelope_decoder.decode(text)
        decoded = ((name, msgspec.json.decode(value)) for name, value in members.items() if name not in _BODY)
        attributes = {name: value for name, value in decoded if value is not None}
        body, contenttype = _structured_body(members, attributes)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Malformed("/payload", "event_broken", "a CloudEvent in JSON", str(error))
    except (binascii.Error, ValueError):
        return Malformed("/payload/data_base64", "event_broken", "valid base64", "something else")
    if attributes.get("specversion") != "1.0":
        found = attributes.get("specversion", "none")
        return Malformed("/payload/specversion", "specversion_unknown", "1.0", str(found))
    return Message(record.protocol, record.metadata, attributes, body, "structured", contenttype)


def _structured_body(members: dict[str, msgspec.Raw], attributes: dict[str, Any]) -> tuple[bytes, str]:
    """The bytes of the data, and their content type."""
    stated = str(attributes.get("datacontenttype", ""))
    if "data_base64" in members:
        return base64.b64decode(msgspec.json.decode(members["data_base64"], type=str), validate=True), stated
    raw = bytes(members.get("data", b""))
    # JSON data stays as it came; a JSON string is the text of any other content type (CloudEvents JSON format 3.1).
    if is_json(stated):
        return raw, stated or JSON_DATA
    if raw[:1] == b'"':
        text: str = msgspec.json.decode(raw)
        return text.encode(), stated
    return raw, JSON_DATA if raw else stated


def is_json(content_type: str) -> bool:
    """Whether a content type means JSON: application/json, text/json, anything+json. None means JSON as well."""
    media = media_type(content_type)
    return media in ("", "application/json", "text/json") or media.endswith("+json")


def wrap(protocol: str, metadata: dict[str, Any], attributes: dict[str, Any], body: bytes, mode: str) -> Record:
    """A record that carries the event; without a protocol it is the structured event alone."""
    if not protocol:
        return Record("", {"content_type": JSON_EVENT}, _event_json(attributes, body))
    wire = wire_named(protocol)
    if mode == "structured" or not wire.headers:
        return Record(wire.name, _with_content_type(wire, metadata, JSON_EVENT), _event_json(attributes, body))
    stated = str(attributes.get("datacontenttype", ""))
    headers = [
        {"name": wire.prefixes[0] + name, "value": _header_value(wire, value)}
        for name, value in attributes.items()
        if name != "datacontenttype"
    ]
    return Record(wire.name, _with_headers(wire, _with_content_type(wire, metadata, stated), headers), body)


def header_text(value: Any) -> str:
    """An attribute value as text, by the canonical string forms of CloudEvents."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def _header_value(wire: Wire, value: Any) -> str:
    # CloudEvents HTTP binding 3.1.3.2: space, double quote, percent and everything beyond printable ASCII.
    text = header_text(value)
    return quote(text, safe=_UNENCODED) if wire.percent_encoded else text


def _event_json(attributes: dict[str, Any], body: bytes) -> bytes:
    event: dict[str, Any] = dict(attributes)
    if body:
        if is_json(str(attributes.get("datacontenttype", ""))):
            event["data"] = msgspec.Raw(body)
        else:
            try:
                event["data"] = body.decode()
            except UnicodeDecodeError:
                event["data_base64"] = base64.b64encode(body).decode()
    return msgspec.json.encode(event)


def _with_content_type(wire: Wire, metadata: dict[str, Any], content_type: str) -> dict[str, Any]:
    path = wire.contenttype
    if not path or not content_type:
        return dict(metadata)
    if len(path) == 1:
        return {**metadata, path[0]: content_type}
    option = wire.option(path[0])
    if option is not None and option.shape == "section":
        return {**metadata, path[0]: {**metadata.get(path[0], {}), path[1]: content_type}}
    return _with_headers(wire, metadata, [{"name": path[1], "value": content_type}])


def _with_headers(wire: Wire, metadata: dict[str, Any], headers: list[dict[str, Any]]) -> dict[str, Any]:
    option = wire.option(wire.headers)
    present = metadata.get(wire.headers)
    as_map = wire.headers_as_map or (option is not None and option.shape == "section")
    if isinstance(present, dict) or (as_map and not present):
        return {**metadata, wire.headers: {**(present or {}), **{h["name"]: h["value"] for h in headers}}}
    return {**metadata, wire.headers: [*(present or []), *headers]}

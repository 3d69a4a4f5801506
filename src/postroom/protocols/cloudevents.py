"""CloudEvents: from a record to messages and from a message to a record, in binary, structured and batch mode."""

from __future__ import annotations

import base64
import binascii
import functools
from collections.abc import Callable, Container, Iterable
from typing import Any, Literal

import msgspec
from msgspec import structs
from msgspec.structs import asdict

from postroom.protocols.content_encodings import LIMIT, EncodingFault
from postroom.protocols.content_encodings import unpack as unpack_content
from postroom.protocols.header_values import encoded
from postroom.protocols.protocol import HeaderBroken, Headers, Wire, is_attribute_name
from postroom.protocols.protocol_table import wire_named
from postroom.protocols.records import JSON_BATCH, JSON_EVENT, Record

ENVELOPE = "CloudEvents/1.0"
VERSION = "1.0"
# What the media types of all event formats start with; alone it means JSON (NATS binding 3).
EVENT_MEDIA = "application/cloudevents"
_EVENT = (JSON_EVENT, EVENT_MEDIA)
_BATCH = (JSON_BATCH, EVENT_MEDIA + "-batch")
JSON_DATA = "application/json"
_BODY = frozenset(("data", "data_base64"))
_ABSENT = (b"", b"null")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_IDENTIFYING = ("specversion", "id", "source", "type")

_envelope_decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])
_json_check = msgspec.json.Decoder(msgspec.Raw)
_batch_decoder = msgspec.json.Decoder(list[msgspec.Raw])
_NO_RAW: Any = b""

AnnouncedMode = Literal["structured", "batch", "unknown", ""]


class _CommonEvent(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """An event in JSON without extension attributes, which is decoded in one step."""

    specversion: Any = None
    id: Any = None
    source: Any = None
    type: Any = None
    subject: Any = None
    time: Any = None
    datacontenttype: Any = None
    dataschema: Any = None
    data: msgspec.Raw = _NO_RAW
    data_base64: msgspec.Raw = _NO_RAW


_COMMON_ATTRIBUTES = tuple(name for name in _CommonEvent.__struct_fields__ if name not in _BODY)
COMMON_NAMES = frozenset(_COMMON_ATTRIBUTES)
_common_decoder = msgspec.json.Decoder(_CommonEvent)


class Message(msgspec.Struct, frozen=True, gc=False):
    """One message taken off the wire.

    `attributes` is None where there is no CloudEvents envelope; `contenttype` is the body's, "" where nobody says. The
    body is without its content encodings; `fault` says why it could not be had without them: code, expected, found.
    """

    protocol: str
    metadata: dict[str, Any]
    attributes: dict[str, Any] | None
    body: bytes
    mode: str = ""
    contenttype: str = ""
    fault: tuple[str, str, str] | None = None


class Malformed(msgspec.Struct, frozen=True, gc=False):
    """Why bytes are not a message at all."""

    at: str
    code: str
    expected: str
    found: str


class BatchTooLarge(Exception):
    """A CloudEvents batch of more events than somebody wants to see."""


def unwrap(record: Record, most: int | None = None, limit: int = LIMIT) -> list[Message | Malformed]:
    """The messages a record carries: one, or all those of a CloudEvents batch.

    BatchTooLarge when a batch has more than `most`; nothing is made of its events then. A payload that has a content
    encoding has at most `limit` bytes without it.
    """
    wire = wire_named(record.protocol)
    headers = wire.read_headers(record.metadata)
    if not headers.contentencoding or not record.payload:
        return _messages(record, wire, headers, most)
    try:
        plain = unpack_content(record.payload, headers.contentencoding, limit)
    except EncodingFault as fault:
        return [_undecoded(record, wire, headers, (fault.code, fault.expected, fault.found))]
    return _messages(Record(record.protocol, record.metadata, plain), wire, headers, most)


def _undecoded(record: Record, wire: Wire, headers: Headers, fault: tuple[str, str, str]) -> Message | Malformed:
    """A message whose body cannot be unpacked: its headers still say what it is, unless it is an event itself."""
    (found,) = _messages(Record(record.protocol, record.metadata, b""), wire, headers, None)
    if isinstance(found, Message) and found.mode != "structured":
        return structs.replace(found, body=record.payload, fault=fault)
    is_event = isinstance(found, Message) or found.at.startswith("/payload")
    return Malformed("/payload", *fault) if is_event else found


def _messages(record: Record, wire: Wire, headers: Headers, most: int | None) -> list[Message | Malformed]:
    stated = headers.contenttype if record.protocol else _bare_content_type(record.metadata)
    announced = announced_mode(stated)
    if announced == "structured":
        return [_structured(record, record.payload)]
    if announced == "batch":
        return _batch(record, most)
    if announced == "unknown":
        return [Malformed("/metadata", "event_format_unknown", JSON_EVENT, stated)]
    try:
        binary = binary_attributes(wire, headers)
    except HeaderBroken as broken:
        at = f"/metadata/{wire.headers}/{wire.header_of(broken.attribute, record.metadata)}"
        return [Malformed(at, "header_broken", "percent-encoded UTF-8", broken.value)]
    if binary is not None:
        contenttype = str(binary.get("datacontenttype", ""))
        return [Message(record.protocol, record.metadata, binary, record.payload, "binary", contenttype)]
    if media_type(stated) in ("", JSON_DATA) and _is_event_json(record.payload):
        return [_structured(record, record.payload)]
    return [Message(record.protocol, record.metadata, None, record.payload, contenttype=stated)]


def _bare_content_type(metadata: dict[str, Any]) -> str:
    stated = metadata.get("content_type")
    return stated if isinstance(stated, str) else ""


@functools.lru_cache(maxsize=256)  # senders have a few
def announced_mode(content_type: str) -> AnnouncedMode:
    """The mode that a content type announces: "unknown" for events in another format than JSON, "" for no event."""
    media = media_type(content_type)
    if media in _EVENT:
        return "structured"
    if media in _BATCH:
        return "batch"
    return "unknown" if media.startswith(EVENT_MEDIA) else ""


def binary_attributes(wire: Wire, headers: Headers) -> dict[str, Any] | None:
    """The attributes of the event that headers carry; None where they carry none, HeaderBroken where one is broken."""
    attributes, stated = wire.attribute_values(headers.attributes), headers.contenttype
    is_identified = "id" in attributes and "source" in attributes and "type" in attributes
    if not is_identified and not marks_event(wire, attributes.get("specversion")):
        return None
    if stated and body_type_counts(wire, attributes):
        attributes["datacontenttype"] = stated
    return attributes


def marks_event(wire: Wire, specversion: Any) -> bool:
    """Whether this value tells an event in binary mode; where headers have no prefix, any may be called specversion."""
    return specversion is not None and (bool(wire.prefixes[0]) or specversion == VERSION)


def body_type_counts(wire: Wire, attributes: Container[str]) -> bool:
    """Whether the content type that the protocol states is the `datacontenttype` of an event in binary mode."""
    return not (wire.contenttype_attribute and "datacontenttype" in attributes)


def _is_event_json(payload: bytes) -> bool:
    """Whether a body that nobody announced is an event all the same."""
    text = payload.removeprefix(_BYTE_ORDER_MARK)
    if text.lstrip()[:1] != b"{":
        return False
    try:
        members = _envelope_decoder.decode(text)
    except _UNREADABLE:
        return False
    return all(bytes(members.get(name, b"null")) != b"null" for name in _IDENTIFYING)


def odd_names(attributes: Iterable[str]) -> list[str]:
    """The names that no attribute may have: CloudEvents allows lower-case letters and digits of ASCII."""
    return [name for name in attributes if not is_attribute_name(name)]


def media_type(content_type: str) -> str:
    """The type without its parameters, in lower case."""
    return content_type.partition(";")[0].strip().lower()


def _batch(record: Record, most: int | None) -> list[Message | Malformed]:
    text = record.payload.removeprefix(_BYTE_ORDER_MARK)
    try:
        if most is not None and text.count(b",") >= most:
            _refuse_more(text, most)
        events = _batch_decoder.decode(text)
    except _UNREADABLE as error:
        return [Malformed("/payload", "batch_broken", "a JSON array of CloudEvents", str(error))]
    if not events:
        # A record must end somewhere; an empty batch says nothing that could land.
        return [Malformed("/payload", "empty_batch", "at least one event", "an empty batch")]
    return [_structured(record, bytes(event), f"/payload/{number}") for number, event in enumerate(events)]


class _Counted:
    """An event of a batch that is only counted."""


def _refuse_more(batch: bytes, most: int) -> None:
    event, count = _Counted(), 0

    def counted(_: type, __: Any) -> _Counted:
        nonlocal count
        count += 1
        if count > most:
            raise BatchTooLarge
        return event

    msgspec.json.decode(batch, type=list[_Counted], dec_hook=counted)


def _structured(record: Record, text: bytes, at: str = "/payload") -> Message | Malformed:
    try:
        attributes, data, data_base64 = _event_members(text.removeprefix(_BYTE_ORDER_MARK))
        if data not in _ABSENT and data_base64 not in _ABSENT:
            return Malformed(at, "event_broken", "either data or data_base64", "both")
        body, contenttype = _structured_body(data, data_base64, str(attributes.get("datacontenttype", "")))
    except _UNREADABLE as error:
        return Malformed(at, "event_broken", "a CloudEvent in JSON", str(error))
    except (binascii.Error, ValueError):
        return Malformed(f"{at}/data_base64", "event_broken", "valid base64", "something else")
    if attributes.get("specversion") != VERSION:
        found = attributes.get("specversion", "none")
        return Malformed(f"{at}/specversion", "specversion_unknown", VERSION, str(found))
    return Message(record.protocol, record.metadata, attributes, body, "structured", contenttype)


def _event_members(text: bytes) -> tuple[dict[str, Any], bytes, bytes]:
    """The attributes of an event in JSON that are not null, and its `data` and `data_base64` as they are written."""
    try:
        event = _common_decoder.decode(text)
    except msgspec.DecodeError:
        members = _envelope_decoder.decode(text)
        decoded = ((name, msgspec.json.decode(value)) for name, value in members.items() if name not in _BODY)
        attributes = {name: value for name, value in decoded if value is not None}
        return attributes, bytes(members.get("data", b"")), bytes(members.get("data_base64", b""))
    attributes = {name: value for name, value in asdict(event).items() if value is not None}
    return attributes, bytes(attributes.pop("data")), bytes(attributes.pop("data_base64"))


def _structured_body(data: bytes, data_base64: bytes, stated: str) -> tuple[bytes, str]:
    """The bytes of the data, and their content type."""
    if data_base64 not in _ABSENT:
        return unpack(msgspec.json.decode(data_base64, type=str)), stated
    # JSON data stays as it came; a JSON string is the text of any other content type (CloudEvents JSON format 3.1).
    if stated in ("", JSON_DATA) or is_json(stated):
        return data, stated or JSON_DATA
    if data[:1] == b'"':
        text: str = msgspec.json.decode(data)
        return text.encode(), stated
    return data, JSON_DATA if data else stated


unpack: Callable[[str], bytes] = functools.partial(binascii.a2b_base64, strict_mode=True)
"""The bytes of `data_base64`; binascii.Error, or another ValueError, for what is no base64."""


def is_event_type(content_type: str, mode: str) -> bool:
    """Whether a content type is that of an envelope with the data in it, and not of the data (MSG-034).

    Many label structured events as plain JSON.
    """
    media = media_type(content_type)
    return media.startswith(EVENT_MEDIA) or (mode == "structured" and media == JSON_DATA)


def is_json_event(content_type: str) -> bool:
    """Whether a content type of an event, or of a batch, means the JSON format; without a suffix it does."""
    return is_json(content_type) or media_type(content_type) in (*_EVENT, *_BATCH)


def is_json_format(event_format: str) -> bool:
    """Whether a format of events is JSON, which is the only one that is read and written; some write just its name."""
    return event_format.lower() == "json" or is_json_event(event_format)


def is_json(content_type: str) -> bool:
    """Whether a content type means JSON: application/json, text/json, anything+json. None means JSON as well."""
    media = media_type(content_type)
    return not media or media.endswith(("/json", "+json"))


def is_text(content_type: str) -> bool:
    """Whether a content type means text: text/anything, XML, YAML, or whatever names its charset."""
    media = media_type(content_type)
    return media.startswith("text/") or media.endswith(("xml", "yaml")) or "charset=" in content_type.lower()


def wrap(protocol: str, metadata: dict[str, Any], attributes: dict[str, Any], body: bytes, mode: str) -> Record:
    """A record that carries the event; without a protocol it is the structured event alone."""
    if not protocol:
        return Record("", {"content_type": JSON_EVENT}, _event_json(attributes, body))
    wire = wire_named(protocol)
    if mode == "structured" or not wire.headers:
        return Record(wire.name, with_content_type(wire, metadata, JSON_EVENT), _event_json(attributes, body))
    headers = [
        {"name": wire.prefixes[0] + name, "value": header_value(wire, value)}
        for name, value in attributes.items()
        if name != "datacontenttype" or wire.contenttype_attribute
    ]
    metadata = with_content_type(wire, metadata, str(attributes.get("datacontenttype", "")))
    return Record(wire.name, _with_headers(wire, metadata, headers), body)


def header_text(value: Any) -> str:
    """An attribute value as text, by the canonical string forms of CloudEvents."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


def header_value(wire: Wire, value: Any) -> Any:
    """An attribute value as a header of a protocol carries it."""
    if wire.native_values and isinstance(value, bool | int):
        return value
    text = header_text(value)
    return encoded(text) if wire.percent_encoded else text


def _event_json(attributes: dict[str, Any], body: bytes) -> bytes:
    event: dict[str, Any] = dict(attributes)
    if body:
        name, value = data_member(str(attributes.get("datacontenttype", "")))(body)
        event[name] = value
    return msgspec.json.encode(event)


def data_member(content_type: str) -> Callable[[bytes], tuple[str, Any]]:
    """What gives the member of an event that holds data of a content type: as JSON, as text, or else in base64."""
    if is_json(content_type):
        return _data_as_json
    return _data_as_text if is_text(content_type) else _data_as_base64


def _data_as_json(body: bytes) -> tuple[str, Any]:
    try:
        return "data", _json_check.decode(body)
    except _UNREADABLE:  # it is not what it is called; base64 carries it all the same
        return _data_as_base64(body)


def _data_as_text(body: bytes) -> tuple[str, Any]:
    try:
        return "data", body.decode()
    except UnicodeDecodeError:
        return _data_as_base64(body)


def _data_as_base64(body: bytes) -> tuple[str, Any]:
    return "data_base64", base64.b64encode(body).decode()


def with_content_type(wire: Wire, metadata: dict[str, Any], content_type: str) -> dict[str, Any]:
    """Metadata that state a content type where the protocol has a place for it; one that they state already stays."""
    path = wire.contenttype
    stated = media_type(wire.content_type(metadata))
    # What the definition fixes stays; an event that is labelled as plain JSON is recognised all the same.
    if not path or not content_type or stated == JSON_DATA or (stated and content_type != JSON_EVENT):
        return dict(metadata)
    if len(path) == 1:
        return {**metadata, path[0]: content_type}
    option = wire.option(path[0])
    if option is not None and option.shape == "section":
        return {**metadata, path[0]: {**metadata.get(path[0], {}), path[1]: content_type}}
    present = metadata.get(path[0])
    if stated and isinstance(present, list):
        present = [pair for pair in present if str(pair.get("name")).lower() != path[1]]
    elif stated and isinstance(present, dict):
        present = {name: value for name, value in present.items() if name.lower() != path[1]}
    return _with_headers(wire, {**metadata, path[0]: present}, [{"name": path[1], "value": content_type}])


def _with_headers(wire: Wire, metadata: dict[str, Any], headers: list[dict[str, Any]]) -> dict[str, Any]:
    option = wire.option(wire.headers)
    present = metadata.get(wire.headers)
    as_map = wire.headers_as_map or (option is not None and option.shape == "section")
    if isinstance(present, dict) or (as_map and not present):
        return {**metadata, wire.headers: {**(present or {}), **{h["name"]: h["value"] for h in headers}}}
    return {**metadata, wire.headers: [*(present or []), *headers]}

"""Messages of the usual client libraries as records, and records as what those libraries send.

Objects are taken by their shape, so that none of the libraries has to be installed to import this. What is sent may be
a record or the `dict` of one; where its definition leaves the topic or subject open, so does the answer.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import msgspec

from postroom.protocols.cloudevents import header_text
from postroom.protocols.protocol import pairs, timestamp_text
from postroom.protocols.records import Record, line_of, parse_record

Sendable = Record | Mapping[str, Any]


def from_kafka(message: Any) -> Record:
    """The record of a `confluent_kafka.Message`."""
    metadata: dict[str, Any] = {"topic": message.topic(), "partition": message.partition()}
    if message.key() is not None:
        try:
            metadata["key"] = bytes(message.key()).decode()
        except UnicodeDecodeError:
            metadata["key_base64"] = _base64(message.key())
    metadata["headers"] = [{"name": name, "value": _text(value)} for name, value in message.headers() or ()]
    return Record("KAFKA", metadata, message.value() or b"")


def to_kafka(sendable: Sendable) -> dict[str, Any]:
    """What to send a record with: `producer.produce(**to_kafka(record))`."""
    record = _record(sendable)
    found = record.metadata
    key = base64.b64decode(found["key_base64"]) if "key_base64" in found else found.get("key")
    arguments: dict[str, Any] = {name: found[name] for name in ("topic", "partition") if name in found}
    headers = [(name, _sent(value)) for name, value in pairs(found.get("headers"))]
    return {**arguments, "key": key, "value": record.payload or None, "headers": headers}


_MQTT_PROPERTIES = {
    "payload_format": "PayloadFormatIndicator",
    "message_expiry_interval": "MessageExpiryInterval",
    "response_topic": "ResponseTopic",
    "correlation_data": "CorrelationData",
    "content_type": "ContentType",
}


def from_mqtt(message: Any) -> Record:
    """The record of a `paho.mqtt.client.MQTTMessage`; one without properties came over MQTT 3.1.1."""
    metadata: dict[str, Any] = {"topic_name": message.topic, "qos": message.qos, "retain": bool(message.retain)}
    if message.properties is None:
        return Record("MQTT/3.1.1", metadata, message.payload)
    for name, theirs in _MQTT_PROPERTIES.items():
        value = getattr(message.properties, theirs, None)
        if value is not None:
            metadata[name] = _base64(value) if name == "correlation_data" else value
    users = getattr(message.properties, "UserProperty", ())
    metadata["user_properties"] = [{"name": name, "value": value} for name, value in users]
    return Record("MQTT/5.0", metadata, message.payload)


def to_mqtt(sendable: Sendable) -> dict[str, Any]:
    """What to send a record with: `client.publish(**to_mqtt(record))`."""
    record = _record(sendable)
    found = record.metadata
    arguments = {"topic": found["topic_name"]} if "topic_name" in found else {}
    arguments |= {"payload": record.payload, "qos": found.get("qos", 0), "retain": found.get("retain", False)}
    if record.protocol == "MQTT/3.1.1":
        return arguments
    from paho.mqtt.packettypes import PacketTypes
    from paho.mqtt.properties import Properties

    properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]  # paho left it untyped
    for name, theirs in _MQTT_PROPERTIES.items():
        if name in found:
            setattr(properties, theirs, base64.b64decode(found[name]) if name == "correlation_data" else found[name])
    users = _texts(found.get("user_properties"))
    if users:
        properties.UserProperty = users
    return {**arguments, "properties": properties}


def from_nats(message: Any) -> Record:
    """The record of a `nats.aio.msg.Msg`."""
    metadata: dict[str, Any] = {"subject": message.subject}
    if message.reply:
        metadata["reply-to"] = message.reply
    metadata["headers"] = [{"name": name, "value": value} for name, value in (message.headers or {}).items()]
    return Record("NATS", metadata, message.data)


def to_nats(sendable: Sendable) -> dict[str, Any]:
    """What to send a record with: `await client.publish(**to_nats(record))`."""
    record = _record(sendable)
    found = record.metadata
    arguments = {"subject": found["subject"]} if "subject" in found else {}
    headers = dict(_texts(found.get("headers")))
    return {**arguments, "payload": record.payload, "reply": found.get("reply-to", ""), "headers": headers or None}


def from_http(message: Any) -> Record:
    """The record of an `httpx.Request` or `httpx.Response`."""
    metadata: dict[str, Any] = {}
    if hasattr(message, "status_code"):
        metadata["status"] = str(message.status_code)
    else:
        metadata |= {"method": message.method, "path": message.url.raw_path.decode().partition("?")[0]}
        metadata["query"] = [{"name": name, "value": value} for name, value in message.url.params.multi_items()]
    metadata["headers"] = [{"name": name, "value": value} for name, value in message.headers.multi_items()]
    return Record("HTTP", metadata, message.content)


def to_http(sendable: Sendable) -> dict[str, Any]:
    """What to send a record with: `client.request(**to_http(record))`, where the client has a base URL."""
    record = _record(sendable)
    found = record.metadata
    return {
        "method": found.get("method", "POST"),
        "url": found.get("path", "/"),
        "params": _texts(found.get("query")),
        "headers": _texts(found.get("headers")),
        "content": record.payload,
    }


_AMQP_PROPERTIES = {
    "message-id": "id",
    "user-id": "user_id",
    "to": "address",
    "subject": "subject",
    "reply-to": "reply_to",
    "correlation-id": "correlation_id",
    "content-type": "content_type",
    "content-encoding": "content_encoding",
    "group-id": "group_id",
    "group-sequence": "group_sequence",
    "reply-to-group-id": "reply_to_group_id",
}
_AMQP_TIMES = {"absolute-expiry-time": "expiry_time", "creation-time": "creation_time"}
# What the client says where a message says nothing. Zero is a good id, but no sequence and no time.
_UNSET = (None, "")
_NEVER = (None, timestamp_text(0))
_AMQP_UNSET: dict[str, tuple[Any, ...]] = {
    "content-type": (None, "", "None"),
    "content-encoding": (None, "", "None"),
    "group-sequence": (None, 0),
    "absolute-expiry-time": _NEVER,
    "creation-time": _NEVER,
}
_AMQP_SECTIONS = {
    "application-properties": "properties",
    "message-annotations": "annotations",
    "delivery-annotations": "instructions",
}


def from_amqp(message: Any) -> Record:
    """The record of a `proton.Message`. Native timestamps become RFC 3339 texts, binary values base64."""
    properties = {name: _plain(getattr(message, theirs)) for name, theirs in _AMQP_PROPERTIES.items()}
    properties |= {name: timestamp_text(round(getattr(message, theirs) * 1000)) for name, theirs in _AMQP_TIMES.items()}
    metadata: dict[str, Any] = {
        "properties": {name: value for name, value in properties.items() if value not in _AMQP_UNSET.get(name, _UNSET)}
    }
    for name, theirs in _AMQP_SECTIONS.items():
        section = getattr(message, theirs)
        if section:
            metadata[name] = {str(key): _plain(value) for key, value in section.items()}
    metadata["header"] = {"durable": message.durable, "priority": message.priority}
    return Record("AMQP/1.0", metadata, _amqp_body(message.body))


def to_amqp(sendable: Sendable) -> Any:
    """The `proton.Message` of a record."""
    from proton import Message

    record = _record(sendable)
    found = record.metadata
    message = Message(body=record.payload, inferred=True)
    for name, value in found.get("properties", {}).items():
        if name in _AMQP_PROPERTIES:
            setattr(message, _AMQP_PROPERTIES[name], base64.b64decode(value) if name == "user-id" else value)
        elif name in _AMQP_TIMES:
            setattr(message, _AMQP_TIMES[name], datetime.fromisoformat(value).timestamp())
    for name, theirs in _AMQP_SECTIONS.items():
        if found.get(name):
            setattr(message, theirs, dict(found[name]))
    for name, value in found.get("header", {}).items():
        if name in ("durable", "priority"):
            setattr(message, name, value)
    return message


def _record(sendable: Sendable) -> Record:
    return sendable if isinstance(sendable, Record) else parse_record(line_of(sendable))


def _texts(container: Any) -> list[tuple[str, str]]:
    """Names and values as protocols send them that know no others than text; null is not sent."""
    return [(name, header_text(value)) for name, value in pairs(container) if value is not None]


def _sent(value: Any) -> bytes | str | None:
    return value if value is None or isinstance(value, bytes) else header_text(value)


def _amqp_body(body: Any) -> bytes:
    """The bytes of a body: data as it is, a text in UTF-8, any other AMQP value as JSON."""
    if isinstance(body, bytes | memoryview):
        return bytes(body)
    if isinstance(body, str):
        return body.encode()
    return b"" if body is None else msgspec.json.encode(_plain(body))


def _plain(value: Any) -> Any:
    """A value of AMQP's types as JSON has them."""
    if type(value).__name__ == "timestamp":
        return timestamp_text(int(value))
    if isinstance(value, bytes | memoryview):
        return _base64(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    for scalar_type in (bool, int, float, str):
        if isinstance(value, scalar_type):
            return scalar_type(value)
    return None if value is None else str(value)


def _text(value: bytes | str | None) -> str | None:
    """A header's text; what is no UTF-8 becomes base64, the form of the type `binary`."""
    if value is None or isinstance(value, str):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return _base64(value)


def _base64(value: bytes | memoryview) -> str:
    return base64.b64encode(value).decode()

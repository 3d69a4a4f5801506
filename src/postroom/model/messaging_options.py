"""Protocol and envelope options of messages and endpoints, per selector, as data of the messaging model.

Options of MQTT, Kafka, NATS and HTTP messages are bare values or property objects (C-05), so their members take
any value here; names that may be written in any case live in objects with the `verbatim` character set (C-09).
"""

from __future__ import annotations

from typing import Any

Definition = dict[str, Any]

_ANY: Definition = {"type": "any"}
_STRING: Definition = {"type": "string"}
_URI: Definition = {"type": "uri"}
_BOOLEAN: Definition = {"type": "boolean"}
_UINTEGER: Definition = {"type": "uinteger"}
_STRINGS: Definition = {"type": "array", "item": {"type": "string"}}
_STRING_MAP: Definition = {"type": "map", "item": {"type": "string"}}


def property_object(*types: str) -> Definition:
    """A property: what its value is, of which type, whether it has to be there; without defaults (C-08)."""
    value_type: Definition = {"type": "string", "enum": list(types)} if types else {"type": "string"}
    return {
        "type": "object",
        "attributes": {
            "description": {"type": "string"},
            "type": value_type,
            "value": {"type": "any"},  # C-17
            "required": {"type": "boolean"},
            "specurl": {"type": "url"},
            "*": {"type": "any"},
        },
    }


def _default(type_name: str, value: Any, *enum: Any) -> Definition:
    return {"type": type_name, "required": True, "default": value, **({"enum": list(enum)} if enum else {})}


def _choice(*values: Any, type_name: str = "string") -> Definition:
    return {"type": type_name, "enum": list(values)}


def _options(**members: Definition) -> Definition:
    return {"type": "object", "namecharset": "extended", "attributes": {**members, "*": _ANY}}


def _hyphenated(members: dict[str, Definition]) -> Definition:
    return {"type": "object", "namecharset": "extended", "attributes": {**members, "*": _ANY}}


_NAMED_LIST: Definition = {
    "type": "array",
    "item": {"type": "object", "attributes": {"name": {"type": "string", "required": True}, "*": _ANY}},
}
_PROPERTIES: Definition = {"type": "object", "namecharset": "verbatim", "attributes": {"*": property_object()}}
_HEADERS: Definition = {"type": "any"}  # Kafka: a map of property objects or bare values, names in any case

ENVELOPE_OPTIONS: Definition = {
    "type": "object",
    "description": "How the envelope is used.",
    "attributes": {"mode": _choice("binary", "structured"), "format": _STRING, "*": _ANY},
}

_AMQP_MESSAGE = _hyphenated(
    {
        "properties": _hyphenated(
            {
                "message-id": property_object("ulong", "uuid", "binary", "string", "uritemplate"),
                "user-id": property_object("binary", "string", "uritemplate"),
                "to": property_object("string", "uri", "uritemplate"),
                "subject": property_object("string", "uritemplate"),
                "reply-to": property_object("string", "uri", "uritemplate"),
                "correlation-id": property_object("ulong", "uuid", "binary", "string", "uritemplate"),
                "content-type": property_object("string", "symbol", "uritemplate"),
                "content-encoding": property_object("string", "symbol"),
                "absolute-expiry-time": property_object("timestamp"),
                "creation-time": property_object("timestamp"),
                "group-id": property_object("string", "uritemplate"),
                "group-sequence": property_object("integer", "uinteger"),
                "reply-to-group-id": property_object("string", "uritemplate"),
            }
        ),
        "application-properties": _PROPERTIES,
        "message-annotations": _PROPERTIES,
        "delivery-annotations": _PROPERTIES,
        "header": _hyphenated(
            {"durable": _ANY, "priority": _ANY, "ttl": _ANY, "first-acquirer": _ANY, "delivery-count": _ANY}
        ),
        "footer": _PROPERTIES,
    }
)
_MQTT3_MESSAGE = _options(qos=_ANY, retain=_ANY, topic_name=_ANY)
_MQTT5_MESSAGE = _options(
    qos=_ANY,
    retain=_ANY,
    topic_name=_ANY,
    payload_format=_ANY,  # C-14
    message_expiry_interval=_ANY,
    response_topic=_ANY,
    correlation_data=_ANY,
    content_type=_ANY,
    user_properties=_NAMED_LIST,
)
_KAFKA_MESSAGE = _options(topic=_ANY, partition=_ANY, key=_ANY, key_base64=_ANY, headers=_HEADERS)
_HTTP_MESSAGE = _options(headers=_NAMED_LIST, query=_ANY, path=_ANY, method=_ANY, status=_ANY)  # C-04, C-15
_NATS_MESSAGE = _hyphenated({"subject": _ANY, "reply-to": _ANY, "headers": _ANY})  # C-13

_HTTP_NAMES = ("HTTP", "HTTP/1.1", "HTTP/2", "HTTP/3")  # C-15

MESSAGE_OPTIONS: dict[str, Definition] = {
    "AMQP/1.0": _AMQP_MESSAGE,
    "MQTT/3.1.1": _MQTT3_MESSAGE,
    "MQTT/5.0": _MQTT5_MESSAGE,
    "KAFKA": _KAFKA_MESSAGE,
    "NATS": _NATS_MESSAGE,
    **dict.fromkeys(_HTTP_NAMES, _HTTP_MESSAGE),
}

_ADDRESSES: Definition = {
    "type": "array",
    "item": {"type": "object", "namecharset": "extended", "attributes": {"uri": _URI, "*": _ANY}},
}
_KAFKA_ADDRESSES: Definition = {  # C-35: addresses as uri or as bootstrap.servers
    "type": "array",
    "item": {
        "type": "object",
        "namecharset": "extended",
        "attributes": {
            "uri": _URI,
            "bootstrap.servers": _STRINGS,
            "security.protocol": _STRING,
            "sasl.mechanism": _STRING,
            "*": _ANY,
        },
    },
}
_AUTHORIZATION: Definition = {
    "type": "array",
    "item": {
        "type": "object",
        "attributes": {"type": _STRING, "mechanism": _STRING, "resourceuri": _URI, "authorityuri": _URI, "*": _ANY},
    },
}
_COMMON: dict[str, Definition] = {
    "endpoints": _ADDRESSES,
    "authorization": _AUTHORIZATION,
    "deployed": _default("boolean", True),
}
_WILL: dict[str, Definition] = {
    "willtopic": _STRING,
    "willmessage": {"type": "xid", "target": "/messagegroups/messages"},
}
_MQTT_COMMON: dict[str, Definition] = {
    **_COMMON,
    "topic": _STRING,
    "qos": _default("uinteger", 0, 0, 1, 2),
    "retain": _default("boolean", False),
    "topicfilter": _STRING,
    **_WILL,
}
_HTTP_ENDPOINT = _options(
    **_COMMON,
    method=_default("string", "POST"),
    headers=_NAMED_LIST,
    query=_STRING_MAP,
    apikeyname=_STRING,
    apikeyin=_default("string", "header"),
    plainscheme=_default("string", "basic"),
    plainusernamefield=_STRING,
    plainpasswordfield=_STRING,
)

ENDPOINT_OPTIONS: dict[str, Definition] = {
    "AMQP/1.0": _hyphenated(
        {
            **_COMMON,
            "node": _STRING,
            "durable": _default("boolean", False),
            "link-properties": _STRING_MAP,
            "connection-properties": _STRING_MAP,
            "distribution-mode": _default("string", "move", "move", "copy"),
            "connection-capabilities": _STRINGS,
            "node-capabilities": _STRINGS,
            "source-filters": {"type": "map", "item": {"type": "any"}},
            "dynamic": _BOOLEAN,
            "terminus-durability": _choice("none", "configuration", "unsettled-state"),
            "expiry-policy": _choice("link-detach", "session-end", "connection-close", "never"),
            "timeout": _UINTEGER,
            "sender-settle-mode": _choice("unsettled", "settled", "mixed"),
            "receiver-settle-mode": _choice("first", "second"),
        }
    ),
    "MQTT/5.0": _options(
        **_MQTT_COMMON,
        cleanstart=_BOOLEAN,
        sessionexpiryinterval=_UINTEGER,
        sharedsubscriptiongroup=_STRING,
        nolocal=_BOOLEAN,
        retainaspublished=_BOOLEAN,
        retainhandling=_choice(0, 1, 2, type_name="uinteger"),
    ),
    "MQTT/3.1.1": _options(**_MQTT_COMMON, cleansession=_default("boolean", True)),
    "KAFKA": _options(
        **{**_COMMON, "endpoints": _KAFKA_ADDRESSES},
        topic=_STRING,
        acks=_default("integer", 1),
        key=_STRING,
        partition={"type": "integer"},
        consumergroup=_STRING,
        headers=_STRING_MAP,
        keyserializer=_STRING,
        valueserializer=_STRING,
        autooffsetreset=_choice("earliest", "latest", "none"),
        enableautocommit=_BOOLEAN,
    ),
    "NATS": _options(**_COMMON, subject=_STRING, subjectfilter=_STRING, queuegroup=_STRING),
    **dict.fromkeys(_HTTP_NAMES, _HTTP_ENDPOINT),
}

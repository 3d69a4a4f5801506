"""The `protocolsettings` of each protocol (CloudEvents Subscriptions API 3.2.2), with the defaults."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

Mode = Literal["structured", "binary"]
# Clients of brokers either stumble over control characters or send them on, where they may begin another command.
NO_CONTROLS = r"^[^\x00-\x1f\x7f]*\Z"
Text = Annotated[str, Meta(min_length=1, max_length=1024, pattern=NO_CONTROLS)]
Texts = Annotated[dict[Text, Annotated[str, Meta(max_length=4096, pattern=NO_CONTROLS)]], Meta(max_length=50)]
Headers = Annotated[
    dict[Annotated[str, Meta(min_length=1, max_length=1024)], Annotated[str, Meta(max_length=4096)]],
    Meta(max_length=50),
]
"""Those of HTTP, which are checked further where their names are."""
Topic = Annotated[str, Meta(min_length=1, max_length=1024, pattern=r"^[^\x00-\x1f\x7f+#]*\Z")]
"""Where MQTT publishes to: no filter with wildcards."""
Subject = Annotated[str, Meta(max_length=1024, pattern=r"^[^\x00-\x20\x7f.*>]+(\.[^\x00-\x20\x7f.*>]+)*\Z")]
"""Where NATS publishes to: tokens between dots."""


class HttpOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """HTTP: further headers, and the method."""

    headers: Headers = {}
    method: Literal["POST", "PUT", "PATCH"] = "POST"
    mode: Mode = "structured"


class Mqtt3Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """MQTT 3.1.1, which has no headers: events travel in structured mode only."""

    topicname: Topic
    qos: Annotated[int, Meta(ge=0, le=2)] = 1
    retain: bool = False


class Mqtt5Options(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """MQTT 5.0."""

    topicname: Topic
    qos: Annotated[int, Meta(ge=0, le=2)] = 1
    retain: bool = False
    expiry: Annotated[int, Meta(ge=0, lt=2**32)] | msgspec.UnsetType = msgspec.UNSET
    userproperties: Texts = {}
    mode: Mode = "structured"


class AmqpOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """AMQP 1.0; without an address, the path of the sink is the address."""

    address: Text | msgspec.UnsetType = msgspec.UNSET
    linkname: Text | msgspec.UnsetType = msgspec.UNSET
    sendersettlementmode: Literal["settled", "unsettled"] = "unsettled"
    linkproperties: Texts = {}
    mode: Mode = "structured"


class KafkaOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Kafka; without a topic name, the path of the sink is the topic. The key is the attribute that is named."""

    topicname: Text | msgspec.UnsetType = msgspec.UNSET
    partitionkeyextractor: Annotated[str, Meta(pattern="^[a-z0-9]+$", max_length=64)] = "subject"
    clientid: Text = "postroom"
    acks: Literal["0", "1", "all", "-1"] = "all"
    mode: Mode = "structured"


class NatsOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """NATS."""

    subject: Subject
    mode: Mode = "structured"


Options = HttpOptions | Mqtt3Options | Mqtt5Options | AmqpOptions | KafkaOptions | NatsOptions


class Protocol(msgspec.Struct, frozen=True):
    """A delivery protocol: its options, and the schemes of its sinks with their ports; those with TLS are `secure`."""

    options: type[Options]
    ports: dict[str, int]
    secure: frozenset[str]


PROTOCOLS: dict[str, Protocol] = {
    "HTTP": Protocol(HttpOptions, {"http": 80, "https": 443}, frozenset({"https"})),
    "MQTT3": Protocol(Mqtt3Options, {"mqtt": 1883, "mqtts": 8883}, frozenset({"mqtts"})),
    "MQTT5": Protocol(Mqtt5Options, {"mqtt": 1883, "mqtts": 8883}, frozenset({"mqtts"})),
    "AMQP": Protocol(AmqpOptions, {"amqp": 5672, "amqps": 5671}, frozenset({"amqps"})),
    "KAFKA": Protocol(KafkaOptions, {"kafka": 9092, "kafkas": 9093}, frozenset({"kafkas"})),
    "NATS": Protocol(NatsOptions, {"nats": 4222, "tls": 4222}, frozenset({"tls"})),
}

# The OpenAPI document of the Subscriptions API spells these in another way than its text.
ALIASES = {"linkName": "linkname", "linkProperties": "linkproperties", "ackmode": "acks"}

# msgspec describes a type when it is first used, and two threads that make it do so at once crash the process.
for _protocol in PROTOCOLS.values():
    msgspec.json.Decoder(_protocol.options)

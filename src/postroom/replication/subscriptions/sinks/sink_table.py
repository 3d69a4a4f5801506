"""The table of sinks by protocol. A new protocol is one module, its options and one line here."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

import msgspec

from postroom.replication.subscriptions.credentials import resolved
from postroom.replication.subscriptions.sinks.allowed_addresses import SinkAddress, SinkRefused
from postroom.replication.subscriptions.sinks.amqp import AmqpSink
from postroom.replication.subscriptions.sinks.authorization import SaveCredential
from postroom.replication.subscriptions.sinks.http import HttpSink
from postroom.replication.subscriptions.sinks.kafka import KafkaSink
from postroom.replication.subscriptions.sinks.mqtt import MqttSink
from postroom.replication.subscriptions.sinks.nats import NatsSink
from postroom.replication.subscriptions.sinks.sink import DeliveryFailed, Sink
from postroom.replication.subscriptions.subscription import Subscription
from postroom.settings import Settings

SINKS: dict[str, Callable[[Subscription, SinkAddress, Settings], Sink]] = {
    "MQTT3": MqttSink,
    "MQTT5": MqttSink,
    "AMQP": AmqpSink,
    "KAFKA": KafkaSink,
    "NATS": NatsSink,
}
LIBRARIES = {
    "MQTT3": ("paho", "mqtt"),
    "MQTT5": ("paho", "mqtt"),
    "AMQP": ("proton", "amqp"),
    "KAFKA": ("confluent_kafka", "kafka"),
    "NATS": ("nats", "nats"),
}
"""The module that a protocol needs, and the extra of Postroom that installs it."""


def missing_library(protocol: str) -> str:
    """A sentence when the client of a protocol is not installed, else nothing."""
    module, extra = LIBRARIES.get(protocol, ("", ""))
    if not module or find_spec(module) is not None:
        return ""
    return f"{protocol} needs a client that is not installed here: pip install 'postroom[{extra}]'"


def open_sink(subscription: Subscription, settings: Settings, keep: SaveCredential) -> Sink:
    """The sink of a subscription; nothing is connected yet. DeliveryFailed when the settings do not allow it."""
    try:
        target = subscription.target(settings)
    except SinkRefused as refusal:
        raise DeliveryFailed(str(refusal), "refused") from None
    if lacking := missing_library(subscription.protocol):
        raise DeliveryFailed(lacking, "refused")
    try:
        credential = resolved(subscription.sinkcredential)
    except LookupError as missing:
        raise DeliveryFailed(str(missing)) from None
    subscription = msgspec.structs.replace(subscription, sinkcredential=credential)
    try:
        if subscription.protocol == "HTTP":
            return HttpSink(subscription, target, settings, keep)
        return SINKS[subscription.protocol](subscription, target, settings)
    except msgspec.ValidationError as error:
        raise DeliveryFailed(f"the protocolsettings cannot be used any more: {error}", "refused") from None

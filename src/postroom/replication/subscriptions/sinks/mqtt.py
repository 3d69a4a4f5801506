"""MQTT sinks, versions 3.1.1 and 5.0."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from typing import Any

import msgspec

from postroom.outbound.addresses import Address
from postroom.protocols.clients import to_mqtt
from postroom.replication.subscriptions.credentials import PlainCredential
from postroom.replication.subscriptions.sinks.allowed_addresses import SinkAddress, resolve
from postroom.replication.subscriptions.sinks.options import Mqtt3Options, Mqtt5Options
from postroom.replication.subscriptions.sinks.sink import DeliveryFailed, Event, Permission, record_of
from postroom.replication.subscriptions.subscription import Subscription
from postroom.settings import Settings

REFUSED = 128
"""Reason codes from here on are failures."""


class _NamedContext(ssl.SSLContext):
    """TLS with the host of a name, for a client that connects to its address and takes that for the name."""

    name = ""

    def wrap_socket(self, sock: socket.socket, **options: Any) -> ssl.SSLSocket:  # type: ignore[override]
        return super().wrap_socket(sock, **{**options, "server_hostname": self.name})


class MqttSink:
    """One topic."""

    def __init__(self, subscription: Subscription, target: SinkAddress, settings: Settings) -> None:
        self._is_five = subscription.protocol == "MQTT5"
        self._metadata, self._mode = _message_options(subscription)
        self._target = target
        self._settings = settings
        self._credential = subscription.sinkcredential
        self._client: Any = None
        self._answers: dict[int, int] = {}
        self._opened = threading.Event()
        self._connack = 0

    def confirm(self, callback: str) -> Permission:
        """A broker's consent is its access control."""
        return Permission()

    def send(self, event: Event) -> None:
        """Publish one event and wait for what its quality of service promises."""
        record = record_of(event, "MQTT/5.0" if self._is_five else "MQTT/3.1.1", self._metadata, self._mode)
        client = self._connected()
        self._answers.clear()
        published = client.publish(**to_mqtt(record))
        try:
            published.wait_for_publish(self._settings.timeout_s)
            arrived = published.is_published()
        except (ValueError, RuntimeError):
            arrived = False
        reason = self._answers.get(published.mid, 0)
        if reason >= REFUSED:
            raise DeliveryFailed(f"{self._target.host} does not take the event, its reason code is {reason}")
        if not arrived:
            self.close()
            raise DeliveryFailed(f"{self._target.host} does not take the event")

    def rest(self) -> None:
        """The client's own thread keeps the connection alive."""

    def close(self) -> None:
        """Disconnect and stop the client's thread."""
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(OSError, ValueError):
                client.disconnect()
            client.loop_stop()

    def _connected(self) -> Any:
        if self._client is not None and self._client.is_connected():
            return self._client
        self.close()
        addresses = resolve(self._target, self._settings)
        self._opened.clear()
        self._client = client = self._made()
        try:
            self._connect(addresses)
        except (OSError, ValueError) as error:
            self.close()
            raise DeliveryFailed(f"{self._target.host} cannot be reached: {error}") from None
        client.loop_start()
        if not self._opened.wait(self._settings.timeout_s) or self._connack >= REFUSED:
            reason = f", its reason code is {self._connack}" if self._opened.is_set() else ""
            self.close()
            raise DeliveryFailed(f"{self._target.host} does not accept the connection{reason}")
        return client

    def _connect(self, addresses: list[Address]) -> None:
        """Connect to the first address that answers; the client looks up whatever name it is given."""
        for number, (_, address) in enumerate(addresses, 1):
            try:
                self._client.connect(address, self._target.port, keepalive=30)
            except OSError:
                if number == len(addresses):
                    raise
            else:
                return

    def _made(self) -> Any:
        from paho.mqtt import client as mqtt
        from paho.mqtt.enums import CallbackAPIVersion

        version = mqtt.MQTTv5 if self._is_five else mqtt.MQTTv311
        client = mqtt.Client(CallbackAPIVersion.VERSION2, protocol=version)
        client.connect_timeout = self._settings.timeout_s
        client.on_connect = self._note_connection
        client.on_publish = self._note_answer
        if isinstance(self._credential, PlainCredential):
            client.username_pw_set(self._credential.identifier, self._credential.secret)
        if self._target.is_secure:
            context = _NamedContext(ssl.PROTOCOL_TLS_CLIENT)
            context.load_default_certs()
            context.name = self._target.host
            client.tls_set_context(context)
        return client

    def _note_connection(self, _client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        self._connack = reason.value
        self._opened.set()

    def _note_answer(self, _client: Any, _data: Any, mid: int, reason: Any, _properties: Any) -> None:
        self._answers[mid] = reason.value


def _message_options(subscription: Subscription) -> tuple[dict[str, Any], str]:
    """The protocol metadata that the settings give to each message, and the mode."""
    if subscription.protocol == "MQTT3":
        three = msgspec.convert(subscription.protocolsettings, Mqtt3Options)
        return {"topic_name": three.topicname, "qos": three.qos, "retain": three.retain}, "structured"
    five = msgspec.convert(subscription.protocolsettings, Mqtt5Options)
    users = [{"name": name, "value": value} for name, value in five.userproperties.items()]
    made = {"topic_name": five.topicname, "qos": five.qos, "retain": five.retain, "user_properties": users}
    return (made if five.expiry is msgspec.UNSET else {**made, "message_expiry_interval": five.expiry}), five.mode

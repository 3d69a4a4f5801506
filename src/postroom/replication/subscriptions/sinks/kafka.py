"""Kafka sinks. The key is the subject unless another attribute is named, so that its order holds in a partition."""

from __future__ import annotations

import logging
from typing import Any

import msgspec

from postroom.protocols.clients import to_kafka
from postroom.protocols.cloudevents import header_text
from postroom.replication.subscriptions.credentials import PlainCredential
from postroom.replication.subscriptions.sinks.allowed_addresses import SinkAddress, SinkRefused, check_allowed, resolve
from postroom.replication.subscriptions.sinks.options import KafkaOptions
from postroom.replication.subscriptions.sinks.sink import DeliveryFailed, Event, Permission, record_of
from postroom.replication.subscriptions.subscription import Subscription
from postroom.settings import Settings

# The client logs every attempt to reach a broker; what matters is in the delivery's own error.
SILENT = logging.getLogger("postroom.kafka")
SILENT.setLevel(logging.CRITICAL + 1)


class KafkaSink:
    """One topic."""

    def __init__(self, subscription: Subscription, target: SinkAddress, settings: Settings) -> None:
        self._options = options = msgspec.convert(subscription.protocolsettings, KafkaOptions)
        self._target = target
        self._settings = settings
        self._credential = subscription.sinkcredential
        named = options.topicname
        self._topic = target.path.partition("?")[0].strip("/") if named is msgspec.UNSET else str(named)
        self._producer: Any = None

    def confirm(self, callback: str) -> Permission:
        """A broker's consent is its access control."""
        return Permission()

    def send(self, event: Event) -> None:
        """Produce one event and wait for the broker's acknowledgement."""
        from confluent_kafka import KafkaException

        refusals: list[Any] = []
        key = event.get(self._options.partitionkeyextractor)
        metadata = {"topic": self._topic, **({} if key is None else {"key": header_text(key)})}
        arguments = to_kafka(record_of(event, "KAFKA", metadata, self._options.mode))
        try:
            self._connected().produce(
                **arguments, on_delivery=lambda error, _: refusals.append(error) if error else None
            )
            left = self._producer.flush(self._settings.timeout_s)
        except (KafkaException, BufferError) as error:
            raise DeliveryFailed(f"Kafka does not take the event: {_sentence(error)}") from None
        if left or refusals:
            self.close()
            why = _sentence(refusals[0]) if refusals else f"no answer within {self._settings.timeout_s:g} seconds"
            raise DeliveryFailed(f"Kafka does not take the event: {why}")

    def rest(self) -> None:
        """The client keeps its connections alive by itself."""

    def close(self) -> None:
        """Forget the producer, and what it has not sent."""
        if self._producer is not None:
            self._producer.purge()
            self._producer = None

    def _connected(self) -> Any:
        if self._producer is None:
            from confluent_kafka import Producer

            resolve(self._target, self._settings)
            producer = Producer(self._configuration(), logger=SILENT)
            self._check_brokers(producer)
            self._producer = producer
        return self._producer

    def _check_brokers(self, producer: Any) -> None:
        """Brokers say themselves where they are, and the client goes there: each of them must be allowed."""
        for broker in producer.list_topics(self._topic, self._settings.timeout_s).brokers.values():
            target = msgspec.structs.replace(self._target, host=broker.host.lower(), port=broker.port)
            try:
                check_allowed(target, self._settings)
            except SinkRefused as refusal:
                raise DeliveryFailed(f"a broker of {self._target.host} is elsewhere: {refusal}", "refused") from None
            resolve(target, self._settings)

    def _configuration(self) -> dict[str, Any]:
        made: dict[str, Any] = {
            "bootstrap.servers": self._target.authority,
            "client.id": self._options.clientid,
            "acks": self._options.acks,
            "linger.ms": 0,
            "message.timeout.ms": int(self._settings.timeout_s * 1000),
            "socket.timeout.ms": max(1000, int(self._settings.timeout_s * 1000)),
        }
        if isinstance(self._credential, PlainCredential):
            made |= {"sasl.mechanism": "PLAIN", "sasl.username": self._credential.identifier}
            made["sasl.password"] = self._credential.secret
        protocol = ("SASL_" if self._credential else "") + ("SSL" if self._target.is_secure else "PLAINTEXT")
        return {**made, "security.protocol": protocol}


def _sentence(error: Any) -> str:
    inner = error.args[0] if isinstance(error, Exception) and error.args else error
    return inner.str() if hasattr(inner, "str") else str(inner)

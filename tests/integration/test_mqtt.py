"""What `make` makes still lands after a real MQTT broker carried it."""

from __future__ import annotations

import queue
from typing import Any

import paho.mqtt.client as mqtt
import pytest

from postroom.catalog.catalog import Catalog
from postroom.protocols.clients import from_mqtt, to_mqtt
from postroom.protocols.records import Record
from tests.brokers import Broker
from tests.integration.bakery import bakery, check_demo, check_journey

pytestmark = pytest.mark.xdist_group("brokers")

EVENT = {"topic_name": {"type": "uritemplate", "value": "bakeries/{bakery}/{oven}"}, "qos": 1}
PLAIN = {"topic_name": {"type": "uritemplate", "value": "cold/{oven}"}, "qos": 2}
FIVE = {
    "user_properties": [{"name": "line", "value": "rye"}],
    "response_topic": {"type": "uritemplate", "value": "answers/{oven}"},
    "correlation_data": {"type": "binary", "value": "AP8="},
    "message_expiry_interval": 600,
}


def through(broker: Broker, record: Record) -> Record:
    """Send a record through the broker with an ordinary client and receive it."""
    version = mqtt.MQTTv5 if record.protocol == "MQTT/5.0" else mqtt.MQTTv311
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=version)
    arrived: queue.Queue[Any] = queue.Queue()
    subscribed: queue.Queue[bool] = queue.Queue()
    client.on_message = lambda _client, _data, message: arrived.put(message)
    client.on_subscribe = lambda *_: subscribed.put(True)
    client.connect("127.0.0.1", broker.port)
    client.loop_start()
    try:
        client.subscribe("#", qos=1)
        subscribed.get(timeout=10)
        client.publish(**to_mqtt(record))
        return from_mqtt(arrived.get(timeout=10))
    finally:
        client.disconnect()
        client.loop_stop()


@pytest.mark.parametrize(
    ("message", "mode"), [("oven.ready", "binary"), ("oven.ready", "structured"), ("oven.cold", "")]
)
def test_messages_land_after_mqtt_5(mosquitto: Broker, message: str, mode: str) -> None:
    catalog = bakery("MQTT/5.0", {**EVENT, **FIVE}, {**PLAIN, "content_type": "application/json"})
    received = check_journey(catalog, message, mode, lambda record: through(mosquitto, record))
    if message == "oven.ready":
        assert received.metadata["response_topic"] == "answers/7%25"
        assert received.metadata["correlation_data"] == "AP8="


@pytest.mark.parametrize(("message", "mode"), [("oven.ready", "structured"), ("oven.cold", "")])
def test_messages_land_after_mqtt_3(mosquitto: Broker, message: str, mode: str) -> None:
    received = check_journey(
        bakery("MQTT/3.1.1", EVENT, PLAIN), message, mode, lambda record: through(mosquitto, record)
    )
    # The broker delivers at the quality the subscriber asked for, which must not matter.
    assert received.metadata["qos"] == 1


def test_messages_of_the_demo_land(mosquitto: Broker, demo_catalog: Catalog) -> None:
    assert check_demo(demo_catalog, "MQTT/5.0", lambda record: through(mosquitto, record)) > 1

"""What `make` makes still lands after a real MQTT broker carried it."""

from __future__ import annotations

import queue
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from postroom.catalog import Catalog
from postroom.messages.making import AUTO
from postroom.protocols.records import Record, render_record


@pytest.fixture(scope="module")
def broker(system_program: Callable[[str], str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    program = system_program("mosquitto")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    config = tmp_path_factory.mktemp("mosquitto") / "mosquitto.conf"
    Path(config).write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nuser root\npersistence false\n")
    process = subprocess.Popen([program, "-c", str(config)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        process.wait(10)


def through(port: int, record: Record) -> Record:
    """Send a record through the broker with an ordinary client and receive it."""
    five = record.protocol == "MQTT/5.0"
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5 if five else mqtt.MQTTv311)
    arrived: queue.Queue[Any] = queue.Queue()
    subscribed: queue.Queue[bool] = queue.Queue()
    client.on_message = lambda _client, _data, message: arrived.put(message)
    client.on_subscribe = lambda *_: subscribed.put(True)
    client.connect("127.0.0.1", port)
    client.loop_start()
    try:
        client.subscribe("#", qos=1)
        subscribed.get(timeout=10)
        metadata = record.metadata
        properties = Properties(PacketTypes.PUBLISH) if five else None
        if properties is not None:
            properties.ContentType = metadata["content_type"]
            pairs = [(item["name"], item["value"]) for item in metadata.get("user_properties", [])]
            if pairs:
                properties.UserProperty = pairs
        client.publish(metadata["topic_name"], record.payload, qos=1, properties=properties)
        message = arrived.get(timeout=10)
    finally:
        client.disconnect()
        client.loop_stop()
    received: dict[str, Any] = {"topic_name": message.topic, "qos": message.qos, "retain": message.retain}
    if five:
        received["content_type"] = message.properties.ContentType
        received["user_properties"] = [
            {"name": name, "value": value} for name, value in getattr(message.properties, "UserProperty", [])
        ]
    return Record(record.protocol, received, message.payload)


@pytest.mark.parametrize("mode", ["binary", "structured"])
def test_mqtt_5_carries_both_modes(broker: int, demo_catalog: Catalog, mode: str) -> None:
    template = demo_catalog.message("station.tampered")
    record = template.maker.make({"depot": "oslo øst", "station": "S07"}, AUTO, mode=mode)
    match = demo_catalog.match(render_record(through(broker, record)))
    assert (match.outcome, match.variables) == ("landed", {"depot": "oslo øst", "station": "S07"}), match.reasons


def test_mqtt_3_carries_structured_events(broker: int) -> None:
    message = {
        "envelope": "CloudEvents/1.0",
        "protocol": "MQTT/3.1.1",
        "envelopemetadata": {"type": {"value": "door.opened"}},
        "protocoloptions": {"topic_name": "doors/{door}", "qos": 2},
    }
    catalog = Catalog({"messagegroups": {"doors": {"messages": {"opened": message}}}})
    record = catalog.message("opened").maker.make({"door": "7"}, b'{"by": "key"}')
    match = catalog.match(render_record(through(broker, record)))
    assert (match.outcome, match.variables) == ("landed", {"door": "7"}), match.reasons

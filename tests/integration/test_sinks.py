"""Events of a subscription arrive at real brokers, as CloudEvents that we read back."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from postroom.protocols.clients import from_amqp, from_kafka, from_mqtt, from_nats
from postroom.protocols.cloudevents import Message, unwrap
from postroom.protocols.records import Record
from postroom.replication.subscriptions import subscription_store
from tests.absence import amqp_client
from tests.brokers import Broker, free_port
from tests.replication.subscriptions.receivers import wait_until
from tests.replication.subscriptions.test_delivery import BASE, SETTINGS, Office

pytestmark = pytest.mark.xdist_group("brokers")

PATIENCE = 60.0
GROUPS = ("ovens", "boats", "doors")


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    opened = Office(tmp_path)
    yield opened
    opened.close()


def check(record: Record, mode: str) -> str:
    """A record holds the event of a group that was created; the group's name."""
    (message,) = unwrap(record)
    assert isinstance(message, Message)
    assert message.mode == mode
    assert message.attributes is not None
    assert message.attributes["source"] == BASE
    return str(message.attributes["subject"]).rpartition("/")[2]


def deliver(office: Office, sink: str, protocol: str, options: dict[str, Any], **members: Any) -> str:
    subscription = office.subscribe(sink, protocol=protocol, protocolsettings=options, **members)
    for name in GROUPS:
        office.group(name)
    wait_until(lambda: office.progress(subscription).delivered == len(GROUPS), str(office.progress(subscription)))
    return subscription


@pytest.mark.feature("SUB-009", "SUB-011")
def test_kafka(office: Office, kafka: Broker) -> None:
    from confluent_kafka import Consumer

    options = {"topicname": "changes", "clientid": "bakery", "acks": "1"}
    deliver(office, f"kafka://{kafka.address}", "KAFKA", options)
    consumer = Consumer({"bootstrap.servers": kafka.address, "group.id": "readers", "auto.offset.reset": "earliest"})
    consumer.subscribe(["changes"])
    found: list[Any] = []

    def has_all() -> bool:
        message = consumer.poll(1.0)
        if message is not None and not message.error():
            found.append(message)
        return len(found) == len(GROUPS)

    wait_until(has_all)
    consumer.close()
    assert tuple(check(from_kafka(message), "structured") for message in found) == GROUPS
    assert [message.key() for message in found] == [f"/messagegroups/{name}".encode() for name in GROUPS]


@pytest.mark.feature("SUB-009", "SUB-011")
@pytest.mark.parametrize("protocol", ["MQTT3", "MQTT5"])
def test_mqtt(office: Office, mosquitto: Broker, protocol: str) -> None:
    from paho.mqtt import client as mqtt
    from paho.mqtt.enums import CallbackAPIVersion

    arrived: queue.Queue[Any] = queue.Queue()
    subscribed: queue.Queue[bool] = queue.Queue()
    client = mqtt.Client(CallbackAPIVersion.VERSION2, protocol=mqtt.MQTTv5)
    client.on_message = lambda _client, _data, message: arrived.put(message)
    client.on_subscribe = lambda *_: subscribed.put(True)
    client.connect("127.0.0.1", mosquitto.port)
    client.loop_start()
    try:
        client.subscribe(f"changes/{protocol}", qos=1)
        subscribed.get(timeout=PATIENCE)
        options: dict[str, Any] = {"topicname": f"changes/{protocol}"}
        if protocol == "MQTT5":
            options |= {"expiry": 600, "userproperties": {"shop": "7"}, "qos": 2}
        deliver(office, f"mqtt://{mosquitto.address}", protocol, options)
        found = [from_mqtt(arrived.get(timeout=PATIENCE)) for _ in GROUPS]
    finally:
        client.disconnect()
        client.loop_stop()
    assert tuple(check(record, "structured") for record in found) == GROUPS
    if protocol == "MQTT5":
        assert found[0].metadata["user_properties"] == [{"name": "shop", "value": "7"}]
        assert found[0].metadata["message_expiry_interval"] <= 600
        assert found[0].metadata["content_type"] == "application/cloudevents+json"


@pytest.mark.feature("SUB-009", "SUB-011")
def test_nats(office: Office, nats: Broker) -> None:
    async def listen() -> list[Record]:
        import nats as client

        connection = await client.connect(f"nats://{nats.address}")
        subscription = await connection.subscribe("changes.>")
        await connection.flush()
        options = {"subject": "changes.groups", "mode": "binary"}
        types = ["io.xregistry.registry.updated"]  # it has data, which binary mode is for
        await asyncio.to_thread(deliver, office, f"nats://{nats.address}", "NATS", options, types=types)
        found = [from_nats(await subscription.next_msg(timeout=PATIENCE)) for _ in GROUPS]
        await connection.close()
        return found

    records = asyncio.run(listen())
    assert [check(record, "binary") for record in records] == [""] * len(GROUPS)
    assert "messagegroups" in msgspec.json.decode(records[0].payload)["changed"]


@pytest.mark.feature("SUB-009", "SUB-011")
@pytest.mark.parametrize("settlement", ["settled", "unsettled"])
def test_amqp(office: Office, artemis: Broker, settlement: str) -> None:
    connect = amqp_client("proton.utils").BlockingConnection
    options = {
        "linkname": f"bakery-{settlement}",
        "linkproperties": {"shop": "7"},
        "sendersettlementmode": settlement,
    }
    deliver(office, f"amqp://{artemis.address}/changes-{settlement}", "AMQP", options)
    connection = connect(artemis.address)
    receiver = connection.create_receiver(f"changes-{settlement}")
    found = []
    for _ in GROUPS:
        found.append(from_amqp(receiver.receive(timeout=PATIENCE)))
        receiver.accept()
    connection.close()
    assert tuple(check(record, "structured") for record in found) == GROUPS
    assert all(record.metadata["header"]["durable"] for record in found)


@pytest.mark.feature("SUB-011")
def test_amqp_with_an_address_of_its_own(office: Office, artemis: Broker) -> None:
    connect = amqp_client("proton.utils").BlockingConnection
    deliver(office, f"amqp://{artemis.address}", "AMQP", {"address": "changes-addressed"})
    connection = connect(artemis.address)
    receiver = connection.create_receiver("changes-addressed")
    assert check(from_amqp(receiver.receive(timeout=PATIENCE)), "structured") == "ovens"
    connection.close()


@pytest.mark.parametrize(
    ("scheme", "protocol", "options"),
    [
        ("kafka", "KAFKA", {"topicname": "t"}),
        ("mqtt", "MQTT5", {"topicname": "t"}),
        ("nats", "NATS", {"subject": "t"}),
        ("amqp", "AMQP", {"address": "t"}),
    ],
)
def test_a_broker_that_is_not_there_is_tried_again(
    tmp_path: Path, scheme: str, protocol: str, options: dict[str, Any]
) -> None:
    if protocol == "AMQP":
        amqp_client()
    office = Office(tmp_path, msgspec.structs.replace(SETTINGS, timeout_s=1.0))
    try:
        subscription = office.subscribe(
            f"{scheme}://127.0.0.1:{free_port()}", protocol=protocol, protocolsettings=options
        )
        office.group("ovens")
        wait_until(lambda: office.progress(subscription).attempts >= 2)
        progress = office.progress(subscription)
        assert (progress.status, progress.delivered) == ("retrying", 0)
        with office.store.write() as tx:
            subscription_store.remove(tx, subscription)
    finally:
        office.close()


def test_events_wait_for_a_broker_that_comes_back(office: Office, nats: Broker) -> None:
    options = {"subject": "back"}
    subscription = deliver(office, f"nats://{nats.address}", "NATS", options)
    nats.kill()
    office.group("late")
    wait_until(lambda: office.progress(subscription).attempts >= 1)
    nats.start()
    wait_until(lambda: office.progress(subscription).delivered == len(GROUPS) + 1)

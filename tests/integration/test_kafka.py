"""What `make` makes still lands after a real Kafka carried it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Consumer, Producer

from postroom.catalog.catalog import Catalog
from postroom.protocols.clients import from_kafka, to_kafka
from postroom.protocols.records import Record
from tests.brokers import Broker
from tests.integration.bakery import bakery, check_demo, check_journey

pytestmark = pytest.mark.xdist_group("brokers")

CATALOG = bakery(
    "KAFKA",
    {"topic": "ovens", "key": {"type": "uritemplate", "value": "{bakery}"}, "headers": {"line": {"value": "rye"}}},
    {"topic": "plain", "key": {"type": "uritemplate", "value": "oven/{oven}"}},
)


@pytest.fixture(scope="module")
def travel(kafka: Broker) -> Iterator[Callable[[Record], Record]]:
    producer = Producer({"bootstrap.servers": kafka.address})
    consumer = Consumer({"bootstrap.servers": kafka.address, "group.id": "desk", "auto.offset.reset": "earliest"})
    known: set[str] = set()

    def carry(record: Record) -> Record:
        producer.produce(**to_kafka(record))
        assert producer.flush(30) == 0
        if record.metadata["topic"] not in known:
            known.add(record.metadata["topic"])
            consumer.subscribe(sorted(known))
        message = consumer.poll(30)
        assert message is not None
        assert message.error() is None
        return from_kafka(message)

    yield carry
    consumer.close()


@pytest.mark.parametrize(
    ("message", "mode"), [("oven.ready", "binary"), ("oven.ready", "structured"), ("oven.cold", "")]
)
def test_messages_land_after_kafka(travel: Callable[[Record], Record], message: str, mode: str) -> None:
    received = check_journey(CATALOG, message, mode, travel)
    assert received.metadata["key"] == ("Ærø øst" if message == "oven.ready" else "oven/7%25")


def test_what_is_no_text_comes_back_as_base64(travel: Callable[[Record], Record]) -> None:
    headers = [{"name": "trace", "value": b"\xff\x00"}, {"name": "nothing", "value": None}]
    received = travel(Record("KAFKA", {"topic": "bytes", "key_base64": "/w==", "headers": headers}, b""))
    assert received.metadata["key_base64"] == "/w=="
    assert received.metadata["headers"] == [{"name": "trace", "value": "/wA="}, {"name": "nothing", "value": None}]
    assert received.payload == b""


def test_messages_of_the_demo_land(travel: Callable[[Record], Record], demo_catalog: Catalog) -> None:
    assert check_demo(demo_catalog, "KAFKA", travel) > 1


def test_kafka_keeps_its_records_over_a_restart(kafka: Broker) -> None:
    producer = Producer({"bootstrap.servers": kafka.address})
    producer.produce("parcels", b"one")
    assert producer.flush(30) == 0
    kafka.restart()
    consumer = Consumer({"bootstrap.servers": kafka.address, "group.id": "late", "auto.offset.reset": "earliest"})
    consumer.subscribe(["parcels"])
    try:
        message = consumer.poll(30)
    finally:
        consumer.close()
    assert message is not None
    assert message.value() == b"one"

"""What `make` makes still lands after a real Kafka carried it."""

from __future__ import annotations

import pytest
from confluent_kafka import Consumer, Producer

from tests.brokers import Broker

pytestmark = pytest.mark.xdist_group("brokers")


def test_kafka_keeps_its_records_over_a_restart(kafka: Broker) -> None:
    producer = Producer({"bootstrap.servers": kafka.address})
    producer.produce("parcels", b"one")
    assert producer.flush(30) == 0
    kafka.restart()
    consumer = Consumer({"bootstrap.servers": kafka.address, "group.id": "desk", "auto.offset.reset": "earliest"})
    consumer.subscribe(["parcels"])
    try:
        message = consumer.poll(30)
    finally:
        consumer.close()
    assert message is not None
    assert message.value() == b"one"

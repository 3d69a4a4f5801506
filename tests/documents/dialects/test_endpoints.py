"""Endpoints of 0.5: their protocols by the names that messages of 1.0 have for them."""

from __future__ import annotations

import pytest

from postroom.documents.dialects.convert import read_tree, write_tree


@pytest.mark.feature("D5R-046")
@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("KAFKA/3.5", "KAFKA"),
        ("Kafka/2.0", "KAFKA"),
        ("NATS/1.0.0", "NATS"),
        ("NATS", "NATS"),
        ("HTTP/1.1", "HTTP/1.1"),
        ("AMQP", "AMQP"),
        ("BunnyMQ/0.9.1", "BunnyMQ/0.9.1"),
    ],
)
def test_versions_that_1_0_does_not_name(written: str, read: str) -> None:
    document = {"endpoints": {"e": {"usage": "producer", "config": {"protocol": written}, "definitions": {}}}}
    reading = read_tree(document)
    assert reading is not None
    assert reading.tree["endpoints"]["e"]["protocol"] == read
    assert write_tree(reading.tree, "0.5-service").document["endpoints"]["e"]["config"]["protocol"] == written

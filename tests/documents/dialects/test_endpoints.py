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


@pytest.mark.audit("registry-23")
@pytest.mark.parametrize(
    ("protocol", "written", "read"),
    [
        ("KAFKA", {"consumer-group": "g"}, {"consumergroup": "g"}),
        ("KAFKA", {"bootstrapServers": "a:1, b:2"}, {"endpoints": [{"bootstrap.servers": ["a:1", "b:2"]}]}),
        ("Kafka", {"bootstrap.servers": ["a:1"]}, {"endpoints": [{"bootstrap.servers": ["a:1"]}]}),
        (
            "Kafka",
            {"endpoints": [{"bootstrapServers": ["a:1"]}, {"bootstrap-servers": "b:2", "tls": True}]},
            {"endpoints": [{"bootstrap.servers": ["a:1"]}, {"bootstrap.servers": ["b:2"], "tls": True}]},
        ),
        *(
            (protocol, options, options)
            for protocol, options in (
                ("KAFKA", {"bootstrapServers": "a:1", "endpoints": [{"bootstrap.servers": ["b:2"]}]}),
                ("KAFKA", {"endpoints": [{"bootstrapServers": "a:1", "bootstrap.servers": ["b:2"]}, 3]}),
                ("NATS", {"bootstrapServers": "a:1", "endpoints": [{"bootstrapServers": "a:1"}]}),
            )
        ),
        ("Kafka", {"consumerGroup": "g", "topic": "t"}, {"consumergroup": "g", "topic": "t"}),
        ("MQTT/3.1.1", {"clean-session": False, "willTopic": "w"}, {"cleansession": False, "willtopic": "w"}),
        ("MQTT/5.0", {"will-message": "#/messagegroups/g/messages/m"}, {"willmessage": "/messagegroups/g/messages/m"}),
        (
            "AMQP/1.0",
            {"linkProperties": {}, "distribution_mode": "copy"},
            {"link-properties": {}, "distribution-mode": "copy"},
        ),
        ("KAFKA", {"consumer-group": "old", "consumergroup": "new"}, {"consumer-group": "old", "consumergroup": "new"}),
        ("BunnyMQ", {"consumer-group": "g"}, {"consumer-group": "g"}),
        ("KAFKA", {"burrow-depth": 3}, {"burrow-depth": 3}),
    ],
)
@pytest.mark.parametrize("specversion", ["1.0-rc4", "1.0-rc2"])
def test_old_spellings_of_options_are_read_in_documents_of_1_0(
    specversion: str, protocol: str, written: dict[str, object], read: dict[str, object]
) -> None:
    usage = ["consumer"] if specversion == "1.0-rc4" else "consumer"
    endpoint = {"usage": usage, "protocol": protocol, "protocoloptions": {**written, "deployed": True}}
    document = {"specversion": specversion, "messagegroups": {}, "endpoints": {"e": endpoint}}
    reading = read_tree(document)
    assert reading is not None
    assert reading.dialect == specversion
    assert reading.tree["endpoints"]["e"]["protocoloptions"] == {**read, "deployed": True}
    if specversion != "1.0-rc4":
        assert write_tree(reading.tree, specversion).document["endpoints"]["e"] == endpoint

"""What `make` makes still lands after a real AMQP 1.0 broker carried it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from postroom.catalog.catalog import Catalog
from postroom.protocols.clients import from_amqp, to_amqp
from postroom.protocols.records import Record
from tests.absence import amqp_client
from tests.brokers import Broker
from tests.integration.bakery import bakery, check_demo, check_journey, only

proton = amqp_client()
BlockingConnection = amqp_client("proton.utils").BlockingConnection

pytestmark = pytest.mark.xdist_group("brokers")

CATALOG = bakery(
    "AMQP/1.0",
    {
        "properties": {
            "to": {"type": "uritemplate", "value": "bakeries/{bakery}/{oven}"},
            "message-id": {"value": "{oven}"},
            "user-id": {"type": "binary", "value": "YmFrZXI="},
            "group-sequence": {"type": "integer", "value": 5},
        },
        "application-properties": {"line": {"value": "rye"}, "weight": {"type": "integer", "value": 12}},
        "message-annotations": {"x-opt-shelf": {"value": "top"}},
        "header": {"durable": {"value": True}},
    },
    {"properties": {"to": {"type": "uritemplate", "value": "cold/{oven}"}, "subject": {"value": "cold"}}},
)


@pytest.fixture(scope="module")
def deliver(artemis: Broker) -> Iterator[Callable[[proton.Message], proton.Message]]:
    connection = BlockingConnection(artemis.address)
    sender = connection.create_sender("ovens")
    receiver = connection.create_receiver("ovens")

    def carry(message: proton.Message) -> proton.Message:
        sender.send(message)
        received = receiver.receive(timeout=10)
        receiver.accept()
        return received

    yield carry
    connection.close()


@pytest.mark.parametrize(
    ("message", "mode"), [("oven.ready", "binary"), ("oven.ready", "structured"), ("oven.cold", "")]
)
def test_messages_land_after_amqp(deliver: Callable[[proton.Message], proton.Message], message: str, mode: str) -> None:
    check_journey(CATALOG, message, mode, lambda record: from_amqp(deliver(to_amqp(record))))


@pytest.mark.parametrize("prefix", ["cloudEvents:", "cloudEvents_"])
def test_native_values_of_other_senders_are_read(
    deliver: Callable[[proton.Message], proton.Message], prefix: str
) -> None:
    native = {
        "specversion": "1.0",
        "id": "1",
        "source": "/bakeries/1/ovens/7",
        "type": "oven.ready",
        "time": proton.timestamp(1522900584123),
        "count": proton.int32(3),
        "urgent": True,
        "seal": b"\xff",
    }
    properties = {prefix + name: value for name, value in native.items()}
    message = proton.Message(body="{}", properties=properties, content_type="application/json")
    received: Record = from_amqp(deliver(message))
    assert only(received).attributes == {
        **{name: native[name] for name in ("specversion", "id", "source", "type", "count", "urgent")},
        "time": "2018-04-05T03:56:24.123Z",
        "seal": "/w==",
        "datacontenttype": "application/json",
    }
    assert received.payload == b"{}"


def test_messages_of_the_demo_land(deliver: Callable[[proton.Message], proton.Message], demo_catalog: Catalog) -> None:
    assert check_demo(demo_catalog, "AMQP/1.0", lambda record: from_amqp(deliver(to_amqp(record)))) > 1

"""What `make` makes still lands after a real NATS server carried it."""

from __future__ import annotations

import asyncio

import nats as client
import pytest

from postroom.catalog.catalog import Catalog
from postroom.protocols.clients import from_nats, to_nats
from postroom.protocols.records import Record
from tests.brokers import Broker
from tests.integration.bakery import bakery, check_demo, check_journey

pytestmark = pytest.mark.xdist_group("brokers")

CATALOG = bakery(
    "NATS",
    {
        "subject": {"type": "uritemplate", "value": "ovens.{bakery}.{oven}"},
        "reply-to": {"type": "uritemplate", "value": "answers.{oven}"},
        "headers": [{"name": "Line", "value": "rye"}],
    },
    {"subject": {"type": "uritemplate", "value": "cold.{oven}"}},
)


async def through(broker: Broker, record: Record) -> Record:
    connection = await client.connect(f"nats://{broker.address}")
    try:
        subscription = await connection.subscribe(">")
        await connection.publish(**to_nats(record))
        return from_nats(await subscription.next_msg(timeout=10))
    finally:
        await connection.close()


@pytest.mark.parametrize(
    ("message", "mode"), [("oven.ready", "binary"), ("oven.ready", "structured"), ("oven.cold", "")]
)
def test_messages_land_after_nats(nats: Broker, message: str, mode: str) -> None:
    received = check_journey(CATALOG, message, mode, lambda record: asyncio.run(through(nats, record)))
    if message == "oven.ready":
        assert received.metadata["reply-to"] == "answers.7%25"


def test_messages_of_the_demo_land(nats: Broker, demo_catalog: Catalog) -> None:
    assert check_demo(demo_catalog, "NATS", lambda record: asyncio.run(through(nats, record))) > 1

"""Protocol-native messages that a definition with both aspects maps to CloudEvents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from postroom.catalog.catalog import Catalog

# The example of the message specification, with the members where the normative part has them.
SALE = {
    "protocol": "MQTT/5.0",
    "protocoloptions": {
        "topic_name": {"value": "/store/{storeid}/cashierdesk/{cdid}"},
        "user_properties": [{"name": "eventType", "type": "uritemplate", "value": "{eventType}"}],
    },
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {
        "type": {"type": "uritemplate", "value": "{eventType}"},
        "source": {"type": "uritemplate", "value": "{storeid}"},
        "subject": {"type": "uritemplate", "value": "{cdid}"},
    },
}


def catalog(**messages: Any) -> Catalog:
    return Catalog({"messagegroups": {"shop": {"messages": messages}}})


def record(kind: str | None = "sale", topic: str = "/store/4/cashierdesk/2") -> dict[str, Any]:
    properties = [{"name": "eventType", "value": kind}] if kind else []
    metadata = {"topic_name": topic, "user_properties": properties}
    return {"protocol": "MQTT/5.0", "metadata": metadata, "payload": "{}"}


@pytest.mark.feature("MSG-052")
def test_the_example_of_the_specification() -> None:
    (result,) = catalog(sale=SALE).engine.sort_exactly(json.dumps(record()).encode())
    assert result.match.outcome == "landed"
    assert result.match.variables == {"storeid": "4", "cdid": "2", "eventType": "sale"}
    event = dict(result.attributes)
    assert len(event.pop("id")) == 32
    assert event == {"specversion": "1.0", "type": "sale", "source": "4", "subject": "2"}


def test_the_same_message_is_the_same_event() -> None:
    engine = catalog(sale=SALE).engine
    first, again, other = (
        engine.sort_exactly(json.dumps(one).encode())[0].attributes["id"]
        for one in (record(), record(), record("return"))
    )
    assert first == again != other


@pytest.mark.parametrize(
    ("sent", "outcome"),
    [
        (record(None), "invalid"),  # the property need not be there, but then nothing says the type
        (record(topic="/store/4"), "unmatched"),
        ({**record(), "protocol": "MQTT/3.1.1"}, "unmatched"),
    ],
)
def test_what_the_protocol_does_not_tell_is_not_invented(sent: dict[str, Any], outcome: str) -> None:
    assert catalog(sale=SALE).match(sent).outcome == outcome


def test_a_definition_of_native_messages_comes_first() -> None:
    native = {"protocol": "MQTT/5.0", "protocoloptions": {"topic_name": {"value": "/store/{s}/cashierdesk/{c}"}}}
    assert catalog(sale=SALE, native=native).match(record()).message == "/messagegroups/shop/messages/native"


def test_events_fit_as_they_did() -> None:
    event = {"specversion": "1.0", "id": "1", "source": "4", "type": "sale", "subject": "2"}
    properties = [{"name": name, "value": value} for name, value in {**event, "eventType": "sale"}.items()]
    metadata = {"topic_name": "/store/4/cashierdesk/2", "user_properties": properties}
    sent = {"protocol": "MQTT/5.0", "metadata": metadata, "payload": "{}"}
    assert catalog(sale=SALE).match(sent).outcome == "landed"
    wrong = {**metadata, "topic_name": "/store/5/cashierdesk/2"}
    assert catalog(sale=SALE).match({**sent, "metadata": wrong}).outcome != "landed"

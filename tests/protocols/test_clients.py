"""What client libraries hand out that is out of the ordinary. The ordinary travels in tests/integration."""

from __future__ import annotations

import uuid
from typing import Any

import httpx
import proton
import pytest

from postroom.protocols.clients import from_amqp, from_http, to_amqp, to_http, to_kafka, to_mqtt, to_nats
from postroom.protocols.records import Record


def amqp(**fields: Any) -> Record:
    """The record of an AMQP message, after a journey through its wire form."""
    message = proton.Message()
    message.decode(proton.Message(**fields).encode())
    return from_amqp(message)


@pytest.mark.parametrize(
    ("body", "payload"),
    [
        (None, b""),
        ("text", b"text"),
        (b"\xff", b"\xff"),
        (5, b"5"),
        (True, b"true"),
        ({"celsius": 180, "seal": b"\xff"}, b'{"celsius":180,"seal":"/w=="}'),
        (["rye", proton.timestamp(0), None], b'["rye","1970-01-01T00:00:00.000Z",null]'),
    ],
)
def test_amqp_values_that_are_no_bytes_become_json(body: Any, payload: bytes) -> None:
    assert amqp(body=body).payload == payload


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        ("text", "text"),
        (proton.symbol("mark"), "mark"),
        (proton.ulong(7), 7),
        (proton.byte(-1), -1),
        (proton.float32(0.5), 0.5),
        (True, True),
        (b"\xff", "/w=="),
        (proton.timestamp(1522900584123), "2018-04-05T03:56:24.123Z"),
        (proton.timestamp(2**62), 2**62),
        (uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        (proton.char("é"), "é"),
        (None, None),
    ],
)
def test_amqp_types(value: Any, plain: Any) -> None:
    found = amqp(properties={"given": value}).metadata["application-properties"]["given"]
    assert (found, type(found)) == (plain, type(plain))


@pytest.mark.parametrize(("id", "plain"), [("A-17", "A-17"), (0, 0), (uuid.UUID(int=7), str(uuid.UUID(int=7)))])
def test_amqp_message_ids(id: Any, plain: Any) -> None:  # noqa: A002 - proton's name
    assert amqp(id=id).metadata["properties"]["message-id"] == plain


def test_amqp_times_of_the_message() -> None:
    properties = {"creation-time": "2018-04-05T03:56:24.123Z", "absolute-expiry-time": "2030-01-01T00:00:00.000Z"}
    message = proton.Message()
    message.decode(to_amqp(Record("AMQP/1.0", {"properties": properties}, b"")).encode())
    assert from_amqp(message).metadata["properties"] == properties


def test_an_empty_amqp_message_has_no_properties() -> None:
    assert amqp().metadata == {"properties": {}, "header": {"durable": False, "priority": 4}}


def test_what_a_definition_leaves_open_is_left_open() -> None:
    assert to_kafka({"protocol": "KAFKA", "payload": "x"}) == {"key": None, "value": b"x", "headers": []}
    assert "topic" not in to_mqtt({"protocol": "MQTT/3.1.1", "payload": "x"})
    assert to_nats({"protocol": "NATS"}) == {"payload": b"", "reply": "", "headers": None}
    assert (to_http({"protocol": "HTTP"})["method"], to_http({"protocol": "HTTP"})["url"]) == ("POST", "/")
    assert to_amqp({"protocol": "AMQP/1.0"}).address is None


def test_header_values_are_sent_as_cloudevents_writes_them() -> None:
    headers = [{"name": "urgent", "value": True}, {"name": "count", "value": 3}, {"name": "none", "value": None}]
    written = [("urgent", "true"), ("count", "3")]
    assert to_kafka({"protocol": "KAFKA", "metadata": {"headers": headers}})["headers"] == [*written, ("none", None)]
    assert to_http({"protocol": "HTTP", "metadata": {"headers": headers}})["headers"] == written
    assert to_nats({"protocol": "NATS", "metadata": {"headers": headers}})["headers"] == dict(written)
    sent = to_mqtt({"protocol": "MQTT/5.0", "metadata": {"user_properties": headers}})
    assert sent["properties"].UserProperty == written


def test_http_queries_and_repeated_headers_are_kept() -> None:
    request = httpx.Request("GET", "http://bakery.example/a%20b?line=rye&line=wheat", headers=[("x", "1"), ("x", "2")])
    metadata = from_http(request).metadata
    assert (metadata["method"], metadata["path"]) == ("GET", "/a%20b")
    assert metadata["query"] == [{"name": "line", "value": "rye"}, {"name": "line", "value": "wheat"}]
    assert [pair["value"] for pair in metadata["headers"] if pair["name"] == "x"] == ["1", "2"]

"""What the AMQP client hands out that is out of the ordinary."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from postroom.protocols.clients import from_amqp, to_amqp
from postroom.protocols.records import Record
from tests.absence import amqp_client

proton = amqp_client()


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


def test_an_amqp_definition_without_an_address_leaves_it_open() -> None:
    assert to_amqp({"protocol": "AMQP/1.0"}).address is None

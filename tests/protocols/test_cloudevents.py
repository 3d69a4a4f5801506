import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.protocols.cloudevents import Malformed, Message, unwrap, wrap
from postroom.protocols.records import JSON_BATCH, JSON_EVENT, Record

EVENT = {"specversion": "1.0", "id": "1", "source": "/vehicles/7", "type": "vehicle.position"}


def kafka(payload: bytes, content_type: str = JSON_EVENT) -> Record:
    return Record("KAFKA", {"headers": {"content-type": content_type}}, payload)


def only(record: Record) -> Message:
    (message,) = unwrap(record)
    assert isinstance(message, Message)
    return message


def test_structured_events_keep_their_data_as_it_came() -> None:
    text = json.dumps({**EVENT, "data": {"speed": 1.50, "name": "Ærø"}}, ensure_ascii=False)
    message = only(kafka(text.encode()))
    assert message.attributes == EVENT
    assert message.body == '{"speed": 1.5, "name": "Ærø"}'.encode()
    assert message.mode == "structured"


@pytest.mark.parametrize(
    ("members", "body"),
    [
        ({"data_base64": "AAE="}, b"\x00\x01"),
        ({"data": "a,b", "datacontenttype": "text/csv"}, b"a,b"),
        ({"data": "text"}, b'"text"'),
        ({"data": None}, b"null"),
        ({}, b""),
    ],
)
def test_structured_bodies(members: dict[str, Any], body: bytes) -> None:
    assert only(kafka(json.dumps({**EVENT, **members}).encode())).body == body


def test_a_batch_is_as_many_messages() -> None:
    found = unwrap(kafka(json.dumps([EVENT, EVENT, {**EVENT, "specversion": "0.3"}]).encode(), JSON_BATCH))
    assert [type(message) for message in found] == [Message, Message, Malformed]


@pytest.mark.parametrize(
    ("protocol", "metadata"),
    [
        ("KAFKA", {"headers": {"ce_" + k: v for k, v in EVENT.items()}}),
        ("KAFKA", {"headers": [{"name": "CE_" + k, "value": v} for k, v in EVENT.items()]}),
        ("HTTP", {"headers": [{"name": "Ce-" + k, "value": v} for k, v in EVENT.items()]}),
        ("NATS", {"headers": [{"name": "ce-" + k, "value": v} for k, v in EVENT.items()]}),
        ("AMQP/1.0", {"application-properties": {"cloudEvents:" + k: v for k, v in EVENT.items()}}),
        ("AMQP/1.0", {"application-properties": {"cloudEvents_" + k: v for k, v in EVENT.items()}}),
        ("MQTT/5.0", {"user_properties": [{"name": k, "value": v} for k, v in EVENT.items()]}),
    ],
)
def test_binary_mode_on_every_protocol(protocol: str, metadata: dict[str, Any]) -> None:
    message = only(Record(protocol, metadata, b"{}"))
    assert (message.attributes, message.mode, message.body) == (EVENT, "binary", b"{}")


def test_http_header_values_are_percent_decoded() -> None:
    headers = [{"name": "ce-" + k, "value": v} for k, v in {**EVENT, "subject": "%C3%86r%C3%B8"}.items()]
    assert (only(Record("HTTP", {"headers": headers}, b"")).attributes or {})["subject"] == "Ærø"


@pytest.mark.parametrize("content_type", ["", "application/json", "application/json; charset=utf-8"])
def test_an_unlabelled_event_is_recognised_by_its_shape(content_type: str) -> None:
    headers = {"content-type": content_type} if content_type else {}
    assert only(Record("KAFKA", {"headers": headers}, json.dumps(EVENT).encode())).attributes == EVENT


@pytest.mark.parametrize("payload", [b"", b"{}", b'{"specversion": "1.0"}', b"{broken", b"[1]", b"\xff\xfe"])
def test_other_bodies_have_no_envelope(payload: bytes) -> None:
    assert only(Record("KAFKA", {}, payload)).attributes is None


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        (b"{", "event_broken"),
        (b"[]", "event_broken"),
        (b"\xff", "event_broken"),
        (b"{}", "specversion_unknown"),
        (json.dumps({**EVENT, "specversion": "2.0"}).encode(), "specversion_unknown"),
        (json.dumps({**EVENT, "data_base64": "%"}).encode(), "event_broken"),
        (json.dumps({**EVENT, "data_base64": 5}).encode(), "event_broken"),
        (b'{"specversion":"1.0","x":' + b"[" * 50_000 + b"]" * 50_000 + b"}", "event_broken"),
    ],
)
def test_broken_events_are_malformed_with_a_reason(payload: bytes, code: str) -> None:
    (found,) = unwrap(kafka(payload))
    assert isinstance(found, Malformed)
    assert found.code == code


def test_a_batch_that_cannot_be_read_counts_one() -> None:
    (found,) = unwrap(kafka(b"[{", JSON_BATCH))
    assert isinstance(found, Malformed)


_NAMES = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=10).filter(
    lambda name: name not in ("data", "data_base64", "datacontenttype", *EVENT)
)


@settings(deadline=None)
@given(
    extensions=st.dictionaries(_NAMES, st.text(min_size=1, max_size=20), max_size=3),
    data=st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=9), max_size=3),
    protocol=st.sampled_from(["", "KAFKA", "HTTP", "NATS", "AMQP/1.0", "MQTT/5.0"]),
    mode=st.sampled_from(["binary", "structured"]),
)
def test_what_is_wrapped_unwraps_the_same(
    extensions: dict[str, str], data: dict[str, Any], protocol: str, mode: str
) -> None:
    attributes = {**EVENT, "datacontenttype": "application/json", **extensions}
    message = only(wrap(protocol, {}, attributes, json.dumps(data).encode(), mode))
    assert message.attributes == attributes
    assert json.loads(message.body) == data

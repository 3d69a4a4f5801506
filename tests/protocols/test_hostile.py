"""Whatever comes off the wire: messages or reasons, never an exception."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from postroom.protocols.cloudevents import Malformed, Message, unwrap
from postroom.protocols.records import JSON_BATCH, JSON_EVENT, Record

PROTOCOLS = ["", "HTTP", "KAFKA", "NATS", "AMQP/1.0", "MQTT/5.0", "MQTT/3.1.1", "Solace/1.0"]

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
_NAMES = st.sampled_from(
    [
        *("ce-id", "CE_id", "ce-source", "ce_type", "ce_specversion", "ce-", "ce_", "content-type", "Content-Type"),
        *("specversion", "id", "source", "type", "cloudEvents:id", "cloudEvents_time", "datacontenttype", "time"),
    ]
)
_VALUES = st.sampled_from(["1.0", "%", "%zz", "%ff", '"', '"\\', "a" * 100_000, JSON_EVENT, JSON_BATCH]) | _JSON
_PAIRS = st.lists(st.fixed_dictionaries({"name": _NAMES | _JSON, "value": _VALUES}) | _JSON, max_size=6)
_HEADERS = _PAIRS | st.dictionaries(_NAMES, _VALUES, max_size=6) | _JSON
_METADATA = st.dictionaries(
    st.sampled_from(
        ["headers", "user_properties", "properties", "application-properties", "application_properties", "content_type"]
    ),
    _HEADERS,
    max_size=4,
)
_EVENT = st.dictionaries(
    st.sampled_from(["specversion", "id", "source", "type", "data", "data_base64", "datacontenttype", "time"]),
    st.sampled_from(["1.0", "", "%", "application/json", "text/plain"]) | _JSON,
)
_PAYLOAD = st.binary(max_size=40) | (_EVENT | st.lists(_EVENT, max_size=3) | _JSON).map(
    lambda v: json.dumps(v).encode()
)


@settings(deadline=None)
@given(protocol=st.sampled_from(PROTOCOLS), metadata=_METADATA, payload=_PAYLOAD)
@example("AMQP/1.0", {"application-properties": {"cloudEvents_time": 10**30}}, b"")
@example("", {"content_type": 5}, b"{}")
@example("KAFKA", {"headers": {"content-type": JSON_EVENT}}, b'{"specversion": "1.0", "data": 1e999}')
def test_anything_unwraps(protocol: str, metadata: dict[str, Any], payload: bytes) -> None:
    for message in unwrap(Record(protocol, metadata, payload)):
        assert isinstance(message, Message | Malformed)
        assert isinstance(message, Message) or (message.code and message.expected)


@pytest.mark.parametrize(
    "payload",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"specversion":"1.0","id":"1","source":"/s","type":"t","data":' + b"[" * 100_000,
        b'{"specversion":"1.0","id":"1","source":"/s","type":"t","data":"\xff"}',
        b'{"specversion":"1.0","id":"1","source":"/s","type":"t","data":"\\ud800"}',
        b'{"specversion":"1.0","specversion":"2.0","id":"1","source":"/s","type":"t"}',
    ],
)
@pytest.mark.parametrize("media", [JSON_EVENT, JSON_BATCH, "application/json", ""])
def test_hostile_json(payload: bytes, media: str) -> None:
    (found,) = unwrap(Record("HTTP", {"headers": {"content-type": media}}, payload))
    assert isinstance(found, Message | Malformed)

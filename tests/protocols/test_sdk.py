"""The official CloudEvents SDK reads what we make, and we read what it makes, for each of its bindings and modes.

Its bindings are HTTP, Kafka and AMQP 1.0. (It also has one for RabbitMQ's AMQP 0.9.1, which is another protocol.)
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import pytest
from cloudevents.core.bindings import amqp, http, kafka
from cloudevents.core.v1.event import CloudEvent
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.protocols.cloudevents import Message, unwrap, wrap
from postroom.protocols.records import Record


class Binding(NamedTuple):
    """One binding of the SDK, and how its messages look as records."""

    protocol: str
    module: Any
    record: Callable[[Any], Record]
    message: Callable[[Record], Any]
    native: bool = False


def kafka_record(message: kafka.KafkaMessage) -> Record:
    headers = {name: value.decode() for name, value in message.headers.items()}
    return Record("KAFKA", {"headers": headers} | ({"key": message.key} if message.key else {}), message.value)


def kafka_message(record: Record) -> kafka.KafkaMessage:
    headers = {name: value.encode() for name, value in record.metadata["headers"].items()}
    return kafka.KafkaMessage(headers, record.metadata.get("key"), record.payload)


def http_record(message: http.HTTPMessage) -> Record:
    headers = [{"name": name, "value": value} for name, value in message.headers.items()]
    return Record("HTTP", {"headers": headers}, message.body)


def http_message(record: Record) -> http.HTTPMessage:
    return http.HTTPMessage({item["name"]: item["value"] for item in record.metadata["headers"]}, record.payload)


def amqp_record(message: amqp.AMQPMessage) -> Record:
    metadata = {"properties": message.properties, "application-properties": message.application_properties}
    return Record("AMQP/1.0", metadata, message.application_data)


def amqp_message(record: Record) -> amqp.AMQPMessage:
    properties = record.metadata.get("properties", {})
    return amqp.AMQPMessage(properties, record.metadata.get("application-properties", {}), record.payload)


BINDINGS = {
    "HTTP": Binding("HTTP", http, http_record, http_message),
    "KAFKA": Binding("KAFKA", kafka, kafka_record, kafka_message),
    "AMQP/1.0": Binding("AMQP/1.0", amqp, amqp_record, amqp_message, native=True),
}

# Control characters are not allowed in attributes of a CloudEvent.
_TEXT = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn")), min_size=1, max_size=20)
# Names of the specification have rules of their own. Hypothesis finds them, for it tries words of the code it tests.
_TAKEN = {"data", "dataschema", "datacontenttype", "time", "id", "source", "type", "subject", "specversion"}
_NAME = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=20).filter(lambda name: name not in _TAKEN)
_EXTENSIONS = st.dictionaries(_NAME, _TEXT | st.just("") | st.integers(-(2**31), 2**31 - 1), max_size=3)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
_TIMES = st.datetimes(datetime(1970, 1, 1), datetime(9000, 1, 1), timezones=st.just(UTC)).map(  # noqa: DTZ001
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
)
_ATTRIBUTES = st.builds(
    lambda texts, more, time: {"specversion": "1.0", **texts, **more, **({"time": time} if time else {})},
    st.fixed_dictionaries({"id": _TEXT, "source": _TEXT, "type": _TEXT}, optional={"subject": _TEXT}),
    _EXTENSIONS,
    st.none() | _TIMES,
)
# Content type and bytes on the wire.
_DATA = st.one_of(
    st.tuples(st.just("application/json"), _JSON.map(json.dumps).map(str.encode)),
    st.tuples(st.just("application/vnd.oven+json; v=1"), _JSON.map(json.dumps).map(str.encode)),
    st.tuples(st.just("text/plain; charset=utf-8"), _TEXT.map(str.encode)),
    st.tuples(st.just("application/octet-stream"), st.binary(min_size=1, max_size=20)),
    st.tuples(st.none(), st.just(b"")),
)


def rfc3339(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def ours(attributes: dict[str, Any], contenttype: str | None) -> dict[str, Any]:
    texts = {name: rfc3339(value) if isinstance(value, datetime) else value for name, value in attributes.items()}
    return {**texts, **({"datacontenttype": contenttype} if contenttype else {})}


def as_headers(attributes: dict[str, Any]) -> dict[str, Any]:
    """Numbers become text where headers are text."""
    return {name: str(value) if isinstance(value, int) else value for name, value in attributes.items()}


@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize("protocol", BINDINGS)
@settings(deadline=None)
@given(attributes=_ATTRIBUTES, data=_DATA)
def test_the_sdk_reads_what_we_make(
    protocol: str, mode: str, attributes: dict[str, Any], data: tuple[str | None, bytes]
) -> None:
    binding = BINDINGS[protocol]
    contenttype, body = data
    record = wrap(protocol, {}, ours(attributes, contenttype), body, mode)
    read = getattr(binding.module, f"from_{protocol.partition('/')[0].lower()}_event")
    event = read(binding.message(record))
    expected = {**attributes, **({"datacontenttype": contenttype} if contenttype else {})}
    # The SDK stamps events that have no time.
    found = {name: value for name, value in event.get_attributes().items() if name != "time" or name in expected}
    assert found == (expected if mode == "structured" or binding.native else as_headers(expected))
    assert same_data(event.get_data(), contenttype, body)


def same_data(found: Any, contenttype: str | None, body: bytes) -> bool:
    if contenttype is None:
        return found is None
    if "json" in contenttype:
        return bool(found == json.loads(body))
    return (found if isinstance(found, bytes) else found.encode()) == body


@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize("protocol", BINDINGS)
@settings(deadline=None)
@given(attributes=_ATTRIBUTES.filter(lambda found: "time" in found), data=_DATA)
def test_we_read_what_the_sdk_makes(
    protocol: str, mode: str, attributes: dict[str, Any], data: tuple[str | None, bytes]
) -> None:
    binding = BINDINGS[protocol]
    contenttype, body = data
    given_attributes = {**attributes, **({"datacontenttype": contenttype} if contenttype else {})}
    event = CloudEvent(dict(given_attributes), body if contenttype else None)
    (message,) = unwrap(binding.record(getattr(binding.module, f"to_{mode}_event")(event)))
    assert isinstance(message, Message), message
    found = dict(message.attributes or {})
    expected = ours(attributes, contenttype)
    moments = [datetime.fromisoformat(str(held.pop("time"))) for held in (found, expected)]
    # The SDK computes AMQP's milliseconds with floats and cuts them off.
    assert abs(moments[0] - moments[1]) <= timedelta(milliseconds=1 if binding.native and mode == "binary" else 0)
    assert found == (expected if mode == "structured" or binding.native else as_headers(expected))
    assert (message.body, message.mode) == (body, mode)


@pytest.mark.parametrize("mode", ["binary", "structured"])
@pytest.mark.parametrize("protocol", BINDINGS)
def test_json_objects_of_the_sdk_stay_json(protocol: str, mode: str) -> None:
    binding = BINDINGS[protocol]
    event = CloudEvent({"source": "/ovens/7", "type": "oven.ready"}, {"loaves": ["rye", "🥐"], "hot": True})
    (message,) = unwrap(binding.record(getattr(binding.module, f"to_{mode}_event")(event)))
    assert isinstance(message, Message)
    assert json.loads(message.body) == {"loaves": ["rye", "🥐"], "hot": True}


def test_the_sdk_takes_the_key_from_the_partition_key_and_so_do_its_readers() -> None:
    event = CloudEvent({"source": "/ovens/7", "type": "oven.ready", "partitionkey": "7"})
    (message,) = unwrap(kafka_record(kafka.to_binary_event(event)))
    assert isinstance(message, Message)
    assert (message.metadata["key"], (message.attributes or {})["partitionkey"]) == ("7", "7")

"""The CloudEvents protocol bindings, rule by rule: what arrives on each protocol, and what we put there."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from postroom.protocols.cloudevents import Malformed, Message, unwrap, wrap
from postroom.protocols.records import JSON_BATCH, JSON_EVENT, Record

EVENT = {"specversion": "1.0", "id": "1", "source": "/ovens/7", "type": "oven.ready"}
BODY = b'{"celsius": 180}'


def pairs(prefix: str, **more: Any) -> list[dict[str, Any]]:
    return [{"name": prefix + name, "value": value} for name, value in {**EVENT, **more}.items()]


def named(prefix: str, **more: Any) -> dict[str, Any]:
    return {prefix + name: value for name, value in {**EVENT, **more}.items()}


def only(record: Record) -> Message:
    (message,) = unwrap(record)
    assert isinstance(message, Message), message
    return message


def refused(record: Record) -> Malformed:
    (message,) = unwrap(record)
    assert isinstance(message, Malformed), message
    return message


ARRIVALS = {
    "HTTP: names in any case": ("HTTP", {"headers": pairs("CE-", Subject="a")}, {"subject": "a"}),
    "HTTP: as a map": ("HTTP", {"headers": named("Ce-")}, {}),
    "HTTP: percent-encoding, upper and lower case": (
        "HTTP",
        {"headers": pairs("ce-", subject="Euro%20%E2%82%AC%20%f0%9f%98%80")},
        {"subject": "Euro € 😀"},
    ),
    "HTTP: needless percent-encoding": ("HTTP", {"headers": pairs("ce-", subject="%61bc")}, {"subject": "abc"}),
    "HTTP: decoded once": ("HTTP", {"headers": pairs("ce-", subject="%2541")}, {"subject": "%41"}),
    "HTTP: a percent sign that encodes nothing": (
        "HTTP",
        {"headers": pairs("ce-", subject="5%zz")},
        {"subject": "5%zz"},
    ),
    "HTTP: quoted, as older versions wrote it": (
        "HTTP",
        {"headers": pairs("ce-", subject=r'"a \"b\" \\c %41"')},
        {"subject": r'a "b" \c A'},
    ),
    "HTTP: quotes inside are no quoting": (
        "HTTP",
        {"headers": pairs("ce-", trace='{"othervalue": 5}')},
        {"trace": '{"othervalue": 5}'},
    ),
    "HTTP: the content type is the data's": (
        "HTTP",
        {"headers": [*pairs("ce-"), {"name": "Content-Type", "value": "application/json; charset=utf-8"}]},
        {"datacontenttype": "application/json; charset=utf-8"},
    ),
    "HTTP: the content type rules over a stray attribute": (
        "HTTP",
        {"headers": [*pairs("ce-", datacontenttype="text/plain"), {"name": "content-type", "value": "text/csv"}]},
        {"datacontenttype": "text/csv"},
    ),
    "HTTP: a response carries events like a request": ("HTTP", {"status": "200", "headers": pairs("ce-")}, {}),
    "KAFKA: as a map": ("KAFKA", {"headers": named("ce_")}, {}),
    "KAFKA: as an array": ("KAFKA", {"headers": pairs("ce_")}, {}),
    "KAFKA: names in any case": ("KAFKA", {"headers": named("CE_")}, {}),
    "KAFKA: null values are absent": ("KAFKA", {"headers": named("ce_", subject=None)}, {}),
    "KAFKA: nothing is percent-decoded": ("KAFKA", {"headers": named("ce_", subject="%41")}, {"subject": "%41"}),
    "KAFKA: text as it is": ("KAFKA", {"headers": named("ce_", subject="Ærø €")}, {"subject": "Ærø €"}),
    "KAFKA: the key is not an attribute": ("KAFKA", {"key": "oven-7", "headers": named("ce_")}, {}),
    "KAFKA: the partition key stays one": (
        "KAFKA",
        {"key": "7", "headers": named("ce_", partitionkey="7")},
        {"partitionkey": "7"},
    ),
    "KAFKA: Content-Type in any case": (
        "KAFKA",
        {"headers": {**named("ce_"), "Content-Type": "application/json"}},
        {"datacontenttype": "application/json"},
    ),
    "AMQP: colon": ("AMQP/1.0", {"application-properties": named("cloudEvents:")}, {}),
    "AMQP: underscore": ("AMQP/1.0", {"application-properties": named("cloudEvents_")}, {}),
    "AMQP: any case": ("AMQP/1.0", {"application-properties": named("cloudevents:")}, {}),
    "AMQP: native integer and boolean": (
        "AMQP/1.0",
        {"application-properties": named("cloudEvents:", count=3, urgent=True)},
        {"count": 3, "urgent": True},
    ),
    "AMQP: native timestamp, in milliseconds": (
        "AMQP/1.0",
        {"application-properties": named("cloudEvents_", time=1522900584123)},
        {"time": "2018-04-05T03:56:24.123Z"},
    ),
    "AMQP: timestamp as text": (
        "AMQP/1.0",
        {"application-properties": named("cloudEvents_", time="2018-04-05T03:56:24Z")},
        {"time": "2018-04-05T03:56:24Z"},
    ),
    "AMQP: the content-type property": (
        "AMQP/1.0",
        {"properties": {"content-type": "text/csv"}, "application-properties": named("cloudEvents_")},
        {"datacontenttype": "text/csv"},
    ),
    "MQTT 5: no prefix": ("MQTT/5.0", {"user_properties": pairs("")}, {}),
    "MQTT 5: the prefix that one SDK writes": ("MQTT/5.0", {"user_properties": pairs("ce-", sub="x")}, {"sub": "x"}),
    "MQTT 5: content type twice, as in the binding's example": (
        "MQTT/5.0",
        {"content_type": "text/csv", "user_properties": pairs("", datacontenttype="text/csv")},
        {"datacontenttype": "text/csv"},
    ),
    "NATS: names in any case": ("NATS", {"headers": pairs("Ce-")}, {}),
    "NATS: percent-encoded": ("NATS", {"headers": pairs("ce-", subject="%C3%86r%C3%B8")}, {"subject": "Ærø"}),
    "NATS: the content type is an attribute like others": (
        "NATS",
        {"headers": [*pairs("ce-", datacontenttype="text/csv"), {"name": "Content-Type", "value": "text/plain"}]},
        {"datacontenttype": "text/csv"},
    ),
    "NATS: a content type in the usual place": (
        "NATS",
        {"reply-to": "_INBOX.1", "headers": [*pairs("ce-"), {"name": "Content-Type", "value": "text/csv"}]},
        {"datacontenttype": "text/csv"},
    ),
}


@pytest.mark.feature("MSG-033", "MSG-078", "MSG-121", "MSG-126")
@pytest.mark.parametrize(("protocol", "metadata", "more"), ARRIVALS.values(), ids=ARRIVALS.keys())
def test_binary_events_arrive(protocol: str, metadata: dict[str, Any], more: dict[str, Any]) -> None:
    message = only(Record(protocol, metadata, BODY))
    assert (message.attributes, message.mode, message.body) == ({**EVENT, **more}, "binary", BODY)


LABELS = {
    "HTTP": lambda media: {"headers": [{"name": "Content-Type", "value": media}]},
    "KAFKA": lambda media: {"headers": {"content-type": media}},
    "NATS": lambda media: {"headers": [{"name": "content-type", "value": media}]},
    "AMQP/1.0": lambda media: {"properties": {"content-type": media}},
    "MQTT/5.0": lambda media: {"content_type": media},
}


@pytest.mark.feature("MSG-034")
@pytest.mark.parametrize("protocol", LABELS)
@pytest.mark.parametrize(
    "media",
    [
        "application/cloudevents+json",
        "application/cloudevents+json; charset=UTF-8",
        "Application/CloudEvents+JSON",
        "application/cloudevents",
        "application/json",
        "",
    ],
)
def test_structured_events_arrive(protocol: str, media: str) -> None:
    message = only(Record(protocol, LABELS[protocol](media), json.dumps({**EVENT, "data": {"n": 1}}).encode()))
    assert (message.attributes, message.mode, message.body) == (EVENT, "structured", b'{"n": 1}')


@pytest.mark.parametrize("protocol", LABELS)
@pytest.mark.parametrize(
    "media", ["application/cloudevents-batch+json; charset=utf-8", "application/cloudevents-batch"]
)
def test_batches_arrive_on_every_protocol(protocol: str, media: str) -> None:
    found = unwrap(Record(protocol, LABELS[protocol](media), json.dumps([EVENT, {**EVENT, "id": "2"}]).encode()))
    assert [message.attributes for message in found if isinstance(message, Message)] == [EVENT, {**EVENT, "id": "2"}]


@pytest.mark.parametrize("protocol", LABELS)
@pytest.mark.parametrize(
    "media",
    [
        "application/cloudevents+avro",
        "application/cloudevents+protobuf",
        "application/cloudevents+xml; charset=utf-8",
        "application/cloudevents-batch+protobuf",
        "APPLICATION/CLOUDEVENTS+CBOR",
    ],
)
def test_other_event_formats_are_refused_by_name(protocol: str, media: str) -> None:
    found = refused(Record(protocol, LABELS[protocol](media), b"\x00"))
    assert (found.code, found.expected, found.found) == ("event_format_unknown", JSON_EVENT, media)


def test_another_event_format_is_refused_even_beside_binary_headers() -> None:
    metadata = {"headers": {**named("ce_"), "content-type": "application/cloudevents+avro"}}
    assert refused(Record("KAFKA", metadata, b"\x00")).code == "event_format_unknown"


def test_in_structured_mode_the_body_rules_over_copies_in_headers() -> None:
    metadata = {"headers": {**named("ce_", id="other"), "content-type": JSON_EVENT}}
    assert only(Record("KAFKA", metadata, json.dumps(EVENT).encode())).attributes == EVENT


@pytest.mark.parametrize("payload", [json.dumps(EVENT).encode(), b" \n" + json.dumps(EVENT).encode()])
def test_mqtt_3_events_are_structured_without_a_label(payload: bytes) -> None:
    message = only(Record("MQTT/3.1.1", {"topic_name": "ovens/7"}, payload))
    assert (message.attributes, message.mode) == (EVENT, "structured")


@pytest.mark.parametrize("protocol", ["HTTP", "NATS"])
@pytest.mark.parametrize("value", ["%C0%A0", "a%ff", "%E2%82"])
def test_percent_encoded_bytes_that_are_no_text_are_refused(protocol: str, value: str) -> None:
    found = refused(Record(protocol, {"headers": pairs("ce-", subject=value)}, BODY))
    assert (found.at, found.code, found.found) == ("/metadata/headers/ce-subject", "header_broken", value)


@pytest.mark.feature("MSG-057")
@pytest.mark.parametrize(
    ("protocol", "metadata"),
    [
        ("KAFKA", {"headers": named("ce_", specversion="0.3")}),
        ("HTTP", {"headers": pairs("ce-", specversion="0.3")}),
        ("MQTT/5.0", {"user_properties": pairs("", specversion="0.3")}),
    ],
)
def test_events_of_another_version_in_binary_mode_are_left_to_the_definitions(
    protocol: str, metadata: dict[str, Any]
) -> None:
    """Each definition demands 1.0, so that the reason can name the one that was meant."""
    assert only(Record(protocol, metadata, BODY)).attributes == {**EVENT, "specversion": "0.3"}


@pytest.mark.parametrize("media", ["", "application/json", JSON_EVENT])
def test_events_of_another_version_are_refused_in_structured_mode(media: str) -> None:
    payload = json.dumps({**EVENT, "specversion": "0.3"}).encode()
    assert refused(Record("KAFKA", LABELS["KAFKA"](media), payload)).code == "specversion_unknown"


def test_a_property_that_happens_to_be_called_specversion_makes_no_event() -> None:
    metadata = {"user_properties": [{"name": "specversion", "value": "7"}, {"name": "eventType", "value": "sale"}]}
    assert only(Record("MQTT/5.0", metadata, BODY)).attributes is None


ENCODED = base64.b64encode(BODY).decode()


@pytest.mark.parametrize(
    ("members", "body", "contenttype"),
    [
        ({"data_base64": ENCODED}, BODY, ""),
        ({"data_base64": ENCODED, "datacontenttype": "application/json"}, BODY, "application/json"),
        ({"data_base64": ENCODED, "data": None}, BODY, ""),
        ({"data_base64": None, "data": 5}, b"5", "application/json"),
        ({"data": "text"}, b'"text"', "application/json"),
        ({"data": "text", "datacontenttype": "model/json"}, b'"text"', "model/json"),
        ({"data": "text", "datacontenttype": "a/b+json; v=1"}, b'"text"', "a/b+json; v=1"),
        ({"data": "<a/>", "datacontenttype": "application/xml"}, b"<a/>", "application/xml"),
        ({"data": {"a": 1}, "datacontenttype": "application/xml"}, b'{"a": 1}', "application/json"),
        ({"data": None}, b"null", "application/json"),
        ({"data": 1.5}, b"1.5", "application/json"),
        ({"data": False}, b"false", "application/json"),
        ({"subject": None}, b"", "application/json"),
    ],
)
def test_data_of_structured_events(members: dict[str, Any], body: bytes, contenttype: str) -> None:
    message = only(Record("", {"content_type": JSON_EVENT}, json.dumps({**EVENT, **members}).encode()))
    assert (message.body, message.contenttype) == (body, contenttype)


def test_data_twice_is_refused() -> None:
    payload = json.dumps({**EVENT, "data": 1, "data_base64": ENCODED}).encode()
    found = refused(Record("", {"content_type": JSON_EVENT}, payload))
    assert (found.code, found.found) == ("event_broken", "both")


TYPED = {**EVENT, "datacontenttype": "application/json", "subject": 'Ærø "€" 100%', "count": 3, "urgent": True}
PLAIN = {**TYPED, "count": "3", "urgent": "true"}
ENCODED_SUBJECT = "%C3%86r%C3%B8%20%22%E2%82%AC%22%20100%25"


def prefixed(prefix: str, attributes: dict[str, Any]) -> dict[str, Any]:
    return {prefix + name: value for name, value in attributes.items() if name != "datacontenttype"}


def listed(values: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"name": name, "value": value} for name, value in values.items()]


DEPARTURES = {
    "HTTP": {
        "headers": listed(
            {"content-type": "application/json", **prefixed("ce-", {**PLAIN, "subject": ENCODED_SUBJECT})}
        )
    },
    "KAFKA": {"headers": {"content-type": "application/json", **prefixed("ce_", PLAIN)}},
    # Underscore: JMS clients cannot name a property with a colon.
    "AMQP/1.0": {
        "properties": {"content-type": "application/json"},
        "application-properties": prefixed("cloudEvents_", TYPED),
    },
    "MQTT/5.0": {"content_type": "application/json", "user_properties": listed(prefixed("", PLAIN))},
    "NATS": {
        "headers": listed(
            {
                "content-type": "application/json",
                **{"ce-" + name: value for name, value in {**PLAIN, "subject": ENCODED_SUBJECT}.items()},
            }
        )
    },
}


@pytest.mark.feature("MSG-033")
@pytest.mark.parametrize(("protocol", "metadata"), DEPARTURES.items())
def test_binary_events_leave(protocol: str, metadata: dict[str, Any]) -> None:
    record = wrap(protocol, {}, TYPED, BODY, "binary")
    in_order = {
        name: sorted(value, key=lambda pair: str(pair["name"])) if isinstance(value, list) else value
        for name, value in record.metadata.items()
    }
    expected = {
        name: sorted(value, key=lambda pair: str(pair["name"])) if isinstance(value, list) else value
        for name, value in metadata.items()
    }
    assert (in_order, record.payload) == (expected, BODY)


@pytest.mark.feature("MSG-034")
@pytest.mark.parametrize("protocol", LABELS)
def test_structured_events_leave(protocol: str) -> None:
    record = wrap(protocol, {}, TYPED, BODY, "structured")
    assert json.loads(record.payload) == {**TYPED, "data": {"celsius": 180}}
    assert only(record).mode == "structured"
    assert JSON_EVENT in json.dumps(record.metadata)


@pytest.mark.feature("MSG-107")
@pytest.mark.parametrize("mode", ["structured", "binary"])
def test_mqtt_3_has_structured_events_only(mode: str) -> None:
    record = wrap("MQTT/3.1.1", {"topic_name": "ovens/7"}, TYPED, BODY, mode)
    assert record.metadata == {"topic_name": "ovens/7"}
    assert json.loads(record.payload) == {**TYPED, "data": {"celsius": 180}}


@pytest.mark.feature("MSG-034")
@pytest.mark.parametrize("protocol", LABELS)
@pytest.mark.parametrize(
    ("mode", "media"), [("structured", "application/json"), ("structured", "text/xml"), ("binary", "application/json")]
)
def test_a_content_type_that_the_definition_fixes_is_not_said_twice(protocol: str, mode: str, media: str) -> None:
    record = wrap(protocol, LABELS[protocol](media), TYPED, BODY, mode)
    assert (
        json.dumps(record.metadata).lower().count("content-type") + json.dumps(record.metadata).count("content_type")
        == 1
    )
    assert only(record).mode == mode


@pytest.mark.parametrize(
    ("datacontenttype", "body", "members"),
    [
        ("text/plain", b"hello", {"data": "hello"}),
        ("text/plain", b"\xff", {"data_base64": "/w=="}),
        ("application/json", b"[1]", {"data": [1]}),
        ("application/json", b"", {}),
        ("application/json", b"null", {"data": None}),
        ("application/octet-stream", b"abc", {"data_base64": "YWJj"}),
        ("application/json", b"{", {"data_base64": "ew=="}),
        ("application/xml; charset=utf-8", "<ø/>".encode(), {"data": "<ø/>"}),
        ("", b"5", {"data": 5}),
        ("", b"\xff", {"data_base64": "/w=="}),
    ],
)
def test_data_that_leaves_in_structured_mode(datacontenttype: str, body: bytes, members: dict[str, Any]) -> None:
    attributes = {**EVENT, "datacontenttype": datacontenttype} if datacontenttype else EVENT
    assert json.loads(wrap("", {}, attributes, body, "structured").payload) == {**attributes, **members}


def test_an_empty_batch_says_nothing() -> None:
    assert refused(Record("HTTP", LABELS["HTTP"](JSON_BATCH), b"[]")).code == "empty_batch"


@pytest.mark.parametrize("media", [JSON_EVENT, "application/json", ""])
def test_a_byte_order_mark_before_an_event_is_skipped(media: str) -> None:
    record = Record("HTTP", LABELS["HTTP"](media), b"\xef\xbb\xbf" + json.dumps(EVENT).encode())
    assert only(record).attributes == EVENT


def test_a_byte_order_mark_before_a_batch_is_skipped() -> None:
    payload = b"\xef\xbb\xbf" + json.dumps([EVENT]).encode()
    assert only(Record("HTTP", LABELS["HTTP"](JSON_BATCH), payload)).attributes == EVENT


def test_a_reason_says_which_event_of_a_batch_it_means() -> None:
    batch = [EVENT, {**EVENT, "specversion": "0.3"}, 5, {**EVENT, "data_base64": "%"}]
    found = unwrap(Record("KAFKA", LABELS["KAFKA"](JSON_BATCH), json.dumps(batch).encode()))
    places = [message.at for message in found if isinstance(message, Malformed)]
    assert places == ["/payload/1/specversion", "/payload/2", "/payload/3/data_base64"]

"""Every attribute of CloudEvents and every option of every protocol: its type, what fits it on the wire, what does not.

A row is: the requirement, where the definition says it, the type it has unless the author narrows it, a value that
fits and one that does not (None where anything fits).
"""

from __future__ import annotations

from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.messages.making.metadata_placement import put
from postroom.protocols.cloudevents import Message
from postroom.protocols.protocol_table import wire_named

mark = pytest.mark
EVENT = {"specversion": "1.0", "id": "1", "source": "/s", "type": "t"}

ATTRIBUTES = [
    pytest.param("specversion", "string", "1.0", None, marks=mark.feature("MSG-065")),
    pytest.param("id", "string", "a/b", 5, marks=mark.feature("MSG-066")),
    pytest.param("type", "string", "t", None, marks=mark.feature("MSG-067")),
    pytest.param("source", "uritemplate", "/s", None, marks=mark.feature("MSG-068")),
    pytest.param("subject", "string", "any text", 5, marks=mark.feature("MSG-069")),
    pytest.param("time", "timestamp", "2026-05-04T10:00:00Z", "now", marks=mark.feature("MSG-070")),
    pytest.param("dataschema", "uritemplate", "https://example.com/s", None, marks=mark.feature("MSG-071")),
    pytest.param("datacontenttype", "string", "text/plain", 5, marks=mark.feature("MSG-072")),
    pytest.param("myextension", "string", "x", 5, marks=mark.feature("MSG-063", "MSG-073")),
]

OPTIONS = [
    pytest.param("HTTP", ("path",), "uritemplate", "/a/b", None, marks=mark.feature("MSG-080")),
    pytest.param("HTTP", ("method",), "string", "POST", None, marks=mark.feature("MSG-081")),
    pytest.param("HTTP", ("query", "q"), "string", "x", None, marks=mark.feature("MSG-079")),
    pytest.param("HTTP", ("headers", "x-trace"), "string", "x", None, marks=mark.feature("MSG-078")),
    pytest.param("AMQP", ("properties", "message-id"), "any", "m-1", None, marks=mark.feature("MSG-084")),
    pytest.param("AMQP", ("properties", "user-id"), "binary", "dXNlcg==", "not base64!", marks=mark.feature("MSG-085")),
    pytest.param("AMQP", ("properties", "to"), "uritemplate", "queue/a", None, marks=mark.feature("MSG-086")),
    pytest.param("AMQP", ("properties", "subject"), "string", "s", 5, marks=mark.feature("MSG-087")),
    pytest.param("AMQP", ("properties", "reply-to"), "uritemplate", "q", None, marks=mark.feature("MSG-088")),
    pytest.param("AMQP", ("properties", "correlation-id"), "any", "c-1", None, marks=mark.feature("MSG-089")),
    pytest.param("AMQP", ("properties", "content-type"), "string", "text/plain", None, marks=mark.feature("MSG-090")),
    pytest.param("AMQP", ("properties", "content-encoding"), "string", "identity", 5, marks=mark.feature("MSG-091")),
    pytest.param(
        "AMQP", ("properties", "absolute-expiry-time"), "timestamp", "2026-05-04T10:00:00Z", "soon",
        marks=mark.feature("MSG-092"),
    ),
    pytest.param(
        "AMQP", ("properties", "creation-time"), "timestamp", "2026-05-04T10:00:00Z", "soon",
        marks=mark.feature("MSG-093"),
    ),
    pytest.param("AMQP", ("properties", "group-id"), "string", "g", 5, marks=mark.feature("MSG-094")),
    pytest.param("AMQP", ("properties", "group-sequence"), "integer", 7, "first", marks=mark.feature("MSG-095")),
    pytest.param("AMQP", ("properties", "reply-to-group-id"), "uritemplate", "g", None, marks=mark.feature("MSG-096")),
    pytest.param("AMQP", ("application-properties", "Kind"), "string", "x", 5, marks=mark.feature("MSG-098")),
    pytest.param("AMQP", ("message-annotations", "x-opt-a"), "string", "x", 5, marks=mark.feature("MSG-099")),
    pytest.param("AMQP", ("delivery-annotations", "x-opt-a"), "string", "x", 5, marks=mark.feature("MSG-100")),
    pytest.param("AMQP", ("footer", "x-sum"), "string", "x", 5, marks=mark.feature("MSG-101")),
    pytest.param("AMQP", ("header", "durable"), "boolean", True, None, marks=mark.feature("MSG-102")),
    pytest.param("AMQP", ("header", "priority"), "integer", 4, None, marks=mark.feature("MSG-103")),
    pytest.param("AMQP", ("header", "ttl"), "integer", 500, None, marks=mark.feature("MSG-104")),
    pytest.param("AMQP", ("header", "first-acquirer"), "boolean", False, None, marks=mark.feature("MSG-105")),
    pytest.param("AMQP", ("header", "delivery-count"), "integer", 0, None, marks=mark.feature("MSG-106")),
    pytest.param("MQTT/5.0", ("payload_format",), "integer", 1, "text", marks=mark.feature("MSG-108")),
    pytest.param("MQTT/5.0", ("message_expiry_interval",), "integer", 60, None, marks=mark.feature("MSG-109")),
    pytest.param("MQTT/5.0", ("response_topic",), "uritemplate", "a/b", None, marks=mark.feature("MSG-110")),
    pytest.param("MQTT/5.0", ("correlation_data",), "binary", "eA==", "not base64!", marks=mark.feature("MSG-111")),
    pytest.param("MQTT/5.0", ("content_type",), "string", "text/plain", None, marks=mark.feature("MSG-112")),
    pytest.param("MQTT/5.0", ("qos",), "integer", 1, None, marks=mark.feature("MSG-113")),
    pytest.param("MQTT/3.1.1", ("retain",), "boolean", True, None, marks=mark.feature("MSG-107", "MSG-114")),
    pytest.param("MQTT/3.1.1", ("topic_name",), "uritemplate", "a/b", None, marks=mark.feature("MSG-107", "MSG-115")),
    pytest.param("MQTT/5.0", ("user_properties", "kind"), "string", "x", None, marks=mark.feature("MSG-116")),
    pytest.param("KAFKA", ("topic",), "uritemplate", "t", None, marks=mark.feature("MSG-117")),
    pytest.param("KAFKA", ("partition",), "integer", 3, "first", marks=mark.feature("MSG-118")),
    pytest.param("KAFKA", ("key",), "uritemplate", "k", None, marks=mark.feature("MSG-119")),
    pytest.param("KAFKA", ("key_base64",), "binary", "aw==", "not base64!", marks=mark.feature("MSG-120")),
    pytest.param("KAFKA", ("headers", "Kind"), "string", "x", None, marks=mark.feature("MSG-121", "MSG-123")),
    pytest.param("NATS", ("subject",), "uritemplate", "a.b", None, marks=mark.feature("MSG-124")),
    pytest.param("NATS", ("reply-to",), "uritemplate", "a.b", None, marks=mark.feature("MSG-125")),
    pytest.param("NATS", ("headers", "kind"), "string", "x", None, marks=mark.feature("MSG-126")),
]  # fmt: skip


def catalog(**message: Any) -> Catalog:
    return Catalog({"messagegroups": {"g": {"messages": {"m": message}}}})


@pytest.mark.parametrize(("name", "kind", "good", "bad"), ATTRIBUTES)
def test_an_attribute_lands_and_breaks_as_declared(name: str, kind: str, good: Any, bad: Any) -> None:
    made = catalog(envelope="CloudEvents/1.0", envelopemetadata={"type": {"value": "t"}, name: {"description": "d"}})
    (found,) = [c for c in made.definitions[0].envelope_constraints if c.path == (name,)]
    assert found.type == kind
    made = catalog(envelope="CloudEvents/1.0", envelopemetadata={"type": {"value": "t"}, name: {}})
    assert made.match({**EVENT, name: good}).outcome == "landed"
    if bad is not None:
        match = made.match({**EVENT, name: bad})
        assert [(reason.at, reason.code) for reason in match.reasons] == [
            (f"/envelopemetadata/{name}", "type_mismatch")
        ]


def declared(path: tuple[str, ...], value: Any, protocol: str) -> Any:
    if len(path) == 1:
        return {path[0]: value}
    option = wire_named(protocol).option(path[0])
    assert option is not None
    as_map = option.shape == "section" or protocol == "KAFKA"
    return {path[0]: {path[1]: value} if as_map else [{"name": path[1], **value}]}


@pytest.mark.parametrize(("protocol", "path", "kind", "good", "bad"), OPTIONS)
def test_a_protocol_option_lands_and_breaks_as_declared(
    protocol: str, path: tuple[str, ...], kind: str, good: Any, bad: Any
) -> None:
    """The type is the option's own; a required one must be there, a fixed one equal; brokers' own never decide."""
    wire = wire_named(protocol)

    def judged(value: dict[str, Any], sent: Any) -> list[str]:
        made = catalog(protocol=protocol, protocoloptions=declared(path, value, protocol))
        assert [(c.path, c.type) for c in made.definitions[0].protocol_constraints] == [(path, kind)]
        metadata: dict[str, Any] = {}
        if sent is not None:
            put(metadata, wire, path, sent)
        match = made.match({"protocol": protocol, "metadata": metadata, "payload": "x"})
        fit = made.engine.index.filters[0]
        reasons = fit.reasons(Message(protocol, metadata, None, b"x"))
        assert (match.outcome == "landed") == (not reasons)
        return [reason.code for reason in reasons]

    option = wire.option(path[0])
    assert option is not None
    assert judged({}, good) == []
    assert judged({}, None) == []
    assert judged({"value": good}, good) == []
    if option.decides:
        assert judged({"required": True}, None) == ["required_missing"]
        assert judged({"value": good}, "something else") == ["constant_mismatch"]
    else:
        assert judged({"required": True}, None) == []
        assert judged({"value": good}, "something else") == []
    if bad is not None:
        assert judged({}, bad) == ["type_mismatch"]


@pytest.mark.feature("MSG-082")
def test_an_http_response_is_matched_by_its_status() -> None:
    made = catalog(protocol="HTTP", protocoloptions={"status": "201", "path": "/orders/{order}"})
    sent = {"protocol": "HTTP", "metadata": {"status": 201, "path": "/orders/7"}}
    assert made.match(sent).outcome == "landed"
    assert made.match({"protocol": "HTTP", "metadata": {"status": 404, "path": "/orders/7"}}).outcome == "invalid"


@pytest.mark.feature("MSG-078", "MSG-116", "MSG-126")
@pytest.mark.parametrize(
    ("protocol", "option", "name"),
    [("HTTP", "headers", "x-tag"), ("MQTT/5.0", "user_properties", "tag"), ("NATS", "headers", "tag")],
)
def test_all_headers_of_a_repeated_name_are_checked(protocol: str, option: str, name: str) -> None:
    sent = [{"name": name, "value": "a"}, {"name": name, "value": "b"}]
    made = catalog(protocol=protocol, protocoloptions={option: [{"name": name, "value": "a"}]})
    assert made.match({"protocol": protocol, "metadata": {option: sent}}).outcome == "landed"
    made = catalog(protocol=protocol, protocoloptions={option: sent})
    assert made.match({"protocol": protocol, "metadata": {option: sent}}).outcome == "landed"
    record = made.message("m").make(data="x")
    assert record["metadata"][option] == sent


def test_each_of_several_templates_takes_its_own_header() -> None:
    tags = [{"name": "tag", "value": "{first}"}, {"name": "tag", "value": "{second}"}]
    made = catalog(
        envelope="CloudEvents/1.0",
        envelopemetadata={"type": {"value": "t"}},
        protocol="MQTT/5.0",
        protocoloptions={"user_properties": tags},
    )
    record = made.message("m").make(first="a", second="b")
    assert made.match(record).variables == {"first": "a", "second": "b"}

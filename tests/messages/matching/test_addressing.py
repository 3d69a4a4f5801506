"""Messages without an envelope: what says which definition they mean, and what is said where they mean none."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.messages.matching.explain import explain_reason

Record = dict[str, Any]


def catalog(**messages: dict[str, Any]) -> Catalog:
    return Catalog({"messagegroups": {"g": {"messages": messages}}})


def record(protocol: str, metadata: Record | None = None, payload: str = "{}") -> Record:
    return {"protocol": protocol, "metadata": metadata or {}, "payload": payload}


def amqp(properties: Record, **sections: Record) -> Record:
    return record("AMQP/1.0", {"properties": properties, **sections})


def found(made: Catalog, sent: Record) -> tuple[str, str, list[tuple[str, str]]]:
    match = made.match(sent)
    short = (match.message or "").rpartition("/")[2]
    return match.outcome, short, [(reason.at.removeprefix("/protocoloptions"), reason.code) for reason in match.reasons]


HIRED = {
    "protocol": "AMQP/1.0",
    "protocoloptions": {
        "properties": {"subject": {"value": "hired"}, "message-id": {"required": True}},
        "application-properties": {"site": {"value": "oslo"}, "level": {"type": "integer"}},
    },
}
FIRED = {"protocol": "AMQP/1.0", "protocoloptions": {"properties": {"subject": {"value": "fired"}}}}
STAFF = catalog(hired=HIRED, fired=FIRED)
OSLO = {"site": "oslo"}


@pytest.mark.audit("messages-D6")
@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        (amqp({"subject": "hired", "message-id": "1"}, **{"application-properties": OSLO}), ("landed", "hired", [])),
        (
            amqp({"subject": "hired"}, **{"application-properties": OSLO}),
            ("invalid", "hired", [("/properties/message-id", "required_missing")]),
        ),
        (
            amqp({"subject": "hired", "message-id": "1"}),
            ("invalid", "hired", [("/application-properties/site", "required_missing")]),
        ),
        (
            amqp({"subject": "hired", "message-id": "1", "to": "x"}, **{"application-properties": {"site": "bergen"}}),
            ("invalid", "hired", [("/application-properties/site", "constant_mismatch")]),
        ),
        (
            amqp(
                {"subject": "hired", "message-id": "1"},
                **{"application-properties": {**OSLO, "level": "high"}},
            ),
            ("invalid", "hired", [("/application-properties/level", "type_mismatch")]),
        ),
        (
            amqp({"subject": "retired"}),
            ("unmatched", "", [("/properties/subject", "constant_mismatch")] * 2),
        ),
        (amqp({}), ("unmatched", "", [("/properties/subject", "required_missing")] * 2)),
    ],
)  # fmt: skip
def test_a_fixed_subject_of_amqp_addresses_a_definition_as_a_type_does(sent: Record, expected: Any) -> None:
    assert found(STAFF, sent) == expected


@pytest.mark.audit("messages-D6")
def test_a_subject_addresses_a_definition_wherever_the_message_went() -> None:
    options = {"properties": {"subject": {"value": "hired"}, "to": {"value": "staff/{site}"}}}
    made = catalog(hired={"protocol": "AMQP/1.0", "protocoloptions": options})
    missing = amqp({"subject": "hired"})
    assert found(made, missing) == ("invalid", "hired", [("/properties/to", "required_missing")])
    elsewhere = amqp({"subject": "hired", "to": "ovens/1"})
    assert found(made, elsewhere) == ("invalid", "hired", [("/properties/to", "template_mismatch")])


OK = {"protocol": "HTTP", "protocoloptions": {"status": "200", "headers": [{"name": "ETag", "required": True}]}}
KIND = {
    "protocol": "KAFKA",
    "protocoloptions": {"headers": {"kind": {"value": "sale"}, "till": {"type": "integer", "required": True}}},
}
TYPED = {
    "protocol": "MQTT/5.0",
    "protocoloptions": {
        "content_type": "application/json",
        "user_properties": [{"name": "kind", "value": "sale"}, {"name": "till", "required": True}],
    },
}
ACME = {
    "envelope": "Acme/2.0",
    "envelopemetadata": {"kind": {"value": "sale"}, "till": {"required": True}},
    "protocol": "NATS",
    "protocoloptions": {},
}


@pytest.mark.audit("messages-D6")
@pytest.mark.parametrize(
    ("message", "sent", "reason"),
    [
        (OK, record("HTTP/1.1", {"status": "200"}), ("/headers/0", "required_missing")),
        (KIND, record("KAFKA", {"topic": "t", "headers": {"kind": "sale"}}), ("/headers/till", "required_missing")),
        (
            KIND,
            record("KAFKA", {"headers": [{"name": "kind", "value": "x"}, {"name": "kind", "value": "sale"}]}),
            ("/headers/till", "required_missing"),
        ),
        (
            TYPED,
            record("MQTT/5.0", {"user_properties": [{"name": "kind", "value": "sale"}, {"name": "till", "value": "1"}],
                                "content_type": "text/csv"}),
            ("/content_type", "constant_mismatch"),
        ),
        (
            ACME,
            record("NATS", {"subject": "s", "headers": [{"name": "kind", "value": "sale"}]}),
            ("/envelopemetadata/till", "required_missing"),
        ),
    ],
)  # fmt: skip
def test_what_else_is_fixed_addresses_a_definition_without_a_channel(
    message: dict[str, Any], sent: Record, reason: tuple[str, str]
) -> None:
    assert found(catalog(m=message), sent) == ("invalid", "m", [reason])


@pytest.mark.audit("messages-D6")
@pytest.mark.parametrize(
    ("message", "sent", "reason"),
    [
        (OK, record("HTTP/1.1", {"status": "404"}), "/protocoloptions/status must be '200' but is '404'"),
        (
            KIND,
            record("KAFKA", {"topic": "t", "headers": {"kind": "loan"}}),
            "/protocoloptions/headers/kind must be 'sale' but is 'loan'",
        ),
        (OK, record("NATS"), "nothing in the catalog describes it: 'NATS' is not a protocol of the catalog"),
        (
            {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "sale"}}},
            amqp({"subject": "sale"}),
            "it must be a CloudEvents/1.0 message and has no envelope",
        ),
        (
            {"protocol": "AMQP/1.0", "protocoloptions": {"properties": {"to": {"value": "staff"}}}},
            amqp({"to": "ovens"}),
            "nothing in the catalog describes it: 'ovens' is not an address of the catalog",
        ),
        (
            {"protocol": "AMQP/1.0", "protocoloptions": {"properties": {"to": {"value": "staff"}}}},
            amqp({"subject": "hired"}),
            "/protocoloptions/properties/to is missing; it must be staff",
        ),
    ],
)
def test_the_diagnosis_of_what_means_no_definition_is_true(message: dict[str, Any], sent: Record, reason: str) -> None:
    match = catalog(m=message).match(sent)
    assert match.outcome == "unmatched"
    assert explain_reason(match.reasons[0]) == reason


@pytest.mark.audit("messages-D22")
@pytest.mark.parametrize(
    ("protocol", "name", "sent", "sent_name"),
    [
        ("MQTT/5.0", "topic_name", "MQTT/3.1.1", "topic_name"),
        ("MQTT/3.1.1", "topic_name", "MQTT/5.0", "topic_name"),
        ("KAFKA", "topic", "NATS", "subject"),
    ],
)
def test_a_channel_that_is_defined_for_another_protocol_is_called_so(
    protocol: str, name: str, sent: str, sent_name: str
) -> None:
    made = catalog(m={"protocol": protocol, "protocoloptions": {name: "ovens/{oven}"}})
    match = made.match(record(sent, {sent_name: "ovens/7"}))
    assert match.outcome == "unmatched"
    assert explain_reason(match.reasons[0]) == f"it is defined for {protocol} and came over {sent}"
    assert made.match(record(sent, {sent_name: "tills/7"})).reasons[0].code == "no_definition"


@pytest.mark.audit("messages-D22")
def test_what_an_endpoint_does_not_have_is_not_said_of_the_catalog() -> None:
    tree = {
        "messagegroups": {"g": {"messages": {"sale": {"envelopemetadata": {"type": {"value": "till.sale"}}}}}},
        "endpoints": {
            "kitchen": {
                "usage": ["consumer"],
                "messages": {"hot": {"protocol": "KAFKA", "protocoloptions": {"topic": "t"}}},
            }
        },
    }
    made = Catalog(tree).for_endpoint("/endpoints/kitchen")
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": "till.sale"}
    sentences = [
        explain_reason(made.match(sent).reasons[0]) for sent in (event, record("KAFKA", {"topic": "ovens"}), amqp({}))
    ]
    assert sentences == [
        f"nothing that the endpoint has describes it: {what} of the endpoint /endpoints/kitchen"
        for what in ("'till.sale' is not a type", "'ovens' is not a topic", "'AMQP/1.0' is not a protocol")
    ]


STORE = {
    "protocol": "MQTT/5.0",
    "protocoloptions": {
        "topic_name": "/store/{storeid}/cashierdesk/{cdid}",
        "user_properties": [{"name": "eventType", "type": "uritemplate", "value": "{eventType}"}],
    },
    "envelope": "CloudEvents/1.0",
    "envelopemetadata": {
        "type": {"type": "uritemplate", "value": "{eventType}"},
        "source": {"type": "uritemplate", "value": "{storeid}"},
        "subject": {"type": "uritemplate", "value": "{cdid}"},
    },
}


def sale(topic: str, kind: str, **attributes: str) -> Record:
    event = {"specversion": "1.0", "id": "1", "source": "s1", "subject": "d2", "type": "sale", **attributes}
    properties = [{"name": name, "value": value} for name, value in {**event, "eventType": kind}.items()]
    return record("MQTT/5.0", {"topic_name": topic, "user_properties": properties})


@pytest.mark.audit("messages-D22")
def test_an_event_on_the_channel_of_a_definition_that_leaves_the_type_open_means_it() -> None:
    made = catalog(store=STORE)
    desk = "/store/s1/cashierdesk/d2"
    assert found(made, sale(desk, "sale"))[0] == "landed"
    assert found(made, sale(desk, "refund")) == (
        "invalid", "store", [("/user_properties/0", "variable_conflict")],
    )  # fmt: skip
    assert found(made, sale(desk, "sale", subject="d3"))[2] == [("/topic_name", "variable_conflict")]
    assert found(made, sale("/shelf/1", "sale"))[0] == "unmatched"
    # A type that is fixed elsewhere means that definition, and no other.
    typed = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "sale"}, "till": {"required": True}}}
    assert found(catalog(store=STORE, typed=typed), sale(desk, "refund"))[:2] == ("invalid", "typed")


def schema(name: str) -> dict[str, Any]:
    return {"dataschemaformat": "JsonSchema/draft-07", "dataschema": {"type": "object", "required": [name]}}


@pytest.mark.audit("messages-D22")
def test_a_payload_that_is_valid_for_none_of_several_says_what_is_wrong_with_it() -> None:
    topic = {"protocol": "KAFKA", "protocoloptions": {"topic": "t"}}
    made = catalog(a={**topic, **schema("x")}, b={**topic, **schema("y")})
    match = made.match(record("KAFKA", {"topic": "t"}))
    assert (match.outcome, len(match.candidates)) == ("ambiguous", 2)
    assert [(reason.message[-1], reason.code, reason.expected) for reason in match.reasons] == [
        ("a", "payload_required", "x"),
        ("b", "payload_required", "y"),
    ]
    assert made.match(record("KAFKA", {"topic": "t"}, '{"x": 1}')).message == "/messagegroups/g/messages/a"
    both = made.match(record("KAFKA", {"topic": "t"}, '{"x": 1, "y": 1}'))
    assert [(reason.code, reason.found) for reason in both.reasons] == [("fits_as_well", "2 definitions")] * 2


def kafka_topic(value: Any, **more: Any) -> dict[str, Any]:
    return {"protocol": "KAFKA", "protocoloptions": {"topic": value, **more}}


@pytest.mark.audit("messages-D22")
@pytest.mark.parametrize(
    ("closer", "other", "metadata"),
    [
        (kafka_topic("orders"), kafka_topic("{any}"), {"topic": "orders"}),
        (kafka_topic("orders"), kafka_topic("or{rest}"), {"topic": "orders"}),
        (kafka_topic("or{rest}"), kafka_topic("{any}"), {"topic": "orders"}),
        (kafka_topic("orders", key="{a}"), kafka_topic("{t}", key="{b}"), {"topic": "orders", "key": "k"}),
        (kafka_topic("orders", key="{a}"), kafka_topic("{t}"), {"topic": "orders", "key": "k"}),
    ],
)
def test_a_fixed_value_is_closer_than_a_template_and_a_template_than_anything(
    closer: Record, other: Record, metadata: Record
) -> None:
    for messages in ({"a": closer, "b": other}, {"b": closer, "a": other}):
        match = catalog(**messages).match(record("KAFKA", metadata))
        assert match.outcome == "landed"
        assert messages[str(match.message)[-1]] is closer


@pytest.mark.audit("messages-D22")
@pytest.mark.parametrize(
    ("one", "other", "metadata"),
    [
        (kafka_topic("orders", key="{a}"), kafka_topic("{t}", key="k"), {"topic": "orders", "key": "k"}),
        (kafka_topic("{a}"), kafka_topic("{b}"), {"topic": "orders"}),
        (kafka_topic("or{a}"), kafka_topic("{b}ers"), {"topic": "orders"}),
        # One name in two places asks for more than two names do.
        (kafka_topic("or{a}", key="{b}"), kafka_topic("{x}", key="{x}"), {"topic": "orders", "key": "orders"}),
    ],
)
def test_definitions_that_each_ask_for_more_somewhere_stay_ambiguous(
    one: Record, other: Record, metadata: Record
) -> None:
    assert catalog(a=one, b=other).match(record("KAFKA", metadata)).outcome == "ambiguous"


@pytest.mark.audit("messages-D22")
@pytest.mark.parametrize(
    ("protocol", "name", "sent", "outcome"),
    [
        ("HTTP", "X-Kind", "x-kind", "landed"),
        ("KAFKA", "X-Kind", "X-Kind", "landed"),
        ("KAFKA", "X-Kind", "x-kind", "unmatched"),
        ("NATS", "X-Kind", "X-Kind", "landed"),
        ("NATS", "X-Kind", "x-kind", "unmatched"),
        ("MQTT/5.0", "X-Kind", "x-kind", "unmatched"),
        # What is about the body is found in any case: gateways write it as HTTP does.
        ("KAFKA", "Content-Type", "content-type", "landed"),
        ("NATS", "content-type", "Content-Type", "landed"),
    ],
)
def test_names_of_headers_are_compared_as_their_protocol_does(
    protocol: str, name: str, sent: str, outcome: str
) -> None:
    place = "user_properties" if protocol.startswith("MQTT") else "headers"
    options = {place: [{"name": name, "value": "text/plain"}]}
    made = catalog(m={"protocol": protocol, "protocoloptions": options})
    for headers in ([{"name": sent, "value": "text/plain"}], {sent: "text/plain"}):
        assert made.match(record(protocol, {place: headers})).outcome == outcome

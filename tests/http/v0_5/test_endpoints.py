"""The domain of endpoints: usage, origin, deprecation, channel, configuration (S004, Endpoint Registry)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.v0_5.requests import EVENT, V05Client

ENDPOINT: dict[str, Any] = {
    "id": "telemetry",
    "name": "Telemetry",
    "usage": "consumer",
    "origin": "https://example2.com/myregistry/endpoints/9876",
    "deprecated": {
        "effective": "2030-12-19T06:00:00Z",
        "removal": "2031-12-19T06:00:00Z",
        "alternative": "https://example.com/endpoints/new",
        "docs": "https://example.com/docs/old",
    },
    "channel": "queue1",
    "format": "CloudEvents/1.0",
    "config": {
        "protocol": "MQTT/5.0",
        "strict": True,
        "endpoints": ["mqtt://mqtt.example.com:1883"],
        "options": {"topic": "{deviceid}/telemetry"},
    },
}
OPTIONS = [
    (
        "HTTP/1.1",
        "https://h.example",
        {"method": "POST", "headers": [{"name": "A", "value": "b"}], "query": {"o": "s"}},
    ),
    (
        "AMQP/1.0",
        "amqps://h.example/q",
        {
            "node": "myqueue",
            "durable": True,
            "link-properties": {"a": "b"},
            "connection-properties": {"c": "d"},
            "distribution-mode": "move",
        },
    ),
    (
        "MQTT/5.0",
        "mqtts://h.example",
        {
            "topic": "mytopic",
            "qos": 1,
            "retain": False,
            "clean-session": False,
            "will-topic": "gone",
            "will-message": "#/definitionGroups/mygroup/definitions/my-will-message",
        },
    ),
    ("KAFKA/3.5", "SSL://h.example:9093", {"topic": "t", "acks": 1, "key": "mykey", "partition": 2}),
    ("NATS/1.0.0", "nats://h.example:4222", {"subject": "mysubject"}),
]


def config(protocol: str, address: str, options: dict[str, Any]) -> dict[str, Any]:
    return {"protocol": protocol, "strict": False, "endpoints": [address], "options": options}


@pytest.mark.feature("D5R-042", "D5R-043")
def test_an_endpoint_comes_back_as_it_was_written(v0_5: V05Client) -> None:
    assert v0_5.post("/endpoints", ENDPOINT).status == 201
    found = v0_5.get("/endpoints/telemetry")
    # The model of 1.0 has defaults for options, and those that apply to consumers are shown.
    assert found["config"].pop("options") == {"topic": "{deviceid}/telemetry", "qos": 0}
    written = {name: value for name, value in ENDPOINT["config"].items() if name != "options"}
    assert {**ENDPOINT, "config": written}.items() <= found.items()
    native = v0_5.native("/endpoints/telemetry")
    assert native["usage"] == ["consumer"]
    assert native["deprecated"]["documentation"] == "https://example.com/docs/old"
    assert (native["protocol"], native["channel"]) == ("MQTT/5.0", "queue1")
    options = {
        "topic": "{deviceid}/telemetry",
        "deployed": True,
        "endpoints": [{"uri": "mqtt://mqtt.example.com:1883"}],
    }
    assert options.items() <= native["protocoloptions"].items()


@pytest.mark.feature("D5R-042")
@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("usage", None, "required_attribute_missing"),
        ("usage", "", "invalid_attribute"),
        ("usage", "listener", "invalid_attribute"),
        ("usage", ["consumer"], "invalid_attribute"),
        ("usage", 7, "invalid_attribute"),
        ("origin", "elsewhere", "invalid_attribute"),
        ("origin", 7, "invalid_attribute"),
        ("channel", {}, "invalid_attribute"),
        ("deprecated", "soon", "invalid_attribute"),
        ("deprecated", {"effective": "soon"}, "invalid_attribute"),
        ("deprecated", {"docs": "ftp://x.example"}, "invalid_attribute"),
    ],
)
def test_endpoints_that_are_none(v0_5: V05Client, name: str, value: Any, problem: str) -> None:
    assert v0_5.problem("POST", "/endpoints", {**ENDPOINT, name: value}) == (400, problem)
    assert v0_5.get("/endpoints") == {}


@pytest.mark.feature("D5R-042")
def test_an_origin_is_this_registry_unless_it_is_said(v0_5: V05Client) -> None:
    plain = {name: value for name, value in ENDPOINT.items() if name not in ("origin", "channel")}
    made = v0_5.post("/endpoints", {**plain, "channel": "", "origin": ""})
    assert made.status == 201
    assert not {"origin", "channel"} & made.json.keys()


@pytest.mark.feature("D5R-043")
@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "required_attribute_missing"),
        ({"protocol": ""}, "required_attribute_missing"),
        ({"protocol": 7}, "invalid_attribute"),
        ({"protocol": "HTTP", "endpoints": "https://h.example"}, "invalid_attribute"),
        ({"protocol": "HTTP", "endpoints": ["h.example"]}, "invalid_attribute"),
        ({"protocol": "HTTP", "endpoints": [7]}, "invalid_attribute"),
        ({"protocol": "HTTP", "options": []}, "invalid_attribute"),
        ({"protocol": "HTTP", "strict": "yes"}, "invalid_attribute"),
        ("HTTP", "invalid_attribute"),
    ],
)
def test_configurations_that_are_none(v0_5: V05Client, given: Any, problem: str) -> None:
    assert v0_5.problem("POST", "/endpoints", {**ENDPOINT, "config": given}) == (400, problem)


@pytest.mark.feature("D5R-043")
def test_an_endpoint_is_not_live_unless_it_is_said(v0_5: V05Client) -> None:
    endpoint = {"id": "e", "usage": "producer", "config": {"protocol": "HTTP"}}
    assert "strict" not in v0_5.post("/endpoints", endpoint).json["config"]
    assert v0_5.native("/endpoints/e")["protocoloptions"]["deployed"] is False
    assert v0_5.post("/endpoints", {"id": "abstract", "usage": "producer"}).status == 201
    assert "config" not in v0_5.get("/endpoints/abstract")


@pytest.mark.feature("D5R-044")
def test_an_endpoint_can_embed_definitions(v0_5: V05Client) -> None:
    assert (
        v0_5.post("/endpoints", {**ENDPOINT, "definitions": {"hot": EVENT, "cold": {"id": "cold", **EVENT}}}).status
        == 201
    )
    assert v0_5.get("/endpoints/telemetry")["definitionsCount"] == 2
    assert v0_5.get("/endpoints/telemetry/definitions/cold")["metadata"] == EVENT["metadata"]
    assert v0_5.post("/endpoints/telemetry/definitions", {"id": "warm", **EVENT}).status == 201
    assert set(v0_5.get("/endpoints/telemetry?inline")["definitions"]) == {"hot", "cold", "warm"}


@pytest.mark.feature("D5R-044")
@pytest.mark.parametrize(
    ("definitions", "problem"),
    [
        ([], "bad_request"),
        ({"hot": []}, "bad_request"),
        ({"hot": {"id": "cold", **EVENT}}, "mismatched_id"),
        ({"hot": {"format": "CloudEvents/1.0"}}, "required_attribute_missing"),
        ({"no/way": EVENT}, "malformed_id"),
        ({"good": EVENT, "bad": {"format": "AMQP/1.0", "metadata": {}}}, "invalid_attribute"),
    ],
)
def test_embedded_definitions_that_are_none(v0_5: V05Client, definitions: Any, problem: str) -> None:
    assert v0_5.problem("POST", "/endpoints", {**ENDPOINT, "definitions": definitions}) == (400, problem)
    assert v0_5.get("/endpoints") == {}


@pytest.mark.feature("D5R-044")
def test_an_endpoint_can_refer_to_groups_of_definitions(v0_5: V05Client) -> None:
    references = [
        "#/definitionGroups/ovens",
        "https://site.example.com/registry/definitiongroups/ovens",
        "https://files.example.com/ovens.cereg#/definitionGroups/ovens",
    ]
    assert v0_5.post("/endpoints", {**ENDPOINT, "definitionGroups": references}).status == 201
    assert v0_5.get("/endpoints/telemetry")["definitionGroups"] == references
    assert v0_5.native("/endpoints/telemetry")["messagegroups"] == ["/messagegroups/ovens", *references[1:]]
    for wrong in ("#/definitionGroups/ovens", [7], [""]):
        assert v0_5.problem("PUT", "/endpoints/telemetry", {**ENDPOINT, "definitionGroups": wrong}) == (
            400,
            "invalid_attribute",
        )


@pytest.mark.feature("D5R-045")
@pytest.mark.parametrize(("protocol", "address", "options"), OPTIONS, ids=[one[0] for one in OPTIONS])
def test_options_of_protocols(v0_5: V05Client, protocol: str, address: str, options: dict[str, Any]) -> None:
    given = config(protocol, address, options)
    reply = v0_5.post("/endpoints", {"id": "e", "usage": "producer", "config": given})
    found = v0_5.get("/endpoints/e")["config"]
    assert (reply.status, found["protocol"], found["endpoints"]) == (201, protocol, [address])
    assert options.items() <= found["options"].items()
    native = v0_5.native("/endpoints/e")["protocoloptions"]
    session = "cleanstart" if protocol == "MQTT/5.0" else "cleansession"
    renamed = {"clean-session": session, "will-topic": "willtopic", "will-message": "willmessage"}
    assert {renamed.get(name, name) for name in options} <= native.keys()


@pytest.mark.feature("D5R-045")
def test_a_consumer_group(v0_5: V05Client) -> None:
    given = config("KAFKA", "SSL://h.example:9093", {"topic": "t", "consumer-group": "g"})
    found = v0_5.post("/endpoints", {"id": "e", "usage": "consumer", "config": given}).json["config"]["options"]
    assert given["options"].items() <= found.items()
    assert v0_5.native("/endpoints/e")["protocoloptions"]["consumergroup"] == "g"


@pytest.mark.feature("D5R-046")
@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("HTTP", "HTTP/1.1"),
        ("AMQP", "AMQP/1.0"),
        ("MQTT", "MQTT/5.0"),
        ("NATS", "NATS/1.0.0"),
        ("KAFKA", "KAFKA/3.5"),
    ],
)
def test_short_names_of_protocols_mean_the_same(v0_5: V05Client, short: str, full: str) -> None:
    endpoint = {"usage": "producer", "config": {"protocol": short}}
    message = {"messages": {"m": {"protocol": {"NATS": "NATS", "KAFKA": "KAFKA"}.get(short, full)}}}
    for one in (short, full):
        made = v0_5.post("/endpoints", {**endpoint, "config": {"protocol": one}})
        assert (made.status, made.json["config"]["protocol"]) == (201, one)
        # A message of the protocol fits an endpoint that calls it by either name.
        v0_5.native(f"/endpoints/{made.json['id']}", "POST", message)


@pytest.mark.audit("services-A8")
@pytest.mark.feature("D5R-045")
@pytest.mark.parametrize(
    "reference",
    [
        "#/definitionGroup/mygroup/definitions/my-will-message",
        "#/definitionGroups/mygroup/definitions/my-will-message",
        "#/endpoints/e/definitions/m",
        "https://example.com/defs/m",
        "f.cereg#/definitionGroups/mygroup/definitions/my-will-message",
    ],
)
def test_a_last_will_is_a_uri_or_a_pointer(v0_5: V05Client, reference: str) -> None:
    given = config("MQTT/5.0", "mqtts://h.example", {"will-message": reference})
    made = v0_5.post("/endpoints", {"id": "e", "usage": "consumer", "config": given})
    assert (made.status, made.json["config"]["options"]["will-message"]) == (201, reference)
    again = v0_5.put("/endpoints/e", {**v0_5.get("/endpoints/e"), "name": "E"})
    assert (again.status, again.json["config"]["options"]["will-message"]) == (200, reference)
    native = v0_5.native("/endpoints/e")["protocoloptions"].get("willmessage")
    is_here = reference.startswith("#/definitionGroup")
    assert native == ("/messagegroups/mygroup/messages/my-will-message" if is_here else None)


@pytest.mark.audit("services-A8")
@pytest.mark.parametrize("reference", ["", 7, ["#/definitionGroups/g/definitions/m"]])
def test_a_last_will_that_is_no_reference(v0_5: V05Client, reference: Any) -> None:
    given = config("MQTT/5.0", "mqtts://h.example", {"will-message": reference})
    reply = v0_5.post("/endpoints", {"usage": "consumer", "config": given})
    assert (reply.status, reply.json["args"]["name"]) == (400, "config.options.will-message")


@pytest.mark.audit("services-A11")
@pytest.mark.feature("D5R-042")
def test_an_endpoint_is_not_removed_before_the_time_that_it_says(v0_5: V05Client) -> None:
    leaving = {"id": "old", "usage": "consumer", "deprecated": {"removal": "2999-01-01T00:00:00Z"}}
    assert v0_5.post("/endpoints", leaving).status == 201
    assert v0_5.post("/endpoints", {"id": "new", "usage": "consumer"}).status == 201
    for reply in (
        v0_5.delete("/endpoints/old"),
        v0_5.delete("/endpoints", [{"id": "new"}, {"id": "old"}]),
        v0_5.delete("/endpoints"),
    ):
        assert (reply.status, reply.json["subject"]) == (409, "/endpoints/old")
        assert "change or remove deprecated.removal first" in reply.json["detail"]
    assert len(v0_5.get("/endpoints")) == 2
    assert v0_5.put("/endpoints/old", {**leaving, "deprecated": {"removal": "2020-01-01T00:00:00Z"}}).status == 200
    assert v0_5.delete("/endpoints/old").status == 200


@pytest.mark.audit("services-A11")
@pytest.mark.feature("D5R-042")
@pytest.mark.parametrize(
    ("name", "value"), [("alternative", "elsewhere"), ("docs", "elsewhere"), ("docs", "ftp://x.y")]
)
def test_links_of_a_deprecation_are_urls(v0_5: V05Client, name: str, value: str) -> None:
    reply = v0_5.post("/endpoints", {"usage": "consumer", "deprecated": {name: value}})
    assert (reply.status, reply.json["args"]["name"]) == (400, f"deprecated.{name}")


@pytest.mark.audit("services-A11")
def test_a_deprecation_that_1_0_wrote_may_stay(v0_5: V05Client) -> None:
    native = {"usage": ["consumer"], "deprecated": {"alternative": "new"}}
    v0_5.native("/endpoints/old", "PUT", native)
    assert v0_5.put("/endpoints/old", v0_5.get("/endpoints/old")).status == 200


@pytest.mark.audit("services-A12")
@pytest.mark.parametrize("address", ["SASL_SSL://h.example:9093", "SSL://h.example:9093", "PLAINTEXT://h.example:9092"])
def test_addresses_of_kafka_have_the_schemes_of_kafka(v0_5: V05Client, address: str) -> None:
    made = v0_5.post("/endpoints", {"id": "e", "usage": "producer", "config": config("KAFKA", address, {})})
    assert (made.status, made.json["config"]["endpoints"]) == (201, [address])


@pytest.mark.audit("services-A12")
def test_an_address_with_a_space_is_no_uri(v0_5: V05Client) -> None:
    given = {"usage": "producer", "config": {"protocol": "BunnyMQ/0.9", "endpoints": ["http://a b"]}}
    assert v0_5.problem("POST", "/endpoints", given) == (400, "invalid_attribute")


@pytest.mark.audit("services-A7")
def test_a_consumer_of_kafka_need_not_name_a_group(v0_5: V05Client) -> None:
    """ "All of these are OPTIONAL"."""
    made = v0_5.post("/endpoints", {"id": "e", "usage": "consumer", "config": {"protocol": "KAFKA"}})
    assert (made.status, made.json["config"]) == (201, {"protocol": "KAFKA"})


@pytest.mark.audit("services-A15")
def test_an_update_without_usage_would_delete_what_is_required(v0_5: V05Client) -> None:
    v0_5.post("/endpoints", {"id": "123", "name": "A cool endpoint", "usage": "consumer"})
    printed = {"id": "123", "name": "A cooler endpoint", "epoch": 1}
    assert v0_5.problem("PUT", "/endpoints/123", printed) == (400, "required_attribute_missing")
    assert v0_5.put("/endpoints/123", {**printed, "usage": "consumer"}).json["name"] == "A cooler endpoint"


@pytest.mark.audit("services-A17")
@pytest.mark.feature("D5R-045")
@pytest.mark.parametrize(
    ("usage", "protocol", "shown"),
    [
        ("consumer", "MQTT/5.0", {"qos": 0}),
        ("producer", "MQTT/5.0", {"qos": 0, "retain": False}),
        ("subscriber", "KAFKA", {}),
        ("producer", "KAFKA", {"acks": 1}),
        ("producer", "AMQP/1.0", {"durable": False}),
        ("consumer", "AMQP/1.0", {"distribution-mode": "move"}),
    ],
)
def test_defaults_are_shown_where_they_apply(v0_5: V05Client, usage: str, protocol: str, shown: Any) -> None:
    v0_5.post("/endpoints", {"id": "e", "usage": usage, "config": {"protocol": protocol}})
    assert v0_5.get("/endpoints/e")["config"].get("options", {}) == shown


@pytest.mark.audit("services-A17")
def test_an_option_of_another_usage_is_shown_when_it_was_written(v0_5: V05Client) -> None:
    given = {"protocol": "MQTT/5.0", "options": {"retain": False}}
    v0_5.post("/endpoints", {"id": "e", "usage": "consumer", "config": given})
    assert v0_5.get("/endpoints/e")["config"]["options"]["retain"] is False


@pytest.mark.audit("services-A17")
def test_strict_is_false_unless_it_is_said(v0_5: V05Client) -> None:
    v0_5.post("/endpoints", {"id": "e", "usage": "consumer", "config": {"protocol": "HTTP", "strict": None}})
    assert v0_5.get("/endpoints/e")["config"].get("strict", False) is False
    assert v0_5.native("/endpoints/e")["protocoloptions"]["deployed"] is False

"""SCH, MSG, EP: the messaging model that we ship, as a registry enforces it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.store import open_store
from tests.registry.wire import Wire

SCHEMA = "/schemagroups/g/schemas/s"
MESSAGE = "/messagegroups/g/messages/m"
ENDPOINT = "/endpoints/e"
AVRO = "Avro/1.11.0"
CLOUDEVENTS = "CloudEvents/1.0"


@pytest.fixture
def wire(tmp_path: Path) -> Iterator[Wire]:
    with open_store(f"sqlite:///{tmp_path}/registry.db") as store:
        opened = Wire(store)
        yield opened
        opened.close()


def resource_type(wire: Wire, group: str, plural: str) -> dict[str, Any]:
    found: dict[str, Any] = wire.get("/model")["groups"][group]["resources"][plural]
    return found


# Schemas


@pytest.mark.feature("SCH-001", "SCH-002", "SCH-004", "SCH-005", "SCH-006")
def test_the_schema_model(wire: Wire) -> None:
    group = wire.get("/model")["groups"]["schemagroups"]
    schemas = group["resources"]["schemas"]
    assert (group["singular"], schemas["singular"]) == ("schemagroup", "schema")
    assert (schemas["hasdocument"], schemas["maxversions"]) == (True, 0)
    flags = ("validateformat", "validatecompatibility", "strictvalidation")
    assert [schemas[name] for name in flags] == [True, True, False]
    assert group["attributes"]["format"]["type"] == "string"
    assert (schemas["attributes"]["format"]["required"], schemas["attributes"]["format"]["matchversions"]) == (
        True,
        True,
    )
    shown = wire.ok("PUT", "/schemagroups/g", {"oven": [1, {"a": None}]})
    assert shown["oven"][0] == 1
    assert wire.ok("PUT", f"{SCHEMA}$details", {"format": AVRO, "oven": {"deep": True}})["oven"] == {"deep": True}


@pytest.mark.feature("SCH-003", "SCH-007", "MOD-064")
def test_a_group_s_format_binds_its_schemas(wire: Wire) -> None:
    wire.ok("PUT", "/schemagroups/mixed", {})
    wire.ok("PUT", "/schemagroups/mixed/schemas/a$details", {"format": AVRO})
    wire.ok("PUT", "/schemagroups/mixed/schemas/b$details", {"format": "XSD/1.0"})
    wire.ok("PUT", "/schemagroups/g", {"format": AVRO})
    assert wire.refusal("PUT", f"{SCHEMA}$details", {"format": "XSD/1.0"}) == "constraint_failure"
    wire.ok("PUT", f"{SCHEMA}$details", {"format": AVRO})
    assert wire.refusal("PATCH", "/schemagroups/mixed", {"format": AVRO}) == "constraint_failure"


@pytest.mark.feature("SCH-005", "MOD-031", "MOD-034")
def test_a_schema_needs_a_format_and_keeps_it(wire: Wire) -> None:
    assert wire.refusal("PUT", f"{SCHEMA}$details", {}) == "required_attribute_missing"
    wire.ok("PUT", f"{SCHEMA}/versions/1$details", {"format": AVRO})
    assert wire.refusal("PUT", f"{SCHEMA}/versions/2$details", {"format": "XSD/1.0"}) == "mismatched_version_attribute"


@pytest.mark.feature("SCH-008", "MOD-058", "MOD-067")
def test_a_group_may_give_its_schemas_a_format(wire: Wire) -> None:
    wire.ok("PUT", "/schemagroups/g", {"constraints": {"schemas.format": {"default": AVRO}}})
    assert wire.ok("PUT", f"{SCHEMA}$details", {})["format"] == AVRO
    assert wire.ok("PUT", "/schemagroups/g/schemas/t$details", {"format": "XSD/1.0"})["format"] == "XSD/1.0"


@pytest.mark.feature("SCH-010", "SCH-011")
def test_a_schema_without_version_is_its_default_with_its_type(wire: Wire) -> None:
    headers = {"content-type": "application/xml", "xRegistry-format": "Oven/1"}
    for number in ("1", "2"):
        answer = wire.send("POST", SCHEMA, raw=f"<a{number}/>".encode(), headers=headers)
        assert (answer.status, answer.headers["xregistry-versionid"]) == (201, number)
    answer = wire.send("GET", SCHEMA)
    assert (answer.content, answer.headers["content-type"]) == (b"<a2/>", "application/xml")


# Messages


@pytest.mark.feature("MSG-001", "MSG-002", "MSG-003")
def test_the_message_model(wire: Wire) -> None:
    group = wire.get("/model")["groups"]["messagegroups"]
    messages = group["resources"]["messages"]
    assert (group["singular"], messages["singular"]) == ("messagegroup", "message")
    assert (messages["hasdocument"], messages["maxversions"]) == (False, 1)
    assert [group["attributes"][name]["type"] for name in ("envelope", "protocol", "*")] == ["string", "string", "any"]
    assert wire.send("PUT", "/messages/m", {}).status == 404
    wire.ok("PUT", MESSAGE, {})  # its group comes with it
    assert list(wire.get("/messagegroups")) == ["g"]


@pytest.mark.feature("MSG-004", "MSG-005", "MSG-008", "MSG-009")
@pytest.mark.parametrize(
    ("name", "value", "other"), [("envelope", CLOUDEVENTS, "Oven/1"), ("protocol", "HTTP", "NATS")]
)
def test_envelope_and_protocol_of_a_group_bind_in_any_case(wire: Wire, name: str, value: str, other: str) -> None:
    wire.ok("PUT", "/messagegroups/g", {name: value})
    wire.ok("PUT", MESSAGE, {name: value.upper()})
    wire.ok("PUT", MESSAGE, {name: value.lower()})
    assert wire.refusal("PUT", MESSAGE, {name: other}) == "constraint_failure"
    wire.ok("PUT", "/messagegroups/free/messages/m", {name: other})
    xref = {"meta": {"xref": "/messagegroups/free/messages/m"}}
    assert wire.send("PUT", "/messagegroups/free/messages/x", xref).status == 201


@pytest.mark.feature("MSG-006", "MSG-007", "MSG-012")
@pytest.mark.parametrize(
    "body",
    [
        {},
        {"dataschemaformat": AVRO, "dataschema": {"type": "string"}},
        {"envelope": CLOUDEVENTS, "envelopemetadata": {"type": {"value": "oven.heated"}}},
        {"protocol": "MQTT/5.0", "protocoloptions": {"topic_name": "/ovens/{id}"}},
        {"envelope": "Oven/2", "envelopemetadata": {"heat": {"value": 5}}},
        {"protocol": "Pigeon/1", "protocoloptions": {"wings": 2}},
        {"envelope": CLOUDEVENTS, "protocol": "NATS", "datacontenttype": "application/json"},
    ],
)
def test_any_combination_of_declarations_is_a_message(wire: Wire, body: dict[str, Any]) -> None:
    shown = wire.ok("PUT", MESSAGE, body)
    assert {name: shown[name] for name in body} == body


@pytest.mark.feature("MSG-013", "MSG-014", "MSG-015", "MSG-021")
def test_basemessage(wire: Wire) -> None:
    xids = (
        "/messagegroups/g/messages/base",
        "/messagegroups/g/messages/base/versions/1",
        "/messagegroups/no/messages/no",
    )
    for base in (*xids, "http://127.0.0.1:1/never/fetched", "urn:x:y"):
        for spelling in ("basemessage", "basemessageuri", "basemessageurl"):
            shown = wire.ok("PUT", MESSAGE, {spelling: base})
            assert shown["basemessage"] == base
            assert not {"basemessageuri", "basemessageurl"} & set(shown)
    for wrong in ("/messagegroups/g", "/schemagroups/g/schemas/s", "/ovens/g/messages/m", 5):
        assert wire.refusal("PUT", MESSAGE, {"basemessage": wrong}) == "invalid_attribute", wrong


@pytest.mark.feature("MSG-023", "MSG-024")
def test_metadata_of_cloudevents(wire: Wire) -> None:
    metadata = {
        "type": {"value": "oven.heated", "required": True},
        "source": {"type": "uritemplate", "value": "/ovens/{id}"},
        "time": {"type": "timestamp"},
        "myextension": {"type": "integer", "specurl": "http://x"},
    }
    body = {"envelope": CLOUDEVENTS, "envelopemetadata": metadata, "envelopeoptions": {"mode": "binary"}}
    assert wire.ok("PUT", MESSAGE, body)["envelopemetadata"] == metadata
    for wrong in ({"type": "oven"}, {"time": {"type": "integer"}}, {"id": {"required": "yes"}}, []):
        assert wire.refusal("PUT", MESSAGE, {**body, "envelopemetadata": wrong}) == "invalid_attribute", wrong
    for wrong in ({"mode": "fast"}, {"format": 5}, "binary"):
        assert wire.refusal("PUT", MESSAGE, {**body, "envelopeoptions": wrong}) == "invalid_attribute", wrong


@pytest.mark.feature("MSG-026", "MSG-027", "MSG-028", "MSG-030", "MSG-032")
@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("dataschemaformat", ["JsonSchema/draft-07", "protobuf/3"], [5, {}]),
        ("dataschema", [{"type": "object"}, "syntax = …", True, [1]], []),
        ("dataschemauri", ["http://x/y#z", "/schemagroups/g/schemas/s", "s.json"], [5, "a b"]),
        ("dataschemaxid", ["/schemagroups/g/schemas/s"], ["http://x", "/ovens/o", 5]),
        ("datacontenttype", ["application/json", "Text/Plain; charset=utf-8"], [5, []]),
    ],
)
def test_declarations_of_payloads(wire: Wire, name: str, good: list[Any], bad: list[Any]) -> None:
    for value in good:
        assert wire.ok("PUT", MESSAGE, {"dataschemaformat": AVRO, name: value})[name] == value
    for value in bad:
        assert wire.refusal("PUT", MESSAGE, {"dataschemaformat": AVRO, name: value}) == "invalid_attribute", value


# Endpoints


def endpoint(**attributes: Any) -> dict[str, Any]:
    return {"usage": ["producer"], **attributes}


@pytest.mark.feature("EP-001", "EP-013", "RES-060")
def test_endpoints_have_messages_of_the_same_type(wire: Wire) -> None:
    group = wire.get("/model")["groups"]["endpoints"]
    assert (group["singular"], list(group["resources"])) == ("endpoint", ["messages"])
    wire.ok("PUT", MESSAGE, {"name": "shared"})
    wire.ok("PUT", ENDPOINT, endpoint(messages={"own": {"name": "own"}, "borrowed": {"meta": {"xref": MESSAGE}}}))
    assert [m["name"] for m in wire.get(f"{ENDPOINT}/messages").values()] == ["shared", "own"]


@pytest.mark.feature("EP-002")
@pytest.mark.parametrize("usage", [None, [], ["baker"], "baker", 5, ["producer", 5], {"producer": True}])
def test_an_endpoint_says_what_it_is_for(wire: Wire, usage: Any) -> None:
    assert wire.refusal("PUT", ENDPOINT, {"usage": usage}) in ("required_attribute_missing", "invalid_attribute")
    assert wire.refusal("PUT", ENDPOINT, {}) == "required_attribute_missing"
    for word in ("subscriber", "consumer", "producer"):
        assert wire.ok("PUT", ENDPOINT, {"usage": [word]})["usage"] == [word]


@pytest.mark.feature("EP-003", "EP-004", "EP-005")
def test_two_words_only_where_one_connection_does_both(wire: Wire) -> None:
    both = ["subscriber", "consumer"]
    for protocol in ("MQTT/3.1.1", "mqtt/5.0", "MQTT", "AMQP/1.0", "AMQP", "NATS"):
        for usage in (both, both[::-1]):
            assert wire.ok("PUT", ENDPOINT, {"usage": usage, "protocol": protocol})["usage"] == usage
        for wrong in (
            ["producer", "consumer"],
            ["subscriber", "producer"],
            [*both, "producer"],
            ["consumer", "consumer"],
        ):
            assert wire.refusal("PUT", ENDPOINT, {"usage": wrong, "protocol": protocol}) == "invalid_attribute"
    for other in ("KAFKA", "http", "Pigeon/1", None):
        assert wire.refusal("PUT", ENDPOINT, {"usage": both, "protocol": other}) == "invalid_attribute"
        assert wire.refusal("PATCH", ENDPOINT, {"protocol": other}) == "invalid_attribute"


@pytest.mark.feature("MSG-004", "MSG-005", "EP-007")
def test_what_is_said_of_a_group_is_not_empty(wire: Wire) -> None:
    for name in ("envelope", "protocol"):
        assert wire.refusal("PUT", "/messagegroups/g", {name: ""}) == "invalid_attribute"
    for name in ("envelope", "protocol", "channel"):
        assert wire.refusal("PUT", ENDPOINT, endpoint(**{name: ""})) == "invalid_attribute"


@pytest.mark.feature("EP-006", "EP-007", "EP-009", "EP-010", "EP-012", "EP-015")
def test_attributes_of_endpoints(wire: Wire) -> None:
    for one in ("in", "out"):
        wire.ok("PUT", f"/endpoints/{one}", endpoint(channel="ovens"))
    assert {shown["channel"] for shown in wire.get("/endpoints").values()} == {"ovens"}
    options = {"mode": "structured", "format": "application/cloudevents+json"}
    shown = wire.ok("PUT", ENDPOINT, endpoint(envelope="cloudevents/1.0", envelopeoptions=options))
    assert shown["envelopeoptions"] == options
    for wrong in ({"mode": "Binary"}, {"mode": "fast"}, {"mode": "binary", "format": "application/json"}):
        assert (
            wire.refusal("PUT", ENDPOINT, endpoint(envelope=CLOUDEVENTS, envelopeoptions=wrong)) == "invalid_attribute"
        )
    for protocol in ("HTTP", "AMQP/1.0", "MQTT/3.1.1", "MQTT/5.0", "NATS", "KAFKA", "kafka", "Pigeon/1"):
        assert wire.ok("PUT", ENDPOINT, endpoint(protocol=protocol))["protocol"] == protocol
    groups = ["/messagegroups/g", "http://x/messagegroups/y"]
    assert wire.ok("PUT", ENDPOINT, endpoint(messagegroups=groups))["messagegroups"] == groups
    for wrong in (["/schemagroups/g"], ["/messagegroups/g/messages/m"], "/messagegroups/g", [5]):
        assert wire.refusal("PUT", ENDPOINT, endpoint(messagegroups=wrong)) == "invalid_attribute", wrong
    for name in ("docs", "documentation"):
        shown = wire.ok("PUT", ENDPOINT, endpoint(deprecated={name: "http://x"}))
        assert shown["deprecated"] == {"documentation": "http://x"}


TEXT, NUMBERS, FLAGS = (["x"], [5]), ([0, 5], ["x", 1.5]), ([True, False], ["true", 1])
MAPS, LISTS = ([{"a": "b"}, {}], [{"a": 5}, "a", ["a"]]), ([["a"], []], ["a", [5], {"a": "b"}])


def choice(*words: Any) -> tuple[list[Any], list[Any]]:
    return list(words), ["oven", 99, True]


def rows() -> list[Any]:
    """Id, protocols, name of the option, default, values that fit, values that do not."""
    mqtt, amqp, http, kafka = ("MQTT/5.0", "mqtt/3.1.1"), ("AMQP/1.0",), ("HTTP", "http/2"), ("KAFKA",)
    every = ("HTTP", "AMQP/1.0", "MQTT/5.0", "NATS", "KAFKA")
    headers = ([[{"name": "a", "value": "b"}, {"name": "a", "value": "c"}]], [{"a": "b"}, [{"name": 5}], ["a"]])
    addresses = ([[{"uri": "x://a"}, {"uri": "x://{b}"}], []], [{"uri": "x"}, ["x"], [{"uri": 5}]])
    brokers = (
        [[{"bootstrap.servers": ["a:1", "b:2"]}]],
        [[{"bootstrap.servers": "a:1"}], [{"bootstrap.servers": [5]}]],
    )
    granted = [[{"type": "SASL", "mechanism": "PLAIN", "resourceuri": "urn:x", "authorityuri": "urn:y", "more": 1}]]
    secured = ([[{"security.protocol": "SSL", "sasl.mechanism": "PLAIN"}]], [[{"security.protocol": 5}]])
    table: list[tuple[str, tuple[str, ...], str, Any, tuple[list[Any], list[Any]]]] = [
        ("EP-016", every[:4], "endpoints", None, addresses),
        ("EP-016", kafka, "endpoints", None, brokers),
        ("EP-017", every, "authorization", None, (granted, ["SASL", [5], {"type": "SASL"}])),
        (
            "EP-018",
            every,
            "authorization",
            None,
            ([[{"type": word}] for word in ("OAuth2", "APIKey")], [[{"type": 5}]]),
        ),
        ("EP-020", every, "authorization", None, ([[{"resourceuri": "urn:x"}]], [[{"authorityuri": 5}]])),
        ("EP-021", every, "deployed", True, FLAGS),
        ("EP-022", ("NATS",), "subject", None, (["ovens.{id}"], [5])),
        ("EP-025", http, "method", "POST", (["PUT", "PURGE"], [5])),
        ("EP-026", http, "headers", None, headers),
        ("EP-027", http, "query", None, MAPS),
        ("EP-028", http, "apikeyname", None, TEXT),
        ("EP-029", http, "apikeyin", "header", (["header", "query"], [5])),
        ("EP-030", http, "plainscheme", "basic", (["basic", "form", "query"], [5])),
        ("EP-031", http, "plainusernamefield", None, TEXT),
        ("EP-031", http, "plainpasswordfield", None, TEXT),
        ("EP-033", amqp, "node", None, TEXT),
        ("EP-034", amqp, "durable", False, FLAGS),
        ("EP-035", amqp, "link-properties", None, MAPS),
        ("EP-035", amqp, "connection-properties", None, MAPS),
        ("EP-036", amqp, "distribution-mode", "move", choice("move", "copy")),
        ("EP-037", amqp, "connection-capabilities", None, LISTS),
        ("EP-037", amqp, "node-capabilities", None, LISTS),
        ("EP-038", amqp, "source-filters", None, ([{"a": 5, "b": {"c": []}}], ["a", ["a"]])),
        ("EP-039", amqp, "dynamic", None, FLAGS),
        ("EP-040", amqp, "terminus-durability", None, choice("none", "configuration", "unsettled-state")),
        ("EP-041", amqp, "expiry-policy", None, choice("link-detach", "session-end", "connection-close", "never")),
        ("EP-042", amqp, "timeout", None, NUMBERS),
        ("EP-043", amqp, "sender-settle-mode", None, choice("unsettled", "settled", "mixed")),
        ("EP-044", amqp, "receiver-settle-mode", None, choice("first", "second")),
        ("EP-047", mqtt, "qos", 0, choice(0, 1, 2)),
        ("EP-048", mqtt, "retain", False, FLAGS),
        ("EP-049", mqtt, "willtopic", None, TEXT),
        ("EP-050", mqtt, "willmessage", None, ([MESSAGE], ["/messagegroups/g", "x", 5])),
        ("EP-051", mqtt[1:], "cleansession", True, FLAGS),
        ("EP-052", mqtt[:1], "cleanstart", None, FLAGS),
        ("EP-053", mqtt[:1], "sessionexpiryinterval", None, ([0, 4294967295], [-1, "x"])),
        ("EP-054", mqtt[:1], "nolocal", None, FLAGS),
        ("EP-054", mqtt[:1], "retainaspublished", None, FLAGS),
        ("EP-055", mqtt[:1], "retainhandling", None, choice(0, 1, 2)),
        ("EP-057", kafka, "topic", None, TEXT),
        ("EP-058", kafka, "acks", 1, ([-1, 0, 1], ["all", 1.5])),
        ("EP-059", kafka, "key", None, TEXT),
        ("EP-060", kafka, "partition", None, ([0, 7], ["x", 0.5])),
        ("EP-061", kafka, "headers", None, MAPS),
        ("EP-062", kafka, "keyserializer", None, TEXT),
        ("EP-062", kafka, "valueserializer", None, TEXT),
        ("EP-063", kafka, "autooffsetreset", None, choice("earliest", "latest", "none")),
        ("EP-064", kafka, "enableautocommit", None, FLAGS),
        ("EP-065", kafka, "endpoints", None, secured),
    ]
    return [pytest.param(*row[1:], id=f"{row[0]} {row[2]}") for row in table]


@pytest.mark.feature("EP-016", "EP-017", "EP-018", "EP-020", "EP-021", "EP-022", "EP-025", "EP-026", "EP-027", "EP-028")
@pytest.mark.feature("EP-029", "EP-030", "EP-031", "EP-033", "EP-034", "EP-035", "EP-036", "EP-037", "EP-038", "EP-039")
@pytest.mark.feature("EP-040", "EP-041", "EP-042", "EP-043", "EP-044", "EP-047", "EP-048", "EP-049", "EP-050", "EP-051")
@pytest.mark.feature("EP-052", "EP-053", "EP-054", "EP-055", "EP-057", "EP-058", "EP-059", "EP-060", "EP-061", "EP-062")
@pytest.mark.feature("EP-063", "EP-064", "EP-065")
@pytest.mark.parametrize(("protocols", "name", "default", "values"), rows())
def test_options_of_a_protocol(wire: Wire, protocols: Any, name: str, default: Any, values: Any) -> None:
    for protocol in protocols:
        shown = wire.ok("PUT", ENDPOINT, endpoint(protocol=protocol, protocoloptions={}))["protocoloptions"]
        assert shown.get(name) == default
        for value in values[0]:
            body = endpoint(protocol=protocol, protocoloptions={name: value})
            assert wire.ok("PUT", ENDPOINT, body)["protocoloptions"][name] == value
        for value in values[1]:
            body = endpoint(protocol=protocol, protocoloptions={name: value})
            assert wire.refusal("PUT", ENDPOINT, body) == "invalid_attribute", (protocol, value)


@pytest.mark.feature("EP-023")
def test_options_that_only_clients_judge_are_kept(wire: Wire) -> None:
    options = {"topic": "a/#", "topicfilter": "b/+", "sharedsubscriptiongroup": "g", "own": [1]}
    shown = wire.ok("PUT", ENDPOINT, endpoint(protocol="MQTT/5.0", protocoloptions=options))
    assert {name: shown["protocoloptions"][name] for name in options} == options


@pytest.mark.feature("EP-008", "EP-011")
@pytest.mark.parametrize(
    ("name", "own", "good", "bad"),
    [
        ("envelope", "CloudEvents/1.0", ["cloudevents/1.0", "CloudEvents/1.0.2"], ["CloudEvents", "CloudEvents/1.1"]),
        ("envelope", "CloudEvents/1.0", [None], ["CloudEvents/1.01", "Oven/1.0"]),
        ("envelope", "CloudEvents", ["CLOUDEVENTS", "CloudEvents/2.0", None], ["CloudEventsPlus", "Oven"]),
        ("envelope", None, ["CloudEvents/1.0", "Oven/2", None], []),
        ("protocol", "HTTP", ["http", "HTTP/1.1", "HTTP/3", None], ["KAFKA", "HTTPS", "Pigeon/1"]),
        ("protocol", "MQTT/5.0", ["MQTT", "mqtt/5.0", None], ["MQTT/3.1.1", "AMQP/1.0"]),
        ("protocol", "AMQP", ["AMQP/1.0", None], ["AMQP/0.9"]),
        ("protocol", "Pigeon/1", ["pigeon/1", None], ["Pigeon/2", "NATS"]),
        ("protocol", None, ["KAFKA", "NATS", None], []),
    ],
)
def test_messages_agree_with_their_endpoint(wire: Wire, name: str, own: Any, good: list[Any], bad: list[Any]) -> None:
    message, shared = f"{ENDPOINT}/messages/m", "/messagegroups/free/messages/m"
    wire.ok("PUT", ENDPOINT, endpoint(**{name: own}))
    for value in good:
        assert wire.ok("PUT", message, {name: value}).get(name) == value
        wire.ok("PUT", shared, {name: value})
        wire.ok("PUT", f"{ENDPOINT}/messages/x", {"meta": {"xref": shared}})
    for value in bad:
        assert wire.refusal("PUT", message, {name: value}) == "constraint_failure", value
        assert wire.send("PUT", message, {name: value}).json["pointer"] == f"/{name}"
        nested = endpoint(**{name: own}, messages={"n": {name: value}})
        assert wire.refusal("PUT", ENDPOINT, nested) == "constraint_failure", value
        assert wire.refusal("PUT", shared, {name: value}) == "constraint_failure", value
        wire.ok("PUT", "/messagegroups/free/messages/other", {name: value})
        borrowed = {"meta": {"xref": "/messagegroups/free/messages/other"}}
        assert wire.refusal("PUT", f"{ENDPOINT}/messages/y", borrowed) == "constraint_failure", value


@pytest.mark.feature("EP-008", "EP-011")
def test_an_endpoint_does_not_leave_its_messages_behind(wire: Wire) -> None:
    message = {"envelope": CLOUDEVENTS, "protocol": "NATS"}
    wire.ok("PUT", ENDPOINT, endpoint(envelope="CloudEvents", protocol="NATS", messages={"m": message}))
    for change in ({"protocol": "HTTP"}, {"envelope": "CloudEvents/2.0"}, {"envelope": "Oven"}):
        assert wire.refusal("PATCH", ENDPOINT, change) == "constraint_failure", change
    wire.ok("PATCH", ENDPOINT, {"envelope": CLOUDEVENTS})
    wire.ok("PATCH", ENDPOINT, {"protocol": "HTTP", "messages": {"m": {"protocol": "HTTP"}}})
    for wrong in ("/1.0", "CloudEvents/", "/"):
        assert wire.refusal("PUT", "/endpoints/f", endpoint(envelope=wrong)) == "invalid_attribute", wrong

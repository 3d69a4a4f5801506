"""SCH, MSG, EP: the messaging model that we ship, as a registry enforces it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from tests.registry.http_client import Wire

SCHEMA = "/schemagroups/g/schemas/s"
MESSAGE = "/messagegroups/g/messages/m"
ENDPOINT = "/endpoints/e"
OVEN = "Oven/1.11.0"
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
    assert wire.ok("PUT", f"{SCHEMA}$details", {"format": OVEN, "oven": {"deep": True}})["oven"] == {"deep": True}


@pytest.mark.feature("SCH-003", "SCH-007", "MOD-064")
def test_a_group_s_format_binds_its_schemas(wire: Wire) -> None:
    wire.ok("PUT", "/schemagroups/mixed", {})
    wire.ok("PUT", "/schemagroups/mixed/schemas/a$details", {"format": OVEN})
    wire.ok("PUT", "/schemagroups/mixed/schemas/b$details", {"format": "Door/1.0"})
    wire.ok("PUT", "/schemagroups/g", {"format": OVEN})
    assert wire.refusal("PUT", f"{SCHEMA}$details", {"format": "Door/1.0"}) == "constraint_failure"
    wire.ok("PUT", f"{SCHEMA}$details", {"format": OVEN})
    assert wire.refusal("PATCH", "/schemagroups/mixed", {"format": OVEN}) == "constraint_failure"


@pytest.mark.feature("SCH-005", "MOD-031", "MOD-034")
def test_a_schema_needs_a_format_and_keeps_it(wire: Wire) -> None:
    assert wire.refusal("PUT", f"{SCHEMA}$details", {}) == "required_attribute_missing"
    wire.ok("PUT", f"{SCHEMA}/versions/1$details", {"format": OVEN})
    assert wire.refusal("PUT", f"{SCHEMA}/versions/2$details", {"format": "Door/1.0"}) == "mismatched_version_attribute"


@pytest.mark.feature("SCH-008", "MOD-058", "MOD-067")
def test_a_group_may_give_its_schemas_a_format(wire: Wire) -> None:
    wire.ok("PUT", "/schemagroups/g", {"constraints": {"schemas.format": {"default": OVEN}}})
    assert wire.ok("PUT", f"{SCHEMA}$details", {})["format"] == OVEN
    assert wire.ok("PUT", "/schemagroups/g/schemas/t$details", {"format": "Door/1.0"})["format"] == "Door/1.0"


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
        {"dataschemaformat": OVEN, "dataschema": {"type": "string"}},
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
        assert wire.ok("PUT", MESSAGE, {"dataschemaformat": OVEN, name: value})[name] == value
    for value in bad:
        assert wire.refusal("PUT", MESSAGE, {"dataschemaformat": OVEN, name: value}) == "invalid_attribute", value


# Endpoints


def endpoint(**attributes: Any) -> dict[str, Any]:
    return {"usage": ["producer"], **attributes}


def advised(wire: Wire, body: dict[str, Any], place: str) -> bool:
    """Whether an endpoint is taken as it is, and lint warns of something at a place of it."""
    shown = wire.ok("PUT", ENDPOINT, body)
    assert all(shown[name] == value for name, value in body.items() if name != "protocoloptions" and value is not None)
    found = wire.get(f"/-/lint?xid={ENDPOINT}")["findings"]
    assert {one["severity"] for one in found} == {"warning"}
    there = f"{ENDPOINT}/{place}"
    return any(there.startswith(one["pointer"]) or one["pointer"].startswith(there) for one in found)


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


@pytest.mark.audit("registry-13")
@pytest.mark.feature("EP-003", "EP-004", "EP-005")
def test_two_words_only_where_one_connection_does_both(wire: Wire) -> None:
    """The text forbids the others; no model can say so, and they are warned of."""
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
            assert advised(wire, {"usage": wrong, "protocol": protocol}, "usage")
    for other in ("KAFKA", "http", "Pigeon/1", None):
        assert advised(wire, {"usage": both, "protocol": other}, "usage")


@pytest.mark.audit("registry-13")
@pytest.mark.feature("MSG-004", "MSG-005", "EP-007")
def test_lint_finds_what_is_empty_in_a_group(wire: Wire) -> None:
    for name in ("envelope", "protocol"):
        wire.ok("PUT", "/messagegroups/g", {name: ""})
        found = wire.get("/-/lint?xid=/messagegroups/g")["findings"]
        assert [(one["code"], one["pointer"]) for one in found] == [
            ("group_selector_empty", f"/messagegroups/g/{name}")
        ]
    for name in ("envelope", "protocol", "channel"):
        assert advised(wire, endpoint(**{name: ""}), name)


@pytest.mark.feature("EP-006", "EP-007", "EP-009", "EP-010", "EP-012", "EP-015")
def test_attributes_of_endpoints(wire: Wire) -> None:
    for one in ("in", "out"):
        wire.ok("PUT", f"/endpoints/{one}", endpoint(channel="ovens"))
    assert {shown["channel"] for shown in wire.get("/endpoints").values()} == {"ovens"}
    options = {"mode": "structured", "format": "application/cloudevents+json"}
    shown = wire.ok("PUT", ENDPOINT, endpoint(envelope="cloudevents/1.0", envelopeoptions=options))
    assert shown["envelopeoptions"] == options
    fast = endpoint(envelope=CLOUDEVENTS, envelopeoptions={"mode": "fast"})
    assert wire.refusal("PUT", ENDPOINT, fast) == "invalid_attribute"
    packed = endpoint(envelope=CLOUDEVENTS, envelopeoptions={"mode": "binary", "format": "application/json"})
    assert advised(wire, packed, "envelopeoptions/format")
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


def addresses(scheme: str) -> tuple[list[Any], list[Any]]:
    good = [[{"uri": f"{scheme}://a:1"}, {"uri": scheme + "://{b}", "status": "up"}], [{"uri": "{c}://a:1"}], []]
    return good, [{"uri": "x"}, ["x"], [{"uri": 5}], [{"uri": ""}], [{"uri": "a:1"}], [{"uri": "x://a:1"}]]


def rows() -> list[Any]:
    """Id, protocols, name of the option, default, values that fit, values that do not."""
    mqtt, amqp, http, kafka = ("MQTT/5.0", "mqtt/3.1.1"), ("AMQP/1.0",), ("HTTP", "http/2"), ("KAFKA",)
    every = ("HTTP", "AMQP/1.0", "MQTT/5.0", "NATS", "KAFKA")
    headers = ([[{"name": "a", "value": "b"}, {"name": "a", "value": "c"}]], [{"a": "b"}, [{"name": 5}], ["a"]])
    brokers = (
        [[{"bootstrap.servers": ["a:1", "b:2"]}], [{"uri": "SSL://a:1"}]],
        [[{"bootstrap.servers": "a:1"}], [{"bootstrap.servers": [5]}], [{"bootstrap.servers": []}]],
    )
    granted = [[{"type": "SASL", "mechanism": "PLAIN", "resourceuri": "urn:x", "authorityuri": "urn:y", "more": 1}]]
    secured = (
        [[{"bootstrap.servers": ["a:1"], "security.protocol": "SSL", "sasl.mechanism": "PLAIN"}]],
        [[{"bootstrap.servers": ["a:1"], "security.protocol": 5}]],
    )
    table: list[tuple[str, tuple[str, ...], str, Any, tuple[list[Any], list[Any]]]] = [
        ("EP-016", every[:1], "endpoints", None, addresses("http")),
        ("EP-016", every[1:2], "endpoints", None, addresses("amqp")),
        ("EP-016", every[2:3], "endpoints", None, addresses("mqtt")),
        ("EP-016", every[3:4], "endpoints", None, addresses("nats")),
        ("EP-016", kafka, "endpoints", None, brokers),
        ("EP-017", every, "authorization", None, (granted, ["SASL", [5], {"type": "SASL"}])),
        (
            "EP-018",
            every,
            "authorization",
            None,
            ([[{"type": word}] for word in ("OAuth2", "APIKey")], [[{"type": 5}], [{"type": ""}]]),
        ),
        (
            "EP-020",
            every,
            "authorization",
            None,
            ([[{"resourceuri": "urn:x"}]], [[{"authorityuri": 5}], [{"authorityuri": ""}], [{"resourceuri": ""}]]),
        ),
        ("EP-021", every, "deployed", True, FLAGS),
        ("EP-022", ("NATS",), "subject", None, (["ovens.{id}"], [5])),
        ("EP-025", http, "method", "POST", (["PUT", "PURGE"], [5])),
        ("EP-026", http, "headers", None, headers),
        ("EP-027", http, "query", None, MAPS),
        ("EP-028", http, "apikeyname", None, TEXT),
        ("EP-029", http, "apikeyin", "header", (["header", "query", "{place}"], [5, "body", ""])),
        ("EP-030", http, "plainscheme", "basic", (["basic", "form", "query"], [5, "digest", "Basic"])),
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
        ("EP-053", mqtt[:1], "sessionexpiryinterval", None, ([0, 4294967295], [-1, "x", 4294967296])),
        ("EP-054", mqtt[:1], "nolocal", None, FLAGS),
        ("EP-054", mqtt[:1], "retainaspublished", None, FLAGS),
        ("EP-055", mqtt[:1], "retainhandling", None, choice(0, 1, 2)),
        ("EP-057", kafka, "topic", None, TEXT),
        ("EP-058", kafka, "acks", 1, ([-1, 0, 1], ["all", 1.5, -2, 2])),
        ("EP-059", kafka, "key", None, TEXT),
        ("EP-060", kafka, "partition", None, ([0, 7], ["x", 0.5])),
        ("EP-061", kafka, "headers", None, MAPS),
        ("EP-062", kafka, "keyserializer", None, TEXT),
        ("EP-062", kafka, "valueserializer", None, TEXT),
        ("EP-065", kafka, "endpoints", None, secured),
    ]
    return [pytest.param(*row[1:], id=f"{row[0]} {row[2]}") for row in table]


def last_name(value: Any) -> str:
    return next(iter(value[0])) if isinstance(value, list) and isinstance(value[0], dict) else ""


@pytest.mark.feature("EP-016", "EP-017", "EP-018", "EP-020", "EP-021", "EP-022", "EP-025", "EP-026", "EP-027", "EP-028")
@pytest.mark.feature("EP-029", "EP-030", "EP-031", "EP-033", "EP-034", "EP-035", "EP-036", "EP-037", "EP-038", "EP-039")
@pytest.mark.feature("EP-040", "EP-041", "EP-042", "EP-043", "EP-044", "EP-047", "EP-048", "EP-049", "EP-050", "EP-051")
@pytest.mark.feature("EP-052", "EP-053", "EP-054", "EP-055", "EP-057", "EP-058", "EP-059", "EP-060", "EP-061", "EP-062")
@pytest.mark.feature("EP-065")
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
            is_refused = wire.send("PUT", ENDPOINT, body).problem == "invalid_attribute"  # by the model
            assert is_refused or advised(wire, body, f"protocoloptions/{name}/0/{last_name(value)}"), (protocol, value)


@pytest.mark.feature("EP-016", "EP-024", "EP-033", "EP-045", "EP-068")
@pytest.mark.parametrize(
    ("protocol", "good", "bad"),
    [
        ("HTTP", ["http://a", "HTTPS://a/b?c={d}", "https://{host}"], ["ftp://a", "//a", "https:a"]),
        ("HTTP/2", ["https://a"], ["http3://a"]),
        ("AMQP/1.0", ["amqp://a/node", "amqps://a:5671/{node}"], ["https://a", "amqp:a"]),
        ("AMQP", ["amqp://a"], ["mqtt://a"]),
        (
            "MQTT/5.0",
            ["mqtt://a", "mqtts://a:8883/ovens/{id}", "tcp://a:1883", "ssl://a", "wss://a/"],
            ["http://a", "tcp://a/ovens", "ssl://a/{topic}", "wss://a/mqtt", "mqtt://a/ovens/+"],
        ),
        ("MQTT/3.1.1", ["mqtt://a"], ["ws://a"]),
        ("NATS", ["nats://a:4222", "tls://a:1", "ws://[::1]:1", "nats://{address}"], ["nats://a", "wss://a:1"]),
    ],
)
def test_addresses_of_a_protocol(wire: Wire, protocol: str, good: list[str], bad: list[str]) -> None:
    def body(uri: str) -> dict[str, Any]:
        return endpoint(protocol=protocol, protocoloptions={"endpoints": [{"uri": uri}]})

    for uri in good:
        assert wire.ok("PUT", ENDPOINT, body(uri))["protocoloptions"]["endpoints"] == [{"uri": uri}]
    for uri in bad:
        assert advised(wire, body(uri), "protocoloptions/endpoints/0/uri"), uri
    nowhere = endpoint(protocol=protocol, protocoloptions={"endpoints": [{"status": "up"}]})
    assert advised(wire, nowhere, "protocoloptions/endpoints/0")


@pytest.mark.feature("EP-024")
def test_an_http_endpoint_has_one_role(wire: Wire) -> None:
    for role in ("subscriber", "consumer", "producer"):
        wire.ok("PUT", ENDPOINT, {"usage": [role], "protocol": "HTTP"})
    for protocol in ("HTTP", "HTTP/1.1"):
        body = {"usage": ["subscriber", "consumer"], "protocol": protocol}
        assert advised(wire, body, "usage")


def cases() -> list[Any]:
    """Id, protocol, role, options that fit, options that do not, each with the place that is named."""
    mqtt, kafka, group = "MQTT/5.0", "KAFKA", {"consumergroup": "bakers"}
    table: list[tuple[str, str, str, list[Any], list[tuple[Any, str]]]] = [
        (
            "EP-019",
            "HTTP",
            "producer",
            [{"authorization": [{"type": "SASL", "mechanism": "PLAIN"}, {"type": "SASL"}]}],
            [
                ({"authorization": [{"type": "SASL"}, {"type": "Plain", "mechanism": "PLAIN"}]}, "authorization/1"),
                ({"authorization": [{"mechanism": "PLAIN"}]}, "authorization/0/mechanism"),
                ({"authorization": [{"type": "SASL", "mechanism": ""}]}, "authorization/0/mechanism"),
            ],
        ),
        (
            "EP-032",
            "HTTP",
            "producer",
            [
                {"apikeyname": "X-Key", "headers": [{"name": "x-key", "value": "{key}"}, {"name": "a", "value": "b"}]},
                {"headers": [{"name": "Authorization", "value": "Bearer {token}"}]},
                {"endpoints": [{"uri": "https://{user}:{password}@a"}, {"uri": "https://user@a"}]},
                {"plainscheme": "query", "plainpasswordfield": "p", "query": {"p": "{password}", "q": "oven"}},
                {"authorization": [{"type": "APIKey", "documentation": "http://x", "password": "{password}"}]},
            ],
            [
                ({"apikeyname": "X-Key", "headers": [{"name": "x-key", "value": "k3y"}]}, "headers/0/value"),
                ({"headers": [{"name": "authorization", "value": "Basic YTpi"}]}, "headers/0/value"),
                ({"endpoints": [{"uri": "https://user:secret@a"}]}, "endpoints/0/uri"),
                ({"apikeyin": "query", "apikeyname": "key", "query": {"key": "k3y"}}, "query/key"),
                ({"plainpasswordfield": "p", "query": {"p": "secret"}}, "query/p"),
                ({"authorization": [{"type": "APIKey", "apikey": "k3y"}]}, "authorization/0/apikey"),
                ({"authorization": [{"type": "OAuth2", "client_secret": "s"}]}, "authorization/0/client_secret"),
            ],
        ),
        (
            "EP-046",
            mqtt,
            "producer",
            [{"topic": "ovens/{id}"}, {"topicfilter": "ovens/+/#"}],
            [
                ({"topic": "ovens/+"}, "topic"),
                ({"topic": "ovens/#"}, "topic"),
                ({"topic": "ovens", "topicfilter": "ovens/+"}, "topic"),
            ],
        ),
        (
            "EP-046",
            "MQTT/3.1.1",
            "producer",
            [{"topic": "ovens"}],
            [({"topic": "#"}, "topic"), ({"topic": "a", "topicfilter": "b"}, "topic")],
        ),
        ("EP-046", mqtt, "subscriber", [{"topicfilter": "ovens/#"}], [({"topic": "a", "topicfilter": "b"}, "topic")]),
        (
            "EP-056",
            mqtt,
            "subscriber",
            [{"topicfilter": "ovens/#", "sharedsubscriptiongroup": "bakers"}],
            [
                ({"sharedsubscriptiongroup": "bakers"}, "sharedsubscriptiongroup"),
                ({"topicfilter": "a", "sharedsubscriptiongroup": "$share/bakers"}, "sharedsubscriptiongroup"),
                ({"topicfilter": "a", "sharedsubscriptiongroup": "bakers/b"}, "sharedsubscriptiongroup"),
            ],
        ),
        (
            "EP-066",
            kafka,
            "consumer",
            [group],
            [({}, "consumergroup"), ({"topic": "ovens"}, "consumergroup"), ({"consumergroup": ""}, "consumergroup")],
        ),
        ("EP-066", kafka, "subscriber", [{"topic": "ovens"}], [(group, "consumergroup")]),
        (
            "EP-063",
            kafka,
            "consumer",
            [{**group, "autooffsetreset": word} for word in ("earliest", "latest", "none")],
            [({**group, "autooffsetreset": wrong}, "autooffsetreset") for wrong in ("oven", 99, True)],
        ),
        (
            "EP-064",
            kafka,
            "consumer",
            [{**group, "enableautocommit": flag} for flag in (True, False)],
            [({**group, "enableautocommit": wrong}, "enableautocommit") for wrong in ("true", 1)],
        ),
        *(
            (
                "EP-067",
                kafka,
                role,
                [{"topic": "ovens"}],
                [
                    ({"autooffsetreset": "latest"}, "autooffsetreset"),
                    ({"enableautocommit": False}, "enableautocommit"),
                ],
            )
            for role in ("producer", "subscriber")
        ),
        (
            "EP-069",
            "NATS",
            "subscriber",
            [
                {"subject": "ovens.{id}"},
                {"subject": "a*b.c>"},
                {"subjectfilter": "ovens.*.>"},
                {"subjectfilter": "ovens.>", "queuegroup": "bakers"},
            ],
            [
                ({"subject": "ovens.*"}, "subject"),
                ({"subject": "ovens.>"}, "subject"),
                ({"subject": "ovens", "subjectfilter": "ovens.*"}, "subject"),
                ({"queuegroup": "bakers"}, "queuegroup"),
                ({"subject": "ovens", "queuegroup": "bakers"}, "queuegroup"),
            ],
        ),
    ]
    return [pytest.param(*row[1:], id=" ".join(row[:3])) for row in table]


@pytest.mark.feature("EP-019", "EP-032", "EP-046", "EP-056", "EP-063", "EP-064", "EP-066", "EP-067", "EP-069")
@pytest.mark.parametrize(("protocol", "role", "good", "bad"), cases())
def test_options_that_depend_on_each_other(
    wire: Wire, protocol: str, role: str, good: list[Any], bad: list[tuple[Any, str]]
) -> None:
    for options in good:
        shown = wire.ok("PUT", ENDPOINT, {"usage": [role], "protocol": protocol, "protocoloptions": options})
        assert {name: shown["protocoloptions"][name] for name in options} == options
    for options, place in bad:
        body = {"usage": [role], "protocol": protocol, "protocoloptions": options}
        answer = wire.send("PUT", ENDPOINT, body)
        is_refused = answer.problem == "invalid_attribute"  # by the model, or as a credential
        if is_refused:
            assert answer.json["pointer"].startswith(f"/protocoloptions/{place}"), options
        assert is_refused or advised(wire, body, f"protocoloptions/{place}"), options


@pytest.mark.feature("EP-032")
def test_a_credential_is_not_stored(wire: Wire) -> None:
    """ "Credential values … MUST NOT be stored in endpoint metadata": a server may refuse what is a security issue."""
    options = {"endpoints": [{"uri": "https://baker:secret@ovens.example"}]}
    assert wire.refusal("PUT", ENDPOINT, endpoint(protocol="HTTP", protocoloptions=options)) == "invalid_attribute"


@pytest.mark.feature("EP-066", "EP-067")
def test_a_changed_role_is_judged_with_the_options_that_are_there(wire: Wire) -> None:
    def findings(change: dict[str, Any]) -> list[str]:
        wire.ok("PATCH", ENDPOINT, change)
        return [one["code"] for one in wire.get(f"/-/lint?xid={ENDPOINT}")["findings"]]

    options = {"consumergroup": "bakers", "autooffsetreset": "latest"}
    wire.ok("PUT", ENDPOINT, {"usage": ["consumer"], "protocol": "KAFKA", "protocoloptions": options})
    assert findings({"usage": ["producer"]}) == ["endpoint_rule"]
    assert findings({"usage": ["producer"], "protocoloptions": {"topic": "ovens"}}) == []
    assert findings({"usage": ["consumer"]}) == ["consumergroup_missing"]
    assert findings({"usage": ["consumer"], "protocoloptions": None}) == []  # abstract: no options, no rules


@pytest.mark.feature("EP-023")
@pytest.mark.parametrize(
    ("usage", "protocol", "options"),
    [
        (["consumer"], "MQTT/3.1.1", {"topic": "spBv1.0/STATE/#,spBv1.0/{group}/NCMD/{node}"}),
        (["subscriber"], "MQTT/5.0", {"topic": "events", "retain": True, "own": [1]}),
        (["producer"], "KAFKA", {"consumergroup": "bakers"}),
        (["consumer"], "AMQP/1.0", {"durable": True, "linkproperties": {"a": 1}}),
        (["producer"], "Pigeon/1", {"topic": "#", "acks": 9, "endpoints": [{"uri": "x://a"}, {"coop": 4}]}),
        (["producer"], "MQTT", {"authorization": [[["SASL"]], 5], "endpoints": {"uri": 5}, "topic": 5}),
    ],
)
def test_options_that_only_clients_judge_are_kept(wire: Wire, usage: Any, protocol: str, options: Any) -> None:
    """What the roles of an option are is advice; real catalogs have filters in the `topic` of consumers."""
    shown = wire.ok("PUT", ENDPOINT, {"usage": usage, "protocol": protocol, "protocoloptions": options})
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
    message = f"{ENDPOINT}/messages/m"
    wire.ok("PUT", ENDPOINT, endpoint(**{name: own}))
    for value in good:
        assert wire.ok("PUT", message, {name: value}).get(name) == value
        found = wire.get(f"/-/lint?xid={message}")["findings"]
        assert "group_mismatch" not in {one["code"] for one in found}, value
    for value in bad:
        wire.ok("PUT", message, {name: value})
        found = wire.get(f"/-/lint?xid={message}")["findings"]
        shown = {(one["code"], one["pointer"]) for one in found}
        assert ("group_mismatch", f"{message}/{name}") in shown, value


@pytest.mark.feature("EP-008")
def test_the_envelope_of_an_endpoint_is_a_name_with_or_without_a_version(wire: Wire) -> None:
    for wrong in ("/1.0", "CloudEvents/", "/"):
        assert advised(wire, endpoint(envelope=wrong), "envelope")

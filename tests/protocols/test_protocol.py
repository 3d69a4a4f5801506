import pytest

from postroom.protocols.protocol import _MOST_KNOWN, _attribute_names, attribute_name, pairs
from postroom.protocols.protocol_table import PROTOCOLS, canonical_protocol, wire_named


@pytest.mark.feature("MSG-005", "MSG-077")
@pytest.mark.parametrize(
    ("spelling", "canonical"),
    [
        ("HTTP", "HTTP"),
        ("http/1.1", "HTTP"),
        ("HTTP/2", "HTTP"),
        ("Kafka", "KAFKA"),
        ("Kafka/0.11", "KAFKA"),
        ("mqtt/5.0", "MQTT/5.0"),
        ("MQTT/3.1.1", "MQTT/3.1.1"),
        ("amqp/1.0", "AMQP/1.0"),
        ("nats", "NATS"),
        ("", ""),
        ("None", ""),
        ("Solace/1.0", "SOLACE/1.0"),
    ],
)
def test_protocol_names_compare_ignoring_case(spelling: str, canonical: str) -> None:
    assert canonical_protocol(spelling) == canonical


def test_headers_are_found_by_name_in_both_forms() -> None:
    kafka = wire_named("KAFKA")
    as_map = {"headers": {"Content-Type": "application/json"}}
    as_array = {"headers": [{"name": "Content-Type", "value": "application/json"}]}
    assert kafka.content_type(as_map) == kafka.content_type(as_array) == "application/json"


def test_amqp_sections_are_looked_up_by_path() -> None:
    amqp = wire_named("AMQP/1.0")
    metadata = {"properties": {"to": "orders"}, "application-properties": {"cloudEvents:type": "order.placed"}}
    assert amqp.lookup(metadata, ("properties", "to")) == "orders"
    assert amqp.read_headers(metadata).attributes == {"type": "order.placed"}


def test_any_number_of_header_names_is_read_and_few_are_remembered() -> None:
    kafka = wire_named("KAFKA")
    headers = {f"ce_attribute{number}": str(number) for number in range(5000)} | {"ce_" + "x" * 100: "long", 7: "seven"}
    found = kafka.read_headers({"headers": headers}).attributes
    assert found == {str(name)[3:]: value for name, value in headers.items() if name != 7}
    assert attribute_name("CE_Type", kafka.prefixes) == "type"
    assert len(_attribute_names(kafka.prefixes)) <= _MOST_KNOWN


@pytest.mark.parametrize("container", [None, "text", 5, [1, {"value": 2}]])
def test_odd_header_containers_have_no_pairs(container: object) -> None:
    assert list(pairs(container)) == []


@pytest.mark.feature("MSG-113", "MSG-114", "MSG-109")
def test_what_brokers_rewrite_never_decides() -> None:
    mqtt = wire_named("MQTT/5.0")
    undecided = {option.name for option in mqtt.options if not option.decides}
    assert undecided == {"qos", "retain", "message_expiry_interval"}


@pytest.mark.feature("MSG-107")
def test_mqtt_3_knows_three_options_only() -> None:
    assert {option.name for option in wire_named("MQTT/3.1.1").options} == {"qos", "retain", "topic_name"}


def test_every_protocol_has_a_channel_or_carries_one() -> None:
    for wire in PROTOCOLS:
        assert any(o.channel for o in wire.options) or "to" in dict(wire.options[0].members)

"""Message documents of 0.5, row by row: what each member becomes in 1.0-rc4, and back (D5M-001 to D5M-014)."""

import json
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.catalog.lint import lint_source
from postroom.catalog.sources import read_source
from postroom.catalog.targets import write_target
from postroom.documents.dialects.convert import read_tree, write_tree
from postroom.settings import Settings

Tree = dict[str, Any]
EVENT = {"format": "CloudEvents/1.0", "metadata": {"type": {"value": "oven.hot"}}}


def document(group: Tree | None = None, **messages: Tree) -> Tree:
    own = {"format": "CloudEvents/1.0"} if group is None else group
    return {"messagegroups": {"ovens": {**own, "messages": messages}}}


def bound(protocol: str, **message: Any) -> Tree:
    return document({"binding": protocol}, hot={"binding": protocol, "message": message})


def group_of(written: Tree) -> Tree:
    reading = read_tree(written)
    assert reading is not None
    assert reading.dialect == "0.5-message"
    group: Tree = reading.tree["messagegroups"]["ovens"]
    return group


def message_of(written: Tree, name: str = "hot") -> Tree:
    message: Tree = group_of(written)["messages"][name]
    return message


def again(written: Tree) -> Tree:
    """Read, and written once more without anything that was kept aside."""
    reading = read_tree(written)
    assert reading is not None
    made = write_tree(reading.tree, "0.5-message", extras=False)
    assert not made.losses
    return {name: value for name, value in made.document.items() if name != "specversion"}


def codes(folder: Path, written: Tree) -> set[tuple[str, str]]:
    file = folder / "ovens.xreg.json"
    file.write_text(json.dumps(written))
    return {(found.code, found.pointer) for found in lint_source(str(file), Settings())}


@pytest.mark.feature("D5M-001")
def test_attributes_of_their_time_find_their_places(tmp_path: Path) -> None:
    common = {
        "self": "https://example.com/x",
        "epoch": 3,
        "name": "hot",
        "description": "too hot",
        "documentation": "https://example.com/hot",
        "labels": {"site": "north"},
        "origin": "https://example.com/hot",
        "createdat": "2024-04-30T12:00:00Z",
        "modifiedat": "2024-04-30T12:00:01Z",
    }
    message = {
        "id": "hot",
        **common,
        **EVENT,
        "versionid": "1",
        "isdefault": True,
        "readonly": True,
        "defaultversionid": "1",
        "defaultversionurl": "https://example.com/x/versions/1",
        "defaultversionsticky": True,
    }
    written = document({"id": "ovens", **common, "format": "CloudEvents/1.0"}, hot=message)
    group = group_of(written)
    read = group["messages"]["hot"]
    assert group["messagegroupid"] == "ovens"
    assert read["messageid"] == "hot"
    assert read["meta"] == {"readonly": True, "defaultversionid": "1"}
    assert {name: read[name] for name in ("name", "description", "documentation", "labels", "createdat")} == {
        name: common[name] for name in ("name", "description", "documentation", "labels", "createdat")
    }
    assert "origin" not in read
    reading = read_tree(written)
    assert reading is not None
    assert write_tree(reading.tree, "0.5-message").document == written
    store = f"sqlite:///{tmp_path / 'ovens.db'}"
    write_target(reading.tree, store, Settings())
    loaded = read_source(store, Settings())["messagegroups"]["ovens"]["messages"]["hot"]
    assert (loaded["name"], loaded["versionid"]) == ("hot", "1")


@pytest.mark.feature("D5M-001", "D5M-013")
def test_a_message_is_borrowed_by_xref_or_pointer() -> None:
    target = "/messagegroups/ovens/messages/hot"
    for borrowed in ({"xref": target}, {"uri": "#" + target}):
        tree = read_tree(document(hot=EVENT, lent=borrowed))
        assert tree is not None
        assert tree.tree["messagegroups"]["ovens"]["messages"]["lent"]["meta"] == {"xref": target}
        assert len(Catalog(tree.tree).definitions) == 1  # an xref is its target and never competes with it
        assert write_tree(tree.tree, "0.5-message").document == document(hot=EVENT, lent=borrowed)


@pytest.mark.feature("D5M-002")
@pytest.mark.parametrize(
    ("group", "read"),
    [
        ({"format": "CloudEvents/1.0"}, {"envelope": "CloudEvents/1.0"}),
        ({"binding": "MQTT/3.1.1"}, {"protocol": "MQTT/3.1.1"}),
        ({"binding": "Kafka/0.11"}, {"protocol": "KAFKA"}),
        (
            {"format": "CloudEvents/1.0", "binding": "AMQP/1.0"},
            {"envelope": "CloudEvents/1.0", "protocol": "AMQP/1.0"},
        ),
        ({"format": "Bakery/2.0"}, {"envelope": "Bakery/2.0"}),
        ({"binding": "Pigeon/1.0"}, {"protocol": "Pigeon/1.0"}),
    ],
)
def test_selectors_of_groups(tmp_path: Path, group: Tree, read: Tree) -> None:
    written = document(group, hot={**group, "metadata": {}, "message": {}})
    found = group_of(written)
    assert {name: found[name] for name in ("envelope", "protocol") if name in found} == read
    reading = read_tree(written)
    assert reading is not None
    assert write_tree(reading.tree, "0.5-message").document == written
    assert not any(code == "selector_missing" for code, _ in codes(tmp_path, written))


@pytest.mark.feature("D5M-002", "D5M-004")
def test_a_group_and_a_message_without_a_selector_are_found(tmp_path: Path) -> None:
    found = codes(tmp_path, document({}, hot=EVENT, cold={"metadata": {}}))
    assert ("selector_missing", "/messagegroups/ovens") in found
    assert ("selector_missing", "/messagegroups/ovens/messages/cold") in found
    assert ("selector_missing", "/messagegroups/ovens/messages/hot") not in found


@pytest.mark.feature("D5M-003")
def test_the_base_is_a_pointer_and_is_used() -> None:
    base = {**EVENT, "metadata": {"source": {"value": "/ovens"}}}
    pointer = "#/messagegroups/ovens/messages/base~0%7E0"
    written = document(**{"base~~": base}, hot={**EVENT, "basemessageurl": pointer})
    assert message_of(written)["basemessage"] == "/messagegroups/ovens/messages/base~~"
    reading = read_tree(written)
    assert reading is not None
    (hot,) = [one for one in Catalog(reading.tree).definitions if one.id == "hot"]
    assert {one.at for one in hot.envelope_constraints} >= {"/envelopemetadata/source", "/envelopemetadata/type"}
    assert write_tree(reading.tree, "0.5-message").document == written


@pytest.mark.feature("D5M-003")
@pytest.mark.parametrize(("reference", "code"), [("#/messagegroups/ovens/messages/gone", "base_dangling")])
def test_a_base_that_is_not_there_is_found_where_it_is_written(tmp_path: Path, reference: str, code: str) -> None:
    found = codes(tmp_path, document(hot={**EVENT, "basemessageurl": reference}))
    assert (code, "/messagegroups/ovens/messages/hot/basemessageurl") in found


@pytest.mark.feature("D5M-004")
@pytest.mark.parametrize("name", ["format", "binding"])
def test_a_message_has_the_selector_of_its_group(tmp_path: Path, name: str) -> None:
    group = {"format": "CloudEvents/1.0"} if name == "format" else {"binding": "MQTT/5.0"}
    other = {"format": "Bakery/2.0"} if name == "format" else {"binding": "AMQP/1.0"}
    written = document(group, hot={**other, "metadata": {}, "message": {}})
    assert ("group_mismatch", f"/messagegroups/ovens/messages/hot/{name}") in codes(tmp_path, written)


@pytest.mark.feature("D5M-005")
@pytest.mark.parametrize("nested", [False, True])
def test_metadata_is_flat_or_nested(nested: bool) -> None:
    attributes = {"type": {"value": "oven.hot"}, "time": {"required": True, "description": "when"}}
    metadata = {"attributes": attributes} if nested else attributes
    written = document(hot={"format": "CloudEvents/1.0", "metadata": metadata})
    assert message_of(written)["envelopemetadata"] == attributes
    reading = read_tree(written)
    assert reading is not None
    assert write_tree(reading.tree, "0.5-message").document == written
    flat = write_tree(reading.tree, "0.5-message", extras=False).document
    assert flat["messagegroups"]["ovens"]["messages"]["hot"]["metadata"] == attributes


@pytest.mark.feature("D5M-005")
def test_metadata_is_required_with_a_format(tmp_path: Path) -> None:
    written = document({"binding": "MQTT/5.0"}, hot={"format": "CloudEvents/1.0"})
    assert ("metadata_missing", "/messagegroups/ovens/messages/hot/format") in codes(tmp_path, written)


@pytest.mark.feature("D5M-006")
def test_binding_and_message_are_the_protocol_and_its_options(tmp_path: Path) -> None:
    written = document(hot={**EVENT, "binding": "MQTT/5.0", "message": {"topic-name": {"value": "ovens"}}})
    read = message_of(written)
    assert (read["envelope"], read["protocol"]) == ("CloudEvents/1.0", "MQTT/5.0")
    assert read["protocoloptions"] == {"topic_name": "ovens"}
    assert again(written) == written
    found = codes(tmp_path, document(hot={**EVENT, "binding": "MQTT/5.0"}))
    assert ("metadata_missing", "/messagegroups/ovens/messages/hot/binding") in found


@pytest.mark.feature("D5M-007")
@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"schema": {"type": "object"}}, {"dataschema": {"type": "object"}}),
        ({"schema": "syntax = 'proto3';"}, {"dataschema": "syntax = 'proto3';"}),
        ({"schemaurl": "https://example.com/loaf.json"}, {"dataschemauri": "https://example.com/loaf.json"}),
        ({"schemaurl": "#/schemagroups/s/schemas/loaf"}, {"dataschemauri": "/schemagroups/s/schemas/loaf"}),
    ],
)
def test_the_payload_has_a_schema_and_its_format(given: Tree, read: Tree) -> None:
    written = document(hot={**EVENT, "schemaformat": "JsonSchema/draft-07", **given})
    found = message_of(written)
    assert {name: found[name] for name in found if name.startswith("dataschema")} == {
        "dataschemaformat": "JsonSchema/draft-07",
        **read,
    }
    assert again(written) == written


@pytest.mark.feature("D5M-007")
def test_two_schemas_or_none_of_a_format_are_found(tmp_path: Path) -> None:
    both = {"schema": {}, "schemaurl": "https://example.com/loaf.json", "schemaformat": "JsonSchema/draft-07"}
    found = codes(tmp_path, document(hot={**EVENT, **both}, cold={**EVENT, "schema": {}}))
    assert any(code == "schema_twice" and "/hot" in place for code, place in found)
    assert ("dataschemaformat_missing", "/messagegroups/ovens/messages/cold/schema") in found


@pytest.mark.feature("D5M-008")
@pytest.mark.parametrize(
    ("given", "read"),
    [
        ({"type": "var"}, {"type": "any"}),
        ({"type": "urireference"}, {"type": "urireference"}),
        (
            {"type": "timestamp", "value": "01-01-0000T00:00:00Z"},
            {"type": "timestamp", "value": "0000-01-01T00:00:00Z"},
        ),
        *(
            ({"type": kind}, {"type": kind})
            for kind in ("boolean", "string", "symbol", "binary", "timestamp", "duration", "uritemplate", "uri")
        ),
        ({"type": "number"}, {"type": "number"}),
        ({"type": "integer"}, {"type": "integer"}),
    ],
)
def test_types_and_the_present_time(given: Tree, read: Tree) -> None:
    written = document(hot={"format": "CloudEvents/1.0", "metadata": {"heat": given}})
    assert message_of(written)["envelopemetadata"]["heat"] == read
    reading = read_tree(written)
    assert reading is not None
    assert write_tree(reading.tree, "0.5-message").document == written


@pytest.mark.audit("messages-D1", "services-A14")
@pytest.mark.parametrize(
    "dialect", ["1.0-rc4", "1.0-rc3", "2026-05", "2025-09", "1.0-rc2", "0.5-message", "0.5-service"]
)
def test_a_urireference_stays_one_in_every_dialect_that_has_types(dialect: str) -> None:
    reading = read_tree(document(hot={"format": "CloudEvents/1.0", "metadata": {"subject": {"type": "urireference"}}}))
    assert reading is not None
    written = write_tree(reading.tree, dialect)
    assert written.losses == ()
    back = read_tree(written.document)
    assert back is not None
    message = back.tree["messagegroups"]["ovens"]["messages"]["hot"]
    assert message["envelopemetadata"]["subject"] == {"type": "urireference"}
    assert not reading.notes


@pytest.mark.feature("D5M-009")
def test_the_query_of_http_is_a_map() -> None:
    options = {
        "headers": [{"name": "Content-Type", "value": "application/json"}],
        "query": {"oven": "{oven}", "unit": "C"},
        "path": "/ovens/{oven}",
        "method": "POST",
    }
    written = bound("HTTP/1.1", **options)
    read = message_of(written)["protocoloptions"]
    assert read["query"] == [{"name": "oven", "value": "{oven}"}, {"name": "unit", "value": "C"}]
    assert {name: read[name] for name in ("headers", "path", "method")} == {
        name: options[name] for name in ("headers", "path", "method")
    }
    assert again(written) == written


@pytest.mark.feature("D5M-010")
def test_amqp_has_sections_with_hyphens(tmp_path: Path) -> None:
    sections = {
        "properties": {"message-id": {"required": True}, "reply-to": {"value": "q"}, "to": {"value": "ovens/{oven}"}},
        "application-properties": {"My-Oven": {"value": "{oven}"}},
        "message-annotations": {"x-heat": {"type": "integer"}},
        "delivery-annotations": {},
        "header": {"durable": {"value": True}},
        "footer": {"sum": {"type": "binary"}},
    }
    written = bound("AMQP/1.0", **sections)
    assert message_of(written)["protocoloptions"] == sections
    assert again(written) == written
    with_underscores = bound("AMQP/1.0", application_properties={"oven": {}})
    assert "application-properties" in message_of(with_underscores)["protocoloptions"]
    reading = read_tree(with_underscores)
    assert reading is not None
    assert write_tree(reading.tree, "0.5-message").document == with_underscores
    typed = bound("AMQP/1.0", properties={"message-id": {"type": "integer"}})
    assert any("message-id" in place for _, place in codes(tmp_path, typed))


@pytest.mark.feature("D5M-011")
def test_mqtt_has_hyphens_and_objects_only() -> None:
    options = {
        "qos": {"value": 1},
        "retain": {"value": False},
        "topic-name": {"value": "ovens/{oven}"},
        "payload-format": {"value": 1},
        "message-expiry-interval": {"value": 60},
        "response-topic": {"value": "answers"},
        "correlation-data": {"type": "binary", "required": True},
        "content-type": {"value": "application/json"},
        "user-properties": [{"oven": {"value": "{oven}"}}, {"oven": {"required": True}}],
    }
    written = bound("MQTT/5.0", **options)
    assert message_of(written)["protocoloptions"] == {
        "qos": 1,
        "retain": False,
        "topic_name": "ovens/{oven}",
        "payload_format": 1,
        "message_expiry_interval": 60,
        "response_topic": "answers",
        "correlation_data": {"type": "binary", "required": True},
        "content_type": "application/json",
        "user_properties": [{"name": "oven", "value": "{oven}"}, {"name": "oven", "required": True}],
    }
    assert again(written) == written


@pytest.mark.feature("D5M-012")
@pytest.mark.parametrize("protocol", ["Kafka", "Kafka/0.11"])
def test_kafka_has_a_binary_key_a_map_of_headers_and_a_timestamp(protocol: str) -> None:
    options = {
        "topic": {"value": "ovens"},
        "partition": {"value": 3},
        "key": {"type": "binary", "value": "b3Zlbg=="},
        "headers": {"Site": {"value": "{site}"}, "unit": {"required": True}},
        "timestamp": {"value": 0},
    }
    written = bound(protocol, **options)
    read = message_of(written)
    assert read["protocol"] == "KAFKA"
    assert read["protocoloptions"] == {
        "topic": "ovens",
        "partition": 3,
        "key_base64": "b3Zlbg==",
        "headers": {"Site": "{site}", "unit": {"required": True}},
    }
    reading = read_tree(written)
    assert reading is not None
    assert write_tree(reading.tree, "0.5-message").document == written
    plain = bound("Kafka", key={"value": "{oven}"})
    assert message_of(plain)["protocoloptions"] == {"key": "{oven}"}
    assert again(plain) == plain


@pytest.mark.audit("messages-D18")
def test_a_timestamp_of_kafka_is_kept_and_lint_says_that_it_is_not_looked_at(tmp_path: Path) -> None:
    written = bound("Kafka/0.11", topic={"value": "ovens"}, timestamp={"value": 1700000000000})
    assert ("option_not_read", "/messagegroups/ovens/messages/hot/message/timestamp") in codes(tmp_path, written)
    inherited = document({"binding": "Kafka"}, hot={"message": {"timestamp": {"value": 0}}})
    assert ("option_not_read", "/messagegroups/ovens/messages/hot/message/timestamp") in codes(tmp_path, inherited)
    for other in (bound("Kafka", topic={"value": "ovens"}), bound("Pigeon/1.0", timestamp={"value": 1})):
        assert "option_not_read" not in {code for code, _ in codes(tmp_path, other)}
    event = document(hot={**EVENT, "metadata": {"timestamp": {"type": "integer"}}})
    assert "option_not_read" not in {code for code, _ in codes(tmp_path, event)}


@pytest.mark.feature("D5M-013")
def test_a_message_borrowed_from_elsewhere_becomes_the_base() -> None:
    written = document(
        hot={"format": "CloudEvents/1.0", "uri": "https://example.com/catalog#/messagegroups/a/messages/b"}
    )
    assert message_of(written)["basemessage"] == "https://example.com/catalog#/messagegroups/a/messages/b"
    reading = read_tree(written)
    assert reading is not None
    assert write_tree(reading.tree, "0.5-message").document == written


@pytest.mark.feature("D5M-014")
def test_what_came_later_is_reported_lost() -> None:
    message = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "oven.hot"}},
        "envelopeoptions": {"mode": "binary"},
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschemaxid": "/schemagroups/s/schemas/loaf",
        "datacontenttype": "application/json",
    }
    made = write_tree({"messagegroups": {"ovens": {"messages": {"hot": message}}}}, "0.5-message")
    lost = {loss.place.removeprefix("/messagegroups/ovens/messages/hot/") for loss in made.losses}
    assert lost == {"envelopeoptions", "dataschemaxid", "datacontenttype"}
    assert set(made.document["messagegroups"]["ovens"]["messages"]["hot"]) == {"format", "metadata", "schemaformat"}


@pytest.mark.feature("D5M-014")
def test_nats_is_a_binding_of_our_own() -> None:
    options = {"subject": "ovens.{oven}", "reply-to": "answers", "headers": {"Site": {"value": "{site}"}}}
    tree = {"messagegroups": {"ovens": {"messages": {"hot": {"protocol": "NATS", "protocoloptions": options}}}}}
    made = write_tree(tree, "0.5-message")
    assert not made.losses
    assert made.document["messagegroups"]["ovens"]["messages"]["hot"] == {"binding": "NATS", "message": options}
    assert message_of(made.document) == tree["messagegroups"]["ovens"]["messages"]["hot"]

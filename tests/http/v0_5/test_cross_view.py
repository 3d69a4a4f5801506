"""One registry, two views: what is written through one is seen through the other, and nothing is lost on the way."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.cli.main import execute
from postroom.documents.dialects.convert import read_tree
from postroom.registry.operations import export_document, import_document
from postroom.store.interface import Store
from tests.http.v0_5.requests import EVENT, JSON_SCHEMA, TEXT_SCHEMA, V05Client

HOT = "/definitionGroups/ovens/definitions/oven.hot"
NATIVE_HOT = "/messagegroups/ovens/messages/oven.hot"


def put(v0_5: V05Client, path: str, change: dict[str, Any]) -> dict[str, Any]:
    """Change something that 0.5 shows: read, change, write."""
    reply = v0_5.put(path, {**v0_5.get(path), **change})
    assert reply.status == 200, reply.body
    return dict(reply.json)


def plain(entity: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entity.items() if name not in ("epoch", "modifiedat", "name")}


def test_a_catalog_of_0_5_is_seen_in_1_0(v0_5: V05Client) -> None:
    v0_5.post("/schemaGroups", {"id": "payloads", "docs": "https://x.example", "tags": {"team": "bake"}})
    v0_5.ask("POST", "/schemaGroups/payloads/schemas", TEXT_SCHEMA, {"Registry-id": "note", **JSON_SCHEMA})
    v0_5.post("/definitionGroups", {"id": "ovens", "format": "CloudEvents/1.0"})
    pointer = "#/schemaGroups/payloads/schemas/note"
    definition = {"id": "oven.hot", **EVENT, "schemaformat": "JsonSchema/draft-07", "schemaurl": pointer}
    v0_5.post("/definitionGroups/ovens/definitions", definition)
    v0_5.post(
        "/endpoints",
        {
            "id": "bakery",
            "usage": "consumer",
            "definitionGroups": ["#/definitionGroups/ovens"],
            "config": {"protocol": "AMQP", "endpoints": ["amqp://bakery.example"], "options": {"node": "ovens"}},
        },
    )
    whole = v0_5.native("/export")
    group, schema = whole["schemagroups"]["payloads"], whole["schemagroups"]["payloads"]["schemas"]["note"]
    assert (group["documentation"], group["labels"]) == ("https://x.example", {"team": "bake"})
    assert (schema["versions"]["1"]["format"], schema["versions"]["1"]["schema"]) == (
        "JsonSchema/draft-07",
        TEXT_SCHEMA,
    )
    message = whole["messagegroups"]["ovens"]["messages"]["oven.hot"]["versions"]["1"]
    assert message["dataschemauri"] == "/schemagroups/payloads/schemas/note"
    assert message["envelopemetadata"] == {"type": {"value": "oven.hot"}}
    endpoint = whole["endpoints"]["bakery"]
    assert (endpoint["usage"], endpoint["messagegroups"]) == (["consumer"], ["/messagegroups/ovens"])
    assert (endpoint["protocol"], endpoint["protocoloptions"]["node"]) == ("AMQP", "ovens")


def test_a_catalog_of_1_0_is_seen_in_0_5(v0_5: V05Client) -> None:
    v0_5.native("/schemagroups/payloads/schemas/note$details", "PUT", {"format": "JsonSchema/draft-07", "schema": {}})
    message = {
        "protocol": "MQTT/5.0",
        "protocoloptions": {"topic_name": "ovens/{oven}", "user_properties": [{"name": "unit", "value": "celsius"}]},
        "dataschemaformat": "JsonSchema/draft-07",
        "dataschemauri": "/schemagroups/payloads/schemas/note",
        "documentation": "https://x.example",
    }
    v0_5.native("/messagegroups/ovens", "PUT", {"protocol": "MQTT/5.0", "messages": {"hot": message}})
    options = {"endpoints": [{"uri": "mqtt://h.example"}], "deployed": True, "topic": "t"}
    endpoint = {"usage": ["producer"], "protocol": "MQTT/5.0", "protocoloptions": options}
    v0_5.native("/endpoints/bakery", "PUT", {**endpoint, "messagegroups": ["/messagegroups/ovens"]})
    found = v0_5.get("/definitionGroups/ovens/definitions/hot")
    assert (found["format"], found["docs"]) == ("MQTT/5.0", "https://x.example")
    assert found["metadata"] == {
        "topic-name": {"value": "ovens/{oven}"},
        "user-properties": [{"unit": {"value": "celsius"}}],
    }
    assert found["schemaurl"] == "#/schemaGroups/payloads/schemas/note"
    shown = v0_5.get("/endpoints/bakery")
    assert (shown["usage"], shown["definitionGroups"]) == ("producer", ["#/definitionGroups/ovens"])
    assert (shown["config"]["strict"], shown["config"]["endpoints"]) == (True, ["mqtt://h.example"])


def test_a_change_in_1_0_is_a_change_in_0_5(ovens: V05Client) -> None:
    ovens.put(HOT, {**EVENT, "metadata": {"attributes": {"subject": {"type": "urireference"}}}}, createdBy="me")
    ovens.native(NATIVE_HOT, "PATCH", {"envelopemetadata": {"subject": {"type": "string"}}, "description": "new"})
    found = ovens.get(HOT)
    assert found["metadata"]["attributes"] == {"subject": {"type": "string"}}
    assert (found["createdBy"], found["description"]) == ("me", "new")
    assert ovens.get(f"{HOT}?meta")["epoch"] == 3


def test_what_0_5_cannot_see_stays_when_it_writes(ovens: V05Client) -> None:
    hidden = {
        "protocol": "AMQP/1.0",
        "protocoloptions": {"properties": {"subject": {"value": "hot"}}},
        "envelopeoptions": {"mode": "binary"},
        "datacontenttype": "application/json",
        "dataschemaxid": "/schemagroups/payloads/schemas/note",
    }
    ovens.native(NATIVE_HOT, "PATCH", hidden)
    assert ovens.get(HOT)["metadata"] == EVENT["metadata"]
    changed = put(ovens, HOT, {"metadata": {"attributes": {"type": {"value": "oven.very.hot"}}}, "priority": 3})
    assert (changed["priority"], list(ovens.get("/definitionGroups/ovens/definitions"))) == (3, ["oven.hot"])
    native = ovens.native(NATIVE_HOT)
    assert {name: native[name] for name in hidden} == hidden
    assert native["envelopemetadata"] == {"type": {"value": "oven.very.hot"}}
    assert ovens.post(HOT, ovens.get(HOT)).status == 201
    native = ovens.native(NATIVE_HOT)
    assert (native["versionid"], {name: native[name] for name in hidden}) == ("2", hidden)


def test_what_0_5_cannot_see_of_an_endpoint_stays(v0_5: V05Client) -> None:
    endpoint = {
        "usage": ["subscriber", "consumer"],
        "protocol": "MQTT/5.0",
        "envelope": "CloudEvents/1.0",
        "envelopeoptions": {"mode": "structured", "format": "application/json"},
        "protocoloptions": {
            "endpoints": [{"uri": "mqtt://a.example"}],
            "authorization": [{"type": "OAuth2"}],
            "topicfilter": "ovens/#",
        },
    }
    v0_5.native("/endpoints/e", "PUT", endpoint)
    before = v0_5.native("/endpoints/e")
    shown = v0_5.get("/endpoints/e")
    changed = v0_5.put("/endpoints/e", {**shown, "channel": "c", "config": {**shown["config"], "strict": False}})
    assert (changed.status, changed.json["channel"]) == (200, "c")
    after = v0_5.native("/endpoints/e")
    assert after["protocoloptions"] == {**before["protocoloptions"], "deployed": False}
    for name in ("usage", "envelopeoptions"):
        assert after[name] == before[name]


def test_what_is_written_as_it_was_read_changes_nothing(ovens: V05Client, notes: V05Client) -> None:
    kilns = {"envelope": "CloudEvents/1.0", "protocol": "AMQP/1.0", "labels": {"a": "b"}, "icon": "https://x.example/i"}
    ovens.native("/messagegroups/kilns", "PUT", kilns)
    ovens.native("/messagegroups/ovens/messages/base", "PUT", {"dataschemaformat": "Avro/1.11", "dataschema": "int"})
    ovens.native(NATIVE_HOT, "PATCH", {"basemessage": "/messagegroups/ovens/messages/base"})
    assert ovens.get(HOT)["schema"] == "int"
    pairs = {
        "/definitionGroups/kilns": "/messagegroups/kilns",
        "/definitionGroups/ovens": "/messagegroups/ovens",
        HOT: NATIVE_HOT,
        f"{HOT}?meta": NATIVE_HOT,
        "/schemaGroups/payloads/schemas/note?meta": "/schemagroups/payloads/schemas/note$details",
    }
    for path, native in pairs.items():
        before = ovens.native(native)
        assert ovens.put(path, ovens.get(path)).status == 200
        assert plain(ovens.native(native)) == plain(before), path


def test_what_a_message_inherits_is_written_out_when_0_5_changes_it(ovens: V05Client) -> None:
    base = {"envelopemetadata": {"source": {"value": "/ovens/{oven}"}}, "dataschemaformat": "Avro/1.11"}
    ovens.native("/messagegroups/ovens/messages/base", "PUT", base)
    ovens.native(NATIVE_HOT, "PATCH", {"basemessage": "/messagegroups/ovens/messages/base"})
    attributes = ovens.get(HOT)["metadata"]["attributes"]
    assert attributes == {"source": {"value": "/ovens/{oven}"}, "type": {"value": "oven.hot"}}
    put(ovens, HOT, {"name": "Hot"})
    assert ovens.native(NATIVE_HOT)["basemessage"] == "/messagegroups/ovens/messages/base"
    put(ovens, HOT, {"metadata": {"attributes": {"type": {"value": "oven.hot"}}}})
    assert ovens.get(HOT)["metadata"]["attributes"] == {"type": {"value": "oven.hot"}}
    native = ovens.native(NATIVE_HOT)
    assert "basemessage" not in native
    assert native["dataschemaformat"] == "Avro/1.11"


def test_bases_that_go_in_circles_end(ovens: V05Client) -> None:
    other = "/messagegroups/ovens/messages/other"
    ovens.native(other, "PUT", {"basemessage": NATIVE_HOT})
    ovens.native(NATIVE_HOT, "PATCH", {"basemessage": f"{other}/versions/1"})
    assert ovens.get(HOT)["metadata"] == EVENT["metadata"]
    assert set(ovens.get("/definitionGroups/ovens/definitions?inline")) == {"oven.hot", "other"}


def test_a_file_that_was_loaded_shows_what_only_0_5_says(v0_5: V05Client, store: Store) -> None:
    versions = {"1.0": {"type": "schemaversion", "schema": "syntax"}}
    document = {
        "definitionGroups": {
            "ovens": {
                "createdBy": "the baker",
                "format": "Kafka/0.11",
                "definitions": {"hot": {"createdBy": "her son", "format": "Kafka/0.11", "metadata": {}}},
            }
        },
        "schemaGroups": {"s": {"schemas": {"x": {"createdBy": "nobody", "format": "Free/1", "versions": versions}}}},
    }
    reading = read_tree(document)
    assert reading is not None
    with store.write() as tx:
        import_document(tx, reading.tree)
    group, hot = v0_5.get("/definitionGroups/ovens?inline"), "/definitionGroups/ovens/definitions/hot"
    assert (group["createdBy"], group["format"]) == ("the baker", "Kafka/0.11")
    assert (group["definitions"]["hot"]["createdBy"], group["definitions"]["hot"]["format"]) == (
        "her son",
        "Kafka/0.11",
    )
    schema = v0_5.get("/schemaGroups/s/schemas/x/versions/1.0?meta")
    assert (schema["type"], schema["createdBy"]) == ("schemaversion", "nobody")
    assert v0_5.put("/definitionGroups/ovens", {"format": "Kafka/0.11"}).status == 200
    assert v0_5.get(f"{hot}?meta")["createdBy"] == "her son"
    v0_5.delete(hot)
    v0_5.native("/messagegroups/ovens/messages/hot", "PUT", {})
    assert "createdBy" not in v0_5.get(f"{hot}?meta")


def test_what_a_file_says_about_other_versions_stays(v0_5: V05Client, store: Store) -> None:
    versions = {one: {"type": "schemaversion", "schema": one} for one in ("1", "2", "3")}
    schema = {"createdBy": "all", "format": "Free/1", "versions": versions}
    reading = read_tree({"schemaGroups": {"s": {"schemas": {"x": schema}}}})
    assert reading is not None
    with store.write() as tx:
        import_document(tx, reading.tree)

    def said() -> dict[str, Any]:
        found = v0_5.get("/schemaGroups/s/schemas/x/versions")
        return {one: (version.get("createdBy"), version.get("type")) for one, version in found.items()}

    both = ("all", "schemaversion")
    assert said() == dict.fromkeys(("1", "2", "3"), both)
    assert v0_5.put("/schemaGroups/s/schemas/x/versions/2", b"two", createdBy="", type="mine").status == 200
    assert said() == {"1": both, "2": (None, "mine"), "3": both}
    assert v0_5.post("/schemaGroups/s/schemas/x", b"four", createdBy="you").status == 201
    assert said() == {"1": both, "2": (None, "mine"), "3": both, "4": ("you", "schemaversion")}
    v0_5.delete("/schemaGroups/s/schemas/x/versions/1")
    v0_5.delete("/schemaGroups/s/schemas/x/versions", [{"version": 3}])
    assert said() == {"2": (None, "mine"), "4": ("you", "schemaversion")}
    assert "dialectextras" not in v0_5.native("/schemagroups/s")


def test_a_model_without_room_for_extras_says_so(v0_5: V05Client) -> None:
    model = v0_5.native("/modelsource")
    del model["groups"]["messagegroups"]["attributes"]["*"]
    v0_5.native("/modelsource", "PUT", model)
    group = {"id": "ovens", "format": "Kafka/0.11", "type": "definitionGroup"}
    assert v0_5.problem("POST", "/definitionGroups", {**group, "createdBy": "me"}) == (400, "unknown_attribute")
    assert v0_5.post("/definitionGroups", group).json["format"] == "Kafka/0.11"
    assert v0_5.put("/definitionGroups/ovens", group).status == 200
    assert v0_5.delete("/definitionGroups/ovens").status == 200


@pytest.mark.parametrize("name", ["catalog.cereg"])
def test_the_same_in_a_dump(ovens: V05Client, store: Store, tmp_path: Path, name: str) -> None:
    from postroom.cli.main import execute

    ovens.put(HOT, {**EVENT, "metadata": {"attributes": {"time": {"type": "datetime"}}}}, createdBy="me")
    target = tmp_path / name
    arguments = ["dump", "--from", f"sqlite:///{tmp_path}/registry.db", "--dialect", "0.5-service", "-o", str(target)]
    assert execute(arguments) == 0
    definition = json.loads(target.read_text())["definitionGroups"]["ovens"]["definitions"]["oven.hot"]
    assert (definition["createdBy"], definition["metadata"]["attributes"]["time"]["type"]) == ("me", "datetime")
    assert "dialectextras" not in definition


@pytest.mark.audit("services-B7", "services-A3", "services-A5")
def test_the_whole_registry_inlined_is_a_file_that_can_be_loaded(ovens: V05Client, tmp_path: Path) -> None:
    versions = {"1": {"id": "1", "schemaBase64": "/v8A"}, "2": {"id": "2", "schemaBase64": "/v8B"}}
    schema = {"id": "s", "format": "Acme/1", "versions": versions}
    assert ovens.post("/schemaGroups", {"id": "b", "schemas": {"s": schema}}).status == 201
    assert ovens.get("/schemaGroups/b/schemas/s?meta")["format"] == "Acme/1"
    file = tmp_path / "all.cereg"
    file.write_text(json.dumps(ovens.get("/?inline")))
    assert execute(["load", str(file), "--to", f"sqlite:///{tmp_path / 'copy.db'}"]) == 0
    with open_store(f"sqlite:///{tmp_path / 'copy.db'}") as copy, copy.read() as transaction:
        tree = export_document(transaction)
    found = tree["schemagroups"]["b"]["schemas"]["s"]["versions"]
    assert {name: version["schemabase64"] for name, version in found.items()} == {"1": "/v8A", "2": "/v8B"}
    message = tree["messagegroups"]["ovens"]["messages"]["oven.hot"]
    assert message["envelopemetadata"]["type"]["value"] == "oven.hot"


@pytest.mark.parametrize(
    ("protocol", "shown"),
    [
        ("HTTP", "HTTP/1.1"),
        ("HTTP/2", "HTTP/2"),
        ("AMQP", "AMQP/1.0"),
        ("MQTT", "MQTT/5.0"),
        ("MQTT/3.1.1", "MQTT/3.1.1"),
        ("KAFKA", "Kafka/0.11"),
        ("NATS", "NATS/1.0.0"),
        ("BunnyMQ", "BunnyMQ"),
    ],
)
def test_a_protocol_is_shown_as_a_format_with_a_version(v0_5: V05Client, protocol: str, shown: str) -> None:
    v0_5.native("/messagegroups/ovens", "PUT", {"protocol": protocol, "messages": {"hot": {"protocol": protocol}}})
    for path in ("/definitionGroups/ovens", "/definitionGroups/ovens/definitions/hot?meta"):
        found = v0_5.get(path)
        assert found["format"] == shown
        if "/" in shown:
            assert v0_5.put(path, found).status == 200
    assert v0_5.native("/messagegroups/ovens")["protocol"] == protocol
    assert v0_5.native("/messagegroups/ovens/messages/hot")["protocol"] == protocol


@pytest.mark.audit("services-C10")
def test_a_schema_of_unknown_format_is_shown_as_an_attribute_that_every_0_5_service_takes(ovens: V05Client) -> None:
    event = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "oven.hot"}}}
    schema = "https://bakery.example/hot.json"
    ovens.native("/messagegroups/ovens/messages/far", "PUT", {**event, "dataschemauri": schema})
    path = "/definitionGroups/ovens/definitions/far"
    shown = ovens.get(path)
    assert "schemaurl" not in shown
    assert shown["metadata"]["attributes"]["dataschema"]["value"] == schema
    assert ovens.put(path, shown).status == 200
    assert ovens.native("/messagegroups/ovens/messages/far")["dataschemauri"] == schema
    copy = {"id": "copy", "format": shown["format"], "metadata": shown["metadata"]}
    assert ovens.post("/definitionGroups/ovens/definitions", copy).status == 201


@pytest.mark.audit("services-C10")
def test_a_message_of_a_protocol_shows_the_url_of_a_schema_with_its_format_only(ovens: V05Client) -> None:
    ovens.native("/messagegroups/taps", "PUT", {"protocol": "MQTT/5.0"})
    message = {"protocol": "MQTT/5.0", "protocoloptions": {"topic_name": {"value": "taps"}}}
    schema = {"dataschemauri": "https://bakery.example/tap.json"}
    for name, more in {"with": {"dataschemaformat": "JsonSchema/draft-07"}, "without": {}}.items():
        ovens.native(f"/messagegroups/taps/messages/{name}", "PUT", {**message, **schema, **more})
        shown = ovens.get(f"/definitionGroups/taps/definitions/{name}")
        assert shown.get("schemaurl") == (schema["dataschemauri"] if more else None)
        copy = {
            member: shown[member] for member in ("format", "metadata", "schemaurl", "schemaformat") if member in shown
        }
        assert ovens.post("/definitionGroups/taps/definitions", {"id": f"{name}.copy", **copy}).status == 201

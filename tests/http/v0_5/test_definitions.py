"""The domain of message definitions: one format per group, metadata by format (S004, Message Definitions Registry)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.catalog.wiring import rules_of
from postroom.http.server.app import create_app
from postroom.settings import Settings
from tests.http.requests import AsgiClient
from tests.http.v0_5.requests import EVENT, V05Client

DEFINITIONS = "/definitionGroups/ovens/definitions"
HOT = f"{DEFINITIONS}/oven.hot"

HEADERS = [{"name": "Content-Type", "value": "application/json"}]
HTTP = {"headers": HEADERS, "query": {"unit": "celsius"}, "path": "/ovens/{oven}", "method": "POST"}
AMQP = {
    "properties": {"message-id": {"required": True}, "subject": {"value": "Hot", "required": True}},
    "application-properties": {"Oven-Number": {"value": "3"}},
    "message-annotations": {"x-opt-door": {"type": "var"}},
}
MQTT = {"qos": {"value": 1}, "retain": {"value": False}, "topic-name": {"value": "ovens/{oven}"}}
USER = {"user-properties": [{"unit": {"value": "celsius"}}, {"unit": {"value": "kelvin", "required": True}}]}
KAFKA = {"topic": {"value": "ovens"}, "key": {"value": "{oven}"}, "headers": {"Unit": {"value": "celsius"}}}


def group(v0_5: V05Client, form: str) -> V05Client:
    assert v0_5.post("/definitionGroups", {"id": "ovens", "name": "Ovens", "format": form}).status == 201
    return v0_5


@pytest.mark.feature("D5R-038")
@pytest.mark.parametrize("body", [{}, {"format": ""}, {"format": None}])
def test_a_group_needs_a_format(v0_5: V05Client, body: dict[str, Any]) -> None:
    assert v0_5.problem("POST", "/definitionGroups", {"id": "ovens", **body}) == (400, "required_attribute_missing")
    group(v0_5, "AMQP/1.0")
    assert v0_5.problem("PUT", "/definitionGroups/ovens", body) == (400, "required_attribute_missing")


@pytest.mark.feature("D5R-038")
def test_a_group_that_1_0_made_without_a_format_can_be_updated(v0_5: V05Client) -> None:
    v0_5.native("/messagegroups/ovens", "PUT", {"messages": {"hot": {"envelope": "CloudEvents/1.0"}}})
    assert v0_5.put("/definitionGroups/ovens", {"name": "Ovens"}).status == 200
    assert v0_5.put("/definitionGroups/ovens", {"format": "CloudEvents/1.0"}).json["format"] == "CloudEvents/1.0"
    assert v0_5.problem("PUT", "/definitionGroups/ovens", {"name": "x"}) == (400, "required_attribute_missing")


@pytest.mark.feature("D5R-038")
def test_a_new_group_without_a_format_has_that_of_all_its_definitions(v0_5: V05Client) -> None:
    definitions = {"hot": EVENT, "cold": EVENT}
    assert v0_5.post("/definitionGroups", {"id": "a", "definitions": definitions}).json["format"] == "CloudEvents/1.0"
    for other in ({"metadata": {}}, {"format": "AMQP/1.0", "metadata": {}}, {"format": [], "metadata": {}}):
        body = {"id": "b", "definitions": {**definitions, "warm": other}}
        assert v0_5.problem("POST", "/definitionGroups", body) == (400, "required_attribute_missing")


@pytest.mark.feature("D5R-038")
@pytest.mark.parametrize("other", ["AMQP/1.0", "CloudEvents/1.1", "Kafka/0.11"])
def test_a_definition_has_the_format_of_its_group(ovens: V05Client, other: str) -> None:
    reply = ovens.post(DEFINITIONS, {"format": other, "metadata": {}})
    assert (reply.status, reply.problem, reply.json["args"]["name"]) == (400, "invalid_attribute", "format")
    assert ovens.put(f"{HOT}?meta", {"format": other}).problem == "invalid_attribute"
    assert ovens.put(HOT, EVENT | {"format": "cloudevents/1.0"}).status == 200


@pytest.mark.feature("D5R-038")
def test_a_definition_without_a_format_shows_that_of_its_group(ovens: V05Client) -> None:
    reply = ovens.post(DEFINITIONS, {"metadata": {"attributes": {}}})
    assert (reply.status, reply.json["format"]) == (201, "CloudEvents/1.0")
    assert reply.headers["registry-format"] == "CloudEvents/1.0"


@pytest.mark.feature("D5R-038")
def test_the_format_of_a_group_is_not_changed_under_its_definitions(v0_5: V05Client) -> None:
    group(v0_5, "AMQP/1.0").post(DEFINITIONS, {"id": "hot", "format": "AMQP/1.0", "metadata": AMQP})
    assert v0_5.problem("PUT", "/definitionGroups/ovens", {"format": "MQTT/5.0"}) == (400, "constraint_failure")


@pytest.mark.feature("D5R-039")
def test_metadata_are_needed(ovens: V05Client) -> None:
    assert ovens.problem("POST", DEFINITIONS, {"format": "CloudEvents/1.0"}) == (400, "required_attribute_missing")
    assert ovens.problem("PUT", HOT, {"name": "Hot"}) == (400, "required_attribute_missing")
    assert ovens.problem("PUT", HOT, {**EVENT, "metadata": []}) == (400, "invalid_attribute")


@pytest.mark.feature("D5R-039")
def test_the_metadata_of_events_are_below_attributes(ovens: V05Client) -> None:
    assert ovens.get(HOT)["metadata"] == {"attributes": {"type": {"value": "oven.hot"}}}
    native = ovens.native("/messagegroups/ovens/messages/oven.hot")
    assert native["envelopemetadata"] == {"type": {"value": "oven.hot"}}
    ovens.native("/messagegroups/ovens/messages/bare", "PUT", {})
    assert ovens.get(f"{DEFINITIONS}/bare")["metadata"] == {"attributes": {}}


@pytest.mark.feature("D5R-040")
def test_names_of_types(ovens: V05Client) -> None:
    attributes = {
        "type": {"value": "oven.hot"},
        "time": {"type": "datetime", "value": "01-01-0000T00:00:00Z"},
        "subject": {"type": "urireference"},
        "anything": {"type": "var"},
    }
    ovens.put(HOT, {**EVENT, "metadata": {"attributes": attributes}})
    assert ovens.get(HOT)["metadata"]["attributes"] == attributes
    native = ovens.native("/messagegroups/ovens/messages/oven.hot")["envelopemetadata"]
    assert native["time"] == {"type": "timestamp", "value": "0000-01-01T00:00:00Z"}
    assert (native["subject"]["type"], native["anything"]["type"]) == ("urireference", "any")


@pytest.mark.feature("D5R-041")
@pytest.mark.parametrize(
    ("form", "metadata", "protocol", "options"),
    [
        ("HTTP/1.1", HTTP, "HTTP/1.1", {"query": [{"name": "unit", "value": "celsius"}], "path": "/ovens/{oven}"}),
        ("HTTP/2", {"status": "404"}, "HTTP/2", {"status": "404"}),
        ("HTTP/3", HTTP, "HTTP/3", {"headers": HEADERS, "method": "POST"}),
        ("AMQP/1.0", AMQP, "AMQP/1.0", {"application-properties": {"Oven-Number": {"value": "3"}}}),
        ("MQTT/3.1.1", MQTT, "MQTT/3.1.1", {"qos": 1, "retain": False, "topic_name": "ovens/{oven}"}),
        (
            "MQTT/5.0",
            MQTT | USER,
            "MQTT/5.0",
            {
                "user_properties": [
                    {"name": "unit", "value": "celsius"},
                    {"name": "unit", "value": "kelvin", "required": True},
                ]
            },
        ),
        ("Kafka/0.11", KAFKA, "KAFKA", {"topic": "ovens", "key": "{oven}"}),
    ],
)
def test_the_format_selects_the_layout_of_metadata(
    v0_5: V05Client, form: str, metadata: Any, protocol: str, options: dict[str, Any]
) -> None:
    group(v0_5, form)
    definition = {"id": "hot", "format": form, "metadata": metadata}
    reply = v0_5.post(DEFINITIONS, definition)
    assert (reply.status, v0_5.get(f"{DEFINITIONS}/hot")["metadata"]) == (201, metadata)
    assert v0_5.get(f"{DEFINITIONS}/hot")["format"] == form
    native = v0_5.native("/messagegroups/ovens/messages/hot")
    assert native["protocol"] == protocol
    assert {name: native["protocoloptions"][name] for name in options} == options


@pytest.mark.feature("D5R-041")
def test_metadata_that_their_format_does_not_have(v0_5: V05Client) -> None:
    group(v0_5, "HTTP/1.1")
    refused = v0_5.problem("POST", DEFINITIONS, {"format": "HTTP/1.1", "metadata": {"headers": "none"}})
    assert refused == (400, "invalid_attribute")


@pytest.mark.feature("D5R-037", "D5R-044")
@pytest.mark.parametrize(
    "reference",
    [
        "#/schemaGroups/payloads/schemas/note/versions/1",
        "https://schemas.example/note.json",
        "https://schemas.example/notes.cereg#/schemaGroups/a/schemas/b",
    ],
)
def test_payload_schemas(ovens: V05Client, reference: str) -> None:
    payload = {"schemaformat": "JsonSchema/draft-07", "schemaurl": reference}
    assert ovens.put(HOT, {**EVENT, **payload}).status == 200
    assert payload.items() <= ovens.get(HOT).items()
    native = ovens.native("/messagegroups/ovens/messages/oven.hot")["dataschemauri"]
    assert native == reference.replace("#/schemaGroups/payloads", "/schemagroups/payloads")


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        ({"schema": {}, "schemaurl": "https://x.example/s", "schemaformat": "JsonSchema/draft-07"}, "one_resource"),
        ({"schema": {}}, "required_attribute_missing"),
        ({"schemaurl": 7, "schemaformat": "JsonSchema/draft-07"}, "invalid_attribute"),
    ],
)
def test_payload_schemas_that_are_none(ovens: V05Client, payload: dict[str, Any], problem: str) -> None:
    assert ovens.problem("PUT", HOT, {**EVENT, **payload}) == (400, problem)


@pytest.mark.feature("D5R-047")
@pytest.mark.parametrize("marker", ["definition", "Definition/2"])
def test_entities_may_say_of_which_type_they_are(ovens: V05Client, marker: str) -> None:
    ovens.put("/definitionGroups/ovens", {"type": "definitionGroup", "format": "CloudEvents/1.0"})
    assert ovens.get("/definitionGroups/ovens")["type"] == "definitionGroup"
    reply = ovens.put(HOT, {"type": marker, **EVENT})
    assert (reply.headers["registry-type"], ovens.get(HOT)["type"]) == (marker, marker)
    assert "type" not in ovens.put(HOT, EVENT | {"name": "Hot"}, type="").json


def test_a_definition_can_be_borrowed(ovens: V05Client) -> None:
    ovens.post("/definitionGroups", {"id": "kilns", "format": "CloudEvents/1.0"})
    borrowed = "/definitionGroups/kilns/definitions/kiln.hot"
    reference = {"uri": "#/definitionGroups/ovens/definitions/oven.hot"}
    assert ovens.post("/definitionGroups/kilns/definitions", {"id": "kiln.hot", **reference}).status == 201
    assert ovens.native("/messagegroups/kilns/messages/kiln.hot/meta")["xref"] == (
        "/messagegroups/ovens/messages/oven.hot"
    )
    found = ovens.get(borrowed)
    assert (found["metadata"], found["uri"], found["id"]) == (EVENT["metadata"], reference["uri"], "kiln.hot")
    assert ovens.put(borrowed, found).status == 200
    assert ovens.put(borrowed, {**EVENT, "metadata": {"attributes": {"type": {"value": "kiln.hot"}}}}).status == 200
    assert "uri" not in ovens.get(borrowed)
    assert ovens.get(HOT)["metadata"] == EVENT["metadata"]
    assert ovens.put(borrowed, reference).status == 200
    assert ovens.put(borrowed, {**reference, "name": "Own"}).problem == "invalid_attribute"
    assert ovens.put(f"{borrowed}?meta", {"name": "Own"}).problem == "invalid_attribute"
    ovens.delete(HOT)
    assert ovens.get(borrowed)["uri"] == reference["uri"]
    assert ovens.put(borrowed, ovens.get(borrowed)).status == 200


@pytest.mark.parametrize("uri", ["#/nothing", "#/definitionGroups/ovens", "#/schemaGroups/a/schemas/b", "/a/b/c/d/e"])
def test_references_that_lead_to_no_definition(ovens: V05Client, uri: str) -> None:
    for body in ({"uri": uri}, {"uri": uri, "metadata": {}}):
        assert ovens.post(DEFINITIONS, {"id": "odd", **body}).status == 400
        assert ovens.put(HOT, body).status == 400
    embedded = {"id": "new", "format": "CloudEvents/1.0", "definitions": {"odd": {"uri": uri}}}
    assert ovens.post("/definitionGroups", embedded).status == 400


def test_a_group_can_embed_what_it_borrows(ovens: V05Client) -> None:
    reference = {"uri": "#/definitionGroups/ovens/definitions/oven.hot"}
    group = {"id": "kilns", "format": "CloudEvents/1.0", "definitions": {"kiln.hot": reference}}
    assert ovens.post("/definitionGroups", group).status == 201
    assert ovens.get("/definitionGroups/kilns/definitions/kiln.hot")["metadata"] == EVENT["metadata"]
    own = {**group, "id": "own", "definitions": {"kiln.hot": {**reference, "name": "Own"}}}
    assert ovens.problem("POST", "/definitionGroups", own) == (400, "invalid_attribute")


def test_a_definition_elsewhere_can_be_based_on(ovens: V05Client) -> None:
    uri = "https://definitions.example/hot.json"
    assert ovens.put(HOT, {"uri": uri}).status == 200
    assert ovens.native("/messagegroups/ovens/messages/oven.hot")["basemessage"] == uri
    assert ovens.get(HOT)["uri"] == uri
    assert ovens.put(HOT, ovens.get(HOT)).status == 200
    assert ovens.get(HOT)["uri"] == uri


@pytest.mark.audit("services-A9", "services-A10")
@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"schemaurl": "https://schemas.example/hot.json"}, "required_attribute_missing"),
        ({"schemaurl": "https://schemas.example/hot.json", "schemaformat": ""}, "required_attribute_missing"),
        ({"schema": {}}, "required_attribute_missing"),
        ({"schema": {}, "schemaformat": "JsonSchema"}, "invalid_attribute"),
        ({"schemaformat": "/draft-07"}, "invalid_attribute"),
    ],
)
def test_a_schema_elsewhere_needs_its_format(ovens: V05Client, schema: dict[str, Any], problem: str) -> None:
    assert ovens.problem("PUT", HOT, {**EVENT, **schema}) == (400, problem)


@pytest.mark.audit("services-A9")
def test_a_schema_of_this_registry_has_its_format_there(ovens: V05Client) -> None:
    local = {**EVENT, "schemaurl": "#/schemaGroups/payloads/schemas/note/versions/1"}
    assert ovens.put(HOT, local).status == 200
    far = {"envelope": "CloudEvents/1.0", "dataschemauri": "https://schemas.example/hot.json"}
    ovens.native("/messagegroups/ovens/messages/oven.far", "PUT", far)
    path = "/definitionGroups/ovens/definitions/oven.far"
    assert ovens.put(path, {**ovens.get(path), "name": "What 1.0 wrote may stay"}).status == 200


def event(**attributes: Any) -> dict[str, Any]:
    return {"attributes": {"type": {"value": "oven.hot"}, **attributes}}


# What the text forbids in metadata and no model can say: the code of lint, the format, the metadata.
FORBIDDEN: list[tuple[str, str, dict[str, Any]]] = [
    ("value_invalid", "CloudEvents/1.0", event(degrees={"type": "integer", "value": "warm"})),
    ("type_unknown", "CloudEvents/1.0", event(degrees={"type": "foo"})),
    ("specversion_other", "CloudEvents/1.0", event(specversion={"value": "1.1"})),
    ("required_attribute_optional", "CloudEvents/1.0", event(id={"required": False})),
    ("attribute_name", "CloudEvents/1.0", event(my_ext={"value": "x"})),
    ("description_empty", "CloudEvents/1.0", event(subject={"description": ""})),
    ("options_exclusive", "HTTP/1.1", {"method": "POST", "status": "200"}),
    ("option_out_of_range", "HTTP/1.1", {"method": "P OST"}),
    ("option_out_of_range", "HTTP/1.1", {"status": "99"}),
    ("header_name", "HTTP/1.1", {"headers": [{"name": "A B", "value": "x"}]}),
    ("header_name", "AMQP/1.0", {"application-properties": {"größe": {"value": "x"}}}),
]


@pytest.mark.audit("services-A13")
@pytest.mark.parametrize(("code", "form", "metadata"), FORBIDDEN)
def test_values_of_definitions_are_told_by_lint_and_refused_when_writes_are_strict(
    v0_5: V05Client, tmp_path: Path, code: str, form: str, metadata: dict[str, Any]
) -> None:
    definition = {"id": "oven.hot", "format": form, "metadata": metadata}
    assert group(v0_5, form).post(DEFINITIONS, definition).status == 201
    told = v0_5.native("/-/lint?xid=/messagegroups/ovens/messages/oven.hot")["findings"]
    assert (code, "error") in {(one["code"], one["severity"]) for one in told}
    settings = Settings(write_rules="strict")
    with open_store(f"sqlite:///{tmp_path}/strict.db", rules=rules_of(settings)) as store:
        strict = group(V05Client(AsgiClient(create_app(store, settings))), form)
        refused = strict.post(DEFINITIONS, definition)
        assert refused.status == 400
        assert f"{code} of lint" in refused.json["detail"]

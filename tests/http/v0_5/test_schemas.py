"""The domain of schemas: one format, a document, versions that can read older data (S004, Schema Registry)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.v0_5.requests import BASE, JSON_SCHEMA, OTHER_SCHEMA, TEXT_SCHEMA, WIDER_SCHEMA, V05Client

SCHEMAS = "/schemaGroups/payloads/schemas"
NOTE = f"{SCHEMAS}/note"
NATIVE = "/schemagroups/payloads/schemas"
PROTO = 'syntax = "proto3"; message Metrics { float metric = 1; }'


@pytest.mark.feature("D5R-034")
def test_a_schema_needs_a_format(notes: V05Client) -> None:
    reply = notes.post(SCHEMAS, TEXT_SCHEMA, id="none")
    assert (reply.status, reply.problem) == (400, "required_attribute_missing")
    assert notes.problem("GET", f"{SCHEMAS}/none") == (404, "not_found")


@pytest.mark.feature("D5R-034")
def test_all_versions_have_the_format_of_the_schema(notes: V05Client) -> None:
    assert notes.post(NOTE, TEXT_SCHEMA, format="JsonSchema/draft-07").status == 201
    assert notes.post(NOTE, TEXT_SCHEMA, format="Avro/1.11").status == 400
    assert notes.put(f"{NOTE}/versions/1", TEXT_SCHEMA, format="JsonSchema/2020-12").problem == (
        "mismatched_version_attribute"
    )
    assert {one["format"] for one in notes.get(f"{NOTE}/versions").values()} == {"JsonSchema/draft-07"}


@pytest.mark.feature("D5R-035")
def test_a_new_version_can_read_what_all_older_ones_wrote(notes: V05Client) -> None:
    refused = notes.ask("POST", NOTE, OTHER_SCHEMA, JSON_SCHEMA)
    assert (refused.status, refused.problem) == (400, "compatibility_violation")
    assert refused.json["subject"] == NOTE
    assert notes.ask("POST", NOTE, WIDER_SCHEMA, JSON_SCHEMA).status == 201
    # The third can read the data of the second but not those of the first.
    assert notes.ask("POST", NOTE, TEXT_SCHEMA, JSON_SCHEMA).problem == "compatibility_violation"
    assert list(notes.get(f"{NOTE}/versions")) == ["1", "2"]


@pytest.mark.feature("D5R-035")
@pytest.mark.parametrize(("path", "key"), [(NOTE, "schema"), (f"{NOTE}/versions/2", "schema")])
def test_nor_can_an_update_break_with_older_versions(notes: V05Client, path: str, key: str) -> None:
    assert notes.ask("POST", NOTE, WIDER_SCHEMA, JSON_SCHEMA).status == 201
    assert notes.ask("PUT", path, OTHER_SCHEMA, JSON_SCHEMA).problem == "compatibility_violation"
    assert notes.put(f"{path}?meta", {key: OTHER_SCHEMA}).problem == "compatibility_violation"
    assert notes.ask("GET", NOTE).json == WIDER_SCHEMA


@pytest.mark.feature("D5R-035")
@pytest.mark.audit("services-A2")
def test_an_older_version_stays_one_that_later_ones_can_read(notes: V05Client) -> None:
    assert notes.ask("POST", NOTE, WIDER_SCHEMA, JSON_SCHEMA).status == 201
    lists = {"type": "object", "properties": {"note": {"type": "array"}}}
    refused = notes.ask("PUT", f"{NOTE}/versions/1", lists, JSON_SCHEMA)
    assert refused.problem == "compatibility_violation"
    assert "version 2 cannot read what version 1 describes" in refused.json["detail"]
    assert notes.ask("PUT", f"{NOTE}/versions/1", {**TEXT_SCHEMA, "title": "Note"}, JSON_SCHEMA).status == 200
    assert notes.ask("POST", NOTE, WIDER_SCHEMA, JSON_SCHEMA).status == 201


@pytest.mark.feature("D5R-035")
@pytest.mark.audit("services-A2")
def test_versions_that_come_with_their_group_are_compared(v0_5: V05Client) -> None:
    versions = {str(n + 1): {"id": str(n + 1), "schema": one} for n, one in enumerate([TEXT_SCHEMA, OTHER_SCHEMA])}
    schema = {"id": "s", "format": "JsonSchema/draft-07", "versions": versions}
    body = {"id": "broken", "schemas": {"s": schema}}
    assert v0_5.ask("POST", "/schemaGroups", body).problem == "compatibility_violation"
    assert v0_5.problem("GET", "/schemaGroups/broken") == (404, "not_found")
    versions["2"]["schema"] = WIDER_SCHEMA
    assert v0_5.ask("POST", "/schemaGroups", body).status == 201


@pytest.mark.feature("D5R-035")
@pytest.mark.audit("services-A2")
def test_a_break_that_came_another_way_leads_into_no_dead_end(notes: V05Client) -> None:
    document = {"format": "JsonSchema/draft-07", "schema": OTHER_SCHEMA}
    notes.native(f"{NATIVE}/note/versions/2$details", "PUT", document)
    assert notes.ask("POST", NOTE, OTHER_SCHEMA, JSON_SCHEMA).status == 201
    assert notes.ask("POST", NOTE, TEXT_SCHEMA, JSON_SCHEMA).problem == "compatibility_violation"


@pytest.mark.feature("D5R-035")
def test_a_breaking_change_is_a_new_schema(notes: V05Client) -> None:
    assert notes.ask("POST", SCHEMAS, OTHER_SCHEMA, {"Registry-id": "number", **JSON_SCHEMA}).status == 201


@pytest.mark.feature("D5R-035")
def test_what_cannot_be_compared_is_let_through(notes: V05Client) -> None:
    assert notes.post(SCHEMAS, b"one", id="free", format="Free/1").status == 201
    assert notes.post(f"{SCHEMAS}/free", b"two").status == 201
    assert notes.post(f"{SCHEMAS}/free", schemaURI="https://x.example/three").status == 201


@pytest.mark.feature("D5R-037")
@pytest.mark.parametrize("document", [TEXT_SCHEMA, "syntax = 3"])
def test_a_document_is_an_object_or_a_text(v0_5: V05Client, document: Any) -> None:
    v0_5.post("/schemaGroups", {"id": "payloads"})
    v0_5.post(SCHEMAS, b"old", id="note", format="Free/1")
    assert v0_5.put(f"{NOTE}?meta", {"schema": document}).status == 200
    assert v0_5.get(f"{SCHEMAS}?inline")["note"]["schema"] == document


@pytest.mark.feature("D5R-037")
@pytest.mark.parametrize(
    "body",
    [
        {"schema": TEXT_SCHEMA, "schemaurl": "https://x.example/s"},
        {"schema": TEXT_SCHEMA, "schemaURI": "https://x.example/s"},
        {"schema": TEXT_SCHEMA, "schemaBase64": "e30="},
        {"schemaurl": "https://x.example/s", "schemaURI": "https://x.example/t"},
    ],
)
def test_a_document_is_in_one_place(notes: V05Client, body: dict[str, Any]) -> None:
    assert notes.problem("PUT", f"{NOTE}?meta", body) == (400, "one_resource")


@pytest.mark.feature("D5R-037")
def test_a_new_schema_without_a_document(notes: V05Client) -> None:
    reply = notes.post(SCHEMAS, id="empty", format="Free/1")
    assert (reply.status, reply.problem) == (400, "required_attribute_missing")
    assert "schemaurl" in reply.json["title"]


@pytest.mark.feature("D5R-037")
@pytest.mark.parametrize(
    "uri",
    [
        "#/schemaGroups/payloads/schemas/note",
        "/schemaGroups/payloads",
        f"{BASE}{NOTE}",
        "http://ovens.localhost/x",
        "note.json",
    ],
)
def test_a_document_elsewhere_is_outside_of_the_registry(notes: V05Client, uri: str) -> None:
    assert notes.post(SCHEMAS, id="far", format="Free/1", schemaURI=uri).problem == "invalid_attribute"
    assert notes.put(f"{NOTE}?meta", {"schemaurl": uri}).problem == "invalid_attribute"


@pytest.mark.audit("services-A20")
@pytest.mark.feature("D5R-037")
@pytest.mark.parametrize("uri", ["#/schemaGroups/payloads/schemas/note", f"{BASE}{NOTE}", "note.json"])
@pytest.mark.parametrize("name", ["schemaurl", "schemaURI"])
def test_nor_does_an_embedded_schema_lead_into_the_same_registry(v0_5: V05Client, name: str, uri: str) -> None:
    for schema in ({name: uri}, {"versions": {"1": {"id": "1", name: uri}}}):
        group = {"id": "payloads", "schemas": {"far": {"id": "far", "format": "Free/1", **schema}}}
        refused = v0_5.post("/schemaGroups", group)
        assert (refused.problem, refused.json["args"]["name"]) == ("invalid_attribute", name)
        assert v0_5.ask("GET", "/schemaGroups/payloads").status == 404


@pytest.mark.feature("D5R-037")
def test_both_names_of_the_address(notes: V05Client) -> None:
    uri = "https://x.example/s"
    found = notes.put(f"{NOTE}?meta", {"schemaurl": uri}).json
    assert (found["schemaurl"], found["schemaURI"]) == (uri, uri)
    assert notes.put(f"{NOTE}?meta", found).status == 200
    assert notes.put(f"{NOTE}?meta", found).problem == "mismatched_epoch"
    assert notes.native(f"{NATIVE}/note$details")["schemaurl"] == uri


@pytest.mark.feature("D5R-034", "D5R-037", "D5R-047")
def test_a_group_can_come_with_its_schemas(v0_5: V05Client) -> None:
    versions = {f"{n}.0": {"type": "schemaversion", "id": f"{n}.0", "schema": PROTO} for n in (1, 2)}
    schema = {"id": "telemetry", "description": "device telemetry", "format": "Protobuf/3", "versions": versions}
    group = {"type": "schemagroup", "id": "payloads", "schemas": {"telemetry": schema}}
    assert v0_5.post("/schemaGroups", group).status == 201
    found = v0_5.get("/?inline")["schemaGroups"]["payloads"]
    assert found["type"] == "schemagroup"
    assert found["schemas"]["telemetry"]["version"] == "2.0"
    assert [(one["schema"], one["type"]) for one in found["schemas"]["telemetry"]["versions"].values()] == [
        (PROTO, "schemaversion")
    ] * 2
    assert v0_5.post(f"{SCHEMAS}/telemetry", PROTO.encode()).headers["registry-version"] == "3.0"

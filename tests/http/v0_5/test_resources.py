"""Resources: attributes in headers, the entity in the body, metadata on their own (S004, Managing Resources)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.v0_5.requests import BASE, EVENT, JSON_SCHEMA, TEXT_SCHEMA, V05Client, registry_headers

DEFINITIONS = "/definitionGroups/ovens/definitions"
HOT = f"{DEFINITIONS}/oven.hot"
SCHEMAS = "/schemaGroups/payloads/schemas"
NOTE = f"{SCHEMAS}/note"
ELSEWHERE = "https://schemas.example/notes/note%201.json?v=1"


@pytest.mark.feature("D5R-020")
def test_resources_are_a_map_of_metadata(ovens: V05Client) -> None:
    definition = ovens.get(DEFINITIONS)["oven.hot"]
    assert definition == ovens.get(f"{HOT}?meta")
    known = {"id": "oven.hot", "name": "oven.hot", "version": 1, "epoch": 1, "format": "CloudEvents/1.0"}
    assert {**known, "self": f"{BASE}{HOT}/versions/1"}.items() <= definition.items()
    assert not {"metadata", "definition"} & definition.keys()


XSD = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="note" type="xs:string"/></xs:schema>'
INLINED: list[tuple[str, bytes, dict[str, Any]]] = [
    ("application/json", b'{"type": "object"}', {"schema": {"type": "object"}}),
    ("application/schema+json", b"true", {"schema": True}),
    ("application/json", b'"int"', {"schema": '"int"'}),
    ("application/json", b"{broken", {"schema": "{broken"}),
    ("text/plain", b'syntax = "proto3";', {"schema": 'syntax = "proto3";'}),
    ("text/plain", b'{"type": "object"}', {"schema": '{"type": "object"}'}),
    ("application/xml", XSD.encode(), {"schema": XSD}),
    ("text/plain; charset=utf-8", "größe".encode(), {"schema": "größe"}),
    ("image/png", b"\x89PNG", {"schemaBase64": "iVBORw=="}),
    ("text/plain", b"a\x00b", {"schemaBase64": "YQBi"}),
]


@pytest.mark.audit("services-A6")
@pytest.mark.feature("D5R-020")
@pytest.mark.parametrize(("contenttype", "content", "shown"), INLINED)
def test_inline_shows_json_as_json_text_as_a_string_and_anything_else_as_base64(
    v0_5: V05Client, contenttype: str, content: bytes, shown: dict[str, Any]
) -> None:
    v0_5.post("/schemaGroups", {"id": "payloads"})
    headers = {"Registry-id": "note", "Registry-format": "Note/1", "Content-Type": contenttype}
    assert v0_5.ask("POST", SCHEMAS, content, headers).status == 201
    found = v0_5.get("/schemaGroups?inline")["payloads"]["schemas"]["note"]
    assert {name: one for name, one in found.items() if name.startswith("schema")} == shown
    copied = {"id": "copies", "schemas": {"note": {"id": "note", "format": "Note/1", "versions": {"1": shown}}}}
    assert v0_5.post("/schemaGroups", copied).status == 201
    again = v0_5.ask("GET", "/schemaGroups/copies/schemas/note")
    assert again.body == content if "schema" not in shown or isinstance(shown["schema"], str) else again.json


@pytest.mark.feature("D5R-020", "D5R-022", "D5R-030")
def test_a_resource_elsewhere(notes: V05Client) -> None:
    made = notes.post(SCHEMAS, id="far", format="JsonSchema/draft-07", schemaURI=ELSEWHERE)
    assert (made.status, made.headers["registry-schemauri"], made.body) == (201, ELSEWHERE, b"")
    assert notes.get(f"{SCHEMAS}?inline")["far"]["schemaURI"] == ELSEWHERE
    for path in (f"{SCHEMAS}/far", f"{SCHEMAS}/far/versions/1"):
        reply = notes.ask("GET", path)
        assert (reply.status, reply.headers["location"], reply.body) == (307, ELSEWHERE, b"")
        assert reply.headers["registry-schemauri"] == ELSEWHERE
        assert reply.headers["content-location"] == f"{BASE}{SCHEMAS}/far/versions/1"


@pytest.mark.feature("D5R-022")
def test_a_definition_elsewhere(ovens: V05Client) -> None:
    uri = "https://definitions.example/oven.cold"
    assert ovens.post(DEFINITIONS, id="oven.cold", definitionURI=uri).status == 201
    reply = ovens.ask("GET", f"{DEFINITIONS}/oven.cold")
    assert (reply.status, reply.headers["location"], reply.body) == (307, uri, b"")
    assert ovens.put(f"{DEFINITIONS}/oven.cold", b"", name="Cold").headers["registry-definitionuri"] == uri
    assert ovens.post(f"{DEFINITIONS}/oven.cold").headers["registry-definitionuri"] == uri
    assert ovens.post(f"{DEFINITIONS}/oven.cold", EVENT).status == 201
    assert ovens.ask("GET", f"{DEFINITIONS}/oven.cold").json["metadata"] == EVENT["metadata"]
    assert ovens.put(f"{DEFINITIONS}/oven.cold", definitionURI=uri).status == 200
    assert ovens.put(f"{DEFINITIONS}/oven.cold", EVENT).status == 200
    assert ovens.ask("GET", f"{DEFINITIONS}/oven.cold").status == 200


@pytest.mark.feature("D5R-021")
def test_a_new_resource(ovens: V05Client) -> None:
    reply = ovens.post(DEFINITIONS, EVENT, name="Oven is cold", type="definition", description="100 %25 %E2%98%83")
    headers = registry_headers(reply)
    assert reply.status == 201
    assert reply.headers["location"] == f"{BASE}{DEFINITIONS}/{headers['id']}"
    assert reply.headers["content-location"] == headers["self"] == f"{reply.headers['location']}/versions/1"
    assert (headers["name"], headers["type"], headers["version"]) == ("Oven is cold", "definition", "1")
    assert headers["description"] == "100 %25 %E2%98%83"
    assert reply.json["description"] == "100 % ☃"
    assert reply.json["metadata"] == EVENT["metadata"]


@pytest.mark.feature("D5R-021")
@pytest.mark.parametrize(
    ("body", "headers", "refused"),
    [
        (EVENT, {"Registry-definitionURI": "https://x.example/d"}, (400, "extra_xregistry_header")),
        (b"", {"Registry-definitionURI": "elsewhere"}, (400, "invalid_attribute")),
        (EVENT, {"Registry-id": "oven.hot"}, (409, "bad_request")),
        ({"id": "a", **EVENT}, {"Registry-id": "b"}, (400, "bad_request")),
        (EVENT, {"Registry-version": "3"}, (400, "header_error")),
        (EVENT, {"Registry-id": "no/way"}, (400, "malformed_id")),
        ([], {}, (400, "bad_request")),
        (b"{", {}, (400, "parsing_data")),
    ],
)
def test_new_resources_that_cannot_be(
    ovens: V05Client, body: Any, headers: dict[str, str], refused: tuple[int, str]
) -> None:
    assert ovens.problem("POST", DEFINITIONS, body, headers) == refused
    assert list(ovens.get(DEFINITIONS)) == ["oven.hot"]


@pytest.mark.feature("D5R-022", "D5R-010")
def test_a_resource_is_its_latest_version(notes: V05Client) -> None:
    reply = notes.ask("GET", NOTE)
    assert (reply.status, reply.json) == (200, TEXT_SCHEMA)
    assert reply.headers["content-type"] == "application/json"
    headers = registry_headers(reply)
    assert headers["self"] == reply.headers["content-location"] == f"{BASE}{NOTE}/versions/1"
    known = {"id": "note", "name": "note", "version": "1", "epoch": "1", "format": "JsonSchema/draft-07"}
    assert known.items() <= headers.items()


@pytest.mark.feature("D5R-023")
def test_metadata_alone(notes: V05Client) -> None:
    found = notes.get(f"{NOTE}?meta")
    assert {"id": "note", "name": "note", "version": 1, "epoch": 1, "self": f"{BASE}{NOTE}/versions/1"}.items() <= (
        found.items()
    )
    assert not {"schema", "schemaBase64", "ancestorid", "formatvalidated", "contenttype"} & found.keys()


@pytest.mark.feature("D5R-024")
def test_a_header_that_is_missing_leaves_and_one_that_is_empty_deletes(notes: V05Client) -> None:
    notes.put(NOTE, TEXT_SCHEMA, name="A note", description="d", createdBy="me", tags__Owner="Ann", tags__x="y")
    given = {"Registry-description": "", "Registry-self": "https://nobody.example", "Registry-tags.x": ""}
    reply = notes.ask("PUT", NOTE, TEXT_SCHEMA, given)
    headers = registry_headers(reply)
    assert (headers["name"], headers["createdby"], headers["version"]) == ("A note", "me", "1")
    assert "description" not in headers
    assert headers["self"] == f"{BASE}{NOTE}/versions/1"
    assert notes.get(f"{NOTE}?meta")["tags"] == {"owner": "Ann"}
    assert "tags" not in registry_headers(notes.put(NOTE, TEXT_SCHEMA, tags=""))


@pytest.mark.feature("D5R-024", "D5R-009")
def test_what_an_update_names_has_to_be_so(notes: V05Client) -> None:
    reply = notes.put(f"{NOTE}?epoch=1", TEXT_SCHEMA, id="note", version="1", epoch="1")
    assert (reply.status, reply.headers["registry-epoch"]) == (200, "2")
    for header, value in (("id", "other"), ("version", "2"), ("version", "x"), ("epoch", "1"), ("epoch", "x")):
        assert notes.put(NOTE, TEXT_SCHEMA, **{header: value}).status == 400
    assert notes.put(f"{NOTE}?epoch=1", TEXT_SCHEMA, epoch="2").problem == "mismatched_epoch"


@pytest.mark.feature("D5R-024")
def test_an_empty_body_erases_the_content(ovens: V05Client) -> None:
    assert "schemaformat" in ovens.put(HOT, {**EVENT, "name": "Hot", "schemaformat": "Avro/1.11"}).json
    reply = ovens.put(HOT)
    assert reply.json["metadata"] == {"attributes": {}}
    assert "schemaformat" not in reply.json
    assert reply.headers["registry-name"] == "Hot"


@pytest.mark.feature("D5R-024")
def test_an_empty_body_erases_a_document(notes: V05Client) -> None:
    assert notes.post(SCHEMAS, b"whatever", id="free", format="Free/1").status == 201
    assert notes.put(f"{SCHEMAS}/free").body == b""
    assert notes.ask("GET", f"{SCHEMAS}/free").body == b""
    # An empty text is no JSON Schema, and the registry keeps none that is not.
    assert notes.put(NOTE).problem == "format_violation"


@pytest.mark.feature("D5R-025")
def test_what_header_and_body_share_is_the_same(ovens: V05Client) -> None:
    reply = ovens.put(HOT, {**EVENT, "name": "From the body"}, name="From the body")
    assert reply.headers["registry-name"] == reply.json["name"] == "From the body"
    reply = ovens.put(HOT, {**EVENT, "name": "Only in the body"})
    assert reply.headers["registry-name"] == reply.json["name"] == "Only in the body"
    reply = ovens.put(HOT, EVENT, name="Only in the header")
    assert reply.headers["registry-name"] == reply.json["name"] == "Only in the header"


@pytest.mark.feature("D5R-025")
@pytest.mark.parametrize(("header", "value"), [("name", "another"), ("name", ""), ("format", "AMQP/1.0")])
def test_header_and_body_that_disagree(ovens: V05Client, header: str, value: str) -> None:
    reply = ovens.put(HOT, {**EVENT, "name": "one"}, **{header: value})
    assert (reply.status, reply.problem) == (400, "bad_request")
    assert f"Registry-{header}" in reply.json["title"]
    assert ovens.get(f"{HOT}?meta")["name"] == "oven.hot"


@pytest.mark.feature("D5R-025")
def test_a_schema_shares_nothing_with_the_registry(notes: V05Client) -> None:
    named = {"type": "record", "name": "Note", "fields": []}
    reply = notes.post(SCHEMAS, named, id="avro", format="Avro/1.11", name="A note")
    assert (reply.status, reply.headers["registry-name"], reply.json) == (201, "A note", named)


@pytest.mark.feature("D5R-026")
def test_metadata_change_without_a_new_version(notes: V05Client) -> None:
    before = notes.get(f"{NOTE}?meta")
    body = {"id": "note", "name": "Note", "version": 1, "epoch": 1, "self": "https://nobody.example", "docs": "a/b"}
    reply = notes.put(f"{NOTE}?meta&epoch=1", body)
    assert reply.status == 200
    assert reply.json == {
        **before,
        "name": "Note",
        "docs": "a/b",
        "epoch": 2,
        "modifiedOn": reply.json["modifiedOn"],
    }
    assert notes.ask("GET", NOTE).json == TEXT_SCHEMA
    assert "docs" not in notes.put(f"{NOTE}?meta", {"name": "Note"}).json


@pytest.mark.feature("D5R-026")
def test_metadata_of_a_definition_leave_its_content(ovens: V05Client) -> None:
    reply = ovens.put(f"{HOT}?meta", {"name": "Hot"})
    assert (reply.status, reply.json["name"], reply.json["version"]) == (200, "Hot", 1)
    assert ovens.get(HOT)["metadata"] == EVENT["metadata"]


@pytest.mark.feature("D5R-026")
@pytest.mark.parametrize(
    ("query", "body", "problem"),
    [
        ("", {"id": "other"}, "mismatched_id"),
        ("", {"version": 2}, "mismatched_id"),
        ("", {"version": True}, "mismatched_id"),
        ("", {"epoch": 7}, "mismatched_epoch"),
        ("&epoch=7", {}, "mismatched_epoch"),
        ("", {"name": 7}, "invalid_attribute"),
        ("", {"schemaURI": 7}, "invalid_attribute"),
        ("", [], "bad_request"),
        ("", b"", "missing_body"),
        ("", b"nonsense", "parsing_data"),
    ],
)
def test_metadata_that_are_refused(notes: V05Client, query: str, body: Any, problem: str) -> None:
    assert notes.problem("PUT", f"{NOTE}?meta{query}", body) == (400, problem)


@pytest.mark.feature("D5R-026")
def test_metadata_say_where_a_resource_is(notes: V05Client) -> None:
    assert notes.put(f"{NOTE}?meta", {"schemaURI": ELSEWHERE}).json["schemaURI"] == ELSEWHERE
    assert notes.put(f"{NOTE}?meta", {"name": "Far"}).json["schemaURI"] == ELSEWHERE
    assert notes.ask("GET", NOTE).status == 307
    assert notes.put(f"{NOTE}?meta", {"schema": TEXT_SCHEMA, "schemaURI": None}).status == 200
    assert notes.ask("GET", NOTE).json == TEXT_SCHEMA


@pytest.mark.audit("services-A1")
@pytest.mark.feature("D5R-024")
def test_an_extension_of_a_definition_stays_until_its_header_is_empty(ovens: V05Client) -> None:
    made = ovens.post(DEFINITIONS, {"id": "oven.cold", "maxAge": 3, **EVENT}, acme="1")
    cold = f"{DEFINITIONS}/oven.cold"
    assert (made.headers["registry-acme"], made.headers["registry-maxage"]) == ("1", "3")
    changed = ovens.put(cold, EVENT, name="Cold")
    assert (changed.headers["registry-name"], changed.headers["registry-acme"]) == ("Cold", "1")
    assert (changed.json["acme"], changed.json["maxAge"]) == ("1", 3)
    meta = ovens.get(f"{cold}?meta")
    assert (meta["acme"], meta["maxAge"]) == ("1", 3)
    again = ovens.put(cold, EVENT, maxAge="4", acme="")
    assert (again.json["maxAge"], "acme" in again.json) == (4, False)
    assert ovens.problem("PUT", cold, {**EVENT, "maxAge": 5}, {"Registry-maxAge": "6"}) == (400, "bad_request")
    ovens.put(f"{cold}?meta", {"name": "Cold"})
    assert "maxAge" not in ovens.get(cold)


@pytest.mark.audit("services-A19")
@pytest.mark.feature("D5R-026")
@pytest.mark.parametrize("name", ["metadata", "definition", "schema", "schemaurl", "uri"])
def test_metadata_do_not_write_content(ovens: V05Client, name: str) -> None:
    reply = ovens.put(f"{HOT}?meta", {"name": "Hot", name: {}})
    assert (reply.status, reply.problem, reply.json["args"]["name"]) == (400, "invalid_attribute", name)
    assert "PUT without ?meta" in reply.json["title"]
    assert ovens.put(f"{HOT}?meta", {"name": "Hot", "metadata": EVENT["metadata"]}).status == 200


@pytest.mark.audit("services-A19")
@pytest.mark.parametrize("method", ["DELETE", "POST"])
def test_metadata_are_not_deleted_without_their_resource(ovens: V05Client, method: str) -> None:
    reply = ovens.ask(method, f"{HOT}?meta", EVENT if method == "POST" else b"")
    assert (reply.status, reply.headers["allow"]) == (405, "GET, HEAD, OPTIONS, PUT")
    assert ovens.ask("GET", HOT).status == 200


@pytest.mark.feature("D5R-027")
def test_deleting_a_resource_shows_what_it_was(notes: V05Client) -> None:
    assert notes.problem("DELETE", f"{NOTE}?epoch=2") == (400, "mismatched_epoch")
    reply = notes.delete(f"{NOTE}?epoch=1")
    assert (reply.status, reply.json, reply.headers["registry-id"]) == (200, TEXT_SCHEMA, "note")
    assert notes.problem("GET", NOTE) == (404, "not_found")


@pytest.mark.feature("D5R-027")
def test_deleting_several_resources_is_all_or_nothing(ovens: V05Client) -> None:
    for one in ("oven.cold", "oven.warm"):
        ovens.post(DEFINITIONS, {"id": one, **EVENT})
    wrong = [{"id": "oven.hot"}, {"id": "oven.cold", "epoch": 9}]
    assert ovens.problem("DELETE", DEFINITIONS, wrong) == (400, "mismatched_epoch")
    assert ovens.problem("DELETE", DEFINITIONS, [{"id": "oven.hot"}, {"id": "nowhere"}]) == (404, "not_found")
    assert len(ovens.get(DEFINITIONS)) == 3
    reply = ovens.delete(DEFINITIONS, [{"id": "oven.hot"}, {"id": "oven.cold", "epoch": 1}])
    assert (reply.status, list(reply.json)) == (200, ["oven.hot", "oven.cold"])
    assert list(ovens.delete(DEFINITIONS).json) == ["oven.warm"]
    assert ovens.get(DEFINITIONS) == {}


@pytest.mark.feature("D5R-014", "D5R-020")
def test_pages_of_resources(ovens: V05Client) -> None:
    ovens.post(DEFINITIONS, {"id": "oven.cold", **EVENT})
    reply = ovens.ask("GET", f"{DEFINITIONS}?limit=1")
    assert list(reply.json) == ["oven.cold"]
    link = reply.headers["link"].rpartition("<")[2]
    assert link.endswith(">;rel=next;count=2")
    assert list(ovens.get(link.partition(">")[0].removeprefix(BASE))) == ["oven.hot"]


def test_a_type_of_ones_own_has_attributes_of_its_types(v0_5: V05Client) -> None:
    recipe = {"singular": "recipe", "attributes": {"portions": {"type": "integer"}, "*": {"type": "any"}}}
    model = {"groups": {"bakeries": {"singular": "bakery", "resources": {"recipes": recipe}}}}
    v0_5.native("/modelsource", "PUT", model)
    v0_5.post("/bakeries", {"id": "north"})
    assert v0_5.post("/bakeries/north/recipes", b"flour", id="bread", portions="4").status == 201
    assert v0_5.native("/bakeries/north/recipes/bread$details")["portions"] == 4
    assert v0_5.put("/bakeries/north/recipes/bread", b"rye", portions="many").problem == "invalid_attribute"


def test_json_schema_headers_are_shown(notes: V05Client) -> None:
    assert JSON_SCHEMA["Registry-format"] == notes.ask("HEAD", NOTE).headers["registry-format"]
    assert notes.ask("HEAD", NOTE).body == b""

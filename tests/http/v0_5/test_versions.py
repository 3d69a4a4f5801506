"""Versions: numbers that rise, the largest of which is the Resource (S004, Managing versions of a Resource)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.v0_5.requests import BASE, EVENT, TEXT_SCHEMA, WIDER_SCHEMA, V05Client, registry_headers

SCHEMAS = "/schemaGroups/payloads/schemas"
NOTE = f"{SCHEMAS}/note"


@pytest.fixture
def three(notes: V05Client) -> V05Client:
    for _ in range(2):
        assert notes.post(NOTE, TEXT_SCHEMA, Content_Type="application/json").status == 201
    return notes


@pytest.mark.feature("D5R-008", "D5R-028")
def test_versions_are_numbers(three: V05Client) -> None:
    found = three.get(f"{NOTE}/versions")
    assert [(key, one["version"], one["id"]) for key, one in found.items()] == [
        ("1", 1, "note"),
        ("2", 2, "note"),
        ("3", 3, "note"),
    ]
    assert found["2"] == three.get(f"{NOTE}/versions/2?meta")
    assert found["2"]["self"] == f"{BASE}{NOTE}/versions/2"


@pytest.mark.feature("D5R-028")
def test_versions_with_their_documents(three: V05Client) -> None:
    assert three.get(f"{NOTE}/versions?inline")["2"]["schema"] == TEXT_SCHEMA
    assert "schema" not in three.get(f"{NOTE}/versions")["2"]


@pytest.mark.feature("D5R-014", "D5R-028")
def test_pages_of_versions(three: V05Client) -> None:
    reply = three.ask("GET", f"{NOTE}/versions?limit=2")
    assert list(reply.json) == ["1", "2"]
    assert ";rel=next;count=3" in reply.headers["link"]


@pytest.mark.feature("D5R-029", "D5R-009")
def test_a_new_version_takes_over_what_it_does_not_say(notes: V05Client) -> None:
    notes.put(NOTE, TEXT_SCHEMA, name="A note", description="d", createdBy="me")
    assert notes.get(f"{NOTE}?meta")["epoch"] == 2
    reply = notes.post(f"{NOTE}?epoch=2", WIDER_SCHEMA, id="note", epoch="2", description="", modifiedBy="you")
    headers = registry_headers(reply)
    assert (reply.status, reply.json) == (201, WIDER_SCHEMA)
    assert reply.headers["location"] == f"{BASE}{NOTE}"
    assert reply.headers["content-location"] == headers["self"] == f"{BASE}{NOTE}/versions/2"
    assert (headers["version"], headers["epoch"], headers["name"]) == ("2", "1", "A note")
    assert (headers["createdby"], headers["modifiedby"]) == ("me", "you")
    assert "description" not in headers
    assert notes.get(f"{NOTE}/versions/1?meta")["description"] == "d"


@pytest.mark.feature("D5R-029", "D5R-003")
def test_a_new_version_of_a_definition_takes_the_place_of_the_old_one(ovens: V05Client) -> None:
    hot = "/definitionGroups/ovens/definitions/oven.hot"
    ovens.put(f"{hot}?meta", {"name": "Hot"})
    reply = ovens.post(hot, {**EVENT, "priority": 1})
    assert (reply.status, reply.headers["registry-version"], reply.headers["registry-name"]) == (201, "2", "Hot")
    assert list(ovens.get(f"{hot}/versions")) == ["2"]
    assert ovens.problem("GET", f"{hot}/versions/1") == (404, "not_found")


@pytest.mark.feature("D5R-029")
@pytest.mark.parametrize(
    ("query", "headers", "problem"),
    [
        ("", {"Registry-version": "2"}, "header_error"),
        ("", {"Registry-version": "1"}, "header_error"),
        ("", {"Registry-id": "other"}, "mismatched_id"),
        ("", {"Registry-epoch": "9"}, "mismatched_epoch"),
        ("?epoch=9", {}, "mismatched_epoch"),
        ("", {"Registry-schemaURI": "https://x.example/s"}, "extra_xregistry_header"),
    ],
)
def test_new_versions_that_cannot_be(notes: V05Client, query: str, headers: dict[str, str], problem: str) -> None:
    assert notes.problem("POST", NOTE + query, TEXT_SCHEMA, headers) == (400, problem)
    assert list(notes.get(f"{NOTE}/versions")) == ["1"]


@pytest.mark.feature("D5R-029")
def test_a_new_version_is_where_the_latest_is(notes: V05Client) -> None:
    uri = "https://x.example/s"
    notes.put(NOTE, schemaURI=uri)
    assert notes.post(NOTE, name="Two").headers["registry-schemauri"] == uri
    assert notes.post(NOTE, schemaurl="https://x.example/t").headers["registry-schemauri"] == "https://x.example/t"
    assert notes.post(NOTE, TEXT_SCHEMA).json == TEXT_SCHEMA
    assert notes.post(NOTE).problem == "required_attribute_missing"


@pytest.mark.feature("D5R-030")
def test_one_version(three: V05Client) -> None:
    reply = three.ask("GET", f"{NOTE}/versions/2")
    assert (reply.status, reply.json, reply.headers["registry-version"]) == (200, TEXT_SCHEMA, "2")
    assert reply.headers["content-location"] == f"{BASE}{NOTE}/versions/2"
    assert three.problem("GET", f"{NOTE}/versions/9") == (404, "not_found")


@pytest.mark.feature("D5R-031")
def test_updating_one_version(three: V05Client) -> None:
    reply = three.put(f"{NOTE}/versions/2?epoch=1", TEXT_SCHEMA, name="Second", version="2", epoch="1")
    assert (reply.status, reply.headers["registry-epoch"]) == (200, "2")
    assert three.get(f"{NOTE}/versions/2?meta")["name"] == "Second"
    assert three.get(f"{NOTE}?meta")["name"] == "note"
    assert three.put(f"{NOTE}/versions/2", TEXT_SCHEMA, version="3").problem == "mismatched_id"
    assert three.put(f"{NOTE}/versions/9", TEXT_SCHEMA).problem == "not_found"


@pytest.mark.feature("D5R-031")
def test_updating_the_metadata_of_one_version(three: V05Client) -> None:
    reply = three.put(f"{NOTE}/versions/2?meta&epoch=1", {"name": "Second", "version": 2})
    assert (reply.status, reply.json["name"], reply.json["epoch"], reply.json["version"]) == (200, "Second", 2, 2)
    assert three.put(f"{NOTE}/versions/2?meta&epoch=1", {"name": "x"}).problem == "mismatched_epoch"
    assert three.ask("GET", f"{NOTE}/versions/2").json == TEXT_SCHEMA


@pytest.mark.feature("D5R-032")
def test_without_the_latest_the_largest_is_the_latest(three: V05Client) -> None:
    assert three.problem("DELETE", f"{NOTE}/versions/3?epoch=7") == (400, "mismatched_epoch")
    reply = three.delete(f"{NOTE}/versions/3?epoch=1")
    assert (reply.status, reply.headers["registry-version"], reply.json) == (200, "3", TEXT_SCHEMA)
    assert three.get(f"{NOTE}?meta")["version"] == 2
    three.delete(f"{NOTE}/versions/1")
    assert three.get(f"{NOTE}?meta")["version"] == 2
    assert three.problem("DELETE", f"{NOTE}/versions/2") == (400, "missing_versions")
    assert three.post(NOTE, TEXT_SCHEMA).headers["registry-version"] == "4"


@pytest.mark.feature("D5R-033")
def test_deleting_some_versions(three: V05Client) -> None:
    reply = three.delete(f"{NOTE}/versions", [{"id": "note", "version": 3, "epoch": 1}, {"id": "note", "version": 1}])
    assert (reply.status, list(reply.json)) == (200, ["3", "1"])
    assert list(three.get(f"{NOTE}/versions")) == ["2"]
    assert three.get(f"{NOTE}?meta")["version"] == 2


@pytest.mark.feature("D5R-033")
@pytest.mark.parametrize(
    ("listed", "refused"),
    [
        ([{"id": "note", "version": one} for one in (1, 2, 3)], (400, "missing_versions")),
        ([{"id": "note", "version": 1}, {"id": "other", "version": 2}], (400, "mismatched_id")),
        ([{"id": "note", "version": 1}, {"id": "note", "version": 9}], (404, "not_found")),
        ([{"id": "note", "version": 1}, {"id": "note", "version": 2, "epoch": 9}], (400, "mismatched_epoch")),
        ([{"id": "note", "version": 1}, {"id": "note"}], (400, "bad_request")),
        ([{"id": "note", "version": 1.5}], (400, "mismatched_id")),
        ({"1": {}}, (400, "bad_request")),
    ],
)
def test_deleting_versions_is_all_or_nothing(three: V05Client, listed: Any, refused: tuple[int, str]) -> None:
    assert three.problem("DELETE", f"{NOTE}/versions", listed) == refused
    assert list(three.get(f"{NOTE}/versions")) == ["1", "2", "3"]


@pytest.mark.feature("D5R-033")
def test_deleting_all_versions_but_the_latest(three: V05Client) -> None:
    assert list(three.delete(f"{NOTE}/versions").json) == ["1", "2"]
    assert list(three.get(f"{NOTE}/versions")) == ["3"]
    # One that is left is all of them: a list that names it is refused, no list means nothing to do.
    assert three.problem("DELETE", f"{NOTE}/versions", [{"version": 3}]) == (400, "missing_versions")
    assert three.delete(f"{NOTE}/versions").json == {}


@pytest.mark.feature("D5R-036", "D5R-008")
@pytest.mark.parametrize(
    ("ids", "latest", "following"),
    [
        (["9", "10"], 10, "11"),
        (["1.0", "10.0", "9.0"], "10.0", "11.0"),
        (["a", "b"], "b", "10"),
        (["2", "1.5"], "1.5", "2.0"),
        (["007"], "007", "008"),
        (["99.1"], "99.1", "100.0"),
    ],
)
def test_the_latest_version_is_the_largest_when_padded(
    v0_5: V05Client, ids: list[str], latest: Any, following: str
) -> None:
    versions = {one: {"format": "Free/1", "schema": one} for one in ids}
    v0_5.native("/schemagroups/payloads/schemas/note/versions", "POST", versions)
    assert v0_5.get(f"{NOTE}?meta")["version"] == latest
    assert v0_5.post(NOTE, b"new").headers["registry-version"] == following
    assert v0_5.ask("GET", NOTE).body == b"new"


@pytest.mark.feature("D5R-036")
def test_the_default_version_of_1_0_is_another_matter(three: V05Client) -> None:
    three.native("/schemagroups/payloads/schemas/note/meta", "PATCH", {"defaultversionid": "1"})
    assert three.get(f"{NOTE}?meta")["version"] == 3
    assert three.put(NOTE, TEXT_SCHEMA, name="Third").headers["registry-version"] == "3"
    assert "name" not in three.native("/schemagroups/payloads/schemas/note$details")

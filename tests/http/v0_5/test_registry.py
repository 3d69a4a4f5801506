"""The registry, its model, and the attributes that all entities have (S004, Attributes and Extensions)."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.http.xregistry import read
from tests.http.v0_5.requests import BASE, V05Client

OWN_MODEL = {
    "groups": {
        "bakeries": {
            "singular": "bakery",
            "resources": {
                "recipes": {
                    "singular": "recipe",
                    "maxversions": 3,
                    "attributes": {"portions": {"type": "integer"}, "*": {"type": "any"}},
                }
            },
        }
    }
}


@pytest.mark.feature("D5R-001")
@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/?model",
        "/definitionGroups",
        "/definitionGroups/ovens",
        "/definitionGroups/ovens/definitions",
        "/definitionGroups/ovens/definitions/oven.hot",
        "/definitionGroups/ovens/definitions/oven.hot?meta",
        "/definitionGroups/ovens/definitions/oven.hot/versions",
        "/definitionGroups/ovens/definitions/oven.hot/versions/1",
        "/definitionGroups/ovens/definitions/oven.hot/versions/1?meta",
    ],
)
def test_every_path_is_below_one_prefix(ovens: V05Client, path: str) -> None:
    assert ovens.ask("GET", path).status == 200
    assert ovens.asgi.ask("GET", f"/-/v0.5{path}").status == 200


@pytest.mark.feature("D5R-001")
def test_the_older_word_for_versions_leads_to_the_newer_one(ovens: V05Client) -> None:
    resource = "/definitionGroups/ovens/definitions/oven.hot"
    reply = ovens.ask("GET", f"{resource}/version/1?meta=")
    assert (reply.status, reply.headers["location"]) == (308, f"{BASE}{resource}/versions/1?meta=")


@pytest.mark.audit("services-A22")
@pytest.mark.feature("D5R-002", "D5R-034", "D5R-038")
def test_the_model_names_the_types_of_0_5(v0_5: V05Client) -> None:
    definitions = {"singular": "definition", "plural": "definitions", "versions": 0, "mutable": True}
    schemas = {"singular": "schema", "plural": "schemas", "versions": -1, "mutable": True}
    assert v0_5.get("/?model") == {
        "groups": [
            {"singular": "schemaGroup", "plural": "schemaGroups", "resources": [schemas]},
            {"singular": "definitionGroup", "plural": "definitionGroups", "resources": [definitions]},
            {"singular": "endpoint", "plural": "endpoints", "resources": [definitions]},
        ]
    }


@pytest.mark.feature("D5R-002", "D5R-003")
def test_a_model_of_ones_own_keeps_its_names(v0_5: V05Client) -> None:
    v0_5.native("/modelsource", "PUT", OWN_MODEL)
    recipes = {"singular": "recipe", "plural": "recipes", "versions": 2, "mutable": True}
    assert v0_5.get("/?model")["groups"] == [{"singular": "bakery", "plural": "bakeries", "resources": [recipes]}]


@pytest.mark.feature("D5R-003")
def test_old_versions_go_oldest_first(v0_5: V05Client) -> None:
    v0_5.native("/modelsource", "PUT", OWN_MODEL)
    v0_5.post("/bakeries", {"id": "north"})
    v0_5.post("/bakeries/north/recipes", b"flour", id="bread")
    for text in (b"rye", b"spelt", b"oats"):
        assert v0_5.post("/bakeries/north/recipes/bread", text).status == 201
    assert list(v0_5.get("/bakeries/north/recipes/bread/versions")) == ["2", "3", "4"]


@pytest.mark.feature("D5R-004", "D5R-006")
def test_the_registry_counts_its_groups_and_says_where_they_are(ovens: V05Client) -> None:
    attributes = {
        "name": "Kitchen",
        "description": "Ovens",
        "documentation": "https://x.example/d",
        "labels": {"a": ""},
    }
    registry = ovens.native("/", "PATCH", attributes)
    assert ovens.get("/") == {
        "id": registry["registryid"],
        "specVersion": "0.5-wip",
        "self": f"{BASE}/",
        "name": "Kitchen",
        "description": "Ovens",
        "docs": "https://x.example/d",
        "tags": {"a": ""},
        "createdOn": registry["createdat"],
        "modifiedOn": registry["modifiedat"],
        "schemaGroupsURL": f"{BASE}/schemaGroups",
        "schemaGroupsCount": 0,
        "definitionGroupsURL": f"{BASE}/definitionGroups",
        "definitionGroupsCount": 1,
        "endpointsURL": f"{BASE}/endpoints",
        "endpointsCount": 0,
    }


@pytest.mark.feature("D5R-005")
def test_the_whole_registry_in_one_document(ovens: V05Client, notes: V05Client) -> None:
    whole = ovens.get("/?inline")
    assert whole["model"] == ovens.get("/?model")
    assert whole["endpoints"] == {}
    definition = whole["definitionGroups"]["ovens"]["definitions"]["oven.hot"]
    assert definition["definition"]["metadata"]["attributes"]["type"] == {"value": "oven.hot"}
    schema = whole["schemaGroups"]["payloads"]["schemas"]["note"]
    assert schema["versions"]["1"]["schema"] == schema["schema"]


@pytest.mark.feature("D5R-005", "D5R-013")
@pytest.mark.parametrize("path", ["/", "/definitionGroups", "/definitionGroups/ovens"])
def test_what_is_too_much_for_one_answer_is_an_error(
    ovens: V05Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "MOST_ENTITIES", 1)
    assert ovens.problem("GET", f"{path}?inline") == (406, "too_large")
    assert ovens.ask("GET", path).status == 200


@pytest.mark.feature("D5R-006")
@pytest.mark.parametrize("body", [{"Name": "a"}, {"createdon": "b"}, {"colour": "red", "Colour": "blue"}])
def test_attributes_differ_in_more_than_case(ovens: V05Client, body: dict[str, Any]) -> None:
    group = {"format": "CloudEvents/1.0", **body}
    assert ovens.problem("PUT", "/definitionGroups/ovens", group) == (400, "invalid_attribute")


@pytest.mark.feature("D5R-006", "D5R-011")
def test_extensions_of_any_case_come_back(ovens: V05Client) -> None:
    group = {"format": "CloudEvents/1.0", "ovenCount": 3, "createdBy": "the baker", "modifiedBy": "her son"}
    ovens.put("/definitionGroups/ovens", group)
    assert group.items() <= ovens.get("/definitionGroups/ovens").items()


@pytest.mark.feature("D5R-007")
@pytest.mark.parametrize(
    "tags",
    [{}, {"owner": "John", "verified": ""}, {"Owner": "John"}, {"a": "1", "A": "2"}, {"0.x-y_z": "v", "Z" * 63: ""}],
)
def test_tags(ovens: V05Client, tags: dict[str, str]) -> None:
    assert ovens.put("/definitionGroups/ovens", {"format": "CloudEvents/1.0", "tags": tags}).status == 200
    assert ovens.get("/definitionGroups/ovens").get("tags", {}) == tags


@pytest.mark.feature("D5R-007")
@pytest.mark.parametrize(
    "tags", [[], "owner", {"": "x"}, {"-a": "x"}, {"a b": "x"}, {"a/b": "x"}, {"a" * 64: "x"}, {"a": 1}, {"a": None}]
)
def test_tags_that_are_none(ovens: V05Client, tags: Any) -> None:
    body = {"format": "CloudEvents/1.0", "tags": tags}
    assert ovens.problem("PUT", "/definitionGroups/ovens", body) == (400, "invalid_attribute")


@pytest.mark.feature("D5R-009")
def test_epochs_rise_with_every_update(ovens: V05Client) -> None:
    group = {"format": "CloudEvents/1.0"}
    seen = [ovens.put("/definitionGroups/ovens", group).json["epoch"] for _ in range(3)]
    assert seen == sorted(set(seen))


@pytest.mark.feature("D5R-010")
def test_self_is_the_address_of_the_collection_and_the_id(ovens: V05Client) -> None:
    assert ovens.get("/definitionGroups/ovens")["self"] == f"{BASE}/definitionGroups/ovens"
    definitions = f"{BASE}/definitionGroups/ovens/definitions"
    assert (
        ovens.get("/definitionGroups/ovens/definitions/oven.hot?meta")["self"] == f"{definitions}/oven.hot/versions/1"
    )


@pytest.mark.feature("D5R-011")
def test_times(ovens: V05Client) -> None:
    body = {"format": "CloudEvents/1.0", "createdOn": "2020-02-29T13:00:00+01:00"}
    assert ovens.put("/definitionGroups/ovens", body).json["createdOn"] == "2020-02-29T12:00:00Z"
    body["createdOn"] = "yesterday"
    reply = ovens.put("/definitionGroups/ovens", body)
    assert (reply.status, reply.json["args"]["name"]) == (400, "createdOn")


@pytest.mark.feature("D5R-011")
@pytest.mark.parametrize("name", ["createdBy", "modifiedBy", "name", "description"])
def test_texts_are_texts(ovens: V05Client, name: str) -> None:
    body = {"format": "CloudEvents/1.0", name: 7}
    assert ovens.problem("PUT", "/definitionGroups/ovens", body) == (400, "invalid_attribute")
    assert ovens.put("/definitionGroups/ovens", {**body, name: ""}).json.get(name, "") in ("", "ovens")


@pytest.mark.feature("D5R-012")
@pytest.mark.parametrize(
    ("docs", "status"),
    [
        ("https://x.example/docs", 200),
        ("http://x.example/docs#a", 200),
        ("docs/ovens.html", 200),
        ("ftp://x.example/docs", 400),
        ("mailto:a@x.example", 400),
        (7, 400),
    ],
)
def test_docs_are_on_the_web(ovens: V05Client, docs: Any, status: int) -> None:
    reply = ovens.put("/definitionGroups/ovens", {"format": "CloudEvents/1.0", "docs": docs})
    assert reply.status == status
    assert status == 400 or reply.json["docs"] == docs

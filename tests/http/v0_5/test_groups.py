"""Groups: listed, made, replaced, deleted (S004, Managing Groups)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.http.v0_5.requests import BASE, EVENT, V05Client


def fill(v0_5: V05Client, count: int) -> list[str]:
    ids = [f"oven-{number}" for number in range(count)]
    for one in ids:
        assert v0_5.post("/definitionGroups", {"id": one, "name": one, "format": "CloudEvents/1.0"}).status == 201
    return ids


@pytest.mark.feature("D5R-013")
def test_groups_are_a_map_with_the_sizes_of_their_collections(ovens: V05Client) -> None:
    group = ovens.get("/definitionGroups")["ovens"]
    assert {"id": "ovens", "name": "Ovens", "epoch": 2, "format": "CloudEvents/1.0"}.items() <= group.items()
    assert group["definitionsURL"] == f"{BASE}/definitionGroups/ovens/definitions"
    assert group["definitionsCount"] == 1
    assert "definitions" not in group


@pytest.mark.feature("D5R-013", "D5R-016")
@pytest.mark.parametrize("flag", ["inline", "inline=", "inline=true"])
def test_inline_shows_what_is_in_a_group(ovens: V05Client, flag: str) -> None:
    in_list = ovens.get(f"/definitionGroups?{flag}")["ovens"]
    assert in_list == ovens.get(f"/definitionGroups/ovens?{flag}")
    assert in_list["definitions"]["oven.hot"]["definition"]["metadata"] == EVENT["metadata"]


@pytest.mark.audit("services-A21")
@pytest.mark.feature("D5R-014")
def test_pages(v0_5: V05Client) -> None:
    ids, seen, target = fill(v0_5, 5), [], "/definitionGroups?inline&limit=2"
    while target:
        reply = v0_5.ask("GET", target)
        assert all("definitions" in group for group in reply.json.values())
        seen.append(list(reply.json))
        link = re.fullmatch(r"<([^>]+)>;rel=next;count=(\d+)", reply.headers.get("link", ""))
        assert link is None or link[2] == "5"
        target = link[1].removeprefix(BASE) if link else ""
    assert seen == [ids[:2], ids[2:4], ids[4:]]


@pytest.mark.feature("D5R-014")
def test_a_collection_that_is_large_is_paged_without_being_asked(
    v0_5: V05Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("postroom.http.v0_5.read.PAGE", 2)
    fill(v0_5, 3)
    reply = v0_5.ask("GET", "/definitionGroups")
    assert len(reply.json) == 2
    assert ";rel=next;count=3" in reply.headers["link"]


@pytest.mark.feature("D5R-015")
def test_a_new_group(v0_5: V05Client) -> None:
    reply = v0_5.post("/endpoints", {"id": "bakery", "name": "A cool endpoint", "usage": "consumer"})
    assert (reply.status, reply.headers["location"]) == (201, f"{BASE}/endpoints/bakery")
    assert reply.json == v0_5.get("/endpoints/bakery")
    assert reply.json["definitionsCount"] == 0
    assert v0_5.problem("POST", "/endpoints", {"id": "bakery", "usage": "consumer"}) == (409, "bad_request")


@pytest.mark.feature("D5R-015")
def test_the_server_makes_the_id_of_a_group_without_one(v0_5: V05Client) -> None:
    made = [v0_5.post("/schemaGroups", {"name": "Payloads"}).json["id"] for _ in range(2)]
    assert len(set(made)) == 2
    assert set(v0_5.get("/schemaGroups")) == set(made)


@pytest.mark.feature("D5R-015")
def test_a_group_can_be_copied_with_all_it_holds(ovens: V05Client) -> None:
    original = ovens.get("/definitionGroups/ovens?inline")
    assert ovens.post("/definitionGroups", {**original, "id": "copy"}).status == 201
    copy = ovens.get("/definitionGroups/copy/definitions/oven.hot")
    assert copy == ovens.get("/definitionGroups/ovens/definitions/oven.hot")


@pytest.mark.feature("D5R-015")
@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("schemaGroups", {"schemas": []}),
        ("schemaGroups", {"schemas": {"a": []}}),
        ("bakeries", {"recipes": {}}),
    ],
)
def test_collections_that_cannot_be_embedded(v0_5: V05Client, kind: str, body: Any) -> None:
    model = v0_5.native("/modelsource")
    model["groups"]["bakeries"] = {"singular": "bakery", "resources": {"recipes": {"singular": "recipe"}}}
    v0_5.native("/modelsource", "PUT", model)
    assert v0_5.problem("POST", f"/{kind}", body) == (400, "bad_request")
    assert v0_5.get(f"/{kind}") == {}


@pytest.mark.feature("D5R-016")
def test_a_group_that_is_not_there(v0_5: V05Client) -> None:
    assert v0_5.problem("GET", "/definitionGroups/ovens") == (404, "not_found")
    assert v0_5.problem("PUT", "/definitionGroups/ovens", {"format": "AMQP/1.0"}) == (404, "not_found")


@pytest.mark.feature("D5R-017")
def test_an_update_replaces_all_attributes_and_no_resources(ovens: V05Client) -> None:
    first = {"id": "ovens", "name": "Hot", "description": "d", "format": "CloudEvents/1.0", "epoch": 2, "colour": "red"}
    nested = {"definitions": {"x": EVENT}, "definitionsURL": "nowhere", "definitionsUrl": "", "definitionsCount": 9}
    reply = ovens.put("/definitionGroups/ovens", {**first, **nested})
    assert (reply.status, reply.json["epoch"], reply.json["colour"]) == (200, 3, "red")
    assert reply.json["definitionsCount"] == 1
    second = ovens.put("/definitionGroups/ovens?epoch=3", {"name": "Cold", "format": "CloudEvents/1.0"}).json
    assert not {"description", "colour"} & second.keys()
    assert second["createdOn"] == reply.json["createdOn"]
    assert list(ovens.get("/definitionGroups/ovens/definitions")) == ["oven.hot"]


@pytest.mark.feature("D5R-017")
@pytest.mark.parametrize(
    ("query", "body", "problem"),
    [
        ("", {"id": "other"}, "mismatched_id"),
        ("", {"epoch": 1}, "mismatched_epoch"),
        ("", {"epoch": "two"}, "invalid_attribute"),
        ("?epoch=1", {}, "mismatched_epoch"),
        ("?epoch=1", {"epoch": 2}, "mismatched_epoch"),
        ("?epoch=-1", {}, "invalid_attribute"),
        ("?epoch=2&epoch=2", {}, "bad_flag"),
    ],
)
def test_an_update_of_another_state(ovens: V05Client, query: str, body: dict[str, Any], problem: str) -> None:
    given = {"name": "Cold", "format": "CloudEvents/1.0", **body}
    assert ovens.problem("PUT", f"/definitionGroups/ovens{query}", given) == (400, problem)
    assert ovens.get("/definitionGroups/ovens")["name"] == "Ovens"


@pytest.mark.feature("D5R-018")
def test_deleting_a_group_shows_what_it_was(ovens: V05Client) -> None:
    last = ovens.get("/definitionGroups/ovens")
    assert ovens.problem("DELETE", "/definitionGroups/ovens?epoch=1") == (400, "mismatched_epoch")
    reply = ovens.delete("/definitionGroups/ovens?epoch=2")
    assert (reply.status, reply.json) == (200, last)
    assert ovens.problem("DELETE", "/definitionGroups/ovens") == (404, "not_found")


@pytest.mark.feature("D5R-019")
def test_deleting_some_groups(v0_5: V05Client) -> None:
    ids = fill(v0_5, 3)
    reply = v0_5.delete("/definitionGroups", [{"id": ids[0]}, {"id": ids[1], "epoch": 1}])
    assert (reply.status, list(reply.json)) == (200, ids[:2])
    assert list(v0_5.get("/definitionGroups")) == ids[2:]
    assert v0_5.delete("/definitionGroups", []).json == {}
    assert list(v0_5.get("/definitionGroups")) == ids[2:]


@pytest.mark.feature("D5R-019")
@pytest.mark.parametrize(
    ("last", "refused"),
    [
        ({"id": "nowhere"}, (404, "not_found")),
        ({"id": "oven-1", "epoch": 9}, (400, "mismatched_epoch")),
        ({"id": "oven-0"}, (400, "bad_request")),
        ({"epoch": 1}, (400, "bad_request")),
        ({"id": 7}, (400, "bad_request")),
        ("oven-1", (400, "bad_request")),
    ],
)
def test_deleting_is_all_or_nothing(v0_5: V05Client, last: Any, refused: tuple[int, str]) -> None:
    ids = fill(v0_5, 2)
    assert v0_5.problem("DELETE", "/definitionGroups", [{"id": "oven-0"}, last]) == refused
    assert list(v0_5.get("/definitionGroups")) == ids


@pytest.mark.feature("D5R-019")
def test_deleting_all_groups(v0_5: V05Client) -> None:
    ids = fill(v0_5, 3)
    assert list(v0_5.delete("/definitionGroups").json) == ids
    assert v0_5.get("/definitionGroups") == {}


def test_a_write_can_be_bound_to_the_state_that_was_read(ovens: V05Client) -> None:
    tag = ovens.ask("GET", "/definitionGroups/ovens").headers["etag"]
    body = {"name": "Cold", "format": "CloudEvents/1.0"}
    assert ovens.ask("PUT", "/definitionGroups/ovens", body, {"If-Match": tag}).status == 200
    assert ovens.ask("PUT", "/definitionGroups/ovens", body, {"If-Match": tag}).status == 412


@pytest.mark.audit("services-A10")
@pytest.mark.parametrize("given", ["CloudEvents", "FooBar", "/1.0", "Foo/"])
def test_formats_are_a_name_and_a_version(v0_5: V05Client, given: str) -> None:
    reply = v0_5.post("/definitionGroups", {"id": "ovens", "format": given})
    assert (reply.status, reply.json["args"]["name"]) == (400, "format")
    assert "NAME/VERSION" in reply.json["title"]


@pytest.mark.audit("services-A10")
def test_a_format_that_1_0_wrote_may_stay(v0_5: V05Client) -> None:
    v0_5.native("/messagegroups/ovens", "PUT", {"envelope": "CloudEvents"})
    assert v0_5.put("/definitionGroups/ovens", v0_5.get("/definitionGroups/ovens")).status == 200

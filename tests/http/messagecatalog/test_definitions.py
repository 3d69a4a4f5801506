"""Definitions of the message catalog (sections 2.2 and 4.3)."""

from __future__ import annotations

from urllib.parse import quote, unquote

import pytest

from tests.http.messagecatalog.requests import HEATED, JSON, CatalogClient, varied


@pytest.fixture(autouse=True)
def ovens(catalog: CatalogClient) -> None:
    catalog.group()


@pytest.mark.feature("CAT-019")
def test_definitions_are_listed_as_an_array_of_ids(catalog: CatalogClient) -> None:
    assert catalog.get("ovens/messagedefinitions").json == []
    for name in ("heated", "Cleaned", "a.b-c_d~e@f"):
        assert catalog.post(path=f"ovens/messagedefinitions/{name}").status == 201
    assert catalog.get("ovens/messagedefinitions").json == ["a.b-c_d~e@f", "Cleaned", "heated"]
    assert catalog.get("mixers/messagedefinitions").problem == "not_found"


ODD_IDS = ["a+b", "it's", "a!b", "(x)", ".hidden", "-dash", "myMessage%20definition", "%C3%B6fen", "a%3Ab", "a%2Fb"]


@pytest.mark.audit("services-C6")
@pytest.mark.feature("CAT-001", "CAT-003")
@pytest.mark.parametrize("segment", ODD_IDS)
def test_ids_have_all_characters_of_a_path_segment(catalog: CatalogClient, segment: str) -> None:
    name = unquote(segment)
    group = catalog.ask("PUT", f"/messagecatalog/{segment}", {"format": "CloudEvents", "id": name})
    path = f"/messagecatalog/{segment}/messagedefinitions/{segment}"
    assert (group.status, group.json["id"]) == (201, name)
    made = catalog.post(path=f"{segment}/messagedefinitions/{segment}")
    assert made.headers["location"] == f"http://ovens.localhost{path}/versions/1"
    assert name in catalog.get("").json
    assert catalog.get(f"{segment}/messagedefinitions").json == [name]
    assert catalog.get(f"{segment}/messagedefinitions/{segment}").json == HEATED
    assert catalog.ask("GET", f"/messagedefinition?uri={quote(made.json['uri'])}").json == HEATED
    (native,) = (one for one in catalog.native("/messagegroups").values() if one["messagegroupid"] != "ovens")
    assert len(catalog.native(f"/messagegroups/{native['messagegroupid']}/messages")) == 1
    missing = catalog.get(f"{segment}/messagedefinitions/none")
    assert missing.json["subject"] == f"/messagecatalog/{name}/messagedefinitions/none"
    assert catalog.ask("DELETE", path).status == 204
    assert catalog.ask("DELETE", f"/messagecatalog/{segment}").status == 204


@pytest.mark.audit("services-C6")
def test_a_bare_colon_makes_no_id_but_finds_one_that_the_registry_made(catalog: CatalogClient) -> None:
    assert catalog.ask("PUT", "/messagecatalog/a:b", {"format": "AMQP"}).problem == "malformed_id"
    assert catalog.post(path="ovens/messagedefinitions/a:b").problem == "malformed_id"
    catalog.ask("PUT", "/messagegroups/ovens/messages/com:heated", {"envelope": "CloudEvents/1.0"})
    assert catalog.get("ovens/messagedefinitions").json == ["com:heated"]
    for segment in ("com:heated", "com%3Aheated"):
        assert catalog.get(f"ovens/messagedefinitions/{segment}").status == 200
        assert catalog.post(path=f"ovens/messagedefinitions/{segment}").status == 201


@pytest.mark.feature("CAT-003", "CAT-004", "CAT-021", "CAT-023")
def test_a_post_adds_a_definition_and_then_versions(catalog: CatalogClient) -> None:
    first = catalog.post()
    assert first.status == 201
    assert (
        first.headers["location"] == "http://ovens.localhost/messagecatalog/ovens/messagedefinitions/heated/versions/1"
    )
    assert first.headers["message-definition-version"] == "1"
    assert first.json["version"] == 1
    warmer = varied(subject="{oven}/{tray}")
    assert catalog.post(warmer).json["version"] == 2
    latest = catalog.get()
    assert latest.json == warmer
    assert latest.headers["message-definition-version"] == "2"
    assert latest.headers["content-location"].endswith("/heated/versions/2")
    assert catalog.get("ovens/messagedefinitions/heated/versions/1").json == HEATED


@pytest.mark.feature("CAT-022")
@pytest.mark.parametrize(
    "contenttype",
    ["application/json", "application/json; charset=utf-8", "application/vnd.example.oven+json;v=2", "Text/JSON"],
)
def test_bytes_and_content_type_come_back_as_they_came(catalog: CatalogClient, contenttype: str) -> None:
    odd = b'\xef\xbb\xbf{ "attributes":\t{"type" :"com.example", "subject": "\\u00f6fen"} ,"extra":[1.50]}\n\n'
    assert catalog.post(odd, contenttype=contenttype).status == 201
    for path in ("ovens/messagedefinitions/heated", "ovens/messagedefinitions/heated/versions/1"):
        reply = catalog.get(path)
        assert (reply.body, reply.headers["content-type"]) == (odd, contenttype)


@pytest.mark.feature("CAT-022")
def test_every_version_has_its_own_content_type(catalog: CatalogClient) -> None:
    for contenttype in ("application/a+json", "application/b+json"):
        catalog.post(contenttype=contenttype)
    found = [catalog.get(f"ovens/messagedefinitions/heated/versions/{one}").headers["content-type"] for one in (1, 2)]
    assert found == ["application/a+json", "application/b+json"]


@pytest.mark.feature("CAT-022")
@pytest.mark.parametrize(
    ("content", "contenttype"),
    [
        (b"<oven/>", "application/xml"),
        (b"\x00\xff\x01", "application/octet-stream"),
        (b"[1, 2]", "application/json"),
        (b'{"epoch": "x", "Kind": "oven", "messageid": 5}', "application/json"),
    ],
)
def test_formats_of_your_own_take_documents_of_any_kind(
    catalog: CatalogClient, content: bytes, contenttype: str
) -> None:
    catalog.group("mixers", "Mixers/2")
    assert catalog.post(content, "mixers/messagedefinitions/stirred", contenttype).status == 201
    reply = catalog.get("mixers/messagedefinitions/stirred")
    assert (reply.body, reply.headers["content-type"]) == (content, contenttype)
    assert reply.headers["message-definition-format"] == "Mixers/2"
    assert reply.headers["content-security-policy"] == "sandbox"
    assert catalog.native("/messagegroups/mixers/messages/stirred")["envelope"] == "Mixers/2"


def test_without_a_content_type_there_is_a_fitting_one(catalog: CatalogClient) -> None:
    catalog.group("mixers", "Mixers/2")
    catalog.post(contenttype=None)
    catalog.post(b"stir", "mixers/messagedefinitions/stirred", None)
    assert catalog.get().headers["content-type"] == JSON
    assert catalog.get("mixers/messagedefinitions/stirred").headers["content-type"] == "application/octet-stream"


@pytest.mark.feature("CAT-006", "CAT-008", "CAT-021", "CAT-023")
@pytest.mark.parametrize("by_query", [True, False])
def test_attributes_come_in_the_query_or_in_headers(catalog: CatalogClient, by_query: bool) -> None:
    plain = {name: value for name, value in HEATED.items() if name not in ("description", "id")}
    if by_query:
        query = "?description=Hei%C3%9F%20und%20gut&format=CloudEvents&id=342&authority=https://bakery.example"
        posted = catalog.post(plain, f"ovens/messagedefinitions/heated{query}")
    else:
        headers = {"Description": "Hei%C3%9F und gut", "Format": "cloudevents", "Id": "342"}
        posted = catalog.post(plain, **headers, Authority="https://bakery.example")
    assert posted.status == 201, posted.body
    assert posted.json["description"] == "Heiß und gut"
    shown = {k: v for k, v in catalog.get().headers.items() if k.startswith("message-definition-")}
    assert shown["message-definition-createdtimeutc"] <= shown["message-definition-updatedtimeutc"]
    assert {name: value for name, value in shown.items() if not name.endswith("timeutc")} == {
        "message-definition-id": "342",
        "message-definition-version": "1",
        "message-definition-format": "CloudEvents",
        "message-definition-description": "Hei%C3%9F und gut",
        "message-definition-authority": "https://bakery.example",
        "message-definition-uri": "https://bakery.example/342",
    }
    assert catalog.native()["description"] == "Heiß und gut"


@pytest.mark.feature("CAT-006")
def test_a_description_in_the_document_counts_when_there_is_no_other(catalog: CatalogClient) -> None:
    catalog.post()
    assert catalog.get().headers["message-definition-description"] == "Raised when an oven is hot"
    catalog.post(path="ovens/messagedefinitions/heated?description=Hot")
    assert catalog.get().headers["message-definition-description"] == "Hot"


@pytest.mark.feature("CAT-006")
def test_the_times_of_a_definition(catalog: CatalogClient) -> None:
    catalog.post()
    first = catalog.get().headers
    catalog.post()
    latest = catalog.get().headers
    second = catalog.get("ovens/messagedefinitions/heated/versions/2").headers
    assert latest["message-definition-createdtimeutc"] == first["message-definition-createdtimeutc"]
    assert latest["message-definition-updatedtimeutc"] > first["message-definition-updatedtimeutc"]
    assert second["message-definition-createdtimeutc"] == latest["message-definition-updatedtimeutc"]
    assert "message-definition-updatedtimeutc" not in second


@pytest.mark.feature("CAT-023", "CAT-026")
@pytest.mark.parametrize("path", ["heated", "heated/versions/1"])
def test_head_is_get_without_the_document(catalog: CatalogClient, path: str) -> None:
    catalog.post()
    head, get = (catalog.ask(method, f"/messagecatalog/ovens/messagedefinitions/{path}") for method in ("HEAD", "GET"))
    assert (head.status, head.body) == (200, b"")
    same = {name: value for name, value in get.headers.items() if name != "etag"}
    assert head.headers.items() >= same.items()


@pytest.mark.feature("CAT-010", "CAT-005")
def test_another_type_is_a_conflict(catalog: CatalogClient) -> None:
    catalog.post()
    refused = catalog.post({**varied(type="com.example.oven.cooled"), "id": None})
    assert refused.status == 409
    assert refused.json["pointer"] == "/attributes/type"
    assert "another type is another definition" in refused.json["title"]
    assert catalog.get("ovens/messagedefinitions/heated/versions").json == [1]


@pytest.mark.feature("CAT-010")
def test_the_type_may_have_been_inherited_or_changed_natively(catalog: CatalogClient) -> None:
    base = {"envelopemetadata": {"type": {"value": "com.example.oven.heated"}}}
    catalog.ask("PUT", "/messagegroups/ovens/messages/any", base)
    derived = {"basemessage": "/messagegroups/ovens/messages/any"}
    catalog.ask("PUT", "/messagegroups/ovens/messages/heated", derived)
    assert catalog.post({"attributes": {"type": "com.example.oven.cooled"}}).status == 409
    catalog.ask("PATCH", "/messagegroups/ovens/messages/any", {"envelopemetadata": {"type": {"value": "c"}}})
    assert catalog.post({"attributes": {"type": "c", "subject": "s"}}).status == 201


@pytest.mark.feature("CAT-005")
def test_a_message_that_is_read_only_for_its_kind_of_write_is_a_conflict(catalog: CatalogClient) -> None:
    catalog.group("mixers", "MQTT")
    catalog.ask("PATCH", "/messagegroups/mixers", {"protocol": "MQTT/5.0"})
    older = {"publish": {"mqttversion": "3.1.1", "topicname": "mixers/1"}}
    refused = catalog.post(older, "mixers/messagedefinitions/stirred")
    assert (refused.status, refused.problem) == (409, "constraint_failure")
    assert refused.json["subject"] == "/messagecatalog/mixers/messagedefinitions/stirred"


@pytest.mark.feature("CAT-020")
def test_all_definitions_of_a_group_are_deleted(catalog: CatalogClient) -> None:
    for name in ("heated", "again"):
        catalog.post(path=f"ovens/messagedefinitions/{name}")
    assert catalog.ask("DELETE", "/messagecatalog/ovens/messagedefinitions").status == 204
    assert catalog.get("ovens/messagedefinitions").json == []
    assert catalog.get("ovens").status == 200
    assert catalog.ask("DELETE", "/messagecatalog/mixers/messagedefinitions").problem == "not_found"


@pytest.mark.feature("CAT-024")
def test_a_definition_is_deleted_with_all_versions(catalog: CatalogClient) -> None:
    for _ in range(3):
        catalog.post(contenttype="application/first+json")
    assert catalog.ask("DELETE", "/messagecatalog/ovens/messagedefinitions/heated").status == 204
    for path in ("heated", "heated/versions", "heated/versions/1"):
        assert catalog.get(f"ovens/messagedefinitions/{path}").problem == "not_found"
    assert catalog.ask("DELETE", "/messagecatalog/ovens/messagedefinitions/heated").problem == "not_found"
    assert catalog.post(varied(type="another")).status == 400  # its id is still the former type
    assert catalog.post({**varied(type="another"), "id": "another"}).json["version"] == 1
    assert catalog.get("ovens/messagedefinitions/heated/versions").json == [1]


def test_conditions_are_kept(catalog: CatalogClient) -> None:
    target = "/messagecatalog/ovens/messagedefinitions/heated"
    catalog.post()
    tag = catalog.get().headers["etag"]
    assert catalog.ask("GET", target, headers={"If-None-Match": tag}).status == 304
    catalog.post()
    assert catalog.ask("DELETE", target, headers={"If-Match": tag}).status == 412
    assert catalog.ask("DELETE", target, headers={"If-Match": catalog.get().headers["etag"]}).status == 204

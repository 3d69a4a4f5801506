from __future__ import annotations

import base64

import httpx
import pytest

OVEN = "/schemagroups/ovens/schemas/oven"
FORMAT = {"xRegistry-format": "Oven/3"}


@pytest.mark.feature("RES-007", "RES-010", "RES-011", "RES-014", "RES-015", "RES-019", "RES-020", "RES-021", "HTTP-029")
def test_documents_are_served_as_they_came(client: httpx.Client) -> None:
    content = b'syntax = "proto3"; \xff\x00'
    headers = {**FORMAT, "Content-Type": "application/x-protobuf", "xRegistry-labels.site": "north%20wing"}
    made = client.put(OVEN, content=content, headers=headers)
    assert made.status_code == 201
    assert made.headers["location"].endswith(OVEN)
    got = client.get(OVEN)
    assert (got.content, got.headers["content-type"]) == (content, "application/x-protobuf")
    assert got.headers["xregistry-labels.site"] == "north%20wing"
    assert got.headers["xregistry-versionscount"] == "1"
    assert got.headers["content-location"].endswith(f"{OVEN}/versions/1")
    assert got.headers["content-disposition"] == "oven"
    details = client.get(f"{OVEN}$details?inline=schema").json()
    assert base64.b64decode(details["schemabase64"]) == content
    assert details["labels"] == {"site": "north wing"}


@pytest.mark.feature("RES-017", "RES-016", "RES-018")
def test_headers_patch_and_the_content_type_goes_when_it_is_not_given(client: httpx.Client) -> None:
    client.put(OVEN, content=b"one", headers={**FORMAT, "Content-Type": "text/plain", "xRegistry-name": "Oven"})
    client.put(OVEN, content=b"two", headers={"xRegistry-description": "second"})
    details = client.get(f"{OVEN}$details").json()
    assert (details["name"], details["description"], details["format"]) == ("Oven", "second", "Oven/3")
    assert "contenttype" not in details
    client.put(OVEN, content=b"two", headers={"xRegistry-name": "null"})
    assert "name" not in client.get(f"{OVEN}$details").json()


@pytest.mark.feature("RES-022", "RES-023", "RES-039")
def test_a_document_elsewhere_is_a_redirect(client: httpx.Client) -> None:
    url = "https://ovens.localhost/oven.proto"
    assert client.put(OVEN, headers={**FORMAT, "xRegistry-schemaurl": url}).status_code == 201
    got = client.get(OVEN)
    assert (got.status_code, got.headers["location"], got.content) == (303, url, b"")
    assert client.get(f"{OVEN}$details").json()["schemaurl"] == url
    both = client.put(OVEN, headers={**FORMAT, "xRegistry-schemaurl": url}, content=b"x")
    assert both.json()["type"].endswith("#extra_xregistry_header")


@pytest.mark.audit("clients-6")
def test_the_address_of_a_schema_may_be_called_schemauri(client: httpx.Client) -> None:
    url, other = "https://ovens.localhost/oven.json", "https://ovens.localhost/new.json"
    made = client.put(f"{OVEN}$details", json={"format": "JsonSchema/draft-07", "schemauri": url})
    assert (made.status_code, made.json()["schemaurl"]) == (201, url)
    assert client.get(OVEN).headers["location"] == url
    changed = client.patch(f"{OVEN}$details", json={"schemauri": other})
    assert (changed.json()["schemaurl"], "schemauri" in changed.json()) == (other, False)
    posted = client.post(f"{OVEN}/versions", json={"2": {"format": "JsonSchema/draft-07", "schemauri": url}})
    assert posted.json()["2"]["schemaurl"] == url
    beside = {"format": "JsonSchema/draft-07", "schema": {}, "schemauri": url}
    kept = client.put(f"{OVEN}/versions/3$details?inline=schema", json=beside).json()
    assert (kept["schema"], kept["schemauri"], "schemaurl" in kept) == ({}, url, False)


@pytest.mark.feature("RES-034", "RES-036", "RES-037", "MOD-088", "FLAG-004")
@pytest.mark.parametrize(
    ("body", "served", "shown"),
    [
        ({"schema": {"type": "object"}}, b'{\n  "type": "object"\n}', {"schema": {"type": "object"}}),
        ({"schema": "message Oven {}"}, b"message Oven {}", {"schema": "message Oven {}"}),
        ({"schema": "plain", "contenttype": "text/plain; x=y"}, b"plain", {"schema": "plain"}),
        ({"schema": "plain", "contenttype": "a/b"}, b"plain", {"schemabase64": "cGxhaW4="}),
        ({"schemabase64": "e30=", "contenttype": "a/b+json"}, b"{}", {"schema": {}}),
        ({"schemabase64": "e30=", "contenttype": "application/json"}, b"{}", {"schema": {}}),
        ({"schemabase64": "ew==", "contenttype": "application/json"}, b"{", {"schemabase64": "ew=="}),
        ({}, b"", {}),
    ],
)  # fmt: skip
def test_documents_in_json(client: httpx.Client, body: dict[str, object], served: bytes, shown: object) -> None:
    assert client.put(f"{OVEN}$details", json={"format": "X/1", **body}).status_code == 201
    assert client.get(OVEN).content == served
    details = client.get(f"{OVEN}$details?inline=schema").json()
    assert {name: value for name, value in details.items() if name in ("schema", "schemabase64")} == shown


@pytest.mark.feature("RES-024", "RES-025", "RES-026", "RES-029", "RES-030", "RES-009")
@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "problem"),
    [
        ("PATCH", OVEN, {}, 405, "details_required"),
        ("PUT", f"{OVEN}$details", {"xRegistry-name": "x"}, 400, "extra_xregistry_header"),
        ("PUT", OVEN, {"xRegistry-schema": "x"}, 400, "extra_xregistry_header"),
        ("PUT", OVEN, {"xRegistry-schemabase64": "x"}, 400, "extra_xregistry_header"),
        ("PUT", OVEN, {"xRegistry-name": "%C0%A0"}, 400, "header_error"),
        ("PUT", "/schemagroups/ovens$details", {}, 400, "bad_details"),
    ],
)
def test_misused_headers(
    client: httpx.Client, method: str, path: str, headers: dict[str, str], status: int, problem: str
) -> None:
    answer = client.request(method, path, headers={**headers}, content=b"{}")
    assert (answer.status_code, answer.json()["type"].rpartition("#")[2]) == (status, problem)


@pytest.mark.feature("RES-013", "RES-027")
def test_unusual_attributes_never_break_the_headers(client: httpx.Client) -> None:
    odd = {"format": "X/1", "description": "50 % Käse\n", "mine": {"Ünï": "x"}, "list": [1], "deep": {"a": {"b": 1}}}
    assert client.put(f"{OVEN}$details", json=odd).status_code == 201
    got = client.get(OVEN)
    assert got.headers["xregistry-description"] == "50%20%25%20K%C3%A4se%0A"
    assert not [name for name in got.headers if name.startswith(("xregistry-mine", "xregistry-list", "xregistry-deep"))]
    client.put(f"{OVEN}$details", json={"format": "X/1", "schemaurl": "https://ovens.localhost/ö€"})
    assert client.get(OVEN).headers["location"] == "https://ovens.localhost/%C3%B6%E2%82%AC"
    for wrong in ({"contenttype": "a/b\r\nX: y"}, {"contenttype": "ä/€"}, {"schemaurl": "a b"}, {"schemaurl": 5}):
        assert client.put(f"{OVEN}$details", json={"format": "X/1", **wrong}).status_code == 400


@pytest.mark.feature("RES-008")
def test_details_is_tolerated_where_there_are_no_documents(client: httpx.Client) -> None:
    made = client.put("/messagegroups/ovens/messages/heated$details", json={})
    assert made.json()["self"].endswith("/heated")


@pytest.mark.audit("registry-5")
def test_an_update_of_a_document_elsewhere_leads_there(client: httpx.Client) -> None:
    url = "https://ovens.localhost/oven.proto"
    headers = {**FORMAT, "xRegistry-schemaurl": url}
    made = client.put(OVEN, headers=headers)
    assert (made.status_code, made.headers["location"].removeprefix(str(client.base_url).rstrip("/"))) == (201, OVEN)
    updates = [("PUT", OVEN, {}), ("PUT", f"{OVEN}/versions/1", {}), ("POST", OVEN, {"xRegistry-versionid": "1"})]
    for method, path, more in updates:
        answer = client.request(method, path, headers={**headers, **more})
        assert (answer.status_code, answer.headers["location"], answer.content) == (303, url, b"")
        assert answer.headers["xregistry-schemaurl"] == url
    for answer in (
        client.put(OVEN, headers=FORMAT, content=b"x"),
        client.put(f"{OVEN}$details", json={"schemaurl": url, "format": "Oven/3"}),
    ):
        assert (answer.status_code, "location" in answer.headers) == (200, False)

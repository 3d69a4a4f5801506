from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

HEATED = "/messagegroups/ovens/messages/heated"


@pytest.mark.feature("REG-039", "REG-064", "REG-075", "REG-076", "HTTP-004", "HTTP-017")
def test_the_root_shows_the_registry(client: httpx.Client) -> None:
    answer = client.get("/")
    root = answer.json()
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers.get_list("link")[0] == f"<{str(client.base_url).rstrip('/')}>;rel=xregistry-root"
    assert (root["specversion"], root["xid"]) == ("1.0-rc4", "/")
    assert root["messagegroupsurl"] == str(client.base_url).rstrip("/") + "/messagegroups"
    assert root["messagegroupscount"] == 0
    assert not {"messagegroups", "model", "modelsource", "capabilities"} & root.keys()


@pytest.mark.feature("HTTP-012", "HTTP-023", "HTTP-024", "HTTP-025", "HTTP-033", "HTTP-041", "HTTP-011")
def test_entities_are_made_changed_and_deleted(client: httpx.Client) -> None:
    made = client.put(HEATED, json={"description": "hot"})
    assert made.status_code == 201
    assert made.headers["location"] == made.json()["self"]
    changed = client.patch(HEATED, json={"name": "Heated"})
    assert (changed.status_code, "location" in changed.headers) == (200, False)
    assert (changed.json()["description"], changed.json()["epoch"]) == ("hot", 2)
    assert client.patch("/messagegroups/grills", json={}).status_code == 201
    wrong = client.delete(f"{HEATED}?epoch=7")
    assert (wrong.status_code, wrong.json()["type"].rpartition("#")[2]) == (400, "mismatched_epoch")
    assert client.delete(f"{HEATED}?epoch=1").status_code == 204
    assert client.get(HEATED).status_code == 404
    assert client.delete(HEATED).status_code == 404


@pytest.mark.feature("HTTP-019", "HTTP-014", "REG-080", "REG-083", "GRP-006", "GRP-007", "GRP-008", "EXP-007")
def test_a_whole_document_is_one_write(client: httpx.Client) -> None:
    tree = {
        "schemagroups": {"ovens": {"schemas": {"oven": {"format": "Oven/1", "schema": {"type": "record"}}}}},
        "messagegroups": {"ovens": {"messages": {"heated": {}, "cooled": {}}}},
    }
    answer = client.post("/?inline=messagegroups.messages", json=tree)
    assert answer.status_code == 200
    assert set(answer.json()) == {"schemagroups", "messagegroups"}
    assert set(answer.json()["messagegroups"]["ovens"]["messages"]) == {"heated", "cooled"}
    tree["messagegroups"]["grills"] = {"messages": {"bad": {"name": 7}}}  # type: ignore[index]
    before = client.get("/?inline=*").json()
    assert client.post("/", json=tree).status_code == 400
    assert client.get("/?inline=*").json() == before
    assert client.post("/", json=client.get("/?collections").json()).status_code == 200
    wrong = client.post("/", json={"name": "x"})
    assert wrong.json()["type"].endswith("#groups_only")
    wrong = client.post("/messagegroups/ovens", json={"name": "x"})
    assert wrong.json()["type"].endswith("#resources_only")


@pytest.mark.feature("FLAG-048", "FLAG-049", "FLAG-050", "FLAG-051", "FLAG-052", "REG-067", "REG-077")
def test_inline_shows_what_is_asked_for(client: httpx.Client) -> None:
    client.put(HEATED, json={})
    assert set(client.get("/?inline=messagegroups").json()["messagegroups"]) == {"ovens"}
    assert "messages" not in client.get("/?inline=messagegroups").json()["messagegroups"]["ovens"]
    below = client.get("/messagegroups/ovens?inline=messages.meta").json()["messages"]["heated"]
    assert ("meta" in below, "versions" in below) == (True, False)
    everything = client.get("/?inline").json()
    assert everything["endpoints"] == {}
    assert not {"model", "modelsource", "capabilities"} & everything.keys()
    assert {"model", "capabilities"} <= client.get("/?inline=model&inline=capabilities").json().keys()
    for wrong, problem in (("ovens", "inline_noninlineable"), ("*.x", "bad_inline"), ("name", "inline_noninlineable")):
        assert client.get(f"/?inline={wrong}").json()["type"].endswith(problem)


@pytest.mark.feature("FLAG-009", "FLAG-014", "REG-041", "EXP-001", "EXP-003")
def test_the_document_view_points_into_itself(client: httpx.Client) -> None:
    client.put("/schemagroups/ovens/schemas/oven", headers={"xRegistry-format": "Oven/1"}, content=b"{}")
    oven = client.get("/export").json()["schemagroups"]["ovens"]["schemas"]["oven"]
    assert oven["self"] == "#/schemagroups/ovens/schemas/oven"
    assert oven["meta"]["defaultversionurl"] == "#/schemagroups/ovens/schemas/oven/versions/1"
    assert ("versionid" in oven, "format" in oven["versions"]["1"]) == (False, True)
    assert client.put("/export", json={}).status_code == 405
    assert client.get("/schemagroups/ovens?doc").json()["schemasurl"].startswith("http://")


@pytest.mark.feature("HTTP-031", "HTTP-032", "HTTP-035", "HTTP-036", "HTTP-038", "HTTP-039", "HTTP-040", "HTTP-034")
def test_versions_have_paths_of_their_own(client: httpx.Client) -> None:
    xid = "/schemagroups/ovens/schemas/oven"
    for number in (1, 2):
        made = client.post(f"{xid}$details", json={"format": "Oven/1"})
        assert (made.status_code, made.json()["versionid"]) == (201, str(number))
        assert made.headers["location"].endswith(f"{xid}/versions/{number}$details")
    assert set(client.get(f"{xid}/versions").json()) == {"1", "2"}
    assert client.put(f"{xid}/versions/v3$details", json={"format": "Oven/1"}).status_code == 201
    assert client.patch(f"{xid}/meta", json={"defaultversionid": "1"}).json()["defaultversionsticky"] is True
    assert client.get(f"{xid}$details").json()["versionid"] == "1"
    assert client.delete(f"{xid}/versions/1").status_code == 204
    assert client.get(f"{xid}$details").json()["versionid"] == "v3"


@pytest.mark.feature("HTTP-002", "HTTP-005", "HTTP-007", "ERR-007", "META-001", "MOD-008")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("PUT", "/messagegroups"),
        ("POST", "/messagegroups/ovens/messages/heated/versions/1"),
        ("DELETE", "/"),
        ("DELETE", "/messagegroups/ovens/messages/heated/meta"),
        ("PUT", "/model"),
        ("PUT", "/healthz"),
        ("BREW", "/messagegroups"),
    ],
)
def test_other_methods_are_refused_with_those_allowed(client: httpx.Client, method: str, path: str) -> None:
    answer = client.request(method, path)
    assert answer.status_code == 405
    assert answer.json()["type"].endswith("#action_not_supported")
    options = client.options(path)
    assert options.status_code == 200
    assert options.headers["allow"] == answer.headers["allow"] == options.headers["access-control-allow-methods"]
    assert method not in answer.headers["allow"].split(", ")


@pytest.mark.feature("ERR-001", "ERR-002", "ERR-003", "ERR-004")
def test_problems_are_documents(client: httpx.Client) -> None:
    answer = client.put(HEATED, json={"protocol": "MQTT/5.0", "protocoloptions": {"user_properties": [{"value": 1}]}})
    problem = answer.json()
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers["link"].endswith("rel=xregistry-root")
    assert problem["type"].endswith("spec.md#required_attribute_missing")
    assert problem["status"] == answer.status_code == 400
    assert problem["pointer"] == "/protocoloptions/user_properties/0/name"
    assert problem["instance"].startswith("urn:uuid:")


def test_many_writers_lose_nothing(client: httpx.Client, service: str) -> None:
    def put(number: int) -> int:
        return httpx.put(f"{service}/messagegroups/ovens/messages/m{number}", json={}, timeout=60).status_code

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(put, range(60))) == {201}
    group = client.get("/messagegroups/ovens").json()
    assert (group["messagescount"], group["epoch"]) == (60, 60)

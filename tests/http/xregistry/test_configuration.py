from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from tests.http.requests import AsgiClient
from tests.http.running_service import serving


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/-/healthz", "/-/readyz"])
def test_health_has_two_addresses(client: httpx.Client, path: str) -> None:
    assert client.get(path).status_code == 200
    assert client.head(path).status_code == 200


@pytest.mark.feature("MOD-001", "MOD-002", "MOD-005", "CAP-001", "CAP-002", "CAP-004", "CAP-005", "CAP-014", "CAP-015")
def test_model_and_capabilities_are_shown(client: httpx.Client) -> None:
    model = client.get("/model").json()
    source = client.get("/modelsource").json()
    assert set(model["groups"]) == set(source["groups"]) == {"schemagroups", "messagegroups", "endpoints"}
    assert "ximportresources" in source["groups"]["endpoints"]
    assert "ximportresources" not in model["groups"]["endpoints"]
    assert client.get("/?inline=model").json()["model"] == model
    capabilities = client.get("/capabilities").json()
    assert {"capabilities", "entities", "model"} <= capabilities["available"].keys()
    assert capabilities["specversions"] == ["1.0-rc4"]
    assert client.put("/capabilities", json=capabilities).status_code == 200
    assert client.patch("/capabilities", json={"magic": True}).json()["type"].endswith("#capability_unknown")


@pytest.mark.feature("MOD-006", "MOD-007", "MOD-013", "MOD-014", "REG-066")
def test_the_model_can_be_replaced_while_the_data_fits(client: httpx.Client) -> None:
    source = client.get("/modelsource").json()
    client.put("/messagegroups/ovens/messages/heated", json={})
    wider = {**source, "groups": {**source["groups"], "kitchens": {"singular": "kitchen"}}}
    before = client.get("/").json()["epoch"]
    try:
        assert client.put("/modelsource", json=wider).json() == wider
        assert client.get("/").json()["epoch"] == before + 1
        assert client.put("/kitchens/k", json={}).status_code == 201
        assert client.put("/modelsource", json=source).json()["type"].endswith("#model_error")
        assert client.put("/modelsource", json={"colour": 1}).json()["type"].endswith("#model_error")
        assert client.put("/modelsource").json()["type"].endswith("#missing_body")
        assert client.get("/modelsource").json() == wider
    finally:
        client.delete("/kitchens")
        assert client.put("/modelsource", json=source).status_code == 200


@pytest.mark.feature("FLAG-044", "FLAG-047", "FLAG-068")
def test_flags_that_are_not_spoken_are_refused(client: httpx.Client) -> None:
    client.put("/messagegroups/ovens", json={})
    assert client.put("/messagegroups/ovens?ignore=epoch", json={"epoch": 99}).status_code == 200
    assert client.put("/messagegroups/ovens?ignore=gravity", json={}).json()["type"].endswith("#bad_ignore")
    assert client.get("/?specversion=1.0-RC4").status_code == 200
    assert client.get("/?specversion=0.9").json()["type"].endswith("#unsupported_specversion")
    assert client.get("/messagegroups?collections").json()["type"].endswith("#bad_flag")
    assert client.get("/?unknown=1").status_code == 200


@pytest.mark.audit("clients-12")
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/"),
        ("PUT", "/messagegroups/ovens"),
        ("DELETE", "/messagegroups/ovens"),
        ("PUT", "/v0.5/definitiongroups/ovens"),
        ("PUT", "/messagecatalog/ovens"),
    ],
)
@pytest.mark.parametrize("closed", [False, True])
def test_a_write_to_a_registry_that_is_read_only_is_told_why_and_the_way_back(
    asgi: AsgiClient, method: str, path: str, closed: bool
) -> None:
    available = {"entities": {"mutable": False}, "capabilities": {"mutable": not closed}, "model": {"mutable": False}}
    assert asgi.ask("PATCH", "/capabilities", json.dumps({"available": available}).encode()).status == 200
    refused = asgi.ask(method, path, b"{}")
    assert (refused.status, refused.headers["allow"].count("GET")) == (405, 1)
    assert refused.json["detail"] == (
        "The capability available.entities.mutable is false: clients cannot change this at present; "
        + (
            "only a start with `postroom serve --reset-capabilities` sets it back."
            if closed
            else "PATCH /capabilities can set it back."
        )
    )


@pytest.mark.audit("clients-12")
def test_capabilities_that_clients_cannot_change_come_back_with_the_flag(tmp_path: Path) -> None:
    database = f"sqlite:///{tmp_path}/registry.db"
    with serving(database) as (_, url):
        at_first = httpx.get(f"{url}/capabilities").json()
        assert httpx.put(f"{url}/capabilities", json={}).status_code == 200
        refused = httpx.put(f"{url}/capabilities", json=at_first)
        assert (refused.status_code, "serve --reset-capabilities" in refused.json()["detail"]) == (405, True)
    with serving(database) as (_, url):
        assert httpx.get(f"{url}/capabilities").json() != at_first, "nothing is reset without the flag"
    with serving(database, "--reset-capabilities") as (_, url):
        assert httpx.get(f"{url}/capabilities").json() == at_first
        assert httpx.patch(f"{url}/capabilities", json={"pagination": True}).status_code == 200

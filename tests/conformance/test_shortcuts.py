"""REG: shortself, and capabilities in requests to the Registry."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.http_client import BASE, Wire


def entities(body: Any) -> list[dict[str, Any]]:
    if not isinstance(body, dict):
        return []
    found = [body] if "xid" in body else []
    return found + [entity for value in body.values() for entity in entities(value)]


def switch(wire: Wire, **capabilities: Any) -> None:
    wire.ok("PATCH", "/capabilities", capabilities)


@pytest.mark.feature("REG-042", "REG-043", "REG-044", "CAP-013")
def test_short_urls_are_there_when_they_are_wanted_and_stay_the_same(dirs: Wire) -> None:
    dirs.ok("PUT", "/dirs/d1", {"pages": {"p1": {}}, "files": {"f1": {"name": "bread"}}})
    assert all("shortself" not in entity for entity in entities(dirs.get("/?inline=*")))
    switch(dirs, shortself=True)
    shown = entities(dirs.get("/?inline=*"))
    urls = {entity["xid"]: entity["shortself"] for entity in shown}
    assert len(urls) == len(set(urls.values())) == len(shown) == 8
    assert all(url.startswith(f"{BASE}/") and "$" not in url for url in urls.values())
    switch(dirs, shortself=False)
    assert all("shortself" not in entity for entity in entities(dirs.get("/?inline=*")))
    switch(dirs, shortself=True)
    assert {entity["xid"]: entity["shortself"] for entity in entities(dirs.get("/?inline=*"))} == urls
    for xid, url in urls.items():
        suffix = "$details" if "/files/f1" in xid and not xid.endswith("meta") else ""
        answer = dirs.send("GET", url.removeprefix(BASE) + suffix)
        if 300 <= answer.status < 400:
            assert answer.headers["location"] == f"{BASE}{xid}{suffix}"
        else:
            assert answer.json["xid"] == xid


@pytest.mark.feature("REG-045", "REG-029")
@pytest.mark.parametrize("is_on", [True, False])
def test_the_name_stays_reserved(dirs: Wire, is_on: bool) -> None:
    switch(dirs, shortself=is_on)
    source = {"attributes": {"shortself": {"type": "integer"}}, **dirs.get("/modelsource")}
    assert dirs.refusal("PUT", "/modelsource", source) == "model_error"


@pytest.mark.feature("REG-070", "REG-066")
def test_capabilities_within_the_registry(wire: Wire) -> None:
    before = wire.get("/capabilities")
    epoch = wire.get("/")["epoch"]
    wire.ok("PATCH", "/", {"capabilities": {"pagination": not before["pagination"]}})
    assert wire.get("/capabilities") == {**before, "pagination": not before["pagination"]}
    assert wire.get("/")["epoch"] == epoch + 1
    wire.ok("PUT", "/", {})
    assert wire.get("/capabilities")["pagination"] != before["pagination"]
    wire.ok("PATCH", "/", {"capabilities": None})
    assert wire.get("/capabilities")["pagination"] == before["pagination"]


@pytest.mark.feature("REG-069", "CAP-018")
def test_flags_follow_the_capabilities_from_before_the_request(wire: Wire) -> None:
    flags = wire.get("/capabilities")["flags"]
    kept = [flag for flag in flags if flag not in ("inline", "ignore")]
    answered = wire.ok("PATCH", "/?inline=capabilities", {"capabilities": {"flags": kept}})
    assert answered["capabilities"]["flags"] == kept
    assert "capabilities" not in wire.get("/?inline=capabilities")

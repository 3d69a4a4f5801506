"""What a registry does can be read, changed and switched off."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.open_store import open_store
from postroom.catalog.wiring import RULES
from postroom.registry.configuration.capabilities import initial_capabilities, read_capabilities
from postroom.registry.configuration.offered_capabilities import FLAGS, IGNORES

OPEN = {"capabilities": {"mutable": True}, "entities": {"mutable": True}, "model": {"mutable": False}}
UNSET = {
    "compatibilities": {},
    "flags": [],
    "formats": [],
    "ignores": [],
    "pagination": False,
    "shortself": False,
    "specversions": ["1.0-rc4"],
    "versionmodes": ["manual"],
}


@pytest.mark.feature("CAP-001", "CAP-002", "CAP-004", "CAP-005", "CAP-009", "CAP-011", "CAP-014", "CAP-015", "FLAG-003")
def test_a_new_registry_shows_all_it_can(garage: Any) -> None:
    found = garage.get("/capabilities")
    assert found.keys() == {"available", *UNSET}
    kinds = {"capabilities", "capabilitiesoffered", "entities", "export", "model", "modelsource"}
    assert found["available"].keys() == kinds
    assert all(access.keys() == {"mutable"} for access in found["available"].values())
    assert not found["available"]["model"]["mutable"]
    assert not found["available"]["export"]["mutable"]
    assert found["flags"] == list(FLAGS)
    assert found["ignores"] == list(IGNORES)
    assert found["specversions"] == ["1.0-rc4"]
    assert "manual" in found["versionmodes"]
    assert garage.get("/?inline=capabilities")["capabilities"] == found
    assert "capabilities" not in garage.get("/?inline=*")


@pytest.mark.feature("CAP-006", "CAP-012", "CAP-013", "CAP-016", "CAP-018")
def test_put_replaces_all_and_what_is_left_out_is_off(garage: Any) -> None:
    answer = garage.send("PUT", "/capabilities", {"$schema": "https://schemas.example", "available": OPEN})
    assert answer.json() == {"available": OPEN, **UNSET}
    assert garage.get("/capabilities") == {"available": OPEN, **UNSET}
    answer = garage.send("PUT", "/capabilities", {})
    shut = {**OPEN, "capabilities": {"mutable": False}}
    assert answer.json() == {"available": shut, **UNSET}
    assert garage.problem("PUT", "/capabilities", {"available": OPEN}) == "action_not_supported"
    assert garage.problem("PATCH", "/", {"capabilities": {"available": OPEN}}) == "capability_error"
    assert garage.problem("PATCH", "/", {"capabilities": None}) == "capability_error"
    assert garage.send("PATCH", "/", {"capabilities": {"flags": []}}).status_code == 200  # nothing to change


@pytest.mark.feature("CAP-017", "CAP-003", "CAP-019")
def test_patch_replaces_what_it_names(garage: Any) -> None:
    before = garage.get("/capabilities")
    answer = garage.send("PATCH", "/capabilities", {"flags": ["Sort", "FILTER", "sort"]})
    assert answer.json() == {**before, "flags": ["filter", "sort"]}
    answer = garage.send("PATCH", "/capabilities", {"flags": ["*"], "ignores": ["*"], "formats": ["*"]})
    assert answer.json() == before
    assert garage.send("PATCH", "/capabilities", {"flags": None}).json()["flags"] == []


@pytest.mark.feature("CAP-005")
def test_entities_and_capabilities_are_always_there(garage: Any) -> None:
    answer = garage.send("PATCH", "/capabilities", {"available": {"Export": {}, "capabilities": {"mutable": True}}})
    assert answer.json()["available"] == {
        "capabilities": {"mutable": True},
        "entities": {"mutable": True},
        "export": {"mutable": False},
    }


@pytest.mark.feature("CAP-008", "CAP-010", "CAP-014", "CAP-015", "CAP-019", "CAP-020", "CAP-005")
@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ({"teleport": True}, "capability_unknown"),
        ({"flags": ["fly"]}, "capability_value"),
        ({"flags": "inline"}, "capability_value"),
        ({"flags": [1]}, "capability_value"),
        ({"flags": ["*", "inline"]}, "capability_wildcard"),
        ({"ignores": ["epoch", "*"]}, "capability_wildcard"),
        ({"ignores": ["everything"]}, "capability_value"),
        ({"pagination": "yes"}, "capability_value"),
        ({"pagination": 1}, "capability_value"),
        ({"shortself": []}, "capability_value"),
        ({"specversions": []}, "capability_missing_value"),
        ({"specversions": ["0.1"]}, "capability_value"),
        ({"versionmodes": ["semver"]}, "capability_missing_value"),
        ({"versionmodes": ["luck"]}, "capability_value"),
        ({"formats": ["stone/1.0"]}, "capability_error"),
        ({"compatibilities": {"stone/1.0": ["backward"]}}, "capability_error"),
        ({"compatibilities": {"stone/1.0": []}}, "capability_error"),
        ({"compatibilities": {"stone/1.0": ["*", "backward"]}}, "capability_wildcard"),
        ({"compatibilities": []}, "capability_value"),
        ({"available": []}, "capability_value"),
        ({"available": {"gold": {}}}, "capability_error"),
        ({"available": {"/export": {}}}, "capability_error"),
        ({"available": {"export": {"mutable": True}}}, "capability_error"),
        ({"available": {"model": {"mutable": True}}}, "capability_error"),
        ({"available": {"entities": {"mutable": "no"}}}, "capability_value"),
        ({"available": {"entities": True}}, "capability_value"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(parked: Any, written: Any, problem: str) -> None:
    before, epoch = parked.get("/capabilities"), parked.get("/")["epoch"]
    assert parked.problem("PATCH", "/capabilities", written) == problem
    assert parked.problem("PATCH", "/", {"capabilities": written, "region": "Andes"}) == problem
    assert parked.get("/capabilities") == before
    assert (parked.get("/")["epoch"], parked.get("/")["region"]) == (epoch, "Alps")


@pytest.mark.feature("CAP-016", "CAP-018")
def test_the_body_has_to_be_there(parked: Any) -> None:
    assert parked.problem("PUT", "/capabilities") == "missing_body"
    for written in (b"null", b"[]", b"123", b'"null"', b"{"):
        assert parked.client.put("/capabilities", content=written).json()["type"].endswith("#parsing_data")
    for nested in ([], 123, "null"):
        assert parked.problem("PATCH", "/", {"capabilities": nested}) == "capability_error"


@pytest.mark.feature("CAP-007")
@pytest.mark.parametrize("kind", ["capabilitiesoffered", "export", "model", "modelsource"])
def test_what_is_not_available_cannot_be_reached(garage: Any, kind: str) -> None:
    available = {
        name: {"mutable": access.mutable}
        for name, access in initial_capabilities(RULES).available.items()
        if name != kind
    }
    garage.switch(available=available)
    assert garage.problem("GET", f"/{kind}") == "not_available"
    assert garage.problem("OPTIONS", f"/{kind}") == "not_available"
    if kind in ("model", "modelsource"):
        assert garage.problem("GET", f"/?inline={kind}") == "not_available"
        assert garage.get("/?inline=*")["fleetscount"] == 3
    if kind == "modelsource":
        assert garage.problem("PUT", "/", {"modelsource": {}}) == "not_available"
        assert "modelsource" not in garage.get("/export")


@pytest.mark.feature("CAP-004", "CAP-018")
def test_what_is_immutable_cannot_be_written(garage: Any) -> None:
    garage.switch(available={"capabilities": {"mutable": True}, "entities": {"mutable": False}, "modelsource": {}})
    for method, target in (("PUT", "/"), ("POST", "/fleets"), ("DELETE", "/fleets/north"), ("PUT", "/modelsource")):
        answer = garage.send(method, target, {})
        assert (answer.status_code, answer.headers["allow"]) == (405, "GET, OPTIONS")
    assert garage.send("OPTIONS", "/fleets/north").headers["allow"] == "GET, OPTIONS"
    assert garage.send("OPTIONS", "/capabilities").headers["allow"] == "GET, OPTIONS, PATCH, PUT"
    garage.switch(available={"capabilities": {"mutable": True}, "modelsource": {"mutable": False}})
    assert garage.problem("PATCH", "/", {"modelsource": {}}) == "action_not_supported"


@pytest.mark.feature("CAP-018")
def test_the_flags_of_a_request_are_those_before_it(garage: Any) -> None:
    answer = garage.send("PATCH", "/?inline=capabilities", {"capabilities": {"flags": []}})
    assert answer.json()["capabilities"]["flags"] == []
    answer = garage.send("PATCH", "/?inline=capabilities", {"capabilities": {"flags": ["inline"]}})
    assert "capabilities" not in answer.json()
    assert "capabilities" in garage.get("/?inline=capabilities")


@pytest.mark.feature("CAP-016", "CAP-017")
def test_the_registry_entity_carries_capabilities(garage: Any) -> None:
    garage.switch(flags=["inline"])
    garage.send("PATCH", "/", {"capabilities": {"pagination": True}})
    assert garage.get("/capabilities")["flags"] == ["inline"]
    body = {"capabilities": {"available": OPEN, "flags": ["doc"]}}
    assert garage.send("PUT", "/", body).status_code == 200
    assert garage.get("/capabilities") == {"available": OPEN, **UNSET, "flags": ["doc"]}
    assert garage.send("PUT", "/", {"capabilities": None}).status_code == 200
    assert garage.get("/capabilities") == initial_capabilities(RULES).document()


@pytest.mark.feature("CAP-018")
def test_a_change_is_logged_with_the_registry(garage: Any) -> None:
    epoch = garage.get("/")["epoch"]
    with garage.store.read() as tx:
        last = tx.changes(0, 1000)[-1].sequence
    garage.switch(pagination=True, flags=["inline"])
    assert garage.get("/")["epoch"] == epoch + 1
    with garage.store.read() as tx:
        rows = tx.changes(last, 10)
    assert {row.xid: row.action for row in rows} == {"/": "updated", "/capabilities": "updated"}
    assert next(row.changed for row in rows if row.xid == "/capabilities") == ("flags", "pagination")


def test_an_old_epoch_keeps_capabilities_as_they_are(garage: Any) -> None:
    before = garage.get("/capabilities")
    assert garage.problem("PATCH", "/", {"epoch": 99, "capabilities": {"flags": []}}) == "mismatched_epoch"
    assert garage.get("/capabilities") == before
    epoch = garage.get("/")["epoch"]
    answer = garage.send("PATCH", "/", {"epoch": epoch, "capabilities": {"flags": []}})
    assert answer.json()["epoch"] == epoch + 1


@pytest.mark.feature("CAP-015")
def test_a_version_mode_in_use_stays(garage: Any) -> None:
    resources = {"logs": {"singular": "log", "hasdocument": False, "versionmode": "createdat"}}
    model = {"groups": {"depots": {"singular": "depot", "resources": resources}}}
    garage.send("DELETE", "/fleets")
    assert garage.send("PUT", "/", {"modelsource": model}).status_code == 200
    assert garage.problem("PATCH", "/capabilities", {"versionmodes": ["manual"]}) == "capability_error"
    plain = {"groups": {"depots": {"singular": "depot"}}}
    both = {"capabilities": {"versionmodes": ["manual"]}, "modelsource": plain}
    assert garage.send("PATCH", "/", both).status_code == 200
    assert garage.problem("PUT", "/modelsource", model) == "model_error"
    assert garage.problem("PATCH", "/", {"modelsource": model}) == "model_error"
    assert garage.get("/modelsource") == plain


@pytest.mark.feature("CAP-021", "CAP-022", "FLAG-066")
def test_offers_describe_every_capability(parked: Any) -> None:
    offered = parked.get("/capabilitiesoffered")
    assert offered.keys() == parked.get("/capabilities").keys()
    assert offered["flags"] == {
        "type": "array",
        "enum": list(FLAGS),
        "item": {"type": "string"},
        "documentation": "https://github.com/xregistry/spec/blob/main/core/spec.md#flags-capability",
    }
    assert offered["pagination"]["type"] == "boolean"
    assert offered["pagination"]["enum"] == [False, True]
    assert offered["available"]["attributes"]["export"]["attributes"]["mutable"]["enum"] == [False]
    assert offered["specversions"]["enum"] == ["1.0-rc4"]
    assert parked.get("/capabilities?offered") == offered
    for method in ("PUT", "POST", "PATCH", "DELETE"):
        assert parked.problem(method, "/capabilitiesoffered", {}) == "action_not_supported"


@pytest.mark.feature("CAP-013")
def test_shortself_is_shown_when_it_is_on(garage: Any) -> None:
    assert "shortself" not in garage.get("/fleets/north")
    garage.switch(shortself=True)
    found = garage.get("/?inline=*")
    fleet = found["fleets"]["north"]
    manual = fleet["manuals"]["driving"]
    entities = [found, fleet, manual, manual["meta"], *manual["versions"].values(), *fleet["manuals"].values()]
    entities += fleet["manuals"]["likewise"]["versions"].values()
    urls = {entity["xid"]: entity["shortself"] for entity in entities}
    assert len(set(urls.values())) == len(urls)
    assert not any("$" in url for url in urls.values())
    for xid, url in urls.items():
        answer = garage.client.get(url + "?inline=a%2Cb")
        assert answer.status_code == 308
        assert answer.headers["location"] == f"http://garage.localhost{xid}?inline=a%2Cb"
    assert garage.client.get(manual["shortself"], follow_redirects=True).json() == {"pages": 2}
    details = garage.client.get(manual["shortself"] + "$details", follow_redirects=True)
    assert details.json()["versionid"] == "b"
    for unknown in ("a" * 16, "x", "", "a" * 16 + "/v/"):
        assert garage.problem("GET", f"/-/s/{unknown}") == "not_found"
    assert "shortself" not in garage.get("/fleets/north?doc")
    garage.switch(shortself=False)
    assert "shortself" not in garage.get("/fleets/north")
    garage.switch(shortself=True)
    assert garage.get("/fleets/north")["shortself"] == urls["/fleets/north"]


def test_capabilities_survive_a_restart(garage: Any, tmp_path: Path) -> None:
    garage.switch(pagination=True, flags=["inline"])
    with open_store(f"sqlite:///{tmp_path / 'garage.db'}") as again, again.read() as tx:
        kept = read_capabilities(tx)
    assert (kept.pagination, kept.flags) == (True, ("inline",))


OPTIONS = {
    "/": "GET, OPTIONS, PATCH, POST, PUT",
    "/fleets": "DELETE, GET, OPTIONS, PATCH, POST",
    "/fleets/north": "DELETE, GET, OPTIONS, PATCH, POST, PUT",
    "/fleets/north/vehicles": "DELETE, GET, OPTIONS, PATCH, POST",
    "/fleets/north/vehicles/van": "DELETE, GET, OPTIONS, PATCH, POST, PUT",
    "/fleets/north/vehicles/van/meta": "GET, OPTIONS, PATCH, PUT",
    "/fleets/north/vehicles/van/versions": "DELETE, GET, OPTIONS, PATCH, POST",
    "/fleets/north/vehicles/van/versions/1": "DELETE, GET, OPTIONS, PATCH, PUT",
    "/capabilities": "GET, OPTIONS, PATCH, PUT",
    "/capabilitiesoffered": "GET, OPTIONS",
    "/model": "GET, OPTIONS",
    "/modelsource": "GET, OPTIONS, PUT",
    "/export": "GET, OPTIONS",
}


@pytest.mark.feature("HTTP-005")
@pytest.mark.parametrize(("path", "methods"), OPTIONS.items())
def test_options_list_the_methods(parked: Any, path: str, methods: str) -> None:
    answer = parked.send("OPTIONS", path)
    assert (answer.status_code, answer.content) == (200, b"")
    assert answer.headers["allow"] == answer.headers["access-control-allow-methods"] == methods

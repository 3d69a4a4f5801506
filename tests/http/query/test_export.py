"""`/export`, document view, and that what is exported can be imported."""

from __future__ import annotations

from typing import Any

import pytest

EXPORT = "/?doc&inline=*,capabilities,modelsource"


@pytest.mark.feature("EXP-001", "FLAG-005", "FLAG-009")
def test_export_is_the_document_view_of_everything(parked: Any) -> None:
    document = parked.get("/export")
    assert document == parked.get(EXPORT)
    assert {"capabilities", "modelsource"} <= document.keys()
    assert "model" not in document
    assert document["fleets"]["north"]["manuals"]["driving"]["versions"]["a"]["manual"] == {"pages": 1}


@pytest.mark.feature("EXP-002")
def test_flags_apply_to_the_export(parked: Any) -> None:
    assert "fleets" not in parked.get("/export?inline=model")
    assert "model" in parked.get("/export?inline=model")
    assert parked.get("/export?inline=*") == parked.get("/?doc&inline=*")
    assert set(parked.get("/export?filter=fleets.name=south")["fleets"]) == {"south"}
    assert parked.problem("GET", "/export?filter=fleets.name=east") == "not_found"
    assert parked.problem("GET", "/export?filter=a..b") == "bad_filter"
    assert parked.problem("GET", "/export?inline=fleets.nothing") == "inline_noninlineable"
    versions = parked.get("/export?binary")["fleets"]["north"]["manuals"]["driving"]["versions"]
    assert "manualbase64" in versions["a"]


@pytest.mark.feature("EXP-003")
@pytest.mark.parametrize("method", ["PUT", "PATCH", "POST", "DELETE"])
def test_nothing_is_written_through_the_export(parked: Any, method: str) -> None:
    answer = parked.send(method, "/export", {})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, OPTIONS")


@pytest.mark.feature("EXP-004")
def test_export_needs_no_flags(garage: Any) -> None:
    expected = garage.get("/export")
    garage.switch(flags=[])
    found = garage.get("/export?inline=model&filter=fleets.name=south")
    assert found.pop("capabilities")["flags"] == []
    for document in (expected, found):
        document.pop("epoch")
        document.pop("modifiedat")
    expected.pop("capabilities")
    assert found == expected


@pytest.mark.feature("EXP-005", "EXP-006", "EXP-008", "FLAG-041", "FLAG-042", "FLAG-044", "FLAG-045")
@pytest.mark.parametrize("query", ["ignore=epoch,id,capabilities", "ignore=epoch&ignore=id", "ignore=epoch,id"])
def test_an_export_rebuilds_the_registry(garage: Any, empty: Any, query: str) -> None:
    exported = garage.get("/export")
    copy = empty("none")
    answer = copy.send("PUT", f"/?{query}", exported)
    assert answer.status_code == 200, answer.text
    assert without_server_values(copy.get("/export")) == without_server_values(exported)


def without_server_values(value: Any) -> Any:
    left_out = {"epoch", "modifiedat", "createdat", "registryid", "capabilities"}
    if isinstance(value, dict):
        return {name: without_server_values(member) for name, member in value.items() if name not in left_out}
    return value


@pytest.mark.feature("EXP-006")
@pytest.mark.parametrize(
    "place",
    [
        *("/", "/fleets/north", "/fleets/north/manuals/driving", "/fleets/north/manuals/likewise"),
        *("/fleets/north/manuals/driving/meta", "/fleets/north/manuals/driving/versions/a"),
        "/fleets/north/vehicles/van",
    ],
)
def test_the_document_view_of_an_entity_can_be_put_back(garage: Any, place: str) -> None:
    target = place + ("$details" if "manuals" in place and not place.endswith("meta") else "")
    document = garage.get(f"{target}?doc&inline")
    answer = garage.send("PUT", f"{target}?ignore=epoch", document)
    assert answer.status_code == 200, answer.text
    assert without_server_values(garage.get(f"{target}?doc&inline")) == without_server_values(document)


@pytest.mark.feature("EXP-007", "FLAG-005", "FLAG-007", "FLAG-008")
def test_collections_go_from_one_registry_to_another(garage: Any, empty: Any) -> None:
    groups = garage.get("/?collections")
    assert {name.removesuffix("url").removesuffix("count") for name in groups} == {"fleets", "depots"}
    assert groups["fleets"]["north"]["manuals"]["driving"]["versions"]["a"]["manual"] == {"pages": 1}
    resources = garage.get("/fleets/north?collections&doc")
    assert {name.removesuffix("url").removesuffix("count") for name in resources} == {"vehicles", "manuals"}
    copy = empty("none")
    copy.send("PUT", "/", {"modelsource": garage.get("/modelsource"), "region": "Andes"})
    answer = copy.send("POST", "/?ignore=epoch", garage.get("/?collections&doc"))
    assert answer.status_code == 200, answer.text
    assert copy.get("/")["region"] == "Andes"
    assert set(copy.get("/fleets")) == {"north", "south", "west"}
    assert copy.send("POST", "/fleets/west?ignore=epoch", resources).status_code == 200
    assert set(copy.get("/fleets/west/vehicles")) == {"van", "truck"}


@pytest.mark.feature("FLAG-006")
@pytest.mark.parametrize("place", ["/fleets", "/fleets/north/vehicles", "/fleets/north/manuals/driving/versions/a"])
def test_only_owners_of_collections_show_them(parked: Any, place: str) -> None:
    assert parked.problem("GET", f"{place}?collections") == "bad_flag"


@pytest.mark.feature("FLAG-009", "FLAG-010", "FLAG-011", "FLAG-012", "FLAG-013", "FLAG-014", "FLAG-015")
def test_document_view(garage: Any) -> None:
    garage.switch(shortself=True)
    fleet = garage.get("/fleets/north?doc&inline")
    driving, likewise = fleet["manuals"]["driving"], fleet["manuals"]["likewise"]
    assert "shortself" not in str(fleet)
    assert driving.keys() == {"manualid", "self", "xid", "metaurl", "meta", "versionsurl", "versionscount", "versions"}
    assert fleet["self"] == "#/"
    assert fleet["vehiclesurl"] == "#/vehicles"
    assert driving["self"] == "#/manuals/driving"
    assert driving["metaurl"] == "#/manuals/driving/meta"
    assert driving["meta"]["defaultversionurl"] == "#/manuals/driving/versions/b"
    assert driving["versions"]["a"]["self"] == "#/manuals/driving/versions/a"
    assert likewise.keys() == {"manualid", "self", "xid", "metaurl", "meta"}
    assert likewise["meta"].keys() == {"manualid", "self", "xid", "xref"}
    plain = garage.get("/fleets/north/manuals/driving?doc")
    assert plain["versionsurl"] == "http://garage.localhost/fleets/north/manuals/driving/versions"
    assert plain["self"] == "#/"
    meta = garage.get("/fleets/north/manuals/driving/meta?doc")
    assert meta["defaultversionurl"] == "http://garage.localhost/fleets/north/manuals/driving/versions/b$details"


@pytest.mark.feature("FLAG-010")
def test_document_view_says_nothing_about_checks(garage: Any) -> None:
    manuals = {"singular": "manual", "validateformat": True, "validatecompatibility": True, "strictvalidation": False}
    model = {"groups": {"shelves": {"singular": "shelf", "resources": {"manuals": manuals}}}}
    garage.send("DELETE", "/fleets")
    garage.send("DELETE", "/depots")
    assert garage.send("PUT", "/", {"modelsource": model}).status_code == 200
    body = {"format": "stone/1", "manual": "x", "meta": {"compatibility": "backward"}}
    assert garage.send("PUT", "/shelves/a/manuals/m$details", body).status_code == 201
    path = "/shelves/a/manuals/m/versions/1$details"
    assert any("validated" in name for name in garage.get(path))
    assert not any("validated" in name for name in garage.get(f"{path}?doc"))


@pytest.mark.feature("FLAG-014")
def test_pointers_survive_unusual_ids(garage: Any) -> None:
    garage.send("PUT", "/depots/a~1b", {})
    depots = garage.get("/?doc&inline=depots")["depots"]
    assert depots["a~1b"]["self"] == "#/depots/a~01b"
    assert depots["a~1b"]["xid"] == "/depots/a~1b"


@pytest.mark.feature("FLAG-016")
def test_versions_of_a_reference_have_no_document_view(parked: Any) -> None:
    for place in ("versions", "versions/a", "versions/a$details"):
        assert parked.problem("GET", f"/fleets/north/manuals/likewise/{place}?doc") == "cannot_doc_xref"
    assert parked.problem("GET", "/fleets/north/manuals/nothing/versions?doc") == "not_found"


@pytest.mark.feature("EXP-010")
def test_a_document_without_a_model_meets_the_well_known_one(empty: Any) -> None:
    document = {
        "specversion": "1.0-rc4",
        "messagegroups": {"orders": {"messages": {"placed": {"envelope": "CloudEvents/1.0"}}}},
        "schemagroups": {
            "orders": {"schemas": {"order": {"format": "JsonSchema/draft-07", "schema": {"type": "object"}}}}
        },
    }
    copy = empty("messaging")
    answer = copy.send("PUT", "/", document)
    assert answer.status_code == 200, answer.text
    assert copy.get("/messagegroups/orders/messages/placed")["envelope"] == "CloudEvents/1.0"
    assert copy.get("/schemagroups/orders/schemas/order") == {"type": "object"}

"""GRP: Groups."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.http_client import BASE, Wire

CONSTRAINED: dict[str, Any] = {
    "groups": {
        "dirs": {
            "singular": "dir",
            "attributes": {"color": {"type": "string"}},
            "constraints": {"pages.color": {"equals": "color"}},
            "resources": {
                "pages": {"singular": "page", "hasdocument": False, "attributes": {"color": {"type": "string"}}}
            },
        }
    }
}


@pytest.mark.feature("GRP-001")
def test_a_group_shows_exactly_its_attributes(dirs: Wire) -> None:
    deprecated = {"removal": "2030-01-01T00:00:00Z"}
    given = {"name": "n", "description": "d", "documentation": "http://x", "icon": "http://x/i", "labels": {"a": "b"}}
    shown = dirs.ok("PUT", "/dirs/d1", {**given, "deprecated": deprecated})
    times = {name: shown[name] for name in ("createdat", "modifiedat")}
    assert shown == {
        "dirid": "d1",
        "self": f"{BASE}/dirs/d1",
        "xid": "/dirs/d1",
        "epoch": 1,
        **given,
        **times,
        "deprecated": deprecated,
        "filesurl": f"{BASE}/dirs/d1/files",
        "filescount": 0,
        "pagesurl": f"{BASE}/dirs/d1/pages",
        "pagescount": 0,
    }
    assert times["createdat"] == times["modifiedat"]


@pytest.mark.feature("GRP-002", "REG-076", "REG-077")
def test_empty_collections_are_shown(dirs: Wire) -> None:
    dirs.ok("PUT", "/dirs/d1", {})
    inlined = dirs.get("/dirs/d1?inline=*")
    assert (inlined["files"], inlined["pages"], inlined["filescount"]) == ({}, {}, 0)
    assert "files" not in dirs.get("/dirs/d1")


@pytest.mark.feature("GRP-003")
def test_a_group_type_needs_no_resources(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", {"groups": {"dirs": {"singular": "dir"}}})
    shown = wire.ok("PUT", "/dirs/d1", {"name": "n"})
    assert set(shown) == {"dirid", "self", "xid", "epoch", "name", "createdat", "modifiedat"}
    assert wire.send("GET", "/dirs/d1/files").status == 404
    assert wire.refusal("POST", "/dirs/d1", {"files": {}}) == "resources_only"


@pytest.mark.feature("GRP-004")
def test_a_group_takes_everything_below_with_it(dirs: Wire) -> None:
    dirs.ok("PUT", "/dirs/d1", {"pages": {"p1": {"versions": {"1": {}, "2": {}}}}, "files": {"f1": {}}})
    dirs.ok("PUT", "/dirs/d10", {"pages": {"p1": {}}})
    dirs.ok("DELETE", "/dirs/d1")
    for gone in (
        "",
        "/pages",
        "/pages/p1",
        "/pages/p1/meta",
        "/pages/p1/versions",
        "/pages/p1/versions/1",
        "/files/f1",
    ):
        assert dirs.send("GET", f"/dirs/d1{gone}").problem == "not_found"
    assert list(dirs.get("/dirs")) == ["d10"]
    dirs.ok("PUT", "/dirs/d1", {})
    assert dirs.get("/dirs/d1")["pagescount"] == 0
    assert dirs.get("/dirs/d1")["epoch"] == 1


@pytest.mark.feature("GRP-005", "MOD-064", "MOD-065")
def test_a_group_s_constraint_holds_for_what_is_in_it_and_for_what_comes(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", CONSTRAINED)
    wire.ok("PUT", "/dirs/d1", {"pages": {"p1": {"color": "red"}, "p2": {"color": "green"}}})
    assert wire.refusal("PATCH", "/dirs/d1", {"color": "red"}) == "constraint_failure"
    wire.ok("DELETE", "/dirs/d1/pages/p2")
    wire.ok("PATCH", "/dirs/d1", {"color": "red"})
    assert wire.refusal("PUT", "/dirs/d1/pages/p3", {"color": "green"}) == "constraint_failure"
    assert wire.refusal("PATCH", "/dirs/d1/pages/p1", {"color": "green"}) == "constraint_failure"
    assert wire.refusal("PUT", "/dirs/d1/pages/p1/versions/2", {"color": "green"}) == "constraint_failure"
    wire.ok("PUT", "/dirs/d1/pages/p1/versions/2", {"color": "red"})
    wire.ok("PATCH", "/dirs/d1", {"color": None})
    wire.ok("PUT", "/dirs/d1/pages/p3", {"color": "green"})


@pytest.mark.feature("GRP-006", "GRP-007", "HTTP-019")
def test_post_to_a_group_takes_resources_only(dirs: Wire) -> None:
    dirs.ok("PUT", "/dirs/d1/pages/old", {})
    answered = dirs.ok("POST", "/dirs/d1", {"pages": {"p1": {}}, "files": {"f1": {}, "f2": {}}})
    assert {plural: list(members) for plural, members in answered.items()} == {"pages": ["p1"], "files": ["f1", "f2"]}
    assert answered["pages"]["p1"] == dirs.get("/dirs/d1/pages/p1")
    for extra in ("name", "dirid", "epoch", "ovens"):
        assert dirs.refusal("POST", "/dirs/d1", {"pages": {"p9": {}}, extra: 1}) == "resources_only"


@pytest.mark.feature("GRP-008", "HTTP-014", "HTTP-021")
def test_post_replaces_and_patch_merges_the_groups_of_a_map(dirs: Wire) -> None:
    dirs.ok("POST", "/dirs", {"d1": {"name": "n", "description": "d"}, "d2": {}})
    answered = dirs.ok("PATCH", "/dirs", {"d1": {"name": "m"}, "d3": {}})
    assert list(answered) == ["d1", "d3"]
    assert (answered["d1"]["name"], answered["d1"]["description"], answered["d1"]["epoch"]) == ("m", "d", 2)
    answered = dirs.ok("POST", "/dirs", {"d1": {"name": "o"}})
    assert (list(answered), "description" in answered["d1"]) == (["d1"], False)
    assert dirs.ok("POST", "/dirs", {}) == {}


@pytest.mark.feature("GRP-009", "GRP-010", "HTTP-022", "HTTP-042")
def test_groups_are_deleted_by_map(dirs: Wire) -> None:
    dirs.ok("POST", "/dirs", {one: {} for one in ("d1", "d2", "d3", "d4")})
    dirs.ok("PATCH", "/dirs/d2", {})
    dirs.ok("DELETE", "/dirs", {})
    assert len(dirs.get("/dirs")) == 4
    assert dirs.refusal("DELETE", "/dirs", {"d1": {"epoch": 1}, "d2": {"epoch": 1}}) == "mismatched_epoch"
    assert dirs.refusal("DELETE", "/dirs", {"d1": {"dirid": "d2"}}) == "mismatched_id"
    dirs.ok("DELETE", "/dirs", {"d1": {"epoch": 1, "name": 5, "oven": {}}, "d2": {"epoch": 2}, "missing": {"epoch": 9}})
    assert list(dirs.get("/dirs")) == ["d3", "d4"]
    epoch = dirs.get("/")["epoch"]
    dirs.ok("DELETE", "/dirs")
    assert (dirs.get("/dirs"), dirs.get("/")["epoch"]) == ({}, epoch + 1)

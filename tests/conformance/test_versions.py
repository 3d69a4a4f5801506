"""VER: Versions, how they are ordered and who descends from whom."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.http_client import BASE, Wire

PAGE = "/dirs/d1/pages/p1"
FILE = "/dirs/d1/files/f1"


def with_pages(wire: Wire, **aspects: Any) -> None:
    pages = {"singular": "page", "hasdocument": False, **aspects}
    wire.ok("PUT", "/modelsource", {"groups": {"dirs": {"singular": "dir", "resources": {"pages": pages}}}})


def ancestors(wire: Wire) -> dict[str, str]:
    return {one: version["ancestorid"] for one, version in wire.get(f"{PAGE}/versions").items()}


def default(wire: Wire) -> str:
    return str(wire.get(f"{PAGE}/meta")["defaultversionid"])


@pytest.mark.feature("VER-001", "VER-018", "RES-003")
def test_a_version_shows_exactly_its_attributes(dirs: Wire) -> None:
    given = {
        "name": "n",
        "description": "d",
        "documentation": "http://x",
        "icon": "http://x/i",
        "labels": {"a": "b"},
        "contenttype": "text/x",
        "format": "Oven/1",
    }
    xid = f"{FILE}/versions/v1"
    shown = dirs.ok("PUT", f"{xid}$details", {**given, "oven": 1, "fileurl": "http://x/doc"})
    times = {name: shown[name] for name in ("createdat", "modifiedat")}
    expected = {
        "fileid": "f1",
        "versionid": "v1",
        "self": f"{BASE}{xid}$details",
        "xid": xid,
        "epoch": 1,
        "isdefault": True,
        "ancestorid": "v1",
        **given,
        **times,
        "oven": 1,
        "fileurl": "http://x/doc",
    }
    assert shown == expected
    own = {"self": f"{BASE}{FILE}$details", "xid": FILE, "metaurl": f"{BASE}{FILE}/meta"}
    own |= {"versionsurl": f"{BASE}{FILE}/versions", "versionscount": 1}
    assert dirs.get(f"{FILE}$details") == {**expected, **own}


@pytest.mark.feature("VER-002")
@pytest.mark.parametrize("word", ["null", "request"])
def test_reserved_ids(dirs: Wire, word: str) -> None:
    dirs.ok("PUT", PAGE, {})
    for method, target, body in (
        ("PUT", f"{PAGE}/versions/{word}", {}),
        ("POST", PAGE, {"versionid": word}),
        ("POST", f"{PAGE}/versions", {word: {}}),
        ("PUT", "/dirs/d1/pages/new", {"versionid": word}),
        ("PUT", "/dirs/d1/pages/new", {"meta": {"defaultversionid": word}}),
    ):
        assert dirs.refusal(method, target, body) in ("malformed_id", "invalid_attribute")


@pytest.mark.feature("VER-004")
def test_isdefault_is_always_there_and_never_taken(dirs: Wire) -> None:
    dirs.ok("POST", f"{PAGE}/versions", {"v1": {"isdefault": True}, "v2": {"isdefault": False}})
    shown = dirs.get(f"{PAGE}/versions")
    assert {one: version["isdefault"] for one, version in shown.items()} == {"v1": False, "v2": True}


@pytest.mark.feature("VER-005", "RES-047")
def test_generated_ids_count_on_and_skip_what_is_taken(dirs: Wire) -> None:
    dirs.ok("PUT", PAGE, {})
    dirs.ok("PUT", f"{PAGE}/versions/2", {})
    assert dirs.ok("POST", PAGE, {})["versionid"] == "3"
    dirs.ok("DELETE", f"{PAGE}/versions/3")
    dirs.ok("PUT", f"{PAGE}/versions/9", {})
    assert dirs.ok("POST", PAGE, {})["versionid"] == "4"
    dirs.ok("DELETE", PAGE)
    assert dirs.ok("POST", PAGE, {})["versionid"] == "1"


@pytest.mark.feature("VER-006", "VER-007", "VER-008", "VER-009", "VER-010")
def test_ancestors_by_hand(dirs: Wire) -> None:
    dirs.ok("PUT", f"{PAGE}/versions/v1", {})
    dirs.ok("PUT", f"{PAGE}/versions/v2", {})
    dirs.ok("PUT", f"{PAGE}/versions/v3", {"ancestorid": "v1"})
    dirs.ok("PUT", f"{PAGE}/versions/v4", {"ancestorid": "v4"})
    assert ancestors(dirs) == {"v1": "v1", "v2": "v1", "v3": "v1", "v4": "v4"}
    dirs.ok("PUT", f"{PAGE}/versions/v3", {"name": "n"})
    dirs.ok("PATCH", f"{PAGE}/versions/v2", {})
    assert ancestors(dirs) == {"v1": "v1", "v2": "v1", "v3": "v1", "v4": "v4"}
    made = dirs.ok("POST", PAGE, {"ancestorid": "request"})
    assert made["ancestorid"] == made["versionid"]
    assert dirs.refusal("PATCH", f"{PAGE}/versions/v3", {"ancestorid": "v9"}) == "unknown_id"
    assert dirs.refusal("PATCH", f"{PAGE}/versions/v3", {"ancestorid": "V1"}) == "unknown_id"
    assert dirs.refusal("PATCH", f"{PAGE}/versions/v1", {"ancestorid": "v3"}) == "ancestor_circular_reference"
    swapped = {"v2": {"ancestorid": "v3"}, "v3": {"ancestorid": "v2"}}
    assert dirs.refusal("PATCH", f"{PAGE}/versions", swapped) == "ancestor_circular_reference"
    before = dirs.get(f"{PAGE}/versions/v3")
    after = dirs.ok("PATCH", f"{PAGE}/versions/v3", {"ancestorid": "v2"})
    assert (after["epoch"], after["modifiedat"] > before["modifiedat"]) == (before["epoch"] + 1, True)


@pytest.mark.feature("VER-010", "VER-014")
def test_who_loses_an_ancestor_becomes_a_root_and_is_changed(dirs: Wire) -> None:
    dirs.ok("POST", f"{PAGE}/versions", {"v1": {}, "v2": {}, "v3": {}})
    before = dirs.get(f"{PAGE}/versions")
    dirs.ok("DELETE", f"{PAGE}/versions/v1")
    after = dirs.get(f"{PAGE}/versions")
    assert ancestors(dirs) == {"v2": "v2", "v3": "v2"}
    assert (after["v2"]["epoch"], after["v2"]["modifiedat"] > before["v2"]["modifiedat"]) == (2, True)
    assert after["v3"] == before["v3"]


@pytest.mark.feature("VER-011", "VER-012", "MOD-076")
def test_newest_and_oldest_by_hand(wire: Wire) -> None:
    with_pages(wire, versionmode="MANUAL", maxversions=4)
    times = {"v1": "2022", "v2": "2020", "V3": "2021", "v4": "2021"}
    roots = {one: {"ancestorid": one, "createdat": f"{year}-01-01T00:00:00Z"} for one, year in times.items()}
    wire.ok("POST", f"{PAGE}/versions", roots)
    assert default(wire) == "v1"
    wire.ok("PATCH", f"{PAGE}/versions/v4", {"ancestorid": "v1"})  # v1 is no leaf any more; V3 and v4 tie
    assert default(wire) == "v4"
    wire.ok("PUT", f"{PAGE}/versions/v5", {"ancestorid": "v4"})  # one too many: v2 is the oldest root
    assert set(ancestors(wire)) == {"v1", "V3", "v4", "v5"}
    wire.ok("PUT", f"{PAGE}/versions/v6", {})
    assert set(ancestors(wire)) == {"v1", "v4", "v5", "v6"}


@pytest.mark.feature("VER-013")
def test_new_versions_without_ancestor_are_strung_together_in_the_order_of_their_ids(dirs: Wire) -> None:
    dirs.ok("PUT", f"{PAGE}/versions/m", {})
    dirs.ok("POST", f"{PAGE}/versions", {"c": {}, "A": {}, "b": {}, "root": {"ancestorid": "root"}})
    found = ancestors(dirs)
    assert (found["b"], found["c"]) == ("A", "b")
    assert found["A"] in ("m", "root")  # the newest before them
    assert default(dirs) == "c"
    dated = {"y": {"createdat": "2020-01-01T00:00:00Z"}, "x": {}}
    dirs.ok("POST", f"{PAGE}/versions", dated)
    assert (ancestors(dirs)["x"], ancestors(dirs)["y"]) == ("c", "x")  # by id, not by time


@pytest.mark.feature("VER-015", "VER-016", "VER-010")
@pytest.mark.parametrize("mode", ["createdat", "modifiedat", "CreatedAt"])
def test_versions_in_the_order_of_time(wire: Wire, mode: str) -> None:
    with_pages(wire, versionmode=mode, singleversionroot=True)
    name = mode.lower()
    years = {"v1": "2022", "v2": "2020", "v3": "2021", "V0": "2021"}
    wire.ok("POST", f"{PAGE}/versions", {one: {name: f"{year}-01-01T00:00:00Z"} for one, year in years.items()})
    assert ancestors(wire) == {"v2": "v2", "V0": "v2", "v3": "V0", "v1": "v3"}
    assert default(wire) == "v1"
    before = wire.get(f"{PAGE}/versions")
    wire.ok("PATCH", f"{PAGE}/versions/v3", {name: "2023-01-01T00:00:00Z"})
    after = wire.get(f"{PAGE}/versions")
    assert (after["v3"]["ancestorid"], after["v3"]["epoch"]) == ("v1", 2)
    if name == "createdat":  # by modifiedat, to be relinked is to be modified, and the order moves on
        assert ancestors(wire) == {"v2": "v2", "V0": "v2", "v1": "V0", "v3": "v1"}
        assert (after["v1"]["epoch"], after["V0"]) == (2, before["V0"])
        assert default(wire) == "v3"
        wire.ok("DELETE", f"{PAGE}/versions/V0")
        assert ancestors(wire) == {"v2": "v2", "v1": "v2", "v3": "v1"}


@pytest.mark.feature("VER-017")
def test_versions_in_the_order_of_semantic_versioning(wire: Wire) -> None:
    with_pages(wire, versionmode="semver", singleversionroot=True)
    order = ["0.9.0", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta.2", "1.0.0-beta.11", "1.0.0-rc.1"]
    order += ["1.0.0", "1.2.0", "1.10.0", "2.0.0"]
    for one in sorted(order, key=lambda one: one[::-1]):
        wire.ok("PUT", f"{PAGE}/versions/{one}", {})
    assert ancestors(wire) == {one: order[max(place - 1, 0)] for place, one in enumerate(order)}
    assert default(wire) == "2.0.0"
    wire.ok("DELETE", f"{PAGE}/versions/1.0.0")
    assert ancestors(wire)["1.2.0"] == "1.0.0-rc.1"


@pytest.mark.feature("VER-018", "RES-022")
def test_a_content_type_may_stand_beside_a_url(dirs: Wire) -> None:
    for target in (f"{FILE}$details", f"{FILE}/versions/v2$details"):
        shown = dirs.ok("PUT", target, {"contenttype": "text/x", "fileurl": "http://x/doc"})
        assert (shown["contenttype"], shown["fileurl"]) == ("text/x", "http://x/doc")


@pytest.mark.feature("VER-019", "VER-020")
def test_a_format_is_any_text_but_the_empty_one(dirs: Wire) -> None:
    assert dirs.send("PUT", FILE, raw=b"no schema at all").status == 201
    assert "format" not in dirs.get(f"{FILE}$details")
    assert dirs.ok("PATCH", f"{FILE}$details", {"format": "Oven/1"})["format"] == "Oven/1"
    for wrong in ("", 5, {}):
        assert dirs.refusal("PATCH", f"{FILE}$details", {"format": wrong}) == "invalid_attribute"
    assert not {"formatvalidated", "formatvalidatedreason", "compatibilityvalidated"} & set(dirs.get(f"{FILE}$details"))


@pytest.mark.feature("VER-030", "MOD-070", "MOD-073")
def test_what_is_too_many_goes_oldest_first_and_never_the_default(wire: Wire) -> None:
    with_pages(wire, maxversions=2)
    wire.ok("PUT", f"{PAGE}/versions/v1?setdefaultversionid=v1", {})
    wire.ok("PUT", f"{PAGE}/versions/v2", {})
    wire.ok("PUT", f"{PAGE}/versions/v3", {})
    assert (ancestors(wire), default(wire)) == ({"v1": "v1", "v3": "v3"}, "v1")
    assert wire.get(f"{PAGE}/versions/v3")["epoch"] == 1

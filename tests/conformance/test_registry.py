"""REG: data types, common attributes, the Registry itself, collections."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.http_client import BASE, Wire

PAGE = "/dirs/d1/pages/p1"
FILE = "/dirs/d1/files/f1"
SCALARS = {
    "boolean": True,
    "decimal": 1.5,
    "integer": -1,
    "string": "x",
    "timestamp": "2025-01-01T00:00:00Z",
    "uinteger": 1,
    "uri": "x",
    "uriabsolute": "urn:x",
    "urirelative": "x",
    "uritemplate": "/{x}",
    "url": "x",
    "urlabsolute": "http://x",
    "urlrelative": "x",
    "xid": "/dirs/d1",
    "xidtype": "/dirs",
}


def model_with(**attributes: Any) -> dict[str, Any]:
    pages = {"singular": "page", "hasdocument": False}
    return {"attributes": attributes, "groups": {"dirs": {"singular": "dir", "resources": {"pages": pages}}}}


@pytest.mark.feature("REG-016", "REG-017")
def test_xids_mind_case(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", model_with(at={"type": "xid"}))
    wire.ok("PUT", "/dirs/d1", {})
    assert wire.ok("PATCH", "/", {"at": "/dirs/D1"})["at"] == "/dirs/D1"  # another one, which may be missing
    assert wire.refusal("PATCH", "/", {"at": "/Dirs/d1"}) == "invalid_attribute"
    assert wire.refusal("PATCH", "/", {"at": "dirs/d1"}) == "invalid_attribute"


@pytest.mark.feature("REG-018")
def test_xidtypes_name_types_of_the_model(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", model_with(of={"type": "xidtype"}))
    for good in ("/", "/dirs", "/dirs/pages", "/dirs/pages/versions"):
        assert wire.ok("PATCH", "/", {"of": good})["of"] == good
    for bad in ("", "dirs", "/dir", "/ovens", "/dirs/ovens", "/dirs/pages/version", "/dirs/d1/pages/p1", 5):
        assert wire.refusal("PATCH", "/", {"of": bad}) == "invalid_attribute", bad


@pytest.mark.feature("REG-019", "MOD-036")
@pytest.mark.parametrize("kind", [*SCALARS, "any", "map", "array", "object"])
def test_only_scalars_have_defaults(wire: Wire, kind: str) -> None:
    item = {"item": {"type": "string"}} if kind in ("map", "array") else {}
    attribute = {"type": kind, "required": True, "default": SCALARS.get(kind, {}), **item}
    if kind in SCALARS:
        wire.ok("PUT", "/", {"modelsource": model_with(given=attribute)})
        assert wire.get("/")["given"] == SCALARS[kind]
    else:
        assert wire.refusal("PUT", "/modelsource", model_with(given=attribute)) == "model_scalar_default"


@pytest.mark.feature("REG-020")
@pytest.mark.parametrize("name", ["a", "_a", "a_1", "a" * 63])
def test_names_of_attributes(wire: Wire, name: str) -> None:
    wire.ok("PUT", "/modelsource", model_with(**{name: {"type": "string"}}))
    assert wire.ok("PATCH", "/", {name: "x"})[name] == "x"


@pytest.mark.feature("REG-020")
@pytest.mark.parametrize("name", ["", "1a", "A", "a-b", "a.b", "a b", "ä", "a" * 64])
def test_names_that_are_none(wire: Wire, name: str) -> None:
    assert wire.refusal("PUT", "/modelsource", model_with(**{name: {"type": "string"}})) == "model_error"


@pytest.mark.feature("REG-021", "REG-024", "REG-031")
def test_an_empty_text_is_a_value_and_no_value_is_not_shown(dirs: Wire) -> None:
    dirs.ok("PUT", PAGE, {"description": "", "oven": {"deep": [1, {"a": ""}]}})
    shown = dirs.get(PAGE)
    assert (shown["description"], shown["oven"]) == ("", {"deep": [1, {"a": ""}]})
    assert not {"name", "labels", "icon", "documentation"} & set(shown)
    assert "description" not in dirs.ok("PATCH", PAGE, {"description": None})


@pytest.mark.feature("REG-026", "REG-046", "REG-065", "REG-071", "MOD-032")
def test_what_only_the_server_writes_is_not_read(dirs: Wire) -> None:
    before = dirs.get("/")
    after = dirs.ok("PUT", "/", {"specversion": "9.9", "self": 5, "xid": [], "model": {"groups": {}}})
    assert {n: after[n] for n in ("specversion", "self", "xid")} == {
        n: before[n] for n in ("specversion", "self", "xid")
    }
    assert list(dirs.get("/model")["groups"]) == ["dirs"]
    shown = dirs.ok("PUT", PAGE, {"isdefault": "no", "xid": "/", "self": None})
    assert (shown["isdefault"], shown["xid"], shown["self"]) == (True, PAGE, BASE + PAGE)


@pytest.mark.feature("REG-027", "META-014")
def test_a_version_that_stops_being_the_default_is_not_changed_by_that(dirs: Wire) -> None:
    dirs.ok("PUT", f"{PAGE}/versions/1", {})
    before = dirs.get(f"{PAGE}/versions/1")
    dirs.ok("PUT", f"{PAGE}/versions/2", {})
    after = dirs.get(f"{PAGE}/versions/1")
    assert (before.pop("isdefault"), after.pop("isdefault")) == (True, False)
    assert before == after


@pytest.mark.feature("REG-029", "MOD-020")
@pytest.mark.parametrize(
    "name", ["epoch", "self", "registryid", "dirs", "dirsurl", "dirscount", "labels", "modelsource"]
)
def test_extensions_of_the_registry_do_not_take_names_that_mean_something(wire: Wire, name: str) -> None:
    wrong = {"type": "array", "item": {"type": "array", "item": {"type": "boolean"}}}
    assert wire.refusal("PUT", "/modelsource", model_with(**{name: wrong})) == "model_error"


@pytest.mark.feature("REG-029", "RES-040", "REG-032")
def test_names_of_documents_are_free_where_there_are_none(wire: Wire) -> None:
    names = ("file", "fileurl", "filebase64")
    files = {"singular": "file", "attributes": {name: {"type": "integer"} for name in names}}
    groups = {"dirs": {"singular": "dir", "resources": {"files": files}}}
    assert wire.refusal("PUT", "/modelsource", {"groups": groups}) == "model_error"
    files["hasdocument"] = False
    wire.ok("PUT", "/modelsource", {"groups": groups})
    assert wire.ok("PUT", FILE, {"file": 1, "fileurl": 2, "filebase64": 3})["fileurl"] == 2
    del files["attributes"]
    wire.ok("DELETE", "/dirs")
    wire.ok("PUT", "/modelsource", {"groups": groups})
    for name in names:
        assert wire.refusal("PUT", FILE, {name: "eA=="}) == "unknown_attribute"


@pytest.mark.feature("REG-033", "REG-040", "REG-074", "REG-075", "META-015", "GRP-001", "GRP-002")
def test_ids_and_urls_of_all_kinds_of_entities(dirs: Wire) -> None:
    dirs.ok("PUT", "/", {"dirs": {"d1": {"files": {"f1": {"versionid": "v1"}}, "pages": {"p1": {"versionid": "v1"}}}}})
    root = dirs.get("/?inline=*")
    group = root["dirs"]["d1"]
    assert root["registryid"]
    assert (root["dirsurl"], root["dirscount"]) == (f"{BASE}/dirs", 1)
    assert (group["dirid"], group["self"], group["xid"]) == ("d1", f"{BASE}/dirs/d1", "/dirs/d1")
    for plural, singular, one, suffix in (("files", "file", "f1", "$details"), ("pages", "page", "p1", "")):
        xid, resource = f"/dirs/d1/{plural}/{one}", group[plural][one]
        version, meta = resource["versions"]["v1"], resource["meta"]
        assert (group[f"{plural}url"], group[f"{plural}count"]) == (f"{BASE}/dirs/d1/{plural}", 1)
        assert [part[f"{singular}id"] for part in (resource, version, meta)] == [one] * 3
        assert [part["xid"] for part in (resource, version, meta)] == [xid, f"{xid}/versions/v1", f"{xid}/meta"]
        assert resource["self"] == f"{BASE}{xid}{suffix}"
        assert version["self"] == meta["defaultversionurl"] == f"{BASE}{xid}/versions/v1{suffix}"
        assert (meta["self"], resource["metaurl"]) == (f"{BASE}{xid}/meta",) * 2
        assert (resource["versionsurl"], resource["versionscount"]) == (f"{BASE}{xid}/versions", 1)
        assert "versionid" not in meta


@pytest.mark.feature("REG-037", "REG-038", "HTTP-015")
@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("/", {"registryid": "other"}),
        ("/dirs/d1", {"dirid": "d2"}),
        (PAGE, {"pageid": "P1"}),
        (PAGE, {"versionid": "2"}),
        (PAGE, {"meta": {"pageid": "p2"}}),
        (f"{PAGE}/meta", {"pageid": "p2"}),
        (f"{PAGE}/versions/1", {"versionid": "2"}),
        (f"{PAGE}/versions/1", {"pageid": "p2"}),
        ("/dirs/d1", {"pages": {"p1": {"pageid": "p2"}}}),
    ],
)
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_ids_never_change(dirs: Wire, method: str, target: str, body: dict[str, Any]) -> None:
    dirs.ok("PUT", PAGE, {})
    assert dirs.refusal(method, target, body) == "mismatched_id"


@pytest.mark.feature("REG-056", "REG-058", "REG-059", "REG-060")
@pytest.mark.parametrize("target", ["/", "/dirs/d1", PAGE])
def test_descriptive_attributes(dirs: Wire, target: str) -> None:
    given = {
        "name": "Oven",
        "documentation": "http://x/docs",
        "icon": "icon.png",
        "labels": {"a": "", "b.c-d_e:1": "x"},
    }
    shown = dirs.ok("PUT", target, given)
    assert {name: shown[name] for name in given} == given
    # core, Attributes: an empty string is a valid value, also of attributes that the specification defines.
    assert dirs.ok("PATCH", target, {"name": ""})["name"] == ""
    for name, value in (("name", 1), ("name", []), ("documentation", ""), ("icon", ""), ("icon", {}), ("labels", [])):
        assert dirs.refusal("PATCH", target, {name: value}) == "invalid_attribute", (name, value)
    for key in ("", "A", "ä", "a b", "-a", "a" * 64):
        assert dirs.refusal("PATCH", target, {"labels": {key: "x"}}) in ("invalid_attribute", "model_error"), key


@pytest.mark.feature("REG-061", "REG-062", "REG-063")
@pytest.mark.parametrize("target", ["/dirs/d1", f"{PAGE}/meta"])
def test_deprecated(dirs: Wire, target: str) -> None:
    dirs.ok("PUT", PAGE, {})
    full = {
        "effective": "2030-01-01T00:00:00Z",
        "removal": "2031-01-01T00:00:00Z",
        "alternative": "http://x/new",
        "documentation": "http://x/docs",
    }
    for good in (
        {},
        full,
        {"removal": full["removal"]},
        {"effective": full["effective"], "removal": full["effective"]},
    ):
        assert dirs.ok("PATCH", target, {"deprecated": good})["deprecated"] == good
    assert (
        dirs.refusal("PATCH", target, {"deprecated": {**full, "removal": "2029-01-01T00:00:00Z"}})
        == "invalid_attribute"
    )
    # Written in another zone, it is earlier all the same.
    assert dirs.refusal("PATCH", target, {"deprecated": {**full, "removal": "2030-01-01T00:30:00+01:00"}})
    for bad in (True, "yes", {"effective": "soon"}, {"removal": 5}):
        assert dirs.refusal("PATCH", target, {"deprecated": bad}) == "invalid_attribute", bad
    assert "deprecated" not in dirs.ok("PATCH", target, {"deprecated": None})


@pytest.mark.feature("REG-066", "REG-068", "MOD-007")
def test_the_model_is_changed_before_the_data(wire: Wire) -> None:
    epoch = wire.get("/")["epoch"]
    written = wire.ok(
        "PUT", "/", {"dirs": {"d1": {}}, "motto": "hot", "modelsource": model_with(motto={"type": "string"})}
    )
    assert (written["motto"], written["dirscount"], written["epoch"]) == ("hot", 1, epoch + 1)
    wire.ok("DELETE", "/dirs")
    assert wire.refusal("PUT", "/", {"dirs": {"d1": {}}, "modelsource": {}}) == "unknown_attribute"


@pytest.mark.feature("REG-072", "REG-073", "MOD-098")
def test_a_model_comes_back_as_it_was_given_and_goes_when_it_is_emptied(wire: Wire) -> None:
    given = model_with(motto={"type": "string"})
    wire.ok("PUT", "/", {"modelsource": given, "motto": "hot"})
    assert wire.get("/modelsource") == wire.get("/?inline=modelsource")["modelsource"] == given
    wire.ok("PUT", "/", {"motto": "cold"})
    assert wire.get("/modelsource") == given
    for nothing in (None, {}):
        wire.ok("PUT", "/", {"modelsource": given, "motto": "hot"})
        assert "motto" not in wire.ok("PUT", "/", {"modelsource": nothing})
        assert (wire.get("/modelsource"), wire.get("/model").get("groups", {})) == ({}, {})


@pytest.mark.feature("REG-079", "REG-082")
def test_urls_and_counts_in_requests_mean_nothing(dirs: Wire) -> None:
    dirs.ok("PUT", PAGE, {})
    lies = {"pagesurl": 5, "pagescount": -1, "filesurl": None, "filescount": "x", "pages": {}}
    shown = dirs.ok("PUT", "/dirs/d1", lies)
    assert (shown["pagesurl"], shown["pagescount"], shown["filescount"]) == (f"{BASE}/dirs/d1/pages", 1, 0)
    shown = dirs.ok("PUT", PAGE, {"versionsurl": 5, "versionscount": 9, "metaurl": {}, "versions": {}})
    assert (shown["versionscount"], shown["metaurl"]) == (1, f"{BASE}{PAGE}/meta")
    assert dirs.ok("PUT", "/", {"dirsurl": [], "dirscount": 0})["dirscount"] == 1


@pytest.mark.feature("REG-081")
@pytest.mark.parametrize("value", [None, 5, "x", [], True])
def test_members_that_are_no_entities(dirs: Wire, value: Any) -> None:
    assert dirs.refusal("PUT", "/", {"dirs": {"d1": value}}) == "invalid_attribute"
    assert dirs.refusal("POST", "/dirs", {"d1": {"pages": {"p1": value}}}) == "invalid_attribute"
    assert dirs.refusal("PUT", PAGE, {"versions": {"v1": value}}) == "invalid_attribute"
    assert dirs.refusal("POST", f"{PAGE}/versions", {"v1": value}) == "bad_request"


@pytest.mark.feature("REG-078", "FLAG-020")
def test_counts_are_those_after_a_filter(dirs: Wire) -> None:
    dirs.ok("POST", "/dirs/d1/pages", {"p1": {"name": "oven"}, "p2": {"name": "kiln"}, "p3": {"name": "oven"}})
    assert dirs.get("/dirs?filter=pages.name=oven")["d1"]["pagescount"] == 2
    assert dirs.get("/?inline=dirs&filter=dirs.pages.name=kiln")["dirs"]["d1"]["pagescount"] == 1


@pytest.mark.feature("REG-085", "MOD-034")
def test_parents_that_cannot_be_made_without_more(wire: Wire) -> None:
    source = model_with()
    source["groups"]["dirs"]["attributes"] = {"owner": {"type": "string", "required": True}}
    wire.ok("PUT", "/modelsource", source)
    answer = wire.send("PUT", PAGE, {})
    assert (answer.problem, answer.json["subject"]) == ("required_attribute_missing", "/dirs/d1")
    assert wire.get("/dirs") == {}
    wire.ok("PUT", "/dirs/d1", {"owner": "anna"})
    wire.ok("PUT", PAGE, {})


@pytest.mark.feature("REG-087")
@pytest.mark.parametrize("target", ["/", "/dirs/d1", PAGE, f"{PAGE}/versions/v1", f"{PAGE}/meta", "/modelsource"])
def test_a_schema_may_be_named(dirs: Wire, target: str) -> None:
    if target.endswith("meta"):
        dirs.ok("PUT", PAGE, {})
    body = dirs.get("/modelsource") if target == "/modelsource" else {}
    dirs.ok("PUT", target, {"$schema": "http://json-schema.org/x", **body})


@pytest.mark.feature("REG-023")
def test_an_any_in_a_header_is_text(dirs: Wire) -> None:
    answer = dirs.send("PUT", FILE, headers={"xRegistry-oven": "5"}, raw=b"x")
    assert answer.status == 201
    assert dirs.get(f"{FILE}$details")["oven"] == "5"

"""RES: Resources, their documents inside metadata, the worked samples, references."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.registry.http_client import BASE, Wire

PAGE = "/dirs/d1/pages/p1"
FILE = "/dirs/d1/files/f1"
DETAILS = f"{FILE}$details"


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def content(wire: Wire, target: str = FILE) -> bytes:
    answer = wire.send("GET", target)
    assert answer.status == 200
    return answer.content


@pytest.mark.feature("RES-002")
def test_a_resource_is_read_and_written_through_its_default_version(dirs: Wire) -> None:
    dirs.ok(
        "PUT",
        PAGE,
        {"versions": {"v1": {}, "v2": {}}, "meta": {"defaultversionid": "v1", "defaultversionsticky": True}},
    )
    dirs.ok("PATCH", PAGE, {"name": "n"})
    assert {one: v.get("name") for one, v in dirs.get(f"{PAGE}/versions").items()} == {"v1": "n", "v2": None}
    dirs.ok("PATCH", f"{PAGE}/versions/v1", {"description": "d"})
    shown, version = dirs.get(PAGE), dirs.get(f"{PAGE}/versions/v1")
    assert {name: shown[name] for name in version if name not in ("self", "xid")} == {
        name: value for name, value in version.items() if name not in ("self", "xid")
    }


@pytest.mark.feature("RES-004", "RES-005", "FLAG-009", "META-015")
def test_in_a_document_nothing_is_said_twice(dirs: Wire) -> None:
    dirs.ok("PUT", PAGE, {"name": "n"})
    shown = dirs.get(f"{PAGE}?doc&inline=meta,versions")
    assert set(shown) == {"pageid", "self", "xid", "metaurl", "meta", "versionsurl", "versionscount", "versions"}
    assert (shown["metaurl"], shown["versionsurl"], shown["self"]) == ("#/meta", "#/versions", "#/")
    assert shown["meta"]["defaultversionurl"] == "#/versions/1"
    assert shown["versions"]["1"]["name"] == "n"
    alone = dirs.get(f"{PAGE}?doc")
    assert (alone["metaurl"], alone["versionsurl"]) == (f"{BASE}{PAGE}/meta", f"{BASE}{PAGE}/versions")
    assert dirs.get(f"{PAGE}?doc&inline=meta")["meta"]["defaultversionurl"] == f"{BASE}{PAGE}/versions/1"


@pytest.mark.feature("RES-006", "RES-005")
def test_meta_shows_when_it_is_asked_for_and_stays_when_it_is_not_sent(dirs: Wire) -> None:
    dirs.ok("PUT", PAGE, {"meta": {"labels": {"a": "b"}}})
    assert dirs.get(PAGE)["metaurl"] == f"{BASE}{PAGE}/meta"
    assert "meta" not in dirs.get(PAGE)
    meta = dirs.get(f"{PAGE}/meta")
    assert dirs.get(f"{PAGE}?inline=meta")["meta"] == meta
    dirs.ok("PUT", PAGE, {"name": "n"})
    assert dirs.get(f"{PAGE}/meta") == meta
    dirs.ok("PUT", PAGE, {"meta": {}})
    assert "labels" not in dirs.get(f"{PAGE}/meta")


@pytest.mark.feature("RES-031")
@pytest.mark.parametrize("names", [("file", "fileurl"), ("file", "filebase64"), ("fileurl", "filebase64")])
def test_a_document_comes_in_one_form_only(dirs: Wire, names: tuple[str, str]) -> None:
    forms = {"file": {"a": 1}, "fileurl": "http://x/doc", "filebase64": encoded(b"x")}
    assert dirs.refusal("PUT", DETAILS, {name: forms[name] for name in names}) == "one_resource"
    dirs.ok("PUT", DETAILS, {names[0]: forms[names[0]]})
    dirs.ok("PATCH", DETAILS, {names[1]: forms[names[1]]})
    shown = dirs.get(f"{DETAILS}?inline=file")
    assert names[0] not in shown
    assert ("fileurl" in shown) == (names[1] == "fileurl")


@pytest.mark.feature("RES-032")
def test_a_document_that_is_not_mentioned_stays_unless_it_is_elsewhere(dirs: Wire) -> None:
    dirs.ok("PUT", DETAILS, {"filebase64": encoded(b"bread")})
    dirs.ok("PUT", DETAILS, {"name": "n"})
    dirs.ok("PATCH", DETAILS, {"name": "m"})
    assert content(dirs) == b"bread"
    dirs.ok("PUT", DETAILS, {"fileurl": "http://x/doc"})
    assert dirs.ok("PATCH", DETAILS, {})["fileurl"] == "http://x/doc"
    assert "fileurl" not in dirs.ok("PUT", DETAILS, {})


@pytest.mark.feature("RES-033", "RES-038", "RES-010")
@pytest.mark.parametrize("name", ["file", "fileurl", "filebase64"])
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_null_in_any_form_empties_the_document(dirs: Wire, method: str, name: str) -> None:
    dirs.ok("PUT", DETAILS, {"filebase64": encoded(b"bread")})
    shown = dirs.ok(method, f"{DETAILS}?inline=file", {name: None})
    assert (shown.get("filebase64", ""), "file" in shown, "fileurl" in shown) == ("", False, False)
    assert content(dirs) == b""


@pytest.mark.feature("RES-038")
def test_an_empty_document_is_shown_as_such(dirs: Wire) -> None:
    dirs.ok("PUT", DETAILS, {"filebase64": "", "contenttype": "text/plain"})
    assert dirs.get(f"{DETAILS}?inline=file")["filebase64"] == ""
    assert "filebase64" not in dirs.get(DETAILS)


@pytest.mark.feature("RES-034", "RES-035", "RES-037", "RES-036")
def test_the_type_of_a_document_that_comes_inside_json(dirs: Wire) -> None:
    assert dirs.ok("PUT", DETAILS, {"file": {"a": 1}})["contenttype"] == "application/json"
    assert dirs.ok("PUT", DETAILS, {"file": {"a": 1}, "contenttype": "x/y"})["contenttype"] == "x/y"
    assert dirs.ok("PATCH", DETAILS, {"file": {"a": 2}})["contenttype"] == "x/y"
    assert dirs.ok("PUT", DETAILS, {"file": {"a": 3}})["contenttype"] == "application/json"
    assert "contenttype" not in dirs.ok("PUT", DETAILS, {"filebase64": encoded(b"{ }")})
    assert content(dirs) == b"{ }"
    assert dirs.ok("PATCH", DETAILS, {"filebase64": encoded(b"{}")})["contenttype"] == "application/json"
    assert dirs.get(f"{DETAILS}?inline=file")["file"] == {}


@pytest.mark.feature("RES-040")
@pytest.mark.parametrize("name", ["page", "pageurl", "pagebase64"])
def test_no_documents_where_the_model_has_none(wire: Wire, name: str) -> None:
    pages = {"singular": "page", "hasdocument": False}
    wire.ok("PUT", "/modelsource", {"groups": {"dirs": {"singular": "dir", "resources": {"pages": pages}}}})
    assert wire.refusal("PUT", PAGE, {name: "eA=="}) == "unknown_attribute"
    assert wire.refusal("PUT", f"{PAGE}/versions/v1", {name: None}) in ("unknown_attribute", "missing_versions")


@pytest.mark.feature("RES-012", "RES-014", "RES-018")
def test_maps_travel_as_headers_key_by_key(dirs: Wire) -> None:
    sent = {"xRegistry-labels.a": "1", "xRegistry-labels.b.c": "2", "content-type": "x/y"}
    assert dirs.send("PUT", FILE, raw=b"x", headers=sent).status == 201
    assert dirs.get(DETAILS)["labels"] == {"a": "1", "b.c": "2"}
    headers = dirs.send("GET", FILE).headers
    assert (headers["xregistry-labels.a"], headers["xregistry-labels.b.c"]) == ("1", "2")
    dirs.send("PUT", FILE, raw=b"x", headers={"xRegistry-labels.z": "9"})
    assert dirs.get(DETAILS)["labels"] == {"z": "9"}


@pytest.mark.feature("RES-027", "RES-028", "RES-029")
@pytest.mark.parametrize(
    ("sent", "read", "shown"),
    [
        ("a%20b", "a b", "a%20b"),
        ("%c3%a4", "ä", "%C3%A4"),
        ("%41b", "Ab", "Ab"),
        ("100%25", "100%", "100%25"),
        ("%2541", "%41", "%2541"),
        ('"quoted"', "quoted", "quoted"),
        ('"a\\"b"', 'a"b', "a%22b"),
        ("%F0%9F%8D%9E", "🍞", "%F0%9F%8D%9E"),
    ],
)
def test_header_values_are_percent_encoded(dirs: Wire, sent: str, read: str, shown: str) -> None:
    assert dirs.send("PUT", FILE, raw=b"x", headers={"xRegistry-name": sent}).status == 201
    assert dirs.get(DETAILS)["name"] == read
    assert dirs.send("GET", FILE).headers["xregistry-name"] == shown


@pytest.mark.feature("RES-050", "RES-001", "HTTP-037", "HTTP-040")
def test_the_last_version_is_the_default_and_takes_the_resource_along(dirs: Wire) -> None:
    dirs.ok(
        "PUT",
        PAGE,
        {"versions": {"v1": {}, "v2": {}}, "meta": {"defaultversionid": "v2", "defaultversionsticky": True}},
    )
    dirs.ok("DELETE", f"{PAGE}/versions/v2")
    meta = dirs.get(f"{PAGE}/meta")
    assert (meta["defaultversionid"], meta["defaultversionsticky"]) == ("v1", False)
    epoch = dirs.get("/dirs/d1")["epoch"]
    dirs.ok("DELETE", f"{PAGE}/versions/v1")
    assert dirs.send("GET", PAGE).problem == "not_found"
    assert dirs.get("/dirs/d1")["epoch"] == epoch + 1


def in_year(year: int) -> str:
    return f"{year}-01-01T00:00:00Z"


SAMPLE_FILES = {"singular": "file", "hasdocument": False, "versionmode": "createdat", "singleversionroot": True}


def samples() -> list[Any]:
    """core/resource.md: state before, request, then Versions as (ancestor, epoch, name), default, sticky, meta.epoch.

    The state before is made by one request. Of the 29 samples two are tests of their own below, for they go to other
    paths ("via the "files" collection", "SetDefaultVersionID flag via /versions"), and one is left out: "Patch
    Resource with Versions and defaultversionsticky" keeps the default where core/spec.md (defaultversionid) asks for
    the newest.
    """
    v1_v2 = {"versions": {"v1": {"createdat": in_year(2025)}, "v2": {"createdat": in_year(2025)}}}
    sticky_v1 = {**v1_v2, "meta": {"defaultversionid": "v1", "defaultversionsticky": True}}
    one = {"versions": {"v1": {"createdat": in_year(2025), "name": "my file"}}}
    y = {"createdat": in_year(2020)}
    new = None
    rows: list[tuple[str, Any, str, Any, Any]] = [
        ("empty", new, "PUT", {}, ({"1": ("1", 1, None)}, "1", False, 1)),
        ("empty by patch", new, "PATCH", {}, ({"1": ("1", 1, None)}, "1", False, 1)),
        (
            "versions only",
            new,
            "PUT",
            {"name": "foo", "versions": {"v1": {}, "v2": {}}},
            ({"v1": ("v1", 1, None), "v2": ("v1", 1, None)}, "v2", False, 1),
        ),
        (
            "default in the map",
            new,
            "PUT",
            {"name": "foo", "meta": {"defaultversionid": "v1"}, "versions": {"v1": {}, "v2": {}}},
            ({"v1": ("v1", 1, None), "v2": ("v1", 1, None)}, "v2", False, 1),
        ),
        (
            "default beside the map",
            new,
            "PUT",
            {"name": "foo", "meta": {"defaultversionid": "v3"}, "versions": {"v1": {}, "v2": {}}},
            ({"v1": ("v1", 1, None), "v2": ("v1", 1, None), "v3": ("v2", 1, "foo")}, "v3", False, 1),
        ),
        (
            "default alone",
            new,
            "PUT",
            {"name": "foo", "meta": {"defaultversionid": "v1"}},
            ({"v1": ("v1", 1, "foo")}, "v1", False, 1),
        ),
        (
            "versionid beside the map",
            new,
            "PUT",
            {"versionid": "v3", "name": "foo", "versions": {"v1": {}, "v2": {}}},
            ({"v1": ("v1", 1, None), "v2": ("v1", 1, None), "v3": ("v2", 1, "foo")}, "v3", False, 1),
        ),
        (
            "new sticky on old",
            {"versions": {"v0": {"createdat": in_year(2021)}}},
            "PUT",
            {
                "name": "foo",
                "meta": {"defaultversionid": "v1", "defaultversionsticky": True},
                "versions": {"v1": y, "v2": {}},
            },
            ({"v0": ("v1", 2, "foo"), "v1": ("v1", 1, None), "v2": ("v0", 1, None)}, "v1", True, 2),
        ),
        (
            "sticky in the map",
            new,
            "PUT",
            {
                "name": "foo",
                "meta": {"defaultversionid": "v1", "defaultversionsticky": True},
                "versions": {"v1": {}, "v2": {}},
            },
            ({"v1": ("v1", 1, None), "v2": ("v1", 1, None)}, "v1", True, 1),
        ),
        (
            "versionid and sticky default",
            new,
            "PUT",
            {
                "versionid": "v3",
                "name": "foo",
                "meta": {"defaultversionid": "v1", "defaultversionsticky": True},
                "versions": {"v1": {}, "v2": {}},
            },
            ({"v1": ("v1", 1, None), "v2": ("v1", 1, None), "v3": ("v2", 1, "foo")}, "v1", True, 1),
        ),
        (
            "sticky alone",
            new,
            "PUT",
            {"name": "foo", "meta": {"defaultversionid": "v1", "defaultversionsticky": True}},
            ({"v1": ("v1", 1, "foo")}, "v1", True, 1),
        ),
        (
            "bad default, not sticky",
            sticky_v1,
            "PUT",
            {"name": "foo", "meta": {"defaultversionid": "abc"}, "versions": {"v2": y}},
            ({"v1": ("v2", 2, "foo"), "v2": ("v2", 2, None)}, "v1", False, 2),
        ),
        (
            "sticky, no id, by put",
            v1_v2,
            "PUT",
            {"name": "foo", "meta": {"defaultversionsticky": True}, "versions": {"v2": y}},
            ({"v1": ("v2", 2, None), "v2": ("v2", 2, None)}, "v1", True, 2),
        ),
        ("emptied", one, "PUT", {}, ({"v1": ("v1", 2, None)}, "v1", False, 1)),
        ("touched", one, "PATCH", {}, ({"v1": ("v1", 2, "my file")}, "v1", False, 1)),
        ("described", one, "PUT", {"description": "d"}, ({"v1": ("v1", 2, None)}, "v1", False, 1)),
        ("described by patch", one, "PATCH", {"description": "d"}, ({"v1": ("v1", 2, "my file")}, "v1", False, 1)),
        (
            "sticky by patch",
            one,
            "PATCH",
            {"meta": {"defaultversionsticky": True}},
            ({"v1": ("v1", 2, "my file")}, "v1", True, 2),
        ),
        (
            "sticky by put",
            one,
            "PUT",
            {"meta": {"defaultversionsticky": True}},
            ({"v1": ("v1", 2, None)}, "v1", True, 2),
        ),
        (
            "sticky id by patch",
            v1_v2,
            "PATCH",
            {"meta": {"defaultversionid": "v1"}},
            ({"v1": ("v1", 1, None), "v2": ("v1", 2, None)}, "v1", True, 2),
        ),
        ("bad id by patch", one, "PATCH", {"meta": {"defaultversionid": "abc"}}, "unknown_id"),
        (
            "bad sticky id",
            one,
            "PUT",
            {"meta": {"defaultversionid": "abc", "defaultversionsticky": True}},
            "unknown_id",
        ),
        (
            "sticky and aged by put",
            {"versions": {"v1": {"createdat": in_year(2025)}}},
            "PUT",
            {
                "name": "foo",
                "createdat": in_year(1999),
                "meta": {"defaultversionsticky": True},
                "versions": {"v2": {"createdat": in_year(1998)}},
            },
            ({"v1": ("v2", 2, "foo"), "v2": ("v2", 1, None)}, "v1", True, 2),
        ),
        (
            "conflict, versionid in the map",
            new,
            "PUT",
            {"versionid": "v1", "name": "foo", "versions": {"v1": {"name": "bar"}}},
            ({"v1": ("v1", 1, "bar")}, "v1", False, 1),
        ),
        (
            "conflict, default in the map",
            new,
            "PUT",
            {"name": "foo", "meta": {"defaultversionid": "v1"}, "versions": {"v1": {"name": "bar"}}},
            ({"v1": ("v1", 1, "bar")}, "v1", False, 1),
        ),
        (
            "conflict, nothing named",
            new,
            "PUT",
            {"name": "foo", "versions": {"v1": {"name": "bar"}}},
            ({"v1": ("v1", 1, "bar")}, "v1", False, 1),
        ),
        (
            "flag",
            new,
            "PUT?setdefaultversionid=v1",
            {"name": "foo", "versions": {"v1": {}, "v2": {}}},
            ({"v1": ("v1", 1, None), "v2": ("v1", 1, None)}, "v1", True, 1),
        ),
    ]
    return [pytest.param(*row[1:], id=row[0]) for row in rows]


@pytest.mark.feature("RES-042", "RES-043", "RES-044", "RES-045", "RES-046", "RES-047", "RES-048", "RES-049")
@pytest.mark.parametrize(("before", "method", "body", "after"), samples())
def test_the_worked_samples(wire: Wire, before: Any, method: str, body: Any, after: Any) -> None:
    wire.ok("PUT", "/modelsource", {"groups": {"dirs": {"singular": "dir", "resources": {"files": SAMPLE_FILES}}}})
    wire.ok("PUT", "/dirs/d1", {})
    if before is not None:
        wire.ok("PUT", FILE, before)
    method, _, flag = method.partition("?")
    if isinstance(after, str):
        assert wire.refusal(method, FILE, body) == after
        return
    wire.ok(method, f"{FILE}?{flag}", body)
    shown = wire.get(f"{FILE}?inline=*")
    found = {one: (v["ancestorid"], v["epoch"], v.get("name")) for one, v in shown["versions"].items()}
    meta = shown["meta"]
    assert (found, meta["defaultversionid"], meta["defaultversionsticky"], meta["epoch"]) == after
    default = shown["versions"][after[1]]
    assert (shown["versionid"], shown["epoch"], shown.get("name")) == (after[1], default["epoch"], default.get("name"))


@pytest.mark.feature("RES-042", "RES-043")
def test_the_sample_via_the_collection(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", {"groups": {"dirs": {"singular": "dir", "resources": {"files": SAMPLE_FILES}}}})
    collection = FILE.rpartition("/")[0]
    wire.ok("POST", collection, {FILE.rpartition("/")[2]: {"name": "my file"}})
    shown = wire.get(f"{FILE}?inline=*")
    meta = shown["meta"]
    assert (shown["versionid"], shown["epoch"], shown["name"], shown["ancestorid"]) == ("1", 1, "my file", "1")
    assert (meta["epoch"], meta["defaultversionid"], meta["defaultversionsticky"]) == (1, "1", False)
    assert list(shown["versions"]) == ["1"]


@pytest.mark.feature("RES-049", "FLAG-056")
def test_the_sample_with_a_flag_on_versions(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", {"groups": {"dirs": {"singular": "dir", "resources": {"files": SAMPLE_FILES}}}})
    wire.ok("POST", f"{FILE}/versions?setdefaultversionid=v1", {"v1": {}, "v2": {}})
    meta = wire.get(f"{FILE}/meta")
    assert (meta["defaultversionid"], meta["defaultversionsticky"], meta["epoch"]) == ("v1", True, 1)


# References


@pytest.fixture
def referred(dirs: Wire) -> Wire:
    """d1/p1 stands for d2/target, which has two Versions."""
    dirs.ok(
        "PUT",
        "/dirs/d2/pages/target",
        {"versions": {"v1": {"name": "n"}, "v2": {"name": "m"}}, "meta": {"labels": {"a": "b"}}},
    )
    dirs.ok("PUT", PAGE, {"meta": {"xref": "/dirs/d2/pages/target"}})
    return dirs


@pytest.mark.feature("RES-051", "RES-052")
def test_a_reference_shows_its_target_under_its_own_name(referred: Wire) -> None:
    def renamed(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: renamed(member) for name, member in value.items()}
        text = value.replace("/dirs/d2/pages/target", PAGE) if isinstance(value, str) else value
        return "p1" if text == "target" else text

    target, shown = renamed(referred.get("/dirs/d2/pages/target?inline=*")), referred.get(f"{PAGE}?inline=*")
    assert shown["meta"].pop("xref") == "/dirs/d2/pages/target"
    assert shown == target
    assert referred.get(f"{PAGE}/versions/v1") == renamed(referred.get("/dirs/d2/pages/target/versions/v1"))
    referred.ok("PATCH", "/dirs/d2/pages/target", {"name": "changed"})
    assert referred.get(PAGE)["name"] == "changed"


@pytest.mark.feature("RES-053", "RES-054", "RES-059")
def test_setting_a_reference(referred: Wire) -> None:
    xref = {"xref": "/dirs/d2/pages/target"}
    for extra in ({"name": "n"}, {"versions": {"v1": {}}}, {"meta": {**xref, "labels": {"a": "b"}}}):
        assert referred.refusal("PUT", PAGE, {"meta": xref, **extra}) == "extra_xref_attribute"
    for bad in (
        "target",
        "/",
        "/dirs/d2",
        "/ovens/d2/pages/target",
        "/dirs/d2/pages/target/versions/v1",
        "/dirs//pages/x",
    ):
        assert referred.refusal("PUT", f"{PAGE}/meta", {"xref": bad}) == "malformed_xref", bad
    assert referred.refusal("PUT", f"{PAGE}/meta", {"xref": 5}) in ("malformed_xref", "invalid_attribute")
    referred.ok("PUT", "/dirs/d1/pages/own", {"versions": {"a": {}, "b": {}}, "meta": {"labels": {"a": "b"}}})
    epoch = referred.get("/dirs/d1/pages/own/meta")["epoch"]
    assert referred.refusal("PUT", "/dirs/d1/pages/own/meta", {**xref, "epoch": epoch + 1}) == "mismatched_epoch"
    referred.ok("PUT", "/dirs/d1/pages/own/meta", {**xref, "epoch": epoch, "pageid": "own"})
    assert list(referred.get("/dirs/d1/pages/own/versions")) == ["v1", "v2"]
    referred.ok("DELETE", "/dirs/d2/pages/target")
    assert set(referred.get("/dirs/d1/pages/own?inline=meta")["meta"]) == {"pageid", "self", "xid", "xref"}


@pytest.mark.feature("RES-055", "RES-056")
@pytest.mark.parametrize(("method", "meta"), [("PUT", {}), ("PUT", {"xref": None}), ("PATCH", {"xref": None})])
def test_clearing_a_reference(dirs: Wire, method: str, meta: Any) -> None:
    made = dirs.ok("PUT", f"{PAGE}?inline=meta", {"name": "old", "labels": {"a": "b"}, "meta": {"labels": {"a": "b"}}})[
        "meta"
    ]
    dirs.ok("PUT", "/dirs/d2/pages/target", {"name": "n"})
    for _ in range(6):
        dirs.ok("PATCH", "/dirs/d2/pages/target/meta", {})
    target = dirs.get("/dirs/d2/pages/target/meta")
    dirs.ok("PUT", f"{PAGE}/meta", {"xref": "/dirs/d2/pages/target"})
    cleared = dirs.ok(method, f"{PAGE}/meta", meta)
    assert (cleared["epoch"], cleared["createdat"]) == (target["epoch"] + 1, made["createdat"])
    assert cleared["modifiedat"] > target["modifiedat"]
    assert not {"xref", "labels"} & set(cleared)
    assert not {"name", "labels"} & set(dirs.get(PAGE))
    assert dirs.get(PAGE)["versionscount"] == 1
    assert dirs.get("/dirs/d2/pages/target")["name"] == "n"


@pytest.mark.feature("RES-057", "RES-058")
def test_a_reference_to_a_reference_or_to_nothing_shows_only_names(referred: Wire) -> None:
    shown = {}
    for one, xref in (("second", PAGE), ("lost", "/dirs/d9/pages/none"), ("self", "/dirs/d1/pages/self")):
        referred.ok("PUT", f"/dirs/d1/pages/{one}", {"meta": {"xref": xref}})
        shown[one] = referred.get(f"/dirs/d1/pages/{one}?inline=meta")
        assert set(shown[one]) == {"pageid", "self", "xid", "metaurl", "meta"}
        assert set(shown[one]["meta"]) == {"pageid", "self", "xid", "xref"}
    referred.ok("PUT", "/dirs/d9/pages/none", {"name": "here"})
    assert referred.get("/dirs/d1/pages/lost")["name"] == "here"


@pytest.mark.feature("RES-060", "MOD-091")
def test_references_stay_within_one_type(wire: Wire) -> None:
    pages: dict[str, Any] = {"singular": "page", "hasdocument": False}
    groups: dict[str, Any] = {
        "dirs": {"singular": "dir", "resources": {"pages": pages}},
        "alike": {"singular": "alik", "resources": {"pages": pages}},
        "same": {"singular": "sam", "ximportresources": ["/dirs/pages"]},
    }
    wire.ok("PUT", "/modelsource", {"groups": groups})
    wire.ok("PUT", "/dirs/d1/pages/p1", {"name": "n"})
    assert wire.refusal("PUT", "/alike/a1/pages/x", {"meta": {"xref": "/dirs/d1/pages/p1"}}) == "malformed_xref"
    wire.ok("PUT", "/same/s1/pages/x", {"meta": {"xref": "/dirs/d1/pages/p1"}})
    assert wire.get("/same/s1/pages/x")["name"] == "n"
    assert "origin" not in wire.get("/model")["groups"]["same"]["resources"]["pages"]
    pages["origin"] = "/groups/dirs/resources/pages"
    assert wire.refusal("PUT", "/modelsource", {"groups": groups}) == "model_error"

"""MOD: what a model may say, and what it then means for entities."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.registry.http_client import Wire

PAGE = "/dirs/d1/pages/p1"
FILE = "/dirs/d1/files/f1"
STRING = {"type": "string"}


def model(
    attributes: Any = None, group: Any = None, pages: Any = None, files: Any = None, **top: Any
) -> dict[str, Any]:
    """A model with dirs, pages (no documents) and files; each part can be added to."""
    resources = {
        "pages": {"singular": "page", "hasdocument": False, **(pages or {})},
        "files": {"singular": "file", **(files or {})},
    }
    group = {"singular": "dir", "resources": resources, **(group or {})}
    return {"attributes": attributes or {}, "groups": {"dirs": group}, **top}


def pages(**attributes: Any) -> dict[str, Any]:
    return model(pages={"attributes": attributes})


def constrained(constraint: Any, path: str = "pages.color", **attribute: Any) -> dict[str, Any]:
    inner = {"in": STRING}
    attributes = {
        "color": {**STRING, **attribute},
        "deep": {"type": "object", "attributes": inner},
        "list": {"type": "array", "item": STRING},
        "map": {"type": "map", "item": STRING},
        "number": {"type": "integer"},
        "*": {"type": "any"},
    }
    group = {"constraints": {path: constraint}, "attributes": {"color": STRING, "size": {"type": "integer"}}}
    return model(group=group, pages={"attributes": attributes})


ENUM = {"enum": ["red", "green"]}
IFVALUES = {"ifvalues": {"red": {"siblingattributes": {"warm": {"type": "boolean"}}}}}

REFUSED = [
    pytest.param(pages(epoch=STRING), id="type of a spec attribute", marks=pytest.mark.feature("MOD-010")),
    pytest.param(
        model({"name": {"type": "integer"}}), id="type of a registry attribute", marks=pytest.mark.feature("MOD-010")
    ),
    pytest.param(
        pages(epoch={"type": "uinteger", "required": False}),
        id="required switched off",
        marks=pytest.mark.feature("MOD-011"),
    ),
    pytest.param(
        pages(epoch={"type": "uinteger", "required": True, "readonly": False}),
        id="readonly switched off",
        marks=pytest.mark.feature("MOD-011"),
    ),
    pytest.param(
        pages(metaurl=STRING),
        id="a Version extension named as the Resource's",
        marks=pytest.mark.feature("MOD-020", "MOD-084"),
    ),
    pytest.param(pages(versions=STRING), id="a Version extension named versions", marks=pytest.mark.feature("MOD-020")),
    pytest.param(
        pages(size={"type": "object", "matchversions": True}),
        id="matchversions on an object",
        marks=pytest.mark.feature("MOD-030"),
    ),
    pytest.param(
        model({"size": {"type": "integer", "matchversions": True}}),
        id="matchversions on the registry",
        marks=pytest.mark.feature("MOD-030"),
    ),
    pytest.param(
        pages(
            size={"type": "array", "item": {"type": "object", "attributes": {"a": {**STRING, "matchversions": True}}}}
        ),
        id="matchversions in an array",
        marks=pytest.mark.feature("MOD-030"),
    ),
    pytest.param(
        pages(size={**STRING, "immutable": True}), id="immutable extension", marks=pytest.mark.feature("MOD-033")
    ),
    pytest.param(
        pages(size={"type": "map", "item": {**STRING, "attributes": {"a": STRING}}}),
        id="attributes of a scalar item",
        marks=pytest.mark.feature("MOD-043"),
    ),
    pytest.param(
        pages(size={"type": "array", "item": {**STRING, "namecharset": "extended"}}),
        id="namecharset of a scalar item",
        marks=pytest.mark.feature("MOD-043"),
    ),
    pytest.param(
        pages(color={**STRING, **ENUM, "ifvalues": {"blue": {"siblingattributes": {}}}}),
        id="ifvalues outside a strict enum",
        marks=pytest.mark.feature("MOD-048"),
    ),
    pytest.param({"groups": {"g" * 58: {"singular": "g"}}}, id="a plural of 58", marks=pytest.mark.feature("MOD-054")),
    pytest.param(
        {"groups": {"gs": {"singular": "g" * 64}}}, id="a singular of 64", marks=pytest.mark.feature("MOD-054")
    ),
    pytest.param(
        {"groups": {"Gs": {"singular": "g"}}}, id="an upper-case plural", marks=pytest.mark.feature("MOD-054")
    ),
    pytest.param(
        {"groups": {"gs": {"singular": "1g"}}}, id="a singular with a digit", marks=pytest.mark.feature("MOD-054")
    ),
    *[
        pytest.param(
            constrained({"enum": ["red"]}, path), id=f"constraint on {path}", marks=pytest.mark.feature("MOD-057")
        )
        for path in (
            "color",
            "ovens.color",
            "pages",
            "pages.deep",
            "pages.list",
            "pages.list[0]",
            "pages.map.a",
            "pages.no",
        )
    ],
    pytest.param(
        constrained({"enum": ["red"], "oven": 1}), id="an unknown aspect", marks=pytest.mark.feature("MOD-057")
    ),
    pytest.param(
        constrained({"default": "blue"}, **ENUM), id="default outside the enum", marks=pytest.mark.feature("MOD-059")
    ),
    pytest.param(
        constrained({"default": "blue", "enum": ["red"]}),
        id="default outside its own enum",
        marks=pytest.mark.feature("MOD-059"),
    ),
    pytest.param(
        constrained({"enum": ["blue"]}, **ENUM), id="enum beyond a strict one", marks=pytest.mark.feature("MOD-060")
    ),
    pytest.param(constrained({"enum": [5]}), id="enum of another type", marks=pytest.mark.feature("MOD-060")),
    pytest.param(
        constrained({"enum": ["green"]}, **ENUM, required=True, default="red"),
        id="the model's default outside the enum",
        marks=pytest.mark.feature("MOD-062"),
    ),
    pytest.param(constrained({"equals": "oven"}), id="equals nothing", marks=pytest.mark.feature("MOD-063")),
    pytest.param(constrained({"equals": "size"}), id="equals another type", marks=pytest.mark.feature("MOD-063")),
    pytest.param(constrained({"equals": "labels"}), id="equals a map", marks=pytest.mark.feature("MOD-063")),
    pytest.param(
        {"groups": {"dirs": {"singular": "dir", "resources": {"p" * 58: {"singular": "p"}}}}},
        id="a Resource plural of 58",
        marks=pytest.mark.feature("MOD-069"),
    ),
    pytest.param(
        {"groups": {"dirs": {"singular": "dir", "resources": {"ps": {"singular": "p" * 58}}}}},
        id="a Resource singular of 58",
        marks=pytest.mark.feature("MOD-069"),
    ),
    pytest.param(
        {"groups": {"dirs": {"singular": "dir", "resources": {"as": {"singular": "x"}, "bs": {"singular": "x"}}}}},
        id="the same singular twice",
        marks=pytest.mark.feature("MOD-069"),
    ),
    pytest.param(
        model(pages={"resourceattributes": {"oven": STRING}}),
        id="resourceattributes",
        marks=pytest.mark.feature("MOD-082"),
    ),
    pytest.param(model(files={"typemap": {"a/b": "xml"}}), id="an unknown form", marks=pytest.mark.feature("MOD-085")),
    pytest.param(
        {"groups": {"dirs": {"singular": "dir", "ximportresources": ["/dirs/pages"]}}},
        id="imports from itself",
        marks=pytest.mark.feature("MOD-091"),
    ),
    pytest.param(
        {"groups": {"dirs": {"singular": "dir", "ximportresources": ["/ovens/pages"]}}},
        id="imports from nowhere",
        marks=pytest.mark.feature("MOD-091"),
    ),
    pytest.param(
        {
            "groups": {
                "a": {"singular": "aa", "ximportresources": ["/b/pages"]},
                "b": {"singular": "bb", "ximportresources": ["/a/pages"]},
            }
        },
        id="imports in a circle",
        marks=pytest.mark.feature("MOD-092"),
    ),
]


@pytest.mark.audit("registry-21")
@pytest.mark.parametrize(
    "source",
    [
        pytest.param(model(labels={"a": 5}), id="labels", marks=pytest.mark.feature("MOD-016")),
        pytest.param(model(description=5), id="description", marks=pytest.mark.feature("MOD-016")),
        pytest.param(model(files={"typemap": {"a/b": 5}}), id="form", marks=pytest.mark.feature("MOD-085")),
    ],
)
def test_a_member_of_a_model_that_is_a_number_cannot_be_parsed(wire: Wire, source: Any) -> None:
    assert wire.refusal("PUT", "/modelsource", source) == "parsing_data"


@pytest.mark.parametrize("source", REFUSED)
def test_models_that_break_a_rule(wire: Wire, source: Any) -> None:
    assert wire.refusal("PUT", "/modelsource", source) == "model_error"


@pytest.mark.feature("MOD-004")
def test_the_model_in_the_model_may_be_shallow(wire: Wire) -> None:
    attributes = wire.get("/model")["attributes"]
    for name in ("model", "modelsource"):
        assert attributes[name]["type"] == "object"
        assert attributes[name]["attributes"]["*"]["type"] == "any"


@pytest.mark.feature("MOD-010", "MOD-011")
def test_a_spec_attribute_may_be_narrowed(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", pages(name={**STRING, "enum": ["oven"], "required": True}))
    assert wire.refusal("PUT", PAGE, {}) == "required_attribute_missing"
    assert wire.refusal("PUT", PAGE, {"name": "kiln"}) == "invalid_attribute"
    wire.ok("PUT", PAGE, {"name": "oven"})


@pytest.mark.feature("MOD-012")
@pytest.mark.parametrize("default", [None, "absent"])
def test_a_spec_default_cannot_be_taken_away(wire: Wire, default: Any) -> None:
    sticky: dict[str, Any] = {"type": "boolean", "required": True}
    if default is None:
        sticky["default"] = None
    wire.send("PUT", "/modelsource", model(pages={"metaattributes": {"defaultversionsticky": sticky}}))
    if wire.get("/modelsource") == {}:  # to refuse it is right as well
        wire.ok("PUT", "/modelsource", model())
    meta = wire.get("/model")["groups"]["dirs"]["resources"]["pages"]["metaattributes"]
    assert meta["defaultversionsticky"]["default"] is False
    wire.ok("PUT", PAGE, {})


@pytest.mark.feature("MOD-015", "MOD-092", "MOD-094")
def test_a_definition_may_move_between_groups_and_imports(wire: Wire) -> None:
    shared = {"singular": "page", "hasdocument": False, "attributes": {"oven": STRING}}
    own = {"groups": {"dirs": {"singular": "dir", "resources": {"pages": shared}}}}
    lib = {"singular": "libx", "resources": {"pages": shared}}
    middle = {"singular": "mid", "ximportresources": ["/lib/pages"]}
    imported = {
        "groups": {"lib": lib, "mids": middle, "dirs": {"singular": "dir", "ximportresources": ["/mids/pages"]}}
    }
    wire.ok("PUT", "/modelsource", own)
    wire.ok("PUT", PAGE, {"oven": "hot"})
    for source in (imported, own, imported):
        wire.ok("PUT", "/modelsource", source)
        assert wire.get(PAGE)["oven"] == "hot"
        shown = wire.get("/model")["groups"]["dirs"]
        assert ("ximportresources" in shown, list(shown["resources"])) == (False, ["pages"])
    assert wire.get("/modelsource") == imported


@pytest.mark.feature("MOD-016", "MOD-055", "MOD-056")
def test_descriptions_of_a_model_and_its_types(wire: Wire) -> None:
    words = {"description": "d", "documentation": "http://x", "labels": {"a": "b"}}
    typed = {**words, "icon": "http://x/i", "modelversion": "1.0", "modelcompatiblewith": "http://x/other"}
    wire.ok("PUT", "/modelsource", model(group=typed, pages=typed, **words))
    shown = wire.get("/model")
    group = shown["groups"]["dirs"]
    assert {name: shown[name] for name in words} == words
    assert {name: group[name] for name in typed} == typed
    assert {name: group["resources"]["pages"][name] for name in typed} == typed


@pytest.mark.feature("MOD-032")
def test_readonly_attributes_of_a_model_are_not_the_client_s(wire: Wire) -> None:
    wire.ok(
        "PUT",
        "/modelsource",
        pages(oven={**STRING, "readonly": True}, deep={"type": "object", "attributes": {"a": STRING}}),
    )
    assert "oven" not in wire.ok("PUT", PAGE, {"oven": "hot"})
    assert "oven" not in wire.ok("PATCH", PAGE, {"oven": 5})


@pytest.mark.feature("MOD-034", "MOD-035", "MOD-039")
def test_required_attributes_are_always_there(wire: Wire) -> None:
    required = {"size": {"type": "integer", "required": True, "default": 3}, "oven": {**STRING, "required": True}}
    wire.ok("PUT", "/modelsource", pages(**required))
    for body in ({}, {"oven": None}, {"size": 1}):
        assert wire.refusal("PUT", PAGE, body) == "required_attribute_missing"
    assert wire.ok("PUT", PAGE, {"oven": ""})["size"] == 3
    assert wire.refusal("PATCH", PAGE, {"oven": None}) == "required_attribute_missing"
    assert wire.ok("PATCH", PAGE, {"size": None})["size"] == 3
    required["size"]["default"] = 4
    wire.ok("PUT", "/modelsource", pages(**required))
    assert wire.get(PAGE)["size"] == 3
    assert wire.ok("PUT", "/dirs/d1/pages/p2", {"oven": "x"})["size"] == 4


@pytest.mark.feature("MOD-045", "MOD-050", "MOD-051", "MOD-052")
def test_values_bring_attributes_with_them(wire: Wire) -> None:
    inner = {**STRING, "ifvalues": {"deep": {"siblingattributes": {"depth": {"type": "integer", "required": True}}}}}
    color = {**STRING, "ifvalues": {"Red": {"siblingattributes": {"warm": {"type": "boolean"}, "kind": inner}}}}
    other = {**STRING, "ifvalues": {"yes": {"siblingattributes": {"warm": {"type": "boolean"}}}}}
    wire.ok("PUT", "/modelsource", pages(color=color, other=other))
    assert wire.refusal("PUT", PAGE, {"warm": True}) == "unknown_attribute"
    assert wire.refusal("PUT", PAGE, {"color": "green", "warm": True}) == "unknown_attribute"
    assert wire.ok("PUT", PAGE, {"color": "rED", "warm": True})["warm"] is True
    assert wire.refusal("PATCH", PAGE, {"color": "green"}) == "unknown_attribute"
    wire.ok("PATCH", PAGE, {"color": "green", "warm": None})
    assert wire.refusal("PUT", PAGE, {"color": "red", "kind": "deep"}) == "required_attribute_missing"
    assert wire.ok("PUT", PAGE, {"color": "red", "kind": "deep", "depth": 5})["depth"] == 5
    assert wire.refusal("PATCH", PAGE, {"kind": None}) == "unknown_attribute"
    assert wire.refusal("PUT", PAGE, {"color": "red", "other": "yes", "warm": True}) == "invalid_attribute"


@pytest.mark.feature("MOD-057", "MOD-058", "MOD-061", "MOD-062")
def test_a_constraint_brings_a_default(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", constrained({"default": "green"}, **ENUM, required=True, default="red"))
    assert wire.ok("PUT", PAGE, {})["color"] == "green"
    assert wire.ok("PUT", PAGE, {"color": "red"})["color"] == "red"
    wire.ok("PUT", "/modelsource", constrained({"enum": []}))
    assert wire.ok("PUT", PAGE, {"color": "any"})["color"] == "any"
    wire.ok("PUT", "/modelsource", constrained({"enum": ["a"]}, "pages.deep.in"))
    assert wire.refusal("PUT", PAGE, {"deep": {"in": "b"}}) == "constraint_failure"
    wire.ok("PUT", PAGE, {"deep": {"in": "a"}})


@pytest.mark.feature("MOD-060")
@pytest.mark.parametrize("strict", [True, False])
def test_the_enum_of_a_constraint_always_binds(wire: Wire, strict: bool) -> None:
    wire.ok("PUT", "/modelsource", constrained({"enum": ["red"]}, **ENUM, strict=strict))
    assert wire.refusal("PUT", PAGE, {"color": "green"}) == "constraint_failure"
    wire.ok("PUT", PAGE, {"color": "red"})
    wire.ok("PUT", PAGE, {})


@pytest.mark.feature("MOD-074")
def test_ids_of_versions_may_be_the_server_s_alone(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", model(pages={"setversionid": False}))
    for method, target, body in (
        ("PUT", PAGE, {"versionid": "v1"}),
        ("PUT", f"{PAGE}/versions/v1", {}),
        ("POST", PAGE, {"versionid": "v1"}),
        ("POST", f"{PAGE}/versions", {"v1": {}}),
        ("PUT", PAGE, {"meta": {"defaultversionid": "v1"}}),
    ):
        assert wire.refusal(method, target, body) == "versionid_not_allowed"
    wire.ok("PUT", PAGE, {})
    assert wire.ok("POST", PAGE, {})["versionid"] == "2"
    wire.ok("PUT", f"{PAGE}/versions/2", {"name": "known by now"})


@pytest.mark.feature("MOD-075")
def test_documents_do_not_vanish_with_a_model(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", model())
    assert wire.send("PUT", FILE, raw=b"bread").status == 201
    assert wire.refusal("PUT", "/modelsource", model(files={"hasdocument": False})) == "hasdocument_violation"
    wire.ok("DELETE", FILE)
    wire.ok("PUT", "/modelsource", model(files={"hasdocument": False}))


@pytest.mark.feature("MOD-083", "MOD-084")
def test_extensions_of_a_resource_are_in_its_meta(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", model(pages={"metaattributes": {"owner": STRING}}))
    wire.ok("PUT", PAGE, {"meta": {"owner": "anna"}})
    assert wire.get(f"{PAGE}/meta")["owner"] == "anna"
    assert "owner" not in wire.get(PAGE)
    assert wire.refusal("PATCH", PAGE, {"owner": "anna"}) == "unknown_attribute"
    assert wire.refusal("PATCH", f"{PAGE}/meta", {"owner": 5}) == "invalid_attribute"


@pytest.mark.feature("MOD-085", "MOD-086", "MOD-087", "MOD-088", "MOD-089", "MOD-090")
@pytest.mark.parametrize(
    ("contenttype", "content", "shown"),
    [
        ("application/json", b'{"a": 1}', {"file": {"a": 1}}),
        ("Application/JSON; charset=utf-8", b'{"a": 1}', {"file": {"a": 1}}),
        ("application/x+json", b"[1]", {"file": [1]}),
        ("application/json", b"{broken", "base64"),
        ("text/plain", b'say "x"\n', {"file": 'say "x"\n'}),
        ("text/plain", b"\xff", "base64"),
        ("text/html", b"<a>", {"file": "<a>"}),
        ("TEXT/HTML;level=1", b"<a>", {"file": "<a>"}),
        ("text/both", b"1", "base64"),
        ("x/json", b'{"a": 1}', {"file": {"a": 1}}),
        ("x/text", b"5", {"file": "5"}),
        ("y/none", b"5", "base64"),
        ("", b"5", "base64"),
        ("image/png", b'{"a": 1}', "base64"),
        ("z/some.text.here", b"5", {"file": "5"}),
    ],
)
def test_how_documents_are_shown(wire: Wire, contenttype: str, content: bytes, shown: Any) -> None:
    typemap = {
        "TEXT/html": "String",
        "text/b*": "json",
        "*/both": "string",
        "x/json": "json",
        "x/t*": "string",
        "*/*.text*": "string",
    }
    wire.ok("PUT", "/modelsource", model(files={"typemap": typemap}))
    headers = {"content-type": contenttype} if contenttype else {}
    assert wire.send("PUT", FILE, raw=content, headers=headers).status == 201
    found = wire.get(f"{FILE}$details?inline=file")
    expected = {"filebase64": base64.b64encode(content).decode()} if shown == "base64" else shown
    assert {name: found[name] for name in ("file", "filebase64") if name in found} == expected
    assert wire.send("GET", FILE).content == content


@pytest.mark.feature("MOD-088")
def test_a_type_that_is_built_in_can_be_changed(wire: Wire) -> None:
    wire.ok("PUT", "/modelsource", model(files={"typemap": {"application/json": "string"}}))
    wire.send("PUT", FILE, raw=b'{"a": 1}', headers={"content-type": "application/json"})
    assert wire.get(f"{FILE}$details?inline=file")["file"] == '{"a": 1}'

"""Capabilities and models in the words of 1.0-rc2 and 1.0-rc3 (VERSIONS, part B)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.requests import AsgiClient

RC2, RC3 = "specversion=1.0-rc2", "specversion=1.0-rc3"
Json = dict[str, Any]
ALL_VERSIONS = ["1.0-rc2", "1.0-rc3", "1.0-rc4"]
FIRST_FLAGS = [
    *("binary", "collections", "doc", "epoch", "filter", "ignore", "inline", "nodefaultversionid"),
    *("nodefaultversionsticky", "noepoch", "noreadonly", "offered", "schema", "setdefaultversionid", "sort"),
    "specversion",
]


@pytest.mark.feature("CAP-001", "CAP-014")
def test_capabilities_of_the_first_version(asgi: AsgiClient) -> None:
    """B1: lists of paths, flags and data; `schemas` and `sticky`."""
    expected = {
        "apis": ["/capabilities", "/export", "/model", "/modelsource"],
        "flags": FIRST_FLAGS,
        "mutable": ["capabilities", "entities", "modelsource"],
        "pagination": False,
        "schemas": ["xRegistry-json/1.0-rc2"],
        "shortself": False,
        "specversions": ALL_VERSIONS,
        "sticky": True,
        "versionmodes": ["createdat", "manual", "modifiedat", "semver"],
    }
    assert asgi.ask("GET", f"/capabilities?{RC2}").json == expected
    assert asgi.ask("GET", f"/?inline=capabilities&{RC2}").json["capabilities"] == expected


@pytest.mark.feature("CAP-014")
def test_capabilities_of_the_third_version_are_those_of_today(asgi: AsgiClient) -> None:
    today = asgi.ask("GET", "/capabilities").json
    assert today["specversions"] == ["1.0-rc4"]
    assert asgi.ask("GET", f"/capabilities?{RC3}").json == {**today, "specversions": ALL_VERSIONS}


@pytest.mark.feature("FLAG-066", "CAP-021")
def test_offers(asgi: AsgiClient) -> None:
    """B1: `GET /capabilities?offered`; since rc3 `GET /capabilitiesoffered`."""
    first = asgi.ask("GET", f"/capabilities?offered&{RC2}").json
    assert first == asgi.ask("GET", f"/capabilitiesoffered?{RC2}").json
    assert set(first) == set(asgi.ask("GET", f"/capabilities?{RC2}").json)
    assert first["flags"] == {"type": "array", "enum": FIRST_FLAGS, "item": {"type": "string"}}
    assert first["sticky"] == {"type": "boolean", "enum": [True]}
    third = asgi.ask("GET", f"/capabilitiesoffered?{RC3}").json
    assert third["specversions"]["enum"] == first["specversions"]["enum"] == ALL_VERSIONS
    assert third["available"] == asgi.ask("GET", "/capabilitiesoffered").json["available"]


@pytest.mark.feature("CAP-016", "CAP-017")
@pytest.mark.parametrize("version", [RC2, RC3])
@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_capabilities_that_are_written_back_change_nothing(asgi: AsgiClient, method: str, version: str) -> None:
    ignored = ["epoch", "id"]
    ours = {"flags": ["doc", "ignore", "inline", "specversion"], "ignores": ignored, "pagination": True}
    assert asgi.ask("PATCH", "/capabilities", ours).status == 200
    before = asgi.ask("GET", "/capabilities").json
    shown = asgi.ask("GET", f"/capabilities?{version}").json
    assert asgi.ask(method, f"/capabilities?{version}", shown).json == shown
    assert asgi.ask("GET", "/capabilities").json == before
    assert asgi.ask(method, f"/?{version}", {"capabilities": shown}).status == 200
    assert asgi.ask("GET", "/capabilities").json == before


PATCHES: list[tuple[Json, Json]] = [
    (
        {"apis": ["/model"], "mutable": ["entities"]},
        {"available": {"capabilities", "capabilitiesoffered", "entities", "model"}},
    ),
    (
        {"apis": ["*"]},
        {"available": {"capabilities", "capabilitiesoffered", "entities", "export", "model", "modelsource"}},
    ),
    ({"flags": ["noepoch"]}, {"flags": ["ignore"], "ignores": ["capabilities", "epoch", "id", "modelsource"]}),
    ({"flags": ["inline", "SORT"]}, {"flags": ["inline", "sort"], "ignores": ["capabilities", "id", "modelsource"]}),
    (
        {"flags": ["inline", "offered"], "apis": ["/export"], "mutable": []},
        {"available": {"capabilities", "capabilitiesoffered", "entities", "export"}},
    ),
    ({"flags": ["inline"], "apis": [], "mutable": []}, {"available": {"capabilities", "entities"}}),
    ({"sticky": True, "schemas": ["XREGISTRY-json/1.0-rc2"], "shortself": True}, {"shortself": True}),
    ({"specversions": ["1.0-rc2", "1.0-rc4"]}, {"specversions": ["1.0-rc4"]}),
    ({"specversions": ["1.0-RC2", "1.0-rc4"], "pagination": None}, {"pagination": False}),
    (
        {"flags": ["*"]},
        {
            "ignores": [
                "capabilities",
                "defaultversionid",
                "defaultversionsticky",
                "epoch",
                "id",
                "modelsource",
                "readonly",
            ]
        },
    ),
]


@pytest.mark.parametrize(("written", "expected"), PATCHES)
def test_changes_by_the_first_version(asgi: AsgiClient, written: Json, expected: Json) -> None:
    changed = asgi.ask("PATCH", f"/capabilities?{RC2}", written)
    assert changed.status == 200, changed.body
    today = asgi.ask("GET", "/capabilities").json
    for name, value in expected.items():
        assert (set(today[name]) if isinstance(value, set) else today[name]) == value, name


def test_what_the_first_version_leaves_out_is_reset_to_its_defaults(asgi: AsgiClient) -> None:
    """rc2: without `mutable` nothing can be changed, not even the capabilities; what it cannot name stays."""
    before = asgi.ask("GET", "/capabilities").json
    assert asgi.ask("PUT", f"/capabilities?{RC2}", {"pagination": True}).json["mutable"] == []
    today = asgi.ask("GET", "/capabilities").json
    assert today["available"] == {"capabilities": {"mutable": False}, "entities": {"mutable": False}}
    assert (today["flags"], today["pagination"]) == ([], True)
    assert (today["formats"], today["compatibilities"]) == (before["formats"], before["compatibilities"])
    assert asgi.ask("PUT", "/schemagroups/kitchen", {}).problem == "action_not_supported"


@pytest.mark.feature("CAP-018", "CAP-019")
@pytest.mark.parametrize(
    "written",
    [
        {"apis": ["model"]},
        {"apis": ["/nothing"]},
        {"apis": "/model"},
        {"apis": [7]},
        {"apis": ["*", "/model"]},
        {"flags": ["nothing"]},
        {"flags": {"inline": True}},
        {"mutable": ["model"]},
        {"apis": ["/model"], "mutable": ["modelsource"]},
        {"schemas": []},
        {"schemas": ["jsonSchema/2020-12"]},
        {"sticky": False},
        {"specversions": ["1.0-rc2"]},
        {"specversions": 7},
        {"oven": True},
    ],
)
def test_capabilities_that_cannot_be(asgi: AsgiClient, written: Json) -> None:
    before = asgi.ask("GET", "/capabilities").json
    for method in ("PUT", "PATCH"):
        refused = asgi.ask(method, f"/capabilities?{RC2}", written)
        assert refused.status == 400
        assert refused.json["type"].endswith("#capability_error"), refused.body
    assert asgi.ask("GET", "/capabilities").json == before


@pytest.mark.feature("MOD-005", "MOD-006")
@pytest.mark.parametrize("version", [RC2, RC3])
def test_a_model_source_that_is_written_back_changes_nothing(asgi: AsgiClient, version: str) -> None:
    source, model = asgi.ask("GET", "/modelsource").json, asgi.ask("GET", "/model").json
    shown = asgi.ask("GET", f"/modelsource?{version}").json
    assert shown != source
    assert asgi.ask("PUT", f"/modelsource?{version}", shown).json == shown
    assert asgi.ask("GET", "/modelsource").json == source
    assert asgi.ask("PATCH", f"/?{version}&inline=modelsource", {"modelsource": shown}).json["modelsource"] == shown
    assert asgi.ask("GET", "/modelsource").json == source
    assert asgi.ask("GET", "/model").json == model


@pytest.mark.parametrize("version", [RC2, RC3])
def test_a_full_model_can_be_a_source(asgi: AsgiClient, version: str) -> None:
    """Clients copy registries: what one shows as its model, another takes as a source."""
    before, shown = asgi.ask("GET", "/model").json, asgi.ask("GET", f"/model?{version}").json
    assert asgi.ask("PUT", f"/modelsource?{version}", shown).status == 200
    after = asgi.ask("GET", "/model").json
    for plural, group in before["groups"].items():
        for name, kind in group["resources"].items():
            assert after["groups"][plural]["resources"][name] == kind
    assert asgi.ask("GET", f"/model?{version}").json == shown


def test_the_model_of_the_third_version(asgi: AsgiClient) -> None:
    """B2: `ancestor`; A3: addresses are `url`, endpoints not deployed by default."""
    model = asgi.ask("GET", f"/model?{RC3}").json
    assert model["attributes"]["specversion"]["default"] == "1.0-rc3"
    versions = model["groups"]["schemagroups"]["resources"]["schemas"]["attributes"]
    assert versions["ancestor"]["name"] == "ancestor"
    assert "ancestorid" not in versions
    assert "formatvalidated" in versions
    protocols = model["groups"]["endpoints"]["attributes"]["protocol"]["ifvalues"]
    options = protocols["HTTP"]["siblingattributes"]["protocoloptions"]["attributes"]
    assert "url" in options["endpoints"]["item"]["attributes"]
    assert options["deployed"]["default"] is False
    assert model["groups"]["endpoints"]["attributes"]["usage"]["type"] == "array"
    assert asgi.ask("GET", f"/?inline=model&{RC3}").json["model"] == model


def test_the_model_of_the_first_version(asgi: AsgiClient) -> None:
    """B1: `compatiblewith`, `setdefaultversionsticky`, `compatibility` with `none`, no attributes for checks."""
    source = {
        "groups": {
            "dirs": {
                "singular": "dir",
                "modelcompatiblewith": "https://ovens.localhost/dirs.json",
                "resources": {
                    "files": {"singular": "file", "modelcompatiblewith": "https://ovens.localhost/files.json"}
                },
            }
        }
    }
    assert asgi.ask("PUT", "/modelsource", source).status == 200
    group = asgi.ask("GET", f"/model?{RC2}").json["groups"]["dirs"]
    kind = group["resources"]["files"]
    assert (group["compatiblewith"], kind["compatiblewith"]) == (
        "https://ovens.localhost/dirs.json",
        "https://ovens.localhost/files.json",
    )
    assert kind["setdefaultversionsticky"] is True
    assert not {"ancestorid", "formatvalidated", "compatibilityvalidatedreason"} & kind["attributes"].keys()
    rule = kind["metaattributes"]["compatibility"]
    assert (rule["default"], rule["required"], rule["enum"][-1]) == ("none", True, "none")
    assert kind["metaattributes"]["compatibilityauthority"]["enum"] == ["external", "server"]


def test_messages_and_endpoints_in_the_model_of_the_first_version(asgi: AsgiClient) -> None:
    groups = asgi.ask("GET", f"/model?{RC2}").json["groups"]
    messages = groups["messagegroups"]["resources"]["messages"]
    assert messages["setdefaultversionsticky"] is False
    assert "basemessageurl" in messages["attributes"]
    assert groups["endpoints"]["attributes"]["usage"]["type"] == "string"
    assert "validation" in groups["schemagroups"]["resources"]["schemas"]["metaattributes"]


def files(**aspects: Any) -> Json:
    """A model with one type of Resources."""
    return {"groups": {"dirs": {"singular": "dir", "resources": {"files": {"singular": "file", **aspects}}}}}


def test_a_type_whose_default_cannot_be_chosen(asgi: AsgiClient) -> None:
    """B1: `setdefaultversionsticky` went; what it said is said by the attribute of meta."""
    assert asgi.ask("PUT", f"/modelsource?{RC2}", files(setdefaultversionsticky=False)).json == files(
        setdefaultversionsticky=False, metaattributes={}
    )
    assert asgi.ask("PUT", "/dirs/d/files/f$details", {}).status == 201
    sticky = {"defaultversionid": "1", "defaultversionsticky": True}
    assert asgi.ask("PATCH", "/dirs/d/files/f/meta", sticky).problem == "invalid_attribute"
    assert asgi.ask("PUT", f"/modelsource?{RC2}", files(setdefaultversionsticky=True)).json == files()
    assert asgi.ask("PATCH", "/dirs/d/files/f/meta", sticky).status == 200


SOURCES: list[tuple[str, Json, Json]] = [
    (RC2, {"compatiblewith": "https://ovens.localhost/"}, {"modelcompatiblewith": "https://ovens.localhost/"}),
    (RC2, {"maxversions": 1, "setdefaultversionsticky": False}, {"maxversions": 1}),
    (
        RC2,
        {"metaattributes": {"compatibility": {"type": "string", "enum": ["full", "none"]}}},
        {"metaattributes": {"compatibility": {"type": "string", "enum": ["full"]}}},
    ),
    (
        RC2,
        {"metaattributes": {"compatibility": {"type": "string", "required": True, "default": "none"}}},
        {"metaattributes": {"compatibility": {"type": "string"}}},
    ),
    (RC2, {"metaattributes": {"compatibilityauthority": {"type": "string"}}}, {"metaattributes": {}}),
    (
        RC3,
        {"attributes": {"ancestor": {"type": "string", "description": "Before.", "required": True}}},
        {"attributes": {"ancestorid": {"type": "string", "description": "Before.", "required": True}}},
    ),
    (
        RC3,
        {"attributes": {"heat": {"type": "string", "matchcase": True}}},
        {"attributes": {"heat": {"type": "string"}}},
    ),
]


@pytest.mark.parametrize(("version", "theirs", "ours"), SOURCES)
def test_model_sources_are_kept_in_the_words_of_today(asgi: AsgiClient, version: str, theirs: Json, ours: Json) -> None:
    written = asgi.ask("PUT", f"/modelsource?{version}", files(**theirs))
    assert written.status == 200, written.body
    assert asgi.ask("GET", "/modelsource").json == files(**ours)


@pytest.mark.parametrize(
    ("version", "usage"),
    [
        (RC2, {"type": "string", "enum": ["producer", "consumer"], "strict": True}),
        (RC3, {"type": "array", "item": {"type": "string"}, "enum": ["producer", "consumer"]}),
    ],
)
def test_endpoints_of_published_models(asgi: AsgiClient, version: str, usage: Json) -> None:
    """C-32: the enum of `usage` stands on a list, and is about its items."""
    attributes = {"usage": usage, "protocol": {"type": "string"}}
    source = {"groups": {"endpoints": {"singular": "endpoint", "attributes": attributes}}}
    assert asgi.ask("PUT", f"/modelsource?{version}", source).status == 200
    today = asgi.ask("GET", "/modelsource").json["groups"]["endpoints"]["attributes"]["usage"]
    assert today == {**usage, "type": "array", "item": {"type": "string"}}
    kept = asgi.ask("GET", f"/modelsource?{version}").json["groups"]["endpoints"]["attributes"]["usage"]
    assert kept == usage


def test_a_usage_of_something_else_is_left_alone(asgi: AsgiClient) -> None:
    source = {"groups": {"endpoints": {"singular": "endpoint", "attributes": {"usage": {"type": "string"}}}}}
    assert asgi.ask("PUT", f"/modelsource?{RC2}", source).json == source
    assert asgi.ask("GET", "/modelsource").json == source


@pytest.mark.parametrize(
    ("version", "source", "problem"),
    [
        (RC3, files(attributes={"heat": {"type": "string", "enum": ["Hot"], "matchcase": True}}), "model_error"),
        (RC3, files(attributes={"heat": {"type": "string", "matchversions": True, "matchcase": True}}), "model_error"),
        (RC3, files(attributes={"heat": 7}), "parsing_data"),
        (RC3, files(attributes=7), "parsing_data"),
        (RC3, {"groups": {"dirs": 7}}, "parsing_data"),
        (RC3, {"groups": 7}, "parsing_data"),
        (RC2, {"groups": {"dirs": {"singular": "dir", "resources": {"files": 7}}}}, "bad_request"),
        (RC2, files(metaattributes=7), "bad_request"),
        (RC2, files(nonsense=7), "model_error"),
    ],
)
def test_models_that_cannot_be(asgi: AsgiClient, version: str, source: Json, problem: str) -> None:
    before = asgi.ask("GET", "/modelsource").json
    refused = asgi.ask("PUT", f"/modelsource?{version}", source)
    assert refused.status == 400
    assert refused.json["type"].endswith(f"#{problem}"), refused.body
    assert asgi.ask("GET", "/modelsource").json == before


def test_forms_of_the_model(asgi: AsgiClient) -> None:
    """B1: `?schema=` on `/model`; there is one form."""
    for path in ("/model", "/modelsource"):
        for form in ("xRegistry-json/1.0-rc2", "XREGISTRY-JSON", "xregistry-json/1.0-RC2"):
            assert asgi.ask("GET", f"{path}?schema={form}&{RC2}").json == asgi.ask("GET", f"{path}?{RC2}").json
        refused = asgi.ask("GET", f"{path}?schema=jsonSchema/2020-12&{RC2}")
        assert (refused.status, refused.json["type"].rpartition("#")[2]) == (400, "invalid_data")
        for other in ("", f"&{RC3}"):  # FLAG-002: not their flag
            assert asgi.ask("GET", f"{path}?schema=jsonSchema/2020-12{other}").status == 200

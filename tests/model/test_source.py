from __future__ import annotations

from typing import Any

import pytest

from postroom.model.model_refused import ModelRefused
from postroom.model.render import render_model
from postroom.model.shipped_models import load_model, model_source
from postroom.model.source import parse_model


def with_attribute(definition: Any) -> dict[str, Any]:
    return {"attributes": {"heat": definition}}


def with_resource(**aspects: Any) -> dict[str, Any]:
    return {"groups": {"kitchens": {"singular": "kitchen", "resources": {"ovens": {"singular": "oven", **aspects}}}}}


@pytest.mark.feature("MOD-013", "MOD-017", "MOD-019", "MOD-021", "MOD-022", "MOD-026", "MOD-028", "MOD-036", "MOD-037")
@pytest.mark.feature("MOD-038", "MOD-041", "MOD-042", "MOD-044", "MOD-046", "MOD-047", "MOD-049", "MOD-053", "MOD-080")
@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ([], "parsing_data"),
        ({"colour": 1}, "model_error"),
        (with_attribute("integer"), "parsing_data"),
        (with_attribute({}), "model_error"),
        (with_attribute({"type": "Integer"}), "model_error"),
        (with_attribute({"type": "integer", "name": "cold"}), "model_error"),
        (with_attribute({"type": "integer", "colour": 1}), "model_error"),
        (with_attribute({"type": "integer", "target": "/kitchens"}), "model_error"),
        (with_attribute({"type": "object", "namecharset": "runes"}), "model_error"),
        (with_attribute({"type": "array"}), "model_error"),
        (with_attribute({"type": "string", "item": {"type": "string"}}), "model_error"),
        (with_attribute({"type": "string", "attributes": {"x": {"type": "string"}}}), "model_error"),
        (with_attribute({"type": "integer", "enum": ["one"]}), "model_error"),
        (with_attribute({"type": "object", "enum": [{}]}), "model_error"),
        (with_attribute({"type": "integer", "default": 1}), "model_required_true"),
        (with_attribute({"type": "any", "default": {}, "required": True}), "model_scalar_default"),
        (with_attribute({"type": "integer", "default": 3, "required": True, "enum": [1]}), "model_error"),
        (with_attribute({"type": "object", "ifvalues": {"a": {}}}), "model_error"),
        (with_attribute({"type": "string", "ifvalues": {"a": {}, "A": {}}}), "model_error"),
        (with_attribute({"type": "string", "ifvalues": {"^a": {}}}), "model_error"),
        (
            with_attribute({"type": "string", "ifvalues": {"a": {"siblingattributes": {"name": {"type": "any"}}}}}),
            "model_error",
        ),
        ({"attributes": {"*": {"type": "any", "required": True}}}, "model_error"),
        ({"attributes": {"Heat": {"type": "any"}}}, "model_error"),
        ({"attributes": {"epoch": {"type": "string"}}}, "model_error"),
        ({"attributes": {"epoch": {"type": "uinteger", "required": False}}}, "model_error"),
        ({"groups": {"kitchens": {}}}, "model_error"),
        ({"groups": {"kitchens": {"singular": "kitchen"}, "kitchen": {"singular": "k"}}}, "model_error"),
        (with_resource(maxversions=-1), "model_error"),
        (with_resource(versionmode="moon"), "model_error"),
        (with_resource(versionmode="semver", singleversionroot="no"), "parsing_data"),
        (with_resource(validatecompatibility=True), "model_error"),
        (with_resource(typemap={"a/b": "poem"}), "model_error"),
        ({"groups": {"a": {"singular": "b", "ximportresources": ["/a/x"]}}}, "model_error"),
        ({"groups": {"a": {"singular": "b", "constraints": {"x.y": {"equals": "z"}}}}}, "model_error"),
        ({"groups": {"$include": "https://elsewhere.example"}}, "model_error"),
    ],
)
def test_models_that_break_a_rule_are_refused(source: Any, problem: str) -> None:
    with pytest.raises(ModelRefused) as refused:
        parse_model(source)
    assert refused.value.problem == problem


@pytest.mark.feature("MOD-003", "MOD-009", "MOD-093", "MOD-094")
@pytest.mark.parametrize("name", ["messaging", "none"])
def test_a_rendered_model_is_the_same_model_again(name: str) -> None:
    rendered = render_model(load_model(name))
    # But for what was imported: the full model does not say that two types are one.
    assert render_model(parse_model(rendered)) == rendered


@pytest.mark.feature("MOD-003")
def test_the_full_model_has_what_the_specification_defines() -> None:
    ovens = parse_model(with_resource()).groups["kitchens"].resources["ovens"]
    assert {"ovenid", "versionid", "oven", "ovenurl", "ovenbase64", "ancestorid"} <= ovens.attributes.keys()
    assert {"metaurl", "meta", "versions", "versionscount"} <= ovens.resourceattributes.keys()
    assert {"xref", "readonly", "defaultversionid"} <= ovens.metaattributes.keys()
    plain = parse_model(with_resource(hasdocument=False)).groups["kitchens"].resources["ovens"]
    assert not {"oven", "ovenurl", "ovenbase64"} & plain.attributes.keys()


@pytest.mark.feature("MOD-078")
@pytest.mark.parametrize("said", [{}, {"singleversionroot": False}, {"singleversionroot": True}])
def test_chained_version_modes_imply_a_single_root(said: dict[str, bool]) -> None:
    ovens = parse_model(with_resource(versionmode="CreatedAt", **said)).groups["kitchens"].resources["ovens"]
    assert (ovens.versionmode, ovens.singleversionroot) == ("createdat", True)


@pytest.mark.feature("MSG-001", "MSG-002", "MSG-024")
def test_the_messaging_model_is_amended_as_decided() -> None:
    model = load_model("messaging")
    messages = model.groups["messagegroups"].resources["messages"]
    assert (messages.maxversions, messages.hasdocument) == (1, False)
    assert messages.attributes["basemessage"].target == "/messagegroups/messages[/versions]"
    assert messages.attributes["*"].type == "any"
    assert {"HTTP", "HTTP/1.1", "HTTP/2", "HTTP/3"} <= messages.attributes["protocol"].ifvalues.keys()
    options = messages.attributes["protocol"].ifvalues["NATS"].siblingattributes["protocoloptions"]
    assert "reply-to" in options.attributes
    metadata = messages.attributes["envelope"].ifvalues["CloudEvents/1.0"].siblingattributes["envelopemetadata"]
    members = metadata.attributes["type"].attributes
    assert all(member.default is None and not member.required for member in members.values())
    assert model.groups["endpoints"].resources["messages"] == messages
    assert model.groups["endpoints"].attributes["usage"].required


def test_the_source_we_ship_is_json() -> None:
    import json

    assert json.loads(json.dumps(model_source("messaging"))) == model_source("messaging")

"""Models as the specification publishes them: their shapes and older words, and the files themselves where they are."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.model.conform import conform
from postroom.model.model_refused import ModelRefused
from postroom.model.older_words import read_older_words
from postroom.model.render import render_model
from postroom.model.shipped_models import load_model
from postroom.model.source import parse_model
from tests.conftest import SHARED


def kitchens(resource: Any = None, **group: Any) -> dict[str, Any]:
    resources = {"ovens": {"singular": "oven", **(resource or {})}}
    return {"groups": {"kitchens": {"singular": "kitchen", "resources": resources, **group}}}


def places(source: dict[str, Any]) -> list[str]:
    return [word.place for word in read_older_words(source)[1]]


def with_words(words: dict[str, Any]) -> dict[str, Any]:
    return {"attributes": {"uses": words}}


@pytest.mark.audit("registry-12", "clients-4")
@pytest.mark.parametrize(
    ("container", "good", "bad", "place"),
    [
        ("array", ["bake", "GRILL"], ["bake", "wash"], "/uses/1"),
        ("map", {"first": "bake"}, {"first": "bake", "then": "wash"}, "/uses/then"),
    ],
)
def test_the_enum_of_an_array_or_a_map_is_about_its_items(container: str, good: Any, bad: Any, place: str) -> None:
    words = {"type": container, "item": {"type": "string"}, "enum": ["bake", "grill"]}
    model = parse_model(with_words(words))
    assert render_model(model)["attributes"]["uses"] == {"name": "uses", **words, "strict": True}
    for value in (good, type(good)()):
        assert conform(model, {"uses": model.attributes["uses"]}, {"uses": value}) == ({"uses": value}, [])
    _, violations = conform(model, {"uses": model.attributes["uses"]}, {"uses": bad})
    assert [(one.pointer, one.detail) for one in violations] == [(place, "must be one of: bake, grill")]
    loose = parse_model(with_words({**words, "strict": False}))
    assert conform(loose, {"uses": loose.attributes["uses"]}, {"uses": bad})[1] == []


@pytest.mark.audit("registry-12")
@pytest.mark.parametrize(
    "words",
    [
        {"type": "array", "item": {"type": "integer"}, "enum": ["bake"]},
        {"type": "array", "item": {"type": "any"}, "enum": ["bake"]},
        {"type": "map", "item": {"type": "array", "item": {"type": "string"}}, "enum": ["bake"]},
        {"type": "array", "item": {"type": "string", "enum": ["bake"]}},
    ],
)
def test_an_enum_needs_scalar_items_of_its_type(words: dict[str, Any]) -> None:
    with pytest.raises(ModelRefused):
        parse_model(with_words(words))


@pytest.mark.audit("registry-15", "clients-2")
def test_an_empty_plural_is_one_that_was_left_out() -> None:
    source = kitchens({"plural": ""}, plural="")
    assert parse_model(source) == parse_model(kitchens())
    with pytest.raises(ModelRefused, match="must be 'kitchens'"):
        parse_model(kitchens(plural="rooms"))


@pytest.mark.audit("registry-15")
def test_words_of_older_models_are_read_as_those_of_today() -> None:
    heat = {"type": "string", "matchcase": True, "required": False}
    older = kitchens(
        {
            "compatiblewith": "https://ovens.example/oven",
            "setdefaultversionsticky": False,
            "attributes": {"heat": heat, "fuel": {"type": "string", "default": "wood"}},
            "metaattributes": {
                "compatibility": {"type": "string", "enum": ["none", "full"], "required": True, "default": "none"}
            },
        },
        compatiblewith="https://ovens.example/kitchen",
        attributes={
            "cook": {"type": "object", "attributes": {"name": {"type": "string", "clientrequired": True}}},
            "open": {"type": "boolean", "serverrequired": True, "default": True},
            "rows": {
                "type": "array",
                "item": {"type": "object", "attributes": {"x": {"type": "string", "serverrequired": True}}},
            },
        },
    )
    today = kitchens(
        {
            "modelcompatiblewith": "https://ovens.example/oven",
            "attributes": {
                "heat": {"type": "string"},
                "fuel": {"type": "string", "required": True, "default": "wood"},
            },
            "metaattributes": {"compatibility": {"type": "string", "enum": ["full"]}},
        },
        modelcompatiblewith="https://ovens.example/kitchen",
        attributes={
            "cook": {"type": "object", "attributes": {"name": {"type": "string", "required": True}}},
            "open": {"type": "boolean", "required": True, "default": True},
            "rows": {"type": "array", "item": {"type": "object", "attributes": {"x": {"type": "string"}}}},
        },
    )
    assert parse_model(older) == parse_model(today)
    assert places(today) == []
    group, resource = "/groups/kitchens", "/groups/kitchens/resources/ovens"
    assert sorted(places(older)) == sorted(
        [
            f"{group}/compatiblewith",
            f"{group}/attributes/cook/attributes/name/clientrequired",
            f"{group}/attributes/open/serverrequired",
            f"{group}/attributes/rows/item/attributes/x/serverrequired",
            f"{resource}/compatiblewith",
            f"{resource}/setdefaultversionsticky",
            f"{resource}/attributes/heat/matchcase",
            f"{resource}/metaattributes/compatibility",
        ]
    )


@pytest.mark.audit("registry-15")
def test_a_default_without_required_is_refused_in_the_words_of_today() -> None:
    with pytest.raises(ModelRefused) as refused:
        parse_model(kitchens({"attributes": {"fuel": {"type": "string", "default": "wood"}}}))
    assert refused.value.problem == "model_required_true"


@pytest.mark.audit("registry-14", "clients-11")
def test_the_groups_of_an_endpoint_are_groups_whatever_the_published_target_says() -> None:
    def endpoints(target: str) -> dict[str, Any]:
        used = {"type": "array", "item": {"type": "uri", "target": target}}
        groups = {"singular": "messagegroup", "resources": {"messages": {"singular": "message"}}}
        return {
            "groups": {
                "messagegroups": groups,
                "endpoints": {"singular": "endpoint", "attributes": {"messagegroups": used}},
            }
        }

    published = endpoints("/messagegroups/messages")
    model = parse_model(published)
    assert model == parse_model(endpoints("/messagegroups"))
    assert places(published) == ["/groups/endpoints/attributes/messagegroups/item/target"]
    attributes = {"messagegroups": model.groups["endpoints"].attributes["messagegroups"]}
    for reference in ("/messagegroups/ovens", "https://elsewhere.example/messagegroups/ovens"):
        assert conform(model, attributes, {"messagegroups": [reference]})[1] == []
    assert conform(model, attributes, {"messagegroups": ["/endpoints/ovens"]})[1]


@pytest.mark.audit("registry-15")
def test_a_value_that_adds_nothing_shows_no_empty_siblings() -> None:
    heat = {"type": "string", "ifvalues": {"hot": {}, "cold": {"siblingattributes": {}}}}
    shown = render_model(parse_model({"attributes": {"heat": heat}}))["attributes"]["heat"]
    assert shown["ifvalues"] == {"hot": {}, "cold": {}}


@pytest.mark.audit("registry-24")
def test_a_resource_type_may_be_called_format() -> None:
    formats = parse_model({"groups": {"docs": {"singular": "doc", "resources": {"formats": {"singular": "format"}}}}})
    attributes = formats.groups["docs"].resources["formats"].attributes
    assert [attributes[name].type for name in ("formatid", "format", "formaturl", "formatbase64")] == [
        "string",
        "any",
        "url",
        "string",
    ]


@pytest.mark.audit("registry-9")
@pytest.mark.parametrize(
    "source",
    [
        {"groups": {"sheep": {"singular": "sheep"}}},
        {"groups": {"farms": {"singular": "farm", "resources": {"sheep": {"singular": "sheep"}}}}},
    ],
)
def test_the_two_names_of_a_type_differ(source: dict[str, Any]) -> None:
    with pytest.raises(ModelRefused, match="'sheep' is used twice"):
        parse_model(source)


@pytest.mark.audit("registry-10")
@pytest.mark.parametrize(
    "rule",
    [
        {"type": "string", "enum": ["backward", "sideways"]},
        {"type": "string", "enum": ["backward"], "strict": False},
        {"type": "string", "strict": False},
        {"type": "string", "enum": []},
    ],
)
def test_values_of_the_specification_only_become_fewer(rule: dict[str, Any]) -> None:
    with pytest.raises(ModelRefused, match="may only be fewer") as refused:
        parse_model(kitchens({"metaattributes": {"compatibility": rule}}))
    assert refused.value.place == "/groups/kitchens/resources/ovens/metaattributes/compatibility"


@pytest.mark.audit("registry-10")
def test_values_of_the_specification_may_become_fewer() -> None:
    source = kitchens({"metaattributes": {"compatibility": {"type": "string", "enum": ["backward", "FULL"]}}})
    ovens = parse_model(source).groups["kitchens"].resources["ovens"]
    assert ovens.metaattributes["compatibility"].enum == ("backward", "FULL")


@pytest.mark.audit("registry-21")
@pytest.mark.parametrize(
    ("source", "place"),
    [
        ({"groups": 5}, "/groups"),
        ({"description": 5}, "/description"),
        (kitchens(singular=5), "/groups/kitchens/singular"),
        (kitchens(plural=5), "/groups/kitchens/plural"),
        (kitchens(labels={"a": 5}), "/groups/kitchens/labels"),
        (kitchens(ximportresources="/a/b"), "/groups/kitchens/ximportresources"),
        (kitchens(ximportresources=[5]), "/groups/kitchens/ximportresources"),
        (kitchens(constraints={"ovens.name": {"enum": "a"}}), "/groups/kitchens/constraints/ovens.name/enum"),
        (kitchens({"maxversions": "two"}), "/groups/kitchens/resources/ovens/maxversions"),
        (kitchens({"hasdocument": "yes"}), "/groups/kitchens/resources/ovens/hasdocument"),
        (with_words({"type": 5}), "/attributes/uses/type"),
        (with_words({"type": "string", "enum": "bake"}), "/attributes/uses/enum"),
        (with_words({"type": "string", "required": 1}), "/attributes/uses/required"),
        (with_words({"type": "array", "item": "string"}), "/attributes/uses/item"),
        (with_words({"type": "array", "item": {"type": 5}}), "/attributes/uses/item/type"),
        (with_words({"type": "string", "ifvalues": {"a": []}}), "/attributes/uses/ifvalues/a"),
    ],
)
def test_a_known_member_of_the_wrong_json_type_is_no_model_at_all(source: dict[str, Any], place: str) -> None:
    with pytest.raises(ModelRefused) as refused:
        parse_model(source)
    assert (refused.value.problem, refused.value.place) == ("parsing_data", place)


@pytest.mark.audit("registry-21")
@pytest.mark.parametrize(
    ("source", "place"),
    [
        (with_words({"type": "string", "colour": 5}), "/attributes/uses/colour"),
        (with_words({}), "/attributes/uses/type"),
        (with_words({"type": "map", "item": {}}), "/attributes/uses/item/type"),
        (kitchens({"origin": "/x"}), "/groups/kitchens/resources/ovens/origin"),
    ],
)
def test_an_unknown_or_missing_member_is_named_with_its_place(source: dict[str, Any], place: str) -> None:
    with pytest.raises(ModelRefused) as refused:
        parse_model(source)
    assert (refused.value.problem, refused.value.place) == ("model_error", place)


def published_models() -> Iterator[Path]:
    """Models of checkouts of github.com/xregistry/spec: in the folder that XREGISTRY_SPEC names, or in ../shared."""
    named = os.environ.get("XREGISTRY_SPEC")
    roots = [Path(named)] if named else [path.parents[1] for path in SHARED.glob("*/core/sample-model.json")]
    for path in sorted(path for root in roots for path in root.rglob("*model*.json")):
        if "schema" not in path.name:
            yield path


@pytest.mark.audit("registry-12", "clients-4")
def test_every_published_model_loads() -> None:
    found = list(published_models())
    if not found:
        pytest.skip("NOT HERE: a checkout of xregistry/spec (XREGISTRY_SPEC); its models were not read")
    for path in found:
        model = load_model(str(path))
        assert set(json.loads(path.read_bytes()).get("groups", {})) - {"$include", "$includes"} <= set(model.groups)

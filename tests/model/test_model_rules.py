"""Rules of model.md for types: names that mean something already, labels, versions, imports."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.model.model_refused import ModelRefused
from postroom.model.source import parse_model


def kitchens(resource: Any = None, **group: Any) -> dict[str, Any]:
    ovens = {"singular": "oven", **(resource or {})}
    return {"groups": {"kitchens": {"singular": "kitchen", "resources": {"ovens": ovens}, **group}}}


def attribute(**definition: Any) -> dict[str, Any]:
    return {"attributes": {"heat": definition}}


def version_attribute(**definition: Any) -> dict[str, Any]:
    return kitchens({"attributes": {"heat": definition}})


def groups(**types: Any) -> dict[str, Any]:
    return {"groups": types}


@pytest.mark.feature("MOD-053", "MOD-054", "MOD-069", "MOD-020", "REG-029", "REG-020")
@pytest.mark.parametrize(
    "source",
    [
        groups(model={"singular": "m"}),
        groups(labels={"singular": "label"}),
        groups(export={"singular": "x"}),
        groups(kitchens={"singular": "x"}),
        groups(Kitchens={"singular": "kitchen"}),
        groups(**{"9s": {"singular": "nine"}}),
        groups(**{"k" * 58: {"singular": "k"}}),
        groups(kitchens={"singular": "k" * 64}),
        groups(kitchens={"singular": ""}),
        groups(a={"singular": "b"}, b={"singular": "c"}),
        groups(a={"singular": "c"}, b={"singular": "c"}),
        kitchens({"singular": "version"}),
        kitchens({"singular": "meta"}),
        kitchens({"singular": "name"}),
        kitchens({"singular": "o" * 58}),
        groups(kitchens={"singular": "kitchen", "resources": {"labels": {"singular": "label"}}}),
        kitchens({"attributes": {"versions": {"type": "string"}}}),
        kitchens({"attributes": {"oven": {"type": "string"}}}),
        kitchens({"attributes": {"metaurl": {"type": "integer"}}}),
    ],
)
def test_types_do_not_take_names_that_mean_something(source: Any) -> None:
    with pytest.raises(ModelRefused):
        parse_model(source)


@pytest.mark.feature("MOD-054", "MOD-003", "RES-040", "REG-029")
def test_names_up_to_the_limit_are_taken() -> None:
    longest = {"k" * 57: {"singular": "s" * 63, "resources": {"r" * 57: {"singular": "o" * 57}}}}
    assert list(parse_model(groups(**longest)).groups) == ["k" * 57]
    free = parse_model(kitchens({"hasdocument": False, "attributes": {"oven": {"type": "string"}}}))
    assert free.groups["kitchens"].resources["ovens"].attributes["oven"].type == "string"


@pytest.mark.feature("MOD-003", "MOD-020")
def test_who_repeats_the_names_of_the_resource_means_the_resource() -> None:
    repeated = {"versionscount": {"type": "uinteger"}, "meta": {"type": "object"}}
    ovens = parse_model(kitchens({"attributes": repeated})).groups["kitchens"].resources["ovens"]
    assert not repeated.keys() & ovens.attributes.keys()
    assert repeated.keys() <= ovens.resourceattributes.keys()


@pytest.mark.feature("MOD-010", "MOD-011", "MOD-012", "MOD-023", "MOD-027", "MOD-028", "MOD-030", "MOD-033", "MOD-043")
@pytest.mark.feature("MOD-048", "MOD-049", "MOD-051", "MOD-082")
@pytest.mark.parametrize(
    "source",
    [
        attribute(type="string", immutable=True),
        attribute(type="object", attributes={"inner": {"type": "string", "immutable": True}}),
        attribute(type="object", attributes=5),
        attribute(type="string", matchversions=True),
        version_attribute(type="object", matchversions=True),
        version_attribute(
            type="array", item={"type": "object", "attributes": {"x": {"type": "any"}}}, matchversions=True
        ),
        version_attribute(
            type="array", item={"type": "object", "attributes": {"x": {"type": "string", "matchversions": True}}}
        ),
        kitchens({"attributes": {"*": {"type": "string", "matchversions": True}}}),
        kitchens({"metaattributes": {"x": {"type": "string", "matchversions": True}}}),
        version_attribute(
            type="string", ifvalues={"a": {"siblingattributes": {"x": {"type": "string", "matchversions": True}}}}
        ),
        *(attribute(type="xid", target=target) for target in ("kitchens", "/a/b/c", "/a/b[versions]", "/a/", "/A")),
        attribute(type="array", item={"type": "string", "target": "/kitchens"}),
        attribute(type="map", item={"type": "string", "namecharset": "extended"}),
        attribute(type="map", item={"type": "array"}),
        attribute(type="object", attributes={"a-b": {"type": "string"}}),
        attribute(type="string", enum=["a"], ifvalues={"b": {}}),
        attribute(
            type="string",
            ifvalues={
                "a": {
                    "siblingattributes": {
                        "b": {"type": "string", "ifvalues": {"c": {"siblingattributes": {"heat": {"type": "any"}}}}}
                    }
                }
            },
        ),
        kitchens({"resourceattributes": {"mine": {"type": "string"}}}),
        kitchens({"metaattributes": {"readonly": {"type": "boolean", "required": False}}}),
        kitchens({"attributes": {"isdefault": {"type": "boolean", "readonly": False}}}),
        kitchens({"labels": {"Upper": "x"}}),
        kitchens(labels={"": "x"}),
        {"labels": {"a b": "x"}},
        kitchens({"maxversions": 1, "metaattributes": {"defaultversionsticky": {"default": True}}}),
        kitchens({"typemap": {"": "json"}}),
        kitchens({"origin": "/elsewhere"}),
    ],
)
def test_attributes_keep_the_rules(source: Any) -> None:
    with pytest.raises(ModelRefused):
        parse_model(source)


@pytest.mark.feature("MOD-023", "MOD-027", "MOD-030", "MOD-048", "MOD-051")
@pytest.mark.parametrize(
    "source",
    [
        *(attribute(type="uri", target=t) for t in ("/a", "/a/b", "/a/b/versions", "/a/b[/versions]")),
        version_attribute(type="object", attributes={"x": {"type": "string", "matchversions": True}}),
        attribute(type="object", namecharset="Extended", attributes={"a-b": {"type": "string"}}),
        attribute(type="boolean", enum=[True], ifvalues={"TRUE": {}}),
        attribute(type="string", enum=["a"], strict=False, ifvalues={"b": {}}),
    ],
)
def test_what_the_rules_allow_is_taken(source: Any) -> None:
    assert parse_model(source) is not None


@pytest.mark.feature("MOD-057", "MOD-059", "MOD-060", "MOD-061", "MOD-062", "MOD-063")
@pytest.mark.parametrize(
    ("constraint", "fits"),
    [
        ({"ovens.size": {"enum": ["s"]}}, True),
        ({"ovens.size": {"enum": []}}, True),
        ({"ovens.size": {"equals": ""}}, True),
        ({"ovens.size": {"equals": "name"}}, True),
        ({"ovens.door.kind": {"default": "steel"}}, True),
        ({"ovens.size": {"enum": ["xl"]}}, False),
        ({"ovens.size": {"enum": [1]}}, False),
        ({"ovens.size": {"default": "xl"}}, False),
        ({"ovens.size": {"enum": ["s"], "default": "m"}}, False),
        ({"ovens.fuel": {"enum": ["gas"]}}, False),
        ({"ovens.size": {"equals": "epoch"}}, False),
        ({"ovens.size": {"equals": "missing"}}, False),
        ({"ovens.door": {"default": "x"}}, False),
        ({"ovens.tags.x": {"default": "x"}}, False),
        ({"ovens.*": {"default": "x"}}, False),
        ({"ovens": {"default": "x"}}, False),
        ({"pans.size": {"default": "x"}}, False),
        ({"ovens.size": {"colour": "x"}}, False),
    ],
)
def test_constraints_of_a_group_type(constraint: Any, fits: bool) -> None:
    attributes = {
        "size": {"type": "string", "enum": ["s", "m"]},
        "fuel": {"type": "string", "required": True, "default": "wood"},
        "door": {"type": "object", "attributes": {"kind": {"type": "string"}}},
        "tags": {"type": "map", "item": {"type": "string"}},
        "*": {"type": "any"},
    }
    source = kitchens({"attributes": attributes}, constraints=constraint)
    if fits:
        assert parse_model(source).groups["kitchens"].constraints.keys() == constraint.keys()
    else:
        with pytest.raises(ModelRefused):
            parse_model(source)


@pytest.mark.feature("MOD-091", "MOD-092", "MOD-093", "MOD-094")
def test_types_are_imported_one_by_one() -> None:
    crossed = groups(
        a={"singular": "aa", "resources": {"x": {"singular": "xx"}}, "ximportresources": ["/b/y"]},
        b={"singular": "bb", "resources": {"y": {"singular": "yy"}}, "ximportresources": ["/a/x"]},
        c={"singular": "cc", "ximportresources": ["/b/x", "/a/y"]},
    )
    model = parse_model(crossed)
    assert [sorted(kind.resources) for kind in model.groups.values()] == [["x", "y"]] * 3
    assert model.groups["c"].resources["x"] == model.groups["a"].resources["x"]


@pytest.mark.feature("MOD-091", "MOD-092", "MOD-093")
@pytest.mark.parametrize(
    "source",
    [
        groups(a={"singular": "aa", "ximportresources": ["/b/x"]}, b={"singular": "bb", "ximportresources": ["/a/x"]}),
        groups(a={"singular": "aa", "ximportresources": ["/a/x"], "resources": {"x": {"singular": "xx"}}}),
        groups(a={"singular": "aa", "ximportresources": "/b/x"}, b={"singular": "bb"}),
        groups(a={"singular": "aa", "ximportresources": ["/b/x"]}, b={"singular": "bb"}),
        groups(a={"singular": "aa", "ximportresources": ["b/x"]}, b={"singular": "bb"}),
        groups(a={"singular": "aa", "ximportresources": [5]}),
        groups(
            a={"singular": "aa", "ximportresources": ["/b/x", "/b/x"]},
            b={"singular": "bb", "resources": {"x": {"singular": "xx"}}},
        ),
        groups(
            a={"singular": "aa", "ximportresources": ["/b/x"], "resources": {"z": {"singular": "xx"}}},
            b={"singular": "bb", "resources": {"x": {"singular": "xx"}}},
        ),
    ],
)
def test_bad_imports_are_refused(source: Any) -> None:
    with pytest.raises(ModelRefused):
        parse_model(source)

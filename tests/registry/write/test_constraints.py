"""Constraints of Groups: judged at the end of a request, also through references."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.registry.problems import RegistryProblem

MODEL = {
    "groups": {
        "kitchens": {
            "singular": "kitchen",
            "attributes": {"fuel": {"type": "string"}},
            "constraints": {"ovens.fuel": {"equals": "fuel"}, "ovens.size": {"enum": ["s", "m", "l"], "default": "m"}},
            "resources": {
                "ovens": {
                    "singular": "oven",
                    "hasdocument": False,
                    "attributes": {
                        "fuel": {"type": "string"},
                        "size": {"type": "string"},
                        "door": {"type": "object", "attributes": {"kind": {"type": "string", "matchversions": True}}},
                    },
                }
            },
        },
        "shops": {"singular": "shop", "ximportresources": ["/kitchens/ovens"]},
    }
}
OVEN = "/kitchens/bakery/ovens/big"
SHOWN = "/shops/corner/ovens/shown"


@pytest.fixture
def shop(registry: Any) -> Any:
    registry.put("/", {"modelsource": MODEL})
    registry.put("/kitchens/bakery", {"fuel": "wood"})
    registry.put(OVEN, {"fuel": "wood"})
    return registry


def refused(registry: Any, xid: str, body: Any, patch: bool = False) -> tuple[str, str]:
    before = registry.show("/", "*")
    with pytest.raises(RegistryProblem) as problem:
        registry.put(xid, body, patch=patch)
    assert registry.show("/", "*") == before
    return problem.value.name, problem.value.subject


@pytest.mark.feature("MOD-058", "MOD-060", "MOD-064")
def test_versions_follow_the_constraints_of_the_group_type(shop: Any) -> None:
    assert shop.show(OVEN)["size"] == "m"
    assert refused(shop, OVEN, {"fuel": "gas"}) == ("constraint_failure", OVEN)
    assert refused(shop, OVEN, {"fuel": "wood", "size": "xl"}) == ("constraint_failure", OVEN)
    assert refused(shop, OVEN, {}) == ("constraint_failure", OVEN)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"fuel": "gas"}, "It is 'gas' and has to be 'wood', which fuel of the group is."),
        ({}, "It is missing and has to be 'wood', which fuel of the group is."),
        ({"fuel": "wood", "size": "xl"}, "It is 'xl' and has to be one of: 's', 'm', 'l'."),
    ],
)
def test_a_broken_constraint_says_both_values(shop: Any, body: Any, detail: str) -> None:
    with pytest.raises(RegistryProblem) as problem:
        shop.put(OVEN, body)
    assert problem.value.detail == detail


@pytest.mark.feature("MOD-065")
def test_a_group_without_the_value_demands_none(shop: Any) -> None:
    assert shop.put("/kitchens/loose/ovens/any", {"fuel": "gas"})["fuel"] == "gas"


@pytest.mark.feature("GRP-005", "MOD-064")
def test_a_group_and_its_resources_change_together_or_not_at_all(shop: Any) -> None:
    assert refused(shop, "/kitchens/bakery", {"fuel": "gas"}) == ("constraint_failure", OVEN)
    changed = {"fuel": "gas", "ovens": {"big": {"fuel": "gas"}}}
    assert shop.patch("/kitchens/bakery", changed)["fuel"] == "gas"


@pytest.mark.feature("MOD-066")
def test_both_sides_of_a_reference_are_held_to_the_group_that_shows_it(shop: Any) -> None:
    shop.put("/shops/corner", {"constraints": {"ovens.size": {"enum": ["s"]}}})
    assert refused(shop, f"{SHOWN}/meta", {"xref": OVEN}) == ("constraint_failure", SHOWN)
    shop.patch(OVEN, {"size": "s"})
    shop.put(f"{SHOWN}/meta", {"xref": OVEN})
    assert refused(shop, OVEN, {"size": "l"}, patch=True) == ("constraint_failure", SHOWN)
    assert refused(shop, "/shops/corner", {"constraints": {"ovens.size": {"enum": ["m"]}}})[0] == "constraint_failure"
    shop.put("/shops/corner", {})
    assert shop.patch(OVEN, {"size": "l"})["size"] == "l"


@pytest.mark.feature("MOD-066")
def test_a_target_that_appears_later_is_judged_then(shop: Any) -> None:
    shop.put("/shops/corner", {"constraints": {"ovens.size": {"enum": ["s"]}}})
    shop.put(f"{SHOWN}/meta", {"xref": "/kitchens/bakery/ovens/new"})
    assert refused(shop, "/kitchens/bakery/ovens/new", {"fuel": "wood"}) == ("constraint_failure", SHOWN)


@pytest.mark.feature("MOD-067", "MOD-068")
@pytest.mark.parametrize(
    "own",
    [
        {"ovens.size": {"enum": ["xl"]}},
        {"ovens.size": {"default": "xl"}},
        {"ovens.size": {"enum": ["s"]}},
        {"ovens.size": {"enum": ["s"], "default": 3}},
        {"ovens.fuel": {"equals": "name"}},
        {"ovens.taste": {"enum": ["x"]}},
        {"pans.size": {"enum": ["x"]}},
        {"ovens.door": {"enum": ["x"]}},
    ],
)
def test_a_group_can_only_narrow(shop: Any, own: Any) -> None:
    assert refused(shop, "/kitchens/other", {"constraints": own}) == ("bad_request", "/kitchens/other")
    shop.put("/kitchens/other", {"constraints": {"ovens.size": {"enum": ["s"], "default": "s", "equals": None}}})
    assert shop.put("/kitchens/other/ovens/o", {})["size"] == "s"


@pytest.mark.feature("MOD-030", "MOD-031")
def test_versions_share_what_they_must_also_inside_objects(shop: Any) -> None:
    shop.patch(OVEN, {"door": {"kind": "glass"}})
    steel = {"fuel": "wood", "door": {"kind": "steel"}}
    assert refused(shop, f"{OVEN}/versions/2", steel) == ("mismatched_version_attribute", OVEN)
    assert shop.put(f"{OVEN}/versions/2", {"fuel": "wood", "door": {"kind": "glass"}})["versionid"] == "2"


@pytest.mark.audit("registry-1")
@pytest.mark.parametrize("xid", [OVEN, f"{OVEN}/versions/1"])
def test_a_null_brings_the_default_of_the_group_back(shop: Any, xid: str) -> None:
    shop.patch(OVEN, {"size": "l"})
    assert shop.patch(xid, {"size": None})["size"] == "m"
    shop.patch(OVEN, {"size": "l"})
    assert shop.patch(xid, {"name": "Big"})["size"] == "l"
    assert shop.put(xid, {"fuel": "wood", "size": None})["size"] == "m"

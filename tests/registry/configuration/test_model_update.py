"""A new model over entities that are there already."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.registry.configuration.model_update import write_modelsource
from postroom.registry.problems import RegistryProblem
from postroom.registry.write.unit_of_work import UnitOfWork

OVEN = "/kitchens/bakery/ovens/big"


def model(resource: Any = None, group: Any = None, **more: Any) -> dict[str, Any]:
    ovens = {"singular": "oven", **(resource or {})}
    return {
        **more,
        "groups": {"kitchens": {"singular": "kitchen", "resources": {"ovens": ovens}, **(group or {})}},
    }


def install(registry: Any, source: Any) -> None:
    with registry.store.write() as tx:
        work = UnitOfWork(tx)
        write_modelsource(work, source)
        work.finish()


@pytest.fixture
def kitchen(registry: Any) -> Any:
    install(registry, model({"attributes": {"heat": {"type": "integer"}}}))
    registry.put(OVEN, {"heat": 200, "oven": {"a": 1}})
    return registry


@pytest.mark.feature("MOD-014", "REG-083")
@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ({}, "model_error"),
        ({"groups": {"kitchens": {"singular": "kitchen"}}}, "model_error"),
        (model(group={"singular": "room"}), "model_error"),
        (model({"singular": "stove", "attributes": {"heat": {"type": "integer"}}}), "model_error"),
        (model(), "unknown_attribute"),
        (model({"attributes": {"heat": {"type": "string"}}}), "invalid_attribute"),
        (model({"attributes": {"*": {"type": "any"}, "fuel": {"type": "string", "required": True}}}), "required"),
        (model({"hasdocument": False, "attributes": {"heat": {"type": "integer"}}}), "hasdocument_violation"),
        (
            model({"attributes": {"*": {"type": "any"}}}, {"constraints": {"ovens.name": {"equals": "?"}}}),
            "model_error",
        ),
        (model({"attributes": {"heat": {"type": "integer"}}}, {"attributes": 5}), "parsing_data"),
        ([], "model_error"),
    ],
)
def test_a_model_that_entities_cannot_follow_is_refused(kitchen: Any, source: Any, problem: str) -> None:
    before = kitchen.show("/", "*,model,modelsource")
    with pytest.raises(RegistryProblem) as refused:
        install(kitchen, source)
    assert refused.value.name.startswith(problem)
    assert kitchen.show("/", "*,model,modelsource") == before


@pytest.mark.feature("MOD-039", "MOD-035", "REG-024")
def test_defaults_come_to_entities_that_lack_them_and_touch_only_those(kitchen: Any) -> None:
    kitchen.put("/kitchens/hut/ovens/small", {"heat": 90})
    fuel = {"fuel": {"type": "string", "required": True, "default": "wood"}}
    source = model({"attributes": {"heat": {"type": "integer"}, **fuel}}, {"attributes": fuel}, attributes=fuel)
    install(kitchen, source)
    shown = kitchen.show(OVEN)
    assert (shown["fuel"], shown["heat"], shown["epoch"]) == ("wood", 200, 2)
    assert kitchen.show("/")["fuel"] == kitchen.show("/kitchens/bakery")["fuel"] == "wood"
    assert kitchen.show(f"{OVEN}/meta")["epoch"] == 1
    source["groups"]["kitchens"]["resources"]["ovens"]["attributes"]["fuel"]["default"] = "gas"
    install(kitchen, source)
    assert (kitchen.show(OVEN)["fuel"], kitchen.show(OVEN)["epoch"]) == ("wood", 2)


@pytest.mark.feature("MOD-070", "MOD-072", "VER-030")
def test_a_smaller_limit_drops_the_oldest_versions(kitchen: Any) -> None:
    heat = {"attributes": {"heat": {"type": "integer"}}}
    for name in ("2", "3"):
        kitchen.put(f"{OVEN}/versions/{name}", {"heat": 1})
    kitchen.patch(f"{OVEN}/meta", {"defaultversionid": "1"})
    with pytest.raises(RegistryProblem) as sticky:
        install(kitchen, model({**heat, "maxversions": 1}))
    assert sticky.value.name == "setdefaultversionsticky_false"
    install(kitchen, model({**heat, "maxversions": 2}))
    left = kitchen.show(f"{OVEN}/versions")
    assert {one: version["ancestorid"] for one, version in left.items()} == {"1": "1", "3": "3"}
    assert (left["1"]["epoch"], left["3"]["epoch"]) == (1, 2)


@pytest.mark.feature("VER-015", "MOD-077")
def test_a_new_version_mode_orders_what_is_there(kitchen: Any) -> None:
    heat = {"attributes": {"heat": {"type": "integer"}}}
    kitchen.put(f"{OVEN}/versions/0", {"heat": 1, "ancestorid": "0", "createdat": "2001-01-01T00:00:00Z"})
    with pytest.raises(RegistryProblem) as roots:
        install(kitchen, model({**heat, "singleversionroot": True}))
    assert roots.value.name == "multiple_roots"
    install(kitchen, model({**heat, "versionmode": "createdat"}))
    assert kitchen.show(f"{OVEN}/versions/1")["ancestorid"] == "0"


@pytest.mark.feature("MOD-075")
def test_a_document_elsewhere_becomes_an_attribute_where_there_are_no_documents(registry: Any) -> None:
    install(registry, model())
    registry.put(OVEN, {"ovenurl": "https://ovens.example/big"})
    with pytest.raises(RegistryProblem):
        install(registry, model({"hasdocument": False}))
    install(registry, model({"hasdocument": False, "attributes": {"*": {"type": "any"}}}))
    assert registry.show(OVEN)["ovenurl"] == "https://ovens.example/big"


@pytest.mark.feature("REG-068", "MOD-007", "MOD-014")
def test_a_request_may_bring_a_model_and_the_entities_that_fit_it(kitchen: Any) -> None:
    source = model({"attributes": {"warmth": {"type": "string"}}})
    ovens = {"ovens": {"big": {"warmth": "hot", "heat": None}}}
    with pytest.raises(RegistryProblem):
        kitchen.put("/", {"modelsource": source})
    with pytest.raises(RegistryProblem):
        kitchen.put("/", {"modelsource": source, "kitchens": {"bakery": ovens}})
    fitting = {"ovens": {"big": {"warmth": "hot"}}}
    kitchen.put("/", {"modelsource": source, "kitchens": {"bakery": fitting}})
    assert kitchen.show(OVEN)["warmth"] == "hot"
    assert kitchen.show("/", "modelsource")["modelsource"] == source


@pytest.mark.feature("MOD-015", "RES-060")
def test_how_a_type_is_written_down_does_not_matter_to_its_entities(registry: Any) -> None:
    ovens = {"ovens": {"singular": "oven", "hasdocument": False}}
    kitchens = {"singular": "kitchen", "resources": ovens}
    imported = {
        "groups": {"kitchens": kitchens, "shops": {"singular": "shop", "ximportresources": ["/kitchens/ovens"]}}
    }
    local = {"groups": {"kitchens": kitchens, "shops": {"singular": "shop", "resources": ovens}}}
    included = {"groups": {"kitchens": kitchens, "shops": {"singular": "shop", "$include": "#/groups/kitchens"}}}
    install(registry, imported)
    registry.put("/kitchens/k/ovens/o", {})
    registry.put("/shops/s/ovens/x/meta", {"xref": "/kitchens/k/ovens/o"})
    for source in (local, included, imported):
        install(registry, source)
        assert registry.show("/shops/s/ovens/x")["versionid"] == "1"
    install(registry, local)
    with pytest.raises(RegistryProblem) as refused:
        registry.put("/shops/s/ovens/y/meta", {"xref": "/kitchens/k/ovens/o"})
    assert refused.value.name == "malformed_xref"


@pytest.mark.audit("registry-9")
@pytest.mark.parametrize(
    ("source", "place"),
    [
        (model(group={"singular": "room"}), "/groups/kitchens"),
        (model({"singular": "stove"}), "/groups/kitchens/resources/ovens"),
    ],
)
def test_a_type_keeps_its_singular_name_even_without_entities(registry: Any, source: Any, place: str) -> None:
    install(registry, model())
    with pytest.raises(RegistryProblem, match="keeps its singular name") as refused:
        install(registry, source)
    assert (refused.value.name, refused.value.pointer) == ("model_error", place)
    install(registry, {})
    install(registry, source)  # a new type may have any name


@pytest.mark.audit("registry-8")
@pytest.mark.parametrize("name", ["oven", "ovenurl", "ovenbase64", "ovenproxyurl"])
def test_a_type_gets_documents_when_no_version_uses_their_names(registry: Any, name: str) -> None:
    anything = {"attributes": {"*": {"type": "any"}}}
    install(registry, model({"hasdocument": False, **anything}))
    registry.put(OVEN, {"heat": 200})
    registry.put("/kitchens/bakery/ovens/small/versions/1", {name: "https://ovens.example/small"})
    registry.put("/kitchens/bakery/ovens/small/versions/2", {})
    before = registry.show("/", "*,model")
    with pytest.raises(RegistryProblem) as refused:
        install(registry, model(anything))
    assert refused.value.name == "model_compliance_error"
    assert f"/kitchens/bakery/ovens/small/versions/1 has an attribute {name}," in refused.value.detail
    assert registry.show("/", "*,model") == before
    registry.put("/kitchens/bakery/ovens/small/versions/1", {})
    install(registry, model(anything))
    assert registry.show(OVEN)["heat"] == 200


@pytest.mark.audit("registry-15")
def test_older_words_of_a_model_are_kept_as_written_and_named_in_the_log(
    registry: Any, caplog: pytest.LogCaptureFixture
) -> None:
    source = model({"setdefaultversionsticky": False}, {"compatiblewith": "https://ovens.example/kitchen"})
    install(registry, source)
    assert registry.show("/", "modelsource")["modelsource"] == source
    shown = registry.show("/", "model")["model"]["groups"]["kitchens"]
    assert shown["modelcompatiblewith"] == "https://ovens.example/kitchen"
    assert "model: /groups/kitchens/compatiblewith: compatiblewith is called modelcompatiblewith today" in caplog.text
    assert "/groups/kitchens/resources/ovens/setdefaultversionsticky" in caplog.text

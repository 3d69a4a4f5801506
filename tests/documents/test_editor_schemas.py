"""The JSON Schemas for editors: they take what lint has nothing against, and name what is wrong."""

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from postroom.catalog.convert import convert
from postroom.catalog.lint import lint_source
from postroom.cli.main import execute
from postroom.documents.editor_schemas.attributes import ignoring_case
from postroom.documents.editor_schemas.cereg import cereg_schema
from postroom.documents.editor_schemas.xreg import xreg_schema
from postroom.documents.read_files import document_files, read_document
from postroom.model.shipped_models import load_model
from postroom.model.source import parse_model
from postroom.settings import Settings
from tests.conftest import DEMO_CATALOG
from tests.documents.lint.catalogs import CLEAN, with_attribute, with_endpoint, with_message

MODEL = load_model("messaging")
XREG = jsonschema_rs.Draft7Validator(xreg_schema(MODEL))
CEREG = jsonschema_rs.Draft7Validator(cereg_schema(MODEL))
HOT = {"format": "CloudEvents/1.0", "metadata": {"attributes": {"type": {"value": "oven.hot"}}}}


def places(validator: Any, document: Any) -> list[str]:
    return ["/".join(map(str, error.instance_path)) for error in validator.iter_errors(document)]


@pytest.mark.parametrize("make", [xreg_schema, cereg_schema])
def test_they_are_schemas(make: Any) -> None:
    jsonschema_rs.meta.validate(make(MODEL))


def test_the_demo_catalog_is_valid() -> None:
    for file in document_files(DEMO_CATALOG):
        assert not places(XREG, read_document(file, Settings())), file
    for extras in (True, False):
        assert not places(CEREG, convert([str(DEMO_CATALOG)], "0.5-service", Settings(), extras=extras).document)


def test_real_catalogs_without_findings_are_valid(shared: Path) -> None:
    checked = 0
    for file in document_files(shared / "catalogs"):
        if any(found.severity in ("error", "warning") for found in lint_source(str(file), Settings())):
            continue
        checked += 1
        assert not places(XREG, read_document(file, Settings())), file
        assert not places(CEREG, convert([str(file)], "0.5-service", Settings()).document), file
    assert checked >= 30


@pytest.mark.parametrize(
    ("document", "place"),
    [
        (with_attribute("time", {"type": "datetime"}), "envelopemetadata/time/type"),
        (with_attribute("subject", {"required": "yes"}), "envelopemetadata/subject/required"),
        (with_message({"envelopeoptions": {"mode": "raw"}}), "envelopeoptions/mode"),
        (with_message({"labels": ["a"]}), "labels"),
        (with_message({"createdat": "yesterday"}), "createdat"),
        (with_message({"dataschemaxid": "schemas/x"}), "dataschemaxid"),
        (with_endpoint({"usage": ["reader"]}), "usage"),
        ({"messagegroups": []}, "messagegroups"),
        ({"schemagroups": {"s": {"schemas": {"x": {"versions": {"1": "text"}}}}}}, "versions/1"),
        ({"documentation": {"url": "README.md"}}, "documentation"),
    ],
)
def test_xreg_names_what_is_wrong(document: Any, place: str) -> None:
    assert not places(XREG, CLEAN)
    assert any(found.endswith(place) for found in places(XREG, document)), places(XREG, document)


@pytest.mark.parametrize(
    ("definition", "place"),
    [
        ({"format": 5}, "format"),
        ({"format": "cloudevents/1.0", "metadata": {"attributes": {"type": "oven.hot"}}}, "attributes/type"),
        ({**HOT, "metadata": {"attributes": {"time": {"type": "datetime"}}}}, "time/type"),
        ({"format": "AMQP/1.0", "metadata": {"properties": {"to": "queue"}}}, "properties/to"),
        ({"format": "MQTT/5.0", "metadata": {"user-properties": "none"}}, "user-properties"),
        ({**HOT, "tags": {"a": 5}}, "tags/a"),
    ],
)
def test_cereg_names_what_is_wrong(definition: Any, place: str) -> None:
    def document(one: Any) -> Any:
        return {"definitionGroups": {"ovens": {"definitions": {"hot": one}}}}

    assert not places(CEREG, document(HOT))
    assert any(found.endswith(place) for found in places(CEREG, document(definition)))


def test_any_model_has_a_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = {"groups": {"kitchens": {"singular": "kitchen", "resources": {"recipes": {"singular": "recipe"}}}}}
    model["groups"]["kitchens"]["attributes"] = {"floor": {"type": "uinteger", "required": True}}
    (tmp_path / "model.json").write_text(json.dumps(model))
    assert execute(["schema-for", "xreg", "--model", str(tmp_path / "model.json")]) == 0
    validator = jsonschema_rs.Draft7Validator(json.loads(capsys.readouterr().out))
    assert validator.is_valid({"kitchens": {"k": {"floor": 3, "recipes": {"bread": {"recipe": "flour"}}}}})
    assert not validator.is_valid({"kitchens": {"k": {"floor": -3}}})
    assert not validator.is_valid({"kitchens": {"k": {}}})
    assert execute(["schema-for", "cereg", "--model", "none"]) == 2


def test_a_schema_can_be_written_to_a_file(tmp_path: Path) -> None:
    assert execute(["schema-for", "cereg", "-o", str(tmp_path / "cereg.json")]) == 0
    assert json.loads((tmp_path / "cereg.json").read_text())["$id"] == "https://cloudevents.io/schemas/registry"


def test_case_is_ignored_by_pattern() -> None:
    assert ignoring_case(["MQTT/5.0", "Kafka"]) == r"^([Mm][Qq][Tt][Tt]/5\.0|[Kk][Aa][Ff][Kk][Aa])$"


@pytest.mark.audit("registry-12")
def test_words_of_a_list_or_a_map_are_offered_for_each_item() -> None:
    def uses(container: str, **more: Any) -> dict[str, Any]:
        return {"type": container, "item": {"type": "string"}, "enum": ["bake", "grill"], **more}

    attributes = {"uses": uses("array"), "steps": uses("map"), "wishes": uses("array", strict=False)}
    schema = jsonschema_rs.Draft7Validator(xreg_schema(parse_model({"attributes": attributes})))
    assert not places(schema, {"uses": ["bake"], "steps": {"first": "grill"}, "wishes": ["fry"]})
    assert places(schema, {"uses": ["bake", "fry"], "steps": {"first": "fry"}}) == ["uses/1", "steps/first"]

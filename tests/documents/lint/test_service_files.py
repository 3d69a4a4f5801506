"""Lint of `.cereg` files: what 0.5 prints is right, what it forbids is found, and all of it is said in its names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from postroom.catalog.catalog import open_catalog
from postroom.catalog.lint import lint_source
from postroom.cli.main import execute
from postroom.documents.dialects.convert import read_tree, write_tree
from postroom.settings import Settings

METRICS = 'syntax = "proto3"; message Metrics { float metric = 1; }'


def definitions(form: str, **messages: Any) -> dict[str, Any]:
    group = {"id": "g", "format": form, "definitions": {name: {"id": name, **one} for name, one in messages.items()}}
    return {"specversion": "0.5-wip", "definitionGroups": {"g": group}}


def found(tmp_path: Path, document: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Place and sentence of each finding, by its code."""
    file = tmp_path / "all.cereg"
    file.write_text(json.dumps(document))
    findings = lint_source(str(file), Settings())
    return {one.code: (one.pointer, f"{one.sentence} {one.remedy}") for one in findings}


@pytest.mark.audit("services-B4")
@pytest.mark.parametrize(
    ("form", "metadata", "record"),
    [
        (
            "HTTP/1.1",
            {"headers": [{"name": "Via", "value": "one"}, {"name": "Via", "value": "two"}], "path": "/oven"},
            {"path": "/oven", "headers": [{"name": "Via", "value": "one"}, {"name": "Via", "value": "two"}]},
        ),
        (
            "MQTT/5.0",
            {"topic-name": {"value": "oven"}, "user-properties": [{"a": {"value": "1"}}, {"a": {"value": "2"}}]},
            {"topic_name": "oven", "user_properties": [{"name": "a", "value": "1"}, {"name": "a", "value": "2"}]},
        ),
    ],
)
def test_a_name_may_stand_twice_in_a_list(
    tmp_path: Path, form: str, metadata: dict[str, Any], record: dict[str, Any]
) -> None:
    document = definitions(form, hot={"format": form, "metadata": metadata})
    assert "definition_impossible" not in found(tmp_path, document)
    match = open_catalog(str(tmp_path / "all.cereg")).match({"protocol": form, "metadata": record, "payload": ""})
    assert match.outcome == "landed"


@pytest.mark.audit("services-B5")
def test_a_colon_picks_the_type_of_a_local_reference(tmp_path: Path) -> None:
    reference = "#/schemaGroups/s/schemas/data:Metrics"
    event = {
        "format": "CloudEvents/1.0",
        "metadata": {"attributes": {"type": {"value": "hot"}}},
        "schemaformat": "Protobuf/3",
        "schemaurl": reference,
    }
    schema = {"id": "data", "format": "Protobuf/3", "versions": {"1": {"id": "1", "schema": METRICS}}}
    document = definitions("CloudEvents/1.0", hot=event)
    document["schemaGroups"] = {"s": {"id": "s", "schemas": {"data": schema}}}
    assert found(tmp_path, document) == {}
    parsed = read_tree(document)
    assert parsed is not None
    message = parsed.tree["messagegroups"]["g"]["messages"]["hot"]
    assert message["dataschemauri"] == "/schemagroups/s/schemas/data#Metrics"
    assert write_tree(parsed.tree, "0.5-service").document == document
    document["definitionGroups"]["g"]["definitions"]["hot"]["schemaurl"] = reference.replace("Metrics", "Missing")
    place, sentence = found(tmp_path, document)["schema_type_missing"]
    assert place == "/definitionGroups/g/definitions/hot/schemaurl"
    assert "#Missing" not in sentence


@pytest.mark.audit("services-B6")
def test_clean_session_is_an_option_of_both_versions_of_mqtt(tmp_path: Path) -> None:
    for protocol in ("MQTT/5.0", "MQTT/3.1.1"):
        config = {"protocol": protocol, "endpoints": ["mqtt://ovens.example:1883"], "options": {"clean-session": False}}
        document = {"endpoints": {"e": {"id": "e", "usage": "producer", "config": config}}}
        assert found(tmp_path, document) == {}
        parsed = read_tree({"$schema": "https://cloudevents.io/schemas/registry", **document})
        assert parsed is not None
        written = write_tree(parsed.tree, "0.5-service").document["endpoints"]["e"]
        assert written["config"]["options"] == {"clean-session": False}


@pytest.mark.audit("services-B6", "services-B5")
def test_findings_have_the_names_of_0_5(tmp_path: Path) -> None:
    options = {"clean-sesion": False, "will-message": "#/definitionGroups/none/definitions/m"}
    config = {"protocol": "MQTT/5.0", "options": options}
    document = {"endpoints": {"e": {"id": "e", "usage": "producer", "config": config}}}
    findings = found(tmp_path, document)
    assert "clean-session" in findings["endpoint_option_unknown"][1]
    assert "/definitionGroups/none/definitions/m" in findings["willmessage_dangling"][1]


@pytest.mark.audit("services-B9")
def test_other_formats_in_a_group_missing_metadata_and_other_formats_of_versions_are_found(tmp_path: Path) -> None:
    event = {"format": "CloudEvents/1.0", "metadata": {"attributes": {"type": {"value": "hot"}}}}
    for other in ("Foo/1", "MQTT/5.0"):
        place, sentence = found(tmp_path, definitions(other, hot=event))["group_mismatch"]
        assert place == "/definitionGroups/g/definitions/hot/format"
        assert other in sentence
    place, sentence = found(tmp_path, definitions("CloudEvents/1.0", hot={"format": "CloudEvents/1.0"}))[
        "metadata_missing"
    ]
    assert place == "/definitionGroups/g/definitions/hot/format"
    version = {"id": "1", "format": "Protobuf/2", "schema": METRICS}
    schema = {"id": "data", "format": "Protobuf/3", "versions": {"1": version}}
    findings = found(tmp_path, {"schemaGroups": {"s": {"id": "s", "schemas": {"data": schema}}}})
    assert "that of the schema is Protobuf/3" in findings["schema_formats_differ"][1]


@pytest.mark.audit("services-A20")
def test_a_schema_document_is_not_a_reference_into_the_same_file(tmp_path: Path) -> None:
    versions = {"1": {"id": "1", "schemaurl": "#/schemaGroups/s/schemas/other"}}
    schemas = {"data": {"id": "data", "format": "Protobuf/3", "versions": versions}}
    place, sentence = found(tmp_path, {"schemaGroups": {"s": {"id": "s", "schemas": schemas}}})[
        "schema_document_within"
    ]
    assert place == "/schemaGroups/s/schemas/data/versions/1/schemaurl"
    assert "external to the registry" in sentence
    versions["1"]["schemaurl"] = "https://example.com/schemas/data.proto"
    assert "schema_document_within" not in found(tmp_path, {"schemaGroups": {"s": {"id": "s", "schemas": schemas}}})


@pytest.mark.audit("services-A7")
def test_a_consumer_of_kafka_need_not_name_a_group(tmp_path: Path) -> None:
    config = {"protocol": "KAFKA", "options": {"topic": "ovens"}}
    endpoint = {"id": "e", "usage": "consumer", "config": config}
    assert "consumergroup_missing" not in found(tmp_path, {"endpoints": {"e": endpoint}})
    config["options"]["consumer-group"] = ""
    assert "consumer-group" in found(tmp_path, {"endpoints": {"e": endpoint}})["endpoint_rule"][1]


@pytest.mark.audit("services-A12")
@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"protocol": "HTTP", "options": {"method": "F OO"}}, "options/method"),
        ({"protocol": "HTTP", "options": {"method": ""}}, "options/method"),
        ({"protocol": "HTTP", "options": {"headers": [{"name": "A B", "value": "x"}]}}, "options/headers/0/name"),
        ({"protocol": "HTTP", "options": {"headers": [{"name": "A", "value": ""}]}}, "options/headers/0/value"),
        ({"protocol": "HTTP", "options": {"query": {"oven": ""}}}, "options/query/oven"),
        ({"protocol": "AMQP/1.0", "options": {"link-properties": {"oven": ""}}}, "options/link-properties/oven"),
        ({"protocol": "AMQP/1.0", "options": {"connection-properties": {"": "x"}}}, "options/connection-properties/"),
        ({"protocol": "MQTT/5.0", "options": {"will-topic": ""}}, "options/will-topic"),
        ({"protocol": "KAFKA", "options": {"topic": ""}}, "options/topic"),
        ({"protocol": "KAFKA", "options": {"key": ""}}, "options/key"),
        ({"protocol": "KAFKA", "endpoints": ["http://ovens.example:9092"]}, "endpoints/0"),
    ],
    ids=str,
)
def test_values_that_options_of_an_endpoint_must_not_have_are_found(
    tmp_path: Path, config: dict[str, Any], place: str
) -> None:
    endpoint = {"id": "e", "usage": "producer", "config": config}
    at, _ = found(tmp_path, {"endpoints": {"e": endpoint}})["endpoint_rule"]
    assert at == f"/endpoints/e/config/{place}"


@pytest.mark.audit("services-A12")
@pytest.mark.parametrize(
    "config",
    [
        {"protocol": "HTTP", "options": {"method": "{verb}", "headers": [{"name": "X-Oven", "value": "{oven}"}]}},
        {"protocol": "HTTP", "options": {"method": "M-SEARCH", "query": {"oven": "{oven}"}}},
        {"protocol": "KAFKA", "endpoints": ["SASL_SSL://a.example:1", "b.example:2", "{host}:{port}", "SSL://{host}"]},
        {"protocol": "KAFKA", "endpoints": ["a.example:1,b.example:2"], "options": {"topic": "{oven}", "key": "k"}},
    ],
    ids=str,
)
def test_values_that_options_of_an_endpoint_may_have_are_no_findings(tmp_path: Path, config: dict[str, Any]) -> None:
    endpoint = {"id": "e", "usage": "producer", "config": config}
    assert "endpoint_rule" not in found(tmp_path, {"endpoints": {"e": endpoint}})


def versions_of(*schemas: Any, ids: tuple[str, ...] = ("9", "10", "11")) -> dict[str, Any]:
    versions = {name: {"id": name, "schema": one} for name, one in zip(ids, schemas, strict=False)}
    schema = {"id": "heat", "format": "JsonSchema/draft-07", "versions": versions}
    return {"specversion": "0.5-wip", "schemaGroups": {"ovens": {"id": "ovens", "schemas": {"heat": schema}}}}


@pytest.mark.audit("services-A2")
@pytest.mark.parametrize(
    ("schemas", "broken"),
    [
        (({"type": "object"}, {"type": "string"}), "10"),
        (({"type": "integer"}, {"type": "number"}, {"type": "integer"}), "11"),
        (({"type": "integer"}, {"type": "number"}), ""),
    ],
    ids=str,
)
def test_a_version_that_cannot_read_an_earlier_one_is_found(tmp_path: Path, schemas: Any, broken: str) -> None:
    document = versions_of(*schemas)
    place, sentence = found(tmp_path, document).get("schema_incompatible", ("", ""))
    expected = f"/schemaGroups/ovens/schemas/heat/versions/{broken}/schema/type" if broken else ""
    assert place == expected
    assert ("backward_transitive" in sentence) == bool(broken)
    file, store = str(tmp_path / "all.cereg"), f"sqlite:///{tmp_path}/registry.db"
    assert execute(["load", file, "--to", store]) == (2 if broken else 0)
    assert (tmp_path / "registry.db").exists() != bool(broken)


@pytest.mark.audit("services-A2")
def test_1_0_asks_for_compatible_versions_only_where_a_schema_says_so(tmp_path: Path) -> None:
    tree = read_tree(versions_of({"type": "object"}, {"type": "string"}))
    assert tree is not None
    document = write_tree(tree.tree, "1.0-rc4").document
    (tmp_path / "ovens.xreg.json").write_text(json.dumps(document))
    assert "schema_incompatible" not in {one.code for one in lint_source(str(tmp_path / "ovens.xreg.json"), Settings())}

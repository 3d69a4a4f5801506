"""Files of the Registry Service 0.5: how they are told, what is read from them, what is written into them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from postroom.cli.main import execute
from postroom.documents.catalog_files import read_catalog
from postroom.documents.dialects.convert import read_tree, write_tree
from postroom.documents.dialects.detect import dialect_of, with_schema_of
from postroom.settings import Settings

SCHEMA = "https://cloudevents.io/schemas/registry"
ENDPOINT: dict[str, Any] = {"id": "oven", "createdBy": "Ada", "usage": "consumer", "docs": "https://ovens.example/docs"}
METRICS = 'syntax = "proto3"; message Metrics { float metric = 1; }'
TELEMETRY: dict[str, Any] = {
    "$schema": SCHEMA,
    "specversion": "0.5-wip",
    "schemaGroups": {
        "telemetry": {
            "id": "telemetry",
            "schemas": {
                "data": {
                    "id": "data",
                    "description": "device telemetry event data",
                    "format": "Protobuf/3",
                    "versions": {
                        "1.0": {"id": "1.0", "schema": METRICS},
                        "2.0": {"id": "2.0", "schema": METRICS.replace("; }", "; string unit = 2; }")},
                    },
                }
            },
        }
    },
}


def read(document: dict[str, Any]) -> dict[str, Any]:
    parsed = read_tree(document)
    assert parsed is not None
    return parsed.tree


def dumped(tmp_path: Path, document: dict[str, Any], capsys: pytest.CaptureFixture[str], dialect: str) -> Any:
    """A `.cereg` file, loaded into a store and dumped from there."""
    file, store = tmp_path / "all.cereg", f"sqlite:///{tmp_path / 'all.db'}"
    file.write_text(json.dumps(document))
    assert execute(["load", str(file), "--to", store]) == 0
    capsys.readouterr()
    assert execute(["dump", "--from", store, "--dialect", dialect]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.audit("services-B1")
@pytest.mark.parametrize(
    ("document", "file", "dialect"),
    [
        ({"endpoints": {"oven": ENDPOINT}}, "a.json", "1.0-rc2"),
        ({"endpoints": {"oven": ENDPOINT}}, "a.cereg", "0.5-service"),
        ({"endpoints": {"oven": ENDPOINT}}, "a.cereg.yaml", "0.5-service"),
        ({"endpoints": {"oven": {**ENDPOINT, "config": {"protocol": "HTTP"}}}}, "a.cereg", "0.5-service"),
        ({"$schema": SCHEMA, "endpoints": {"oven": ENDPOINT}}, "a.json", "0.5-service"),
        ({"specversion": "0.5-wip", "endpoints": {"oven": ENDPOINT}}, "a.json", "0.5-service"),
        ({"specversion": "0.5-wip", "endpoints": {"oven": {"labels": {}, "config": {}}}}, "a.json", "0.5-message"),
        ({"specversion": "0.5-wip", "schemagroups": {"payloads": {"id": "payloads"}}}, "a.json", "0.5-message"),
        # The shape is clear.
        ({"specversion": "0.5-wip", "endpoints": {"oven": {"usage": ["consumer"]}}}, "a.cereg", "1.0-rc4"),
        ({"$schema": SCHEMA, "endpoints": {"oven": {"endpointid": "oven"}}}, "a.cereg", "1.0-rc4"),
        ({"specversion": "0.5-wip", "schemagroups": {"payloads": {"schemagroupid": "payloads"}}}, "a.json", "1.0-rc4"),
        ({"specversion": "1.0-rc4", "definitionGroups": {}}, "a.json", "0.5-service"),
        # None of the three collections.
        ({"specversion": "0.5-wip"}, "a.cereg", "0.5-service"),
        ({"specversion": "0.5-wip"}, "a.json", ""),
    ],
)
def test_where_the_shape_leaves_it_open_extension_schema_and_specversion_tell(
    document: dict[str, Any], file: str, dialect: str
) -> None:
    assert dialect_of(with_schema_of(document, file)) == dialect


@pytest.mark.audit("services-B1", "services-B11")
def test_a_file_with_endpoints_only_or_nothing_at_all_loads_and_comes_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = {"$schema": SCHEMA, "specversion": "0.5-wip", "endpoints": {"oven": ENDPOINT}}
    found = dumped(tmp_path, document, capsys, "0.5-service")["endpoints"]["oven"]
    assert {name: found[name] for name in ENDPOINT} == ENDPOINT
    empty = tmp_path / "none.cereg"
    empty.write_text('{"specversion": "0.5-wip"}')
    assert execute(["convert", str(empty), "--dialect", "1.0-rc4"]) == 0
    assert execute(["lint", str(tmp_path / "all.cereg")]) == 0
    assert "usage is one word" not in capsys.readouterr().out


@pytest.mark.audit("services-B2", "services-B3")
def test_tags_with_capital_letters_and_an_empty_channel_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint = {**ENDPOINT, "tags": {"Owner": "Ada"}, "channel": ""}
    document = {"$schema": SCHEMA, "specversion": "0.5-wip", "endpoints": {"oven": endpoint}}
    found = dumped(tmp_path, document, capsys, "1.0-rc4")["endpoints"]["oven"]
    assert found["labels"] == {"owner": "Ada"}
    assert "channel" not in found
    assert write_tree(read(document), "0.5-service").document == document
    assert execute(["lint", str(tmp_path / "all.cereg")]) == 0


@pytest.mark.audit("services-A3", "services-A4", "services-B10")
def test_what_a_schema_says_is_said_of_its_versions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = dumped(tmp_path, TELEMETRY, capsys, "1.0-rc4")["schemagroups"]["telemetry"]["schemas"]["data"]
    for version in schema["versions"].values():
        assert version["format"] == "Protobuf/3"
        assert version["description"] == "device telemetry event data"
        assert version["contenttype"] == "text/plain"
    assert write_tree(read(TELEMETRY), "0.5-service").document == TELEMETRY


@pytest.mark.audit("services-A3", "services-B11")
def test_a_dump_for_0_5_has_the_names_of_0_5(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump = dumped(tmp_path, TELEMETRY, capsys, "0.5-service")
    schema = dump["schemaGroups"]["telemetry"]["schemas"]["data"]
    assert schema["format"] == "Protobuf/3"
    given = {"createdOn", "modifiedOn", "schemaids", "schemaversion"}  # by the registry, to every version
    assert schema.keys() - given == {"id", "description", "format", "versions"}
    assert all(version.keys() - given == {"id", "schema"} for version in schema["versions"].values())
    assert dump["schemaGroups"]["telemetry"].keys() - given == {"id", "schemas"}


@pytest.mark.audit("services-B11")
def test_a_media_type_that_the_document_implies_is_no_loss(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = {"schemaid": "s", "format": "JsonSchema/draft-07", "schema": {}, "contenttype": "application/json"}
    tree = {"schemagroups": {"payloads": {"schemas": {"s": schema}}}}
    assert write_tree(tree, "0.5-service").losses == ()
    tree["schemagroups"]["payloads"]["schemas"]["s"] = {**schema, "contenttype": "application/schema+json"}
    (loss,) = write_tree(tree, "0.5-service").losses
    assert loss.why == "0.5 files do not state the media type of a schema"


@pytest.mark.audit("services-B11")
def test_defaults_of_options_that_0_5_does_not_know_are_no_loss() -> None:
    options = {"method": "POST", "apikeyin": "header", "plainscheme": "basic"}
    endpoint = {"usage": ["consumer"], "protocol": "HTTP/1.1", "protocoloptions": options}
    written = write_tree({"endpoints": {"e": endpoint}}, "0.5-service")
    assert (written.losses, written.document["endpoints"]["e"]["config"]["options"]) == ((), {"method": "POST"})
    (loss,) = write_tree(
        {"endpoints": {"e": endpoint | {"protocoloptions": {"apikeyin": "query"}}}}, "0.5-service"
    ).losses
    assert loss.place == "/endpoints/e/protocoloptions/apikeyin"


@pytest.mark.audit("services-A5")
def test_documents_in_base64_are_read_and_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    version = {"id": "1", "schemaBase64": "/v8A"}
    schema = {"id": "s", "format": "Acme/1", "versions": {"1": version}}
    document = {"specversion": "0.5-wip", "schemaGroups": {"b": {"id": "b", "schemas": {"s": schema}}}}
    found = dumped(tmp_path, document, capsys, "1.0-rc4")["schemagroups"]["b"]["schemas"]["s"]
    assert found["versions"]["1"]["schemabase64"] == "/v8A"
    assert write_tree(read(document), "0.5-service").document == document


@pytest.mark.audit("services-B7")
def test_the_content_of_an_inlined_definition_is_read() -> None:
    content = {"metadata": {"attributes": {"type": {"value": "oven.hot"}}}}
    definition = {"id": "oven.hot", "format": "CloudEvents/1.0", "definition": content}
    group = {"id": "ovens", "format": "CloudEvents/1.0", "definitions": {"oven.hot": definition}}
    message = read({"definitionGroups": {"ovens": group}})["messagegroups"]["ovens"]["messages"]["oven.hot"]
    assert message["envelopemetadata"] == {"type": {"value": "oven.hot"}}


@pytest.mark.audit("services-B1")
def test_the_extension_of_a_file_counts_when_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "ovens.cereg"
    file.write_text(json.dumps({"endpoints": {"oven": ENDPOINT}}))
    assert read_catalog(file, Settings()).dialect == "0.5-service"

"""A message catalog on the network, and its documents as files, as sources of commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from postroom.catalog.catalog import open_catalog
from postroom.catalog.lint import lint_source
from postroom.catalog.sources import read_source
from postroom.cli.main import execute
from postroom.errors import PostroomError
from postroom.settings import Settings
from tests.http.running_service import serving

pytestmark = pytest.mark.audit("services-C10")

SETTINGS = Settings(timeout_s=20)
CREATED = {
    "id": "com.example.storage.object.created",
    "description": "Raised when an object has been created",
    "format": "CloudEvents",
    "version": 1,
    "attributes": {
        "specversion": "1.0",
        "type": "com.example.storage.object.created",
        "subject": "/{container}/{filepath}",
        "dataschema": "http://schemas.example.com/schemagroups/storage/schema/objectcreated/version/1",
        "datacontenttype": "application/json",
    },
}
JOB = {"header": {"durable": True}, "properties": {"subject": "heat", "to": "ovens/{oven}"}}


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(f"sqlite:///{tmp_path_factory.mktemp('catalog')}/registry.db") as (_, url):
        base = f"{url}/messagecatalog"
        for group, form in (("storage events", "CloudEvents"), ("jobs", "AMQP"), ("own", "Acme")):
            httpx.put(f"{base}/{group}", json={"format": form}).raise_for_status()
        described = {"Message-Definition-Description": "A new object"}
        for path, document in (
            ("storage events/messagedefinitions/created+", CREATED),
            ("jobs/messagedefinitions/heat", JOB),
        ):
            for _ in range(2):
                httpx.post(f"{base}/{path}", json=document, headers=described).raise_for_status()
        text = {"content": b"acme", "headers": {"Content-Type": "text/x-acme"}}
        httpx.post(f"{base}/own/messagedefinitions/one", **text).raise_for_status()
        yield base


def test_a_catalog_is_read_over_its_api(catalog: str) -> None:
    groups = read_source(catalog, SETTINGS)["messagegroups"]
    assert set(groups) == {"storage:20events", "jobs", "own"}
    created = groups["storage:20events"]["messages"]["created:2B"]
    assert (created["versionid"], created["description"]) == ("2", "A new object")
    assert created["envelopemetadata"]["subject"] == {"type": "uritemplate", "value": "/{container}/{filepath}"}
    assert created["dataschemauri"] == CREATED["attributes"]["dataschema"]  # type: ignore[index]  # an object
    assert groups["jobs"]["messages"]["heat"]["protocoloptions"]["properties"]["subject"] == {"value": "heat"}
    assert groups["own"]["messages"]["one"]["envelope"] == "Acme"


def test_commands_take_the_address_of_a_catalog(
    catalog: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "catalog.json"
    assert execute(["convert", catalog, "--dialect", "catalog", "-o", str(target)]) == 0
    written: dict[str, Any] = json.loads(target.read_text())["messagecatalog"]
    attributes = written["storage events"]["messagedefinitions"]["created+"]["versions"]["2"]["attributes"]
    assert attributes == CREATED["attributes"]
    findings = lint_source(catalog, SETTINGS)
    assert [one for one in findings if one.severity == "error"] == []
    path = "/messagecatalog/storage events/messagedefinitions/created+/versions/2/attributes/dataschema"
    assert ("schema_outside", path) in {(one.code, one.pointer) for one in findings}
    event = {"specversion": "1.0", "id": "1", "source": "/s", "type": "com.example.storage.object.created"}
    record = {**event, "subject": "/a/b", "data": {}}
    assert open_catalog(catalog, settings=SETTINGS).match(record).outcome == "landed"


def test_what_is_no_catalog_is_told(catalog: str) -> None:
    with pytest.raises(PostroomError, match="messagecatalog"):
        read_source(f"{catalog}/none/messagecatalog", SETTINGS)


def found(tmp_path: Path, document: dict[str, Any]) -> set[str]:
    file = tmp_path / "definition.json"
    file.write_text(json.dumps(document))
    return {one.code for one in lint_source(str(file), SETTINGS) if one.severity == "error"}


def test_the_printed_example_has_no_errors(tmp_path: Path) -> None:
    """A message catalog has no member for the format of a schema, so that lint does not ask for it."""
    assert found(tmp_path, CREATED) == set()


def test_a_definition_of_amqp_is_one(tmp_path: Path) -> None:
    assert found(tmp_path, JOB) == set()
    (definition,) = open_catalog(str(tmp_path / "definition.json"), settings=SETTINGS).definitions
    assert definition.protocol == "AMQP/1.0"

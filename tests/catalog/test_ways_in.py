"""The same catalog from a file, a store, a dump, a service and over `POST /match` says the same about a message."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.cli.main import execute
from tests.catalog.ways_in import WAYS, Service, Tree, opened, outcome, running_service

OVENS = "/messagegroups/ovens/messages"
EVENT = {"specversion": "1.0", "id": "1", "source": "/ovens/7", "type": "oven.hot"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("service")) as running:
        yield running


def catalog(**messages: Tree) -> Tree:
    return {"specversion": "1.0-rc4", "messagegroups": {"ovens": {"messages": messages}}}


def event(**attributes: Any) -> Tree:
    return {"envelope": "CloudEvents/1.0", "envelopemetadata": attributes}


@pytest.mark.feature("MSG-039")
@pytest.mark.audit("messages-D1", "services-A14")
@pytest.mark.parametrize("way", WAYS)
def test_a_relative_reference_is_a_urireference_and_no_uri(way: str, tmp_path: Path, service: Service) -> None:
    declared = event(
        type={"value": "oven.hot"},
        source={"type": "urireference"},
        subject={"type": "urireference"},
        home={"type": "uri"},
    )
    found = opened(way, catalog(hot=declared), tmp_path, service)
    assert outcome(found, {**EVENT, "subject": "trays/1"})["outcome"] == "landed"
    assert outcome(found, {**EVENT, "subject": "https://bakery.example/trays/1"})["outcome"] == "landed"
    assert outcome(found, {**EVENT, "subject": "no reference"})["reasons"][0]["expected"] == "urireference"
    assert outcome(found, {**EVENT, "home": "trays/1"})["reasons"][0]["expected"] == "uri"


BASES = {
    "a Version in a file that does not say which": ({}, "1"),
    "the Version that a message says it is": ({"versionid": "v1.0"}, "v1.0"),
}


@pytest.mark.feature("MSG-014")
@pytest.mark.audit("messages-D3")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", BASES)
def test_a_base_may_name_a_version(case: str, way: str, tmp_path: Path, service: Service) -> None:
    members, version = BASES[case]
    base = {**event(type={"value": "oven"}, source={"value": "/ovens/7"}), **members}
    derived = {"basemessage": f"{OVENS}/base/versions/{version}", "envelopemetadata": {"type": {"value": "oven.hot"}}}
    found = opened(way, catalog(base=base, hot=derived), tmp_path, service)
    assert outcome(found, EVENT)["outcome"] == "landed"
    strange = outcome(found, {**EVENT, "source": "/elsewhere"})
    assert (strange["outcome"], strange["message"]) == ("invalid", f"{OVENS}/hot")


@pytest.mark.feature("MSG-014")
@pytest.mark.audit("messages-D3")
@pytest.mark.parametrize("way", WAYS)
def test_a_base_that_names_a_version_nobody_has_adds_nothing(way: str, tmp_path: Path, service: Service) -> None:
    base = {**event(type={"value": "oven"}, source={"value": "/ovens/7"}), "versionid": "2"}
    derived = {**event(type={"value": "oven.hot"}), "basemessage": f"{OVENS}/base/versions/1"}
    found = opened(way, catalog(base=base, hot=derived), tmp_path, service)
    assert outcome(found, {**EVENT, "source": "/elsewhere"})["outcome"] == "landed"


@pytest.mark.feature("RES-057")
@pytest.mark.audit("messages-D3")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("end", ["", "/versions/1"])
def test_a_base_that_is_borrowed_is_the_one_it_is_borrowed_from(
    end: str, way: str, tmp_path: Path, service: Service
) -> None:
    base = event(type={"value": "oven"}, source={"value": "/ovens/7"})
    borrowed = {"meta": {"xref": f"{OVENS}/base"}}
    derived = {"basemessage": f"{OVENS}/borrowed{end}", "envelopemetadata": {"type": {"value": "oven.hot"}}}
    found = opened(way, catalog(base=base, borrowed=borrowed, hot=derived), tmp_path, service)
    assert outcome(found, {**EVENT, "source": "/elsewhere"})["outcome"] == "invalid"


@pytest.mark.audit("messages-D21")
@pytest.mark.feature("RES-057")
@pytest.mark.parametrize("reference", ["", "/versions/1"])
@pytest.mark.parametrize("way", WAYS)
def test_a_schema_that_is_borrowed_is_the_one_it_is_borrowed_from(
    reference: str, way: str, tmp_path: Path, service: Service
) -> None:
    heat = {"format": "JsonSchema/draft-07", "versionid": "1", "schema": {"type": "object", "required": ["celsius"]}}
    borrowed = {"meta": {"xref": "/schemagroups/ovens/schemas/heat"}}
    uri = f"/schemagroups/shared/schemas/heat{reference}"
    document = {
        **catalog(hot={**event(type={"value": "oven.hot"}), "dataschemauri": uri}),
        "schemagroups": {"ovens": {"schemas": {"heat": heat}}, "shared": {"schemas": {"heat": borrowed}}},
    }
    found = opened(way, document, tmp_path, service)
    assert outcome(found, {**EVENT, "data": {"celsius": 200}})["outcome"] == "landed"
    assert outcome(found, {**EVENT, "data": {}})["outcome"] == "invalid"


@pytest.mark.parametrize("way", WAYS)
def test_attributes_may_be_nested_as_the_prose_has_them(way: str, tmp_path: Path, service: Service) -> None:
    declared = event(attributes={"type": {"value": "oven.hot"}, "source": {"value": "/ovens/7"}})
    found = opened(way, catalog(hot=declared), tmp_path, service)
    assert outcome(found, EVENT)["outcome"] == "landed"
    assert outcome(found, {**EVENT, "source": "/elsewhere"})["outcome"] == "invalid"


@pytest.mark.audit("messages-D21")
def test_attributes_that_were_written_nested_are_shown_as_attributes_by_every_api(service: Service) -> None:
    service.take({})
    declared = {"attributes": {"type": {"value": "oven.hot"}, "source": {"type": "uri"}}}
    answer = service.client.put(f"{OVENS}/hot", json={"envelope": "CloudEvents/1.0", "envelopemetadata": declared})
    assert answer.status_code == 201, answer.text
    assert answer.json()["envelopemetadata"] == declared["attributes"]
    older = service.client.get("/v0.5/definitionGroups/ovens/definitions/hot").json()
    assert older["metadata"] == declared
    patched = service.client.patch(f"{OVENS}/hot", json={"envelopemetadata": declared})
    assert patched.json()["envelopemetadata"] == declared["attributes"]


@pytest.mark.audit("messages-D21")
def test_an_attribute_may_be_called_attributes(service: Service) -> None:
    service.take({})
    declared = {"attributes": {"type": "string", "required": True}}
    answer = service.client.put(f"{OVENS}/hot", json={"envelope": "CloudEvents/1.0", "envelopemetadata": declared})
    assert answer.json()["envelopemetadata"] == declared


HEAT = {"type": "object", "properties": {"heat": {"type": "integer"}}}
SCHEMAS: dict[str, tuple[Tree, str]] = {
    "a schema that is not there": (
        {"dataschemauri": "/schemagroups/bakery/schemas/heat"},
        "its schema /schemagroups/bakery/schemas/heat: the catalog has no such schema",
    ),
    "a schema elsewhere": (
        {"dataschemauri": "https://bakery.example/heat.json"},
        "its schema https://bakery.example/heat.json: it lies outside this catalog, and nothing is fetched",
    ),
    "a format that nobody reads": (
        {"dataschema": HEAT, "dataschemaformat": "Sourdough/1"},
        "its schema #/dataschema: the schema format 'Sourdough/1' is not one we read",
    ),
    "a schema that is none": ({"dataschema": {"type": 7}}, "its schema #/dataschema: "),
    "a schema": ({"dataschema": HEAT}, ""),
    "no schema": ({"dataschemaformat": None}, ""),
}


@pytest.mark.audit("messages-D16")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", SCHEMAS)
def test_a_payload_that_was_not_checked_is_said_to_be(case: str, way: str, tmp_path: Path, service: Service) -> None:
    members, why = SCHEMAS[case]
    declared = {**event(type={"value": "oven.hot"}), "dataschemaformat": "JsonSchema/draft-07", **members}
    found = opened(way, catalog(hot={name: one for name, one in declared.items() if one}), tmp_path, service)
    landed = outcome(found, {**EVENT, "datacontenttype": "application/json", "data": {"heat": 5}})
    assert landed["outcome"] == "landed"
    assert landed.get("unchecked", "").startswith(why)
    assert ("unchecked" in landed) == bool(why)


@pytest.mark.audit("messages-D16")
def test_explanations_and_summaries_name_payloads_that_were_not_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declared = {**event(type={"value": "oven.hot"}), **SCHEMAS["a schema elsewhere"][0]}
    (tmp_path / "catalog.json").write_text(json.dumps(catalog(hot=declared)))
    (tmp_path / "records.jsonl").write_text(f"{json.dumps(EVENT)}\n" * 3)
    command = ["match", "--catalog", f"{tmp_path}/catalog.json", "--input", f"{tmp_path}/records.jsonl"]
    assert execute([*command, "--explain"]) == 0
    assert "the payload was not checked: its schema https://bakery.example" in capsys.readouterr().out
    assert execute([*command, "--summary"]) == 0
    assert f"{OVENS}/hot (3): its schema https://bakery.example/heat.json" in capsys.readouterr().out

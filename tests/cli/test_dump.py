from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from postroom.catalog.sources import read_source
from postroom.cli.main import execute
from postroom.settings import Settings
from tests.http.running_service import serving

KITCHENS = {
    "groups": {
        "kitchens": {
            "singular": "kitchen",
            "attributes": {"floor": {"type": "integer"}},
            "resources": {"recipes": {"singular": "recipe"}},
        }
    }
}


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    folder = tmp_path_factory.mktemp("services")
    one, two = (f"sqlite:///{folder}/{name}.db" for name in ("one", "two"))
    with serving(one) as (_, first), serving(two) as (_, second):
        yield [first, second]


def dumped(source: str, tmp_path: Path) -> dict[str, Any]:
    file = tmp_path / "dump.json"
    assert execute(["dump", "--from", source, "-o", str(file)]) == 0
    document: dict[str, Any] = json.loads(file.read_text())
    return document


@pytest.mark.feature("EXP-001", "EXP-005")
def test_a_dump_loaded_elsewhere_is_the_same_dump(services: list[str], tmp_path: Path) -> None:
    """From a store to a service, from there to another service, and back into a store."""
    stations = [f"sqlite:///{tmp_path}/a.db", *services, f"sqlite:///{tmp_path}/b.db"]
    assert execute(["load", "demo/catalog", "--to", stations[0]]) == 0
    first = dumped(stations[0], tmp_path)
    assert len(first["messagegroups"]) == 4
    for station in stations[1:]:
        assert execute(["load", str(tmp_path / "dump.json"), "--to", station]) == 0
        assert dumped(station, tmp_path) == first


def test_what_authors_wrote_survives_and_what_a_server_counts_does_not(services: list[str], tmp_path: Path) -> None:
    source, target = services
    group = "/schemagroups/dump-ovens"
    with httpx.Client(base_url=source) as client:
        client.patch("/", json={"name": "Ovens", "labels": {"site": "north"}})
        for number in ("v1", "v2", "v3"):
            body = {"format": "Text/1", "schema": f"oven {number}", "contenttype": "text/plain"}
            assert client.put(f"{group}/schemas/oven/versions/{number}$details", json=body).status_code == 201
        client.patch(f"{group}/schemas/oven/meta", json={"defaultversionid": "v2", "defaultversionsticky": True})
        client.put(f"{group}/schemas/bytes", content=b"\xff\x00", headers={"xRegistry-format": "Text/1"})
        client.put(f"{group}/schemas/far$details", json={"format": "Text/1", "schemaurl": "http://ovens.example/far"})
        relayed = {"format": "Text/1", "schemaproxyurl": "http://127.0.0.1:1/x"}
        client.put(f"{group}/schemas/relayed$details", json=relayed)
        client.put(f"{group}/schemas/again/meta", json={"xref": f"{group}/schemas/oven"})
        client.patch(group, json={"description": "changed"})
    first = dumped(source, tmp_path)
    schemas = first["schemagroups"]["dump-ovens"]["schemas"]
    assert set(schemas["oven"]["versions"]) == {"v1", "v2", "v3"}
    assert schemas["oven"]["meta"]["defaultversionid"] == "v2"
    assert schemas["bytes"]["versions"]["1"]["schemabase64"] == "/wA="
    assert schemas["again"]["meta"]["xref"] == f"{group}/schemas/oven"
    assert not {"epoch", "self", "schemasurl", "schemascount"} & first["schemagroups"]["dump-ovens"].keys()
    assert execute(["load", str(tmp_path / "dump.json"), "--to", target]) == 0
    second = dumped(target, tmp_path)
    assert second["schemagroups"]["dump-ovens"] == first["schemagroups"]["dump-ovens"]
    assert (second["name"], second["labels"]) == ("Ovens", {"site": "north"})


BELLS = {
    "schemagroups": {
        "bells": {
            "schemas": {
                "ring": {
                    "schemaid": "ring",
                    "format": "JsonSchema/draft-07",
                    "name": "Ring",
                    "schema": {"type": "string"},
                },
                "far": {"format": "JsonSchema/draft-07", "schemaurl": "https://bells.example/far.json"},
                "chime": {
                    "versions": {
                        "1": {"format": "Text/1", "schema": "ding", "ancestorid": "1"},
                        "2": {"format": "Text/1", "schema": "dong", "ancestorid": "1"},
                    }
                },
            }
        }
    }
}


@pytest.mark.audit("clients-3")
@pytest.mark.parametrize("dialect", ["1.0-rc4", "1.0-rc3", "1.0-rc2"])
@pytest.mark.parametrize("way", ["file", "store", "service"])
def test_every_schema_is_dumped_with_versions_that_have_its_document(
    way: str, dialect: str, services: list[str], tmp_path: Path
) -> None:
    """The published JSON Schema of documents, and code generators with it: versions, each with one document."""
    (tmp_path / "bells.json").write_text(json.dumps(BELLS))
    source = {"file": str(tmp_path / "bells.json"), "store": f"sqlite:///{tmp_path}/b.db", "service": services[0]}[way]
    if way != "file":
        assert execute(["load", str(tmp_path / "bells.json"), "--to", source]) == 0
    assert execute(["dump", "--from", source, "--dialect", dialect, "-o", str(tmp_path / "dump.json")]) == 0
    schemas = json.loads((tmp_path / "dump.json").read_text())["schemagroups"]["bells"]["schemas"]
    documents = ("schema", "schemabase64", "schemaurl")
    for schema in schemas.values():
        assert not {*documents, "versionsurl", "versionscount"} & schema.keys()
        for version in schema["versions"].values():
            assert len([name for name in documents if name in version]) == 1
            assert version["format"]
    assert schemas["ring"]["versions"]["1"]["schema"] == {"type": "string"}
    assert schemas["ring"]["versions"]["1"]["name"] == "Ring"
    assert schemas["chime"]["versions"].keys() == {"1", "2"}


def test_the_dump_of_a_file_is_loaded_as_the_file_is(tmp_path: Path) -> None:
    (tmp_path / "bells.json").write_text(json.dumps(BELLS))
    assert execute(["dump", "--from", str(tmp_path / "bells.json"), "-o", str(tmp_path / "dump.json")]) == 0
    shown = []
    for name in ("bells", "dump"):
        assert execute(["load", str(tmp_path / f"{name}.json"), "--to", f"sqlite:///{tmp_path}/{name}.db"]) == 0
        schemas = read_source(f"sqlite:///{tmp_path}/{name}.db", Settings())["schemagroups"]["bells"]["schemas"]
        shown.append(
            {one: (schema["versionid"], schema.get("schema"), schema["format"]) for one, schema in schemas.items()}
        )
    assert shown[0] == shown[1]


def test_a_model_of_ones_own_travels_along(tmp_path: Path) -> None:
    model = tmp_path / "model.json"
    model.write_text(json.dumps(KITCHENS))
    with serving(f"sqlite:///{tmp_path}/k.db", "--model", str(model)) as (_, url):
        httpx.put(f"{url}/kitchens/k1", json={"floor": 3, "recipes": {"soup": {"recipe": {"water": 1}}}})
        first = dumped(url, tmp_path)
    target = f"sqlite:///{tmp_path}/other.db"
    assert execute(["load", str(tmp_path / "dump.json"), "--to", target]) == 0
    second = dumped(target, tmp_path)
    assert second["kitchens"] == first["kitchens"]
    assert set(second["modelsource"]["groups"]) == {"kitchens", "schemagroups", "messagegroups", "endpoints"}


def test_yaml_says_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["dump", "--from", "demo/catalog"]) == 0
    as_json = json.loads(capsys.readouterr().out)
    assert execute(["dump", "--from", "demo/catalog", "--format", "yaml"]) == 0
    assert yaml.safe_load(capsys.readouterr().out) == as_json


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--from", "demo/catalog", "--dialect", "0.9"], 2, "does not write 0.9"),
        (["--from", "sqlite:///nowhere.db"], 2, "no such database"),
        (["--from", "http://127.0.0.1:1"], 3, "does not answer"),
        (["--from", "demo/catalog", "-o", "/nowhere/x.json"], 3, "cannot be written"),
        (["--from", "demo/catalog", "--format", "xml"], 2, "xml"),
    ],
)
def test_bad_dumps_are_one_sentence(
    arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["dump", *arguments]) == code
    captured = capsys.readouterr()
    assert (captured.out, words in captured.err, captured.err.count("\n")) == ("", True, 1)

import json
from pathlib import Path

import httpx
import pytest

from postroom.catalog.open_store import open_store
from postroom.catalog.sources import read_source
from postroom.cli.main import execute
from postroom.settings import Settings
from tests.http.running_service import serving


def test_into_a_store_and_out_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    store = f"sqlite:///{tmp_path / 'catalog.db'}"
    assert execute(["load", "demo/catalog", "--to", store]) == 0
    assert "16 messages" in capsys.readouterr().out
    assert execute(["load", "demo/catalog", "--to", store, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["loaded"]["messages"] == 16
    assert execute(["match", "--catalog", store, "--input", "demo/sample.jsonl"]) == 1
    assert capsys.readouterr().out.count('"landed"') == 10


@pytest.mark.audit("clients-12")
def test_the_id_of_a_registry_that_load_makes_can_be_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POSTROOM_REGISTRY_ID", "harbour")
    store = f"sqlite:///{tmp_path / 'catalog.db'}"
    assert execute(["load", "demo/catalog", "--to", store]) == 0
    assert read_source(store, Settings())["registryid"] == "harbour"


def test_a_broken_source_leaves_the_target_as_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text('{"messagegroups": {"g": {"messages": {"m": 5}}}}')
    database = tmp_path / "catalog.db"
    for sources in (["demo/catalog", str(tmp_path / "none.json")], ["demo/catalog", str(broken)][1:]):
        assert execute(["load", *sources, "--to", f"sqlite:///{database}"]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("postroom: ")
    assert execute(["match", "--catalog", f"sqlite:///{database}", "--input", "/dev/null"]) in (0, 2)


def test_a_store_that_somebody_writes_to_is_a_system_that_is_not_there(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path / 'catalog.db'}"
    monkeypatch.setenv("POSTROOM_WRITE_WAIT_S", "0.2")
    with open_store(url) as store, store.write():
        assert execute(["load", "demo/catalog", "--to", url]) == 3
    assert "writing for 0.2 seconds" in capsys.readouterr().err


COLD = "/messagegroups/cellar/messages/cold"
CELLAR = {
    "name": "Cellar",
    "description": "What is kept below the bakery.",
    "labels": {"site": "north"},
    "messagegroups": {
        "cellar": {
            "messages": {
                "cold": {
                    "envelope": "CloudEvents/1.0",
                    "envelopemetadata": {"type": {"value": "cold"}},
                    "schemaformat": "JsonSchema/draft-07",
                    "schemauri": "#/schemagroups/cellar/schemas/cold",
                    "datacontentype": "application/json",
                }
            }
        }
    },
    "schemagroups": {"cellar": {"schemas": {"cold": {"format": "JsonSchema/draft-07", "schema": {"type": "number"}}}}},
    "shelves": {"left": {}},
}


@pytest.fixture
def cellar(tmp_path: Path) -> str:
    path = tmp_path / "cellar.json"
    path.write_text(json.dumps(CELLAR))
    return str(path)


@pytest.mark.audit("clients-10")
def test_what_is_not_loaded_is_said_with_the_reason(
    cellar: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["load", cellar, "--to", f"sqlite:///{tmp_path}/a.db"]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("loaded 1 messagegroups, 1 messages, 1 schemagroups, 1 schemas from ")
    assert captured.err.splitlines() == [
        f"note: {COLD}/datacontentype: datacontentype is not read. Did you mean datacontenttype?",
        f"4 members of {cellar} are not loaded:",
        "  it describes the file; a registry takes it from a dump, which has modelsource (3)",
        '    /name: "Cellar"',
        '    /description: "What is kept below the bakery."',
        '    /labels: {"site":"north"}',
        "  the target's model has no such groups; a dump brings its own (1)",
        '    /shelves: {"left":{}}',
    ]


@pytest.mark.audit("clients-10")
def test_what_is_not_loaded_is_in_the_json_too(cellar: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["load", cellar, "--to", f"sqlite:///{tmp_path}/a.db", "--json"]) == 0
    captured = capsys.readouterr()
    report = json.loads(captured.out)
    assert [loss["place"] for loss in report["losses"]] == ["/name", "/description", "/labels", "/shelves"]
    assert [note["place"] for note in report["notes"]] == [f"{COLD}/datacontentype"]
    assert captured.err == ""


@pytest.mark.audit("clients-10")
def test_a_message_keeps_its_schema_under_the_names_that_code_generators_write(
    cellar: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store, records = f"sqlite:///{tmp_path}/a.db", tmp_path / "records"
    records.write_text('{"specversion":"1.0","id":"1","source":"/c","type":"cold","data":"warm"}')
    assert execute(["load", cellar, "--to", store]) == 0
    capsys.readouterr()
    assert execute(["match", "--catalog", store, "--input", str(records)]) == 1
    assert json.loads(capsys.readouterr().out)["outcome"] == "invalid"


@pytest.mark.audit("clients-10")
def test_what_is_not_loaded_has_the_names_of_its_author(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cellar.json"
    path.write_text(json.dumps({"specversion": "1.0-rc2", "messagegroups": CELLAR["messagegroups"]}))
    assert execute(["load", str(path), "--to", f"sqlite:///{tmp_path}/a.db"]) == 0
    assert "not loaded" not in capsys.readouterr().err
    service = tmp_path / "cellar.cereg"
    endpoints = {"endpoints": {}, "endpointsURL": "http://a.example/endpoints", "endpointsCount": 0}
    service.write_text(json.dumps({"specversion": "0.5-wip", "cellarKey": "hot", **endpoints}))
    assert execute(["load", str(service), "--to", f"sqlite:///{tmp_path}/b.db"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"1 member of {service} is not loaded:",
        "  a registry has no such attribute (1)",
        '    /cellarKey: "hot"',
    ]


@pytest.mark.audit("clients-6")
def test_the_format_of_a_schema_is_that_of_its_versions(tmp_path: Path) -> None:
    versions = {"1": {"schema": {"type": "number"}}, "2": {"schemauri": "https://a.example/cold"}}
    cold = {"format": "JsonSchema/draft-07", "versions": versions}
    path, store = tmp_path / "cellar.json", f"sqlite:///{tmp_path}/a.db"
    path.write_text(json.dumps({"schemagroups": {"cellar": {"schemas": {"cold": cold}}}}))
    assert execute(["lint", str(path)]) == 0
    assert execute(["load", str(path), "--to", store]) == 0
    loaded = read_source(store, Settings())["schemagroups"]["cellar"]["schemas"]["cold"]
    assert [one["format"] for one in loaded["versions"].values()] == ["JsonSchema/draft-07"] * 2


def test_all_of_a_dump_is_loaded(cellar: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, second, dump = f"sqlite:///{tmp_path}/a.db", f"sqlite:///{tmp_path}/b.db", str(tmp_path / "dump.json")
    assert execute(["load", "demo/catalog", "--to", first]) == 0
    assert execute(["dump", "--from", first, "-o", dump]) == 0
    assert execute(["load", dump, "--to", second]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.audit("clients-12")
def test_a_catalog_that_is_too_large_for_a_service_is_told_the_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    large = tmp_path / "large.json"
    large.write_text(json.dumps({"messagegroups": {"ovens": {"note": "x" * 1_100_000}}}))
    with serving(f"sqlite:///{tmp_path}/registry.db", POSTROOM_MAX_BODY_MB="1") as (_, url):
        assert execute(["load", str(large), "--to", url]) == 3
    assert "larger than 1 MB. Send it in parts, or raise the setting max_body_mb" in capsys.readouterr().err


KITCHENS = {
    "groups": {
        "kitchens": {"singular": "kitchen", "resources": {"recipes": {"singular": "recipe"}}},
        "gardens": {"singular": "garden"},
    }
}


@pytest.mark.parametrize("way", ["service", "store"])
def test_groups_of_the_targets_own_types_are_loaded_from_any_document(
    way: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model.json").write_text(json.dumps(KITCHENS))
    folder = tmp_path / "catalog"
    folder.mkdir()
    for name in ("north", "south"):
        document = {"name": name, "kitchens": {name: {"recipes": {"soup": {"recipe": {"water": 1}}}}}, "sheds": {}}
        (folder / f"{name}.json").write_text(json.dumps(document))
    database = f"sqlite:///{tmp_path}/registry.db"
    with serving(database, "--model", str(tmp_path / "model.json")) as (_, url):
        assert execute(["load", str(folder), "--to", url if way == "service" else database]) == 0
        assert set(httpx.get(f"{url}/kitchens").json()) == {"north", "south"}
        assert httpx.get(f"{url}/kitchens/south/recipes/soup").json() == {"water": 1}
    captured = capsys.readouterr()
    assert captured.out == f"loaded 2 kitchens, 2 recipes from {folder}\n"
    assert "/sheds" in captured.err
    assert "/kitchens" not in captured.err
    assert execute(["load", str(folder), "--to", f"sqlite:///{tmp_path}/other.db"]) == 2
    assert "no file in this folder has messagegroups, schemagroups or endpoints" in capsys.readouterr().err

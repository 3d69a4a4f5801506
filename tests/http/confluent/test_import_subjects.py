"""Moving in: what a schema registry holds comes as it is, and a second time only what has changed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from postroom.catalog.open_store import open_store
from postroom.catalog.subjects.schema_registry import read_registry
from postroom.cli.main import execute, main
from postroom.http.confluent.import_subjects import LocalRegistry, import_subjects, read_export
from postroom.settings import Settings
from postroom.store.interface import Store
from tests.http.confluent.subject_client import SubjectClient, avro
from tests.http.principals import permitted
from tests.http.running_service import serving

GUID = "b9f0a1c2-0000-4000-8000-000000000001"


@pytest.fixture
def estate(tmp_path: Path) -> Iterator[SubjectClient]:
    """A registry with a bit of everything."""
    with open_store(f"sqlite:///{tmp_path}/estate.db") as store:
        client = SubjectClient(store, permitted(admin=True))
        client.good("PUT", "/config", {"compatibility": "FULL"})
        client.register("locks", avro("Lock", "bolt"))
        door = json.dumps({"type": "record", "name": "Door", "fields": [{"name": "lock", "type": "Lock"}]})
        client.register("doors/value", door, references=[{"name": "Lock", "subject": "locks", "version": 1}])
        for one in ((), (("heat", ""),), (("heat", ""), ("fuel", ""))):
            client.register("ovens", avro("Oven", "id", *one), metadata={"properties": {"owner": "bakery"}})
        client.good("DELETE", "/subjects/ovens/versions/2")
        client.register(":.audit:ovens", avro("Audit", "id"))
        client.register("p", 'syntax = "proto3"; message P { }', "PROTOBUF")
        client.good("PUT", "/config/ovens", {"compatibility": "BACKWARD_TRANSITIVE", "normalize": True})
        client.good("PUT", "/mode/locks", {"mode": "READONLY"})
        yield client


def shown(client: SubjectClient) -> list[Any]:
    paths = ("/schemas?deleted=true", "/config", "/config/ovens", "/mode/locks", "/contexts")
    return [client.good("GET", path) for path in paths]


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path}/target.db") as store:
        yield store


def test_everything_comes_as_it_is_and_only_once(estate: SubjectClient, target: Store) -> None:
    source, there = LocalRegistry(estate.store, Settings()), LocalRegistry(target, Settings())
    report = import_subjects(read_registry(source), there)
    assert report.left_out == []
    assert (report.created, report.deleted, report.unchanged) == (7, 1, 0)
    assert shown(SubjectClient(target, permitted(admin=True))) == shown(estate)
    again = import_subjects(read_registry(source), there)
    assert (again.changes, again.unchanged, again.left_out) == (0, 7, [])
    estate.register("ovens", avro("Oven", "id", ("heat", ""), ("fuel", ""), ("smoke", "")))
    estate.good("DELETE", "/mode/locks")
    third = import_subjects(read_registry(source), there)
    assert (third.created, third.modes, third.unchanged) == (1, 1, 7)


def test_what_has_no_place_is_reported(estate: SubjectClient, target: Store) -> None:
    own = SubjectClient(target, permitted(admin=True))
    own.register("locks", avro("Other", "id"))
    report = import_subjects(read_registry(LocalRegistry(estate.store, Settings())), LocalRegistry(target, Settings()))
    assert report.created == 5
    assert {(one["subject"], one["version"]) for one in report.left_out} == {("locks", 1), ("doors/value", 1)}


def test_an_export_is_read_in_three_forms(tmp_path: Path) -> None:
    schema = {"subject": "ovens", "version": 3, "id": 7, "guid": GUID, "schema": avro("Oven", "id")}
    gone = {**schema, "version": 2, "deleted": True}
    topic = [
        ({"keytype": "SCHEMA", "subject": "ovens", "version": 2}, {**gone, "deleted": False}),
        ({"keytype": "SCHEMA", "subject": "ovens", "version": 9}, {**schema, "version": 9}),
        ({"keytype": "SCHEMA", "subject": "ovens", "version": 9}, None),
        ({"keytype": "DELETE_SUBJECT", "subject": "ovens"}, {"subject": "ovens", "version": 2}),
        ({"keytype": "SCHEMA", "subject": "ovens", "version": 3}, {**schema, "deleted": False}),
        ({"keytype": "CONFIG", "subject": "ovens"}, {"compatibilityLevel": "NONE"}),
        ({"keytype": "NOOP"}, None),
    ]
    config = {"ovens": {"compatibilityLevel": "NONE"}}
    forms = {
        "array.json": json.dumps([schema, gone]),
        "object.json": json.dumps({"schemas": [schema, gone], "configs": config}),
        "topic.txt": "\n".join(f"{json.dumps(key)}\t{json.dumps(value)}" for key, value in topic),
    }
    for name, text in forms.items():
        (tmp_path / name).write_text(text)
        held = read_export(tmp_path / name)
        assert held.versions.keys() == {("ovens", 2), ("ovens", 3)}, name
        assert held.deleted == {("ovens", 2)}, name
        assert held.versions["ovens", 3]["guid"] == GUID
        assert held.configs == ({} if name == "array.json" else config)


def test_ids_and_guids_of_an_export_are_those_of_the_versions(tmp_path: Path) -> None:
    schema = {"subject": "ovens", "version": 3, "id": 7, "guid": GUID, "schema": avro("Oven", "id")}
    (tmp_path / "export.json").write_text(json.dumps([schema]))
    database = f"sqlite:///{tmp_path}/registry.db"
    run = CliRunner().invoke(main, ["import", "confluent", str(tmp_path / "export.json"), "--to", database, "--json"])
    assert (run.exit_code, json.loads(run.stdout)["created"]) == (0, 1)
    with open_store(database) as store:
        client = SubjectClient(store, permitted(admin=True))
        assert client.good("GET", f"/schemas/guids/{GUID}")["schema"] == schema["schema"]
        assert client.good("GET", "/subjects/ovens/versions/3")["id"] == 7
        assert client.good("GET", "/mode") == {"mode": "READWRITE"}
        assert client.error("GET", "/mode/ovens") == 40409


@pytest.mark.parametrize("text", ["", "{}", "[1]", '[{"subject": "x"}]', "no json", '{"keytype":"SCHEMA"}\t{'])
def test_what_is_no_export_is_refused_in_a_sentence(
    tmp_path: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "export").write_text(text)
    code = execute(["import", "confluent", str(tmp_path / "export"), "--to", f"sqlite:///{tmp_path}/r.db"])
    assert code == (0 if not text else 2)
    assert "Traceback" not in capsys.readouterr().err


def test_from_a_service_into_a_service(estate: SubjectClient, tmp_path: Path) -> None:
    with (
        serving(f"sqlite:///{tmp_path}/estate.db") as (_, source),
        serving(f"sqlite:///{tmp_path}/b.db") as (_, target),
    ):
        run = CliRunner().invoke(main, ["import", "confluent", f"{source}/confluent", "--to", target])
        assert run.stdout == "imported 7 versions, 0 were there; 1 deleted, 2 configurations, 1 modes\n"
        assert run.exit_code == 0


def test_a_registry_is_watched_over_what_cannot_be_read_meanwhile(tmp_path: Path) -> None:
    export, database = tmp_path / "export.json", f"sqlite:///{tmp_path}/registry.db"
    first, second = (
        {"subject": name, "version": 1, "id": 7 + at, "schema": avro(name, "id")} for at, name in enumerate("ab")
    )
    export.write_text(json.dumps([first]))
    command = [sys.executable, "-m", "postroom", "import", "confluent", str(export), "--to", database, "--watch", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watching:
        assert watching.stdout is not None
        assert watching.stderr is not None
        assert watching.stdout.readline().startswith("imported 1 versions, 0 were there")
        export.write_text("[")
        assert "export.json" in watching.stderr.readline()
        export.write_text(json.dumps([first, second]))
        assert watching.stdout.readline().startswith("imported 1 versions, 1 were there")
        watching.send_signal(signal.SIGINT)
        assert watching.wait(30) in (0, 130)
    with open_store(database) as store:
        assert SubjectClient(store, permitted(admin=True)).good("GET", "/schemas/ids/8")["schema"] == second["schema"]

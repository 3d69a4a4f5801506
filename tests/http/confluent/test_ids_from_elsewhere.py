"""Ids that a schema registry gives, honoured by catalogs which know nothing of it: `schema_registry`."""

from __future__ import annotations

import base64
import json
import logging
import uuid
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from postroom.catalog.catalog import Catalog, open_catalog
from postroom.catalog.subjects import schema_registry
from postroom.catalog.subjects.schema_registry import RegistryWatch
from postroom.cli.main import execute, main
from postroom.errors import ServiceUnreachable
from postroom.formats.format_table import parse_schema
from postroom.messages.matching.outcome import Sorted
from postroom.pipeline.catalog_reload import CatalogWatch
from postroom.settings import Settings
from tests.http.running_service import serving

warnings.filterwarnings("ignore", message=".*httpx.*")
from confluent_kafka.schema_registry import SchemaRegistryClient  # noqa: E402
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer  # noqa: E402
from confluent_kafka.serialization import MessageField, SerializationContext  # noqa: E402

NAME = "bakery.Oven"
ID = {"name": "id", "type": "string"}
HEAT = {"name": "heat", "type": "int", "default": 180}
FUEL = {"name": "fuel", "type": "string", "default": "wood"}


def oven(*fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": NAME, "fields": list(fields)}


VERSIONS = (oven(ID), oven(HEAT, ID))
VALUES: tuple[Any, Any] = ({"id": "a"}, {"id": "b", "heat": 250})


@pytest.fixture
def topic() -> str:
    return f"ovens_{uuid.uuid4().hex[:8]}"


@pytest.fixture
def ids(registry_url: str, topic: str) -> list[int]:
    """Two versions of a schema, under the names of all three strategies."""
    found = []
    for document in VERSIONS:
        for subject in (f"{topic}-value", f"{topic}.{NAME}", f"{topic}-{topic}.{NAME}"):
            body = {"schema": json.dumps({**document, "name": NAME if "-value" in subject else f"{topic}.{NAME}"})}
            answer = httpx.post(f"{registry_url}/subjects/{subject}/versions", json=body).raise_for_status()
            found.append(answer.json()["id"])
    return found


def catalog_file(folder: Path, topic: str, **says: Any) -> Path:
    message = {"protocol": "KAFKA", "protocoloptions": {"topic": topic}, **says}
    path = folder / "catalog.json"
    path.write_text(json.dumps({"messagegroups": {"ovens": {"messages": {"oven": message}}}}))
    return path


def payload(number: int, schema_id: int) -> bytes:
    return b"\0" + schema_id.to_bytes(4) + parse_schema("Avro", VERSIONS[number]).encode(VALUES[number])


def line(topic: str, body: bytes) -> bytes:
    record = {"protocol": "KAFKA", "metadata": {"topic": topic}, "payload_base64": base64.b64encode(body).decode()}
    return json.dumps(record).encode()


def sort(known: Catalog, topic: str, body: bytes) -> Sorted:
    return known.engine.sort_exactly(line(topic, body))[0]


def test_a_subject_that_the_catalog_refers_to_comes_from_the_registry(
    registry_url: str, ids: list[int], topic: str, tmp_path: Path
) -> None:
    file = catalog_file(tmp_path, topic, dataschemauri=f"/schemagroups/default/schemas/{topic}-value")
    assert sort(open_catalog(str(file)), topic, payload(0, ids[0])).match.outcome == "invalid"
    known = open_catalog(str(file), settings=Settings(schema_registry=registry_url))
    for number, schema_id in enumerate((ids[0], ids[3])):
        found = sort(known, topic, payload(number, schema_id))
        assert found.data == {"heat": 180, **VALUES[number]}
        assert found.writer is not None
        assert (found.writer.version, found.writer.id) == (str(number + 1), str(schema_id))
    (reason,) = sort(known, topic, payload(1, 99)).match.reasons
    assert reason.code == "schema_id_unknown"


@pytest.mark.parametrize(
    ("names", "which", "known_by"),
    [
        ("any", 0, NAME),
        ("topic", 0, NAME),
        ("record", 1, f"{{topic}}.{NAME}"),
        ("topic_record", 2, f"{{topic}}.{NAME}"),
    ],
)
def test_a_schema_in_its_own_place_has_the_ids_of_the_subject_that_its_name_means(
    registry_url: str, ids: list[int], topic: str, tmp_path: Path, names: Any, which: int, known_by: str
) -> None:
    newer = {**oven(FUEL, HEAT, ID), "name": known_by.format(topic=topic)}
    file = catalog_file(tmp_path, topic, dataschemaformat="Avro/1.12", dataschema=newer)
    known = open_catalog(str(file), settings=Settings(schema_registry=registry_url, subject_names=names))
    for number, schema_id in enumerate((ids[which], ids[3 + which])):
        found = sort(known, topic, payload(number, schema_id))
        assert found.data == {"fuel": "wood", "heat": 180, **VALUES[number]}, found.match
        assert found.writer is not None
        assert found.writer.version == str(number + 1)


def test_a_version_that_the_catalog_has_as_well_is_one_version(
    registry_url: str, ids: list[int], topic: str, tmp_path: Path
) -> None:
    file = catalog_file(tmp_path, topic, dataschemaformat="Avro/1.12", dataschema=VERSIONS[1])
    known = open_catalog(str(file), settings=Settings(schema_registry=registry_url))
    found = sort(known, topic, payload(1, ids[3]))
    assert (found.data, found.writer and found.writer.version) == (VALUES[1], "2")
    (definition,) = known.definitions
    versions = known.engine.versions(definition)
    assert versions is not None
    assert versions.own == "2"
    again = Catalog({}, compiled=type(known.compiled).decode(known.compiled.encode()))
    assert sort(again, topic, payload(0, ids[0])).data == {"heat": 180, "id": "a"}


def test_a_topic_whose_subject_is_a_union_of_records_is_read_by_those_records(
    registry_url: str, topic: str, tmp_path: Path
) -> None:
    names = {kind: f"{topic}.{kind}" for kind in ("Oven", "Tray")}
    documents = {kind: {**oven(ID), "name": name} for kind, name in names.items()}
    with httpx.Client(base_url=registry_url, timeout=30) as client:
        for kind, document in documents.items():
            body = {"schema": json.dumps(document)}
            client.post(f"/subjects/{names[kind]}/versions", json=body).raise_for_status()
        union = {
            "schema": json.dumps(list(names.values())),
            "references": [{"name": name, "subject": name, "version": 1} for name in names.values()],
        }
        answer = client.post(f"/subjects/{topic}-value/versions", json=union).raise_for_status()
    messages = {
        kind: {
            "protocol": "KAFKA",
            "protocoloptions": {"topic": topic},
            "dataschemauri": f"/schemagroups/default/schemas/{name}",
        }
        for kind, name in names.items()
    }
    file = tmp_path / "catalog.json"
    file.write_text(json.dumps({"messagegroups": {"ovens": {"messages": messages}}}))
    known = open_catalog(str(file), settings=Settings(schema_registry=registry_url))
    for branch, kind in enumerate(names):
        found = sort(known, topic, b"\0" + answer.json()["id"].to_bytes(4) + bytes([2 * branch]) + b"\2a")
        assert (found.match.message, found.data) == (f"/messagegroups/ovens/messages/{kind}", {"id": "a"})
        assert found.writer is not None
        assert found.writer.version == f"{topic}-value/1"


def test_keys_have_the_schema_of_their_own_subject(
    registry_url: str, ids: list[int], topic: str, tmp_path: Path
) -> None:
    client = SchemaRegistryClient({"url": registry_url})
    context = SerializationContext(topic, MessageField.KEY)
    key = AvroSerializer(client, '"string"')("oven-7", context)
    assert key is not None
    says = {"dataschemauri": f"/schemagroups/default/schemas/{topic}-value"}
    options = {"topic": topic, "key": {"type": "uritemplate", "value": "oven-{number}"}}
    file = catalog_file(tmp_path, topic, **says, protocoloptions=options)
    known = open_catalog(str(file), settings=Settings(schema_registry=registry_url))
    record = json.loads(line(topic, payload(0, ids[0])))
    record["metadata"]["key_base64"] = base64.b64encode(key).decode()
    (match,) = known.match_all(json.dumps(record).encode())
    assert (match.outcome, match.variables) == ("landed", {"number": "7"})


def test_match_asks_the_registry_that_it_is_told(registry_url: str, ids: list[int], topic: str, tmp_path: Path) -> None:
    file = catalog_file(tmp_path, topic, dataschemauri=f"/schemagroups/default/schemas/{topic}-value")
    records = tmp_path / "records.jsonl"
    records.write_bytes(line(topic, payload(0, ids[0])) + b"\n")
    arguments = ["match", "--catalog", str(file), "--input", str(records), "--schema-registry"]
    run = CliRunner().invoke(main, [*arguments, registry_url])
    assert (run.exit_code, json.loads(run.output)["outcome"]) == (0, "landed")
    assert "unchecked" not in json.loads(run.output)


def test_what_is_made_with_schema_ids_is_read_by_the_deserialisers_of_others(
    registry_url: str, ids: list[int], topic: str, tmp_path: Path
) -> None:
    file = catalog_file(tmp_path, topic, dataschemaformat="Avro/1.12", dataschema=VERSIONS[0])
    data = tmp_path / "data.json"
    data.write_text('{"id": "c"}')
    arguments = ["make", "oven", "--catalog", str(file), "--data", str(data), "--write-schema-ids"]
    run = CliRunner().invoke(main, [*arguments, "--schema-registry", registry_url])
    made = base64.b64decode(json.loads(run.output)["payload_base64"])
    assert made == b"\0" + ids[0].to_bytes(4) + b"\2c"
    read = AvroDeserializer(SchemaRegistryClient({"url": registry_url}))
    assert read(made, SerializationContext(topic, MessageField.VALUE)) == {"id": "c"}
    without = execute(arguments)
    assert without == 2


def test_a_registry_that_is_not_there_is_an_error_at_the_start(tmp_path: Path, capsys: Any) -> None:
    file = catalog_file(tmp_path, "ovens")
    arguments = ["match", "--catalog", str(file), "--schema-registry", "http://127.0.0.1:1"]
    assert execute(arguments) == 3
    assert "127.0.0.1:1" in capsys.readouterr().err


@pytest.fixture
def own_registry(tmp_path: Path) -> Iterator[tuple[Any, str]]:
    """A service of its own, which a test may stop."""
    with serving(f"sqlite:///{tmp_path}/own.db") as (process, url):
        yield process, f"{url}/confluent"


def test_a_registry_that_changes_and_goes_under_a_running_stream(
    own_registry: tuple[Any, str], tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    process, url = own_registry
    body = {"schema": json.dumps(VERSIONS[0])}
    first = httpx.post(f"{url}/subjects/o-value/versions", json=body).json()["id"]
    file = catalog_file(tmp_path, "o", dataschemauri="/schemagroups/default/schemas/o-value")
    settings = Settings(schema_registry=url)
    watch = CatalogWatch(str(file), settings)
    before = watch()
    assert watch() is before
    second = httpx.post(f"{url}/subjects/o-value/versions", json={"schema": json.dumps(VERSIONS[1])}).json()["id"]
    after = watch()
    assert after.digest != before.digest
    assert sort(after, "o", payload(1, second)).data == VALUES[1]
    process.terminate()
    process.wait(30)
    monkeypatch.setattr(schema_registry, "_RETRY_S", 0.0)
    with caplog.at_level(logging.WARNING):
        assert watch() is after
        # The catalog itself is followed meanwhile.
        catalog_file(tmp_path, "o", dataschemauri="/schemagroups/default/schemas/o-value", description="an oven")
        assert watch().definitions[0].description == "an oven"
    assert sort(watch(), "o", payload(0, first)).data == {"heat": 180, "id": "a"}
    assert "cannot be read and what it had stays" in caplog.text
    with pytest.raises(ServiceUnreachable):
        RegistryWatch(settings)()

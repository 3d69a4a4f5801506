"""Ids and GUIDs that a running registry gives, all the way into matches, from every source of a catalog."""

from __future__ import annotations

import base64
import json
import uuid
import warnings
from pathlib import Path
from typing import Any

import httpx
import pytest

from postroom.catalog.catalog import Catalog, open_catalog
from postroom.catalog.sources import read_source
from postroom.formats.schema_versions import WriterVersion
from postroom.settings import Settings

warnings.filterwarnings("ignore", message=".*httpx.*")
from confluent_kafka.schema_registry import SchemaRegistryClient, header_schema_id_serializer  # noqa: E402
from confluent_kafka.schema_registry.avro import AvroSerializer  # noqa: E402
from confluent_kafka.schema_registry.json_schema import JSONSerializer  # noqa: E402
from confluent_kafka.serialization import MessageField, SerializationContext  # noqa: E402

OLD = {"type": "record", "name": "Oven", "namespace": "bakery", "fields": [{"name": "id", "type": "string"}]}
NEW = {**OLD, "fields": [{"name": "heat", "type": "int", "default": 180}, *OLD["fields"]]}
TRAY = {"title": "Tray", "type": "object", "properties": {"loaves": {"type": "integer"}}}


def record(topic: str, payload: bytes, headers: list[tuple[str, bytes]]) -> dict[str, Any]:
    pairs = [
        {"name": name, "value": value.decode("latin-1"), "value_base64": base64.b64encode(value).decode()}
        for name, value in headers
    ]
    body = base64.b64encode(payload).decode()
    return {"protocol": "KAFKA", "metadata": {"topic": topic, "headers": pairs}, "payload_base64": body}


@pytest.fixture
def topic() -> str:
    return f"ovens-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def records(service_urls: tuple[str, str], topic: str) -> list[dict[str, Any]]:
    """What Confluent's serialisers make: ids in front of payloads, then GUIDs in headers; and definitions for it."""
    client = SchemaRegistryClient({"url": service_urls[1]})
    made = []
    for options in ({}, {"schema.id.serializer": header_schema_id_serializer}):
        for schema, value in ((OLD, {"id": "a"}), (NEW, {"id": "b", "heat": 250})):
            headers: list[tuple[str, bytes]] = []
            context = SerializationContext(topic, MessageField.VALUE, headers)
            payload = AvroSerializer(client, json.dumps(schema), conf=options)(value, context)
            assert payload is not None
            made.append(record(topic, payload, headers))
        headers = []
        context = SerializationContext(f"{topic}-trays", MessageField.VALUE, headers)
        tray = JSONSerializer(json.dumps(TRAY), client, conf=options)({"loaves": 12}, context)
        made.append(record(f"{topic}-trays", tray, headers))
    group = {
        "messages": {
            name: {
                "protocol": "KAFKA",
                "protocoloptions": {"topic": {"value": one}},
                "dataschemauri": f"/schemagroups/default/schemas/{one}-value",
            }
            for name, one in (("oven", topic), ("tray", f"{topic}-trays"))
        }
    }
    httpx.put(f"{service_urls[0]}/messagegroups/{topic}", json=group).raise_for_status()
    return made


def assert_read(catalog: Catalog, records: list[dict[str, Any]], topic: str) -> None:
    found = [catalog.engine.sort_exactly(json.dumps(one).encode())[0] for one in records]
    assert [one.match.outcome for one in found] == ["landed"] * 6, [one.match for one in found]
    assert [one.data for one in found] == [{"heat": 180, "id": "a"}, {"heat": 250, "id": "b"}, {"loaves": 12}] * 2
    writers = [one.writer for one in found if one.writer is not None]
    assert [one.version for one in writers] == ["1", "2", "1"] * 2
    assert [one.id.isdecimal() for one in writers] == [True] * 3 + [False] * 3
    assert {one.match.message for one in found} == {f"/messagegroups/{topic}/messages/{n}" for n in ("oven", "tray")}


def test_ids_and_guids_of_a_registry_are_honoured_wherever_its_catalog_comes_from(
    service_urls: tuple[str, str], records: list[dict[str, Any]], topic: str, tmp_path: Path
) -> None:
    url = service_urls[0]
    assert_read(open_catalog(url), records, topic)
    file = tmp_path / "catalog.xreg.json"
    file.write_text(json.dumps(read_source(url, Settings())))
    assert_read(open_catalog(str(file)), records, topic)
    matched = [httpx.post(f"{url}/match", json=one).json() for one in records]
    assert [one["outcome"] for one in matched] == ["landed"] * 6


def test_an_id_of_another_subject_is_none_of_this_one(
    service_urls: tuple[str, str], records: list[dict[str, Any]], topic: str
) -> None:
    swapped = {**records[2], "metadata": records[0]["metadata"]}
    found = httpx.post(f"{service_urls[0]}/match", json=swapped).json()
    assert (found["outcome"], found["reasons"][0]["code"]) == ("invalid", "schema_id_unknown")
    unknown = {**records[0], "payload_base64": base64.b64encode(b"\0\xff\xff\xff\xff\2a").decode()}
    found = httpx.post(f"{service_urls[0]}/match", json=unknown).json()
    assert found["outcome"] == "invalid"


def test_a_new_version_is_known_to_the_running_service_at_once(
    service_urls: tuple[str, str], records: list[dict[str, Any]], topic: str
) -> None:
    url, registry = service_urls
    httpx.post(f"{url}/match", json=records[0]).raise_for_status()
    third = {**NEW, "fields": [*NEW["fields"], {"name": "fuel", "type": "string", "default": "wood"}]}
    context = SerializationContext(topic, MessageField.VALUE, [])
    client = SchemaRegistryClient({"url": registry})
    payload = AvroSerializer(client, json.dumps(third))({"id": "c", "heat": 1, "fuel": "gas"}, context)
    assert payload is not None
    assert httpx.post(f"{url}/match", json=record(topic, payload, [])).json()["outcome"] == "landed"
    (sorted_,) = open_catalog(url).engine.sort_exactly(json.dumps(records[0]).encode())
    assert (sorted_.data, sorted_.writer) == (
        {"heat": 180, "id": "a", "fuel": "wood"},
        WriterVersion("1", str(int.from_bytes(base64.b64decode(records[0]["payload_base64"])[1:5]))),
    )

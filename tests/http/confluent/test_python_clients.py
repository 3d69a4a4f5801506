"""Confluent's own Python client: serializers and deserializers of three formats against a running service."""

from __future__ import annotations

import json
import uuid
import warnings
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

warnings.filterwarnings("ignore", message=".*httpx.*")
from confluent_kafka.schema_registry import Schema, SchemaReference, SchemaRegistryClient, SchemaRegistryError  # noqa: E402
from confluent_kafka.schema_registry.avro import AvroDeserializer, AvroSerializer  # noqa: E402
from confluent_kafka.schema_registry.json_schema import JSONDeserializer, JSONSerializer  # noqa: E402
from confluent_kafka.schema_registry.protobuf import ProtobufDeserializer, ProtobufSerializer  # noqa: E402
from confluent_kafka.serialization import MessageField, SerializationContext  # noqa: E402

FIRST = {"type": "record", "name": "Oven", "namespace": "bakery", "fields": [{"name": "id", "type": "string"}]}
SECOND = {**FIRST, "fields": [*FIRST["fields"], {"name": "heat", "type": "int", "default": 180}]}


@pytest.fixture
def client(registry_url: str) -> SchemaRegistryClient:
    return SchemaRegistryClient({"url": registry_url})


@pytest.fixture
def topic() -> str:
    return f"ovens-{uuid.uuid4().hex[:8]}"


def value_of(topic: str) -> SerializationContext:
    return SerializationContext(topic, MessageField.VALUE)


def test_avro_of_two_versions_is_read_with_the_one_it_was_written_with(
    client: SchemaRegistryClient, topic: str
) -> None:
    written = [
        AvroSerializer(client, json.dumps(schema))(value, value_of(topic))
        for schema, value in ((FIRST, {"id": "a"}), (SECOND, {"id": "b", "heat": 250}))
    ]
    assert all(payload is not None and payload[:1] == b"\0" for payload in written)
    read = AvroDeserializer(client, json.dumps(SECOND))
    assert [read(payload, value_of(topic)) for payload in written] == [
        {"id": "a", "heat": 180},
        {"id": "b", "heat": 250},
    ]
    assert client.get_versions(f"{topic}-value") == [1, 2]
    latest = client.get_latest_version(f"{topic}-value")
    assert json.loads(latest.schema.schema_str) == SECOND
    assert client.get_schema_by_guid(latest.guid).schema_str == latest.schema.schema_str
    assert client.lookup_schema(f"{topic}-value", Schema(json.dumps(FIRST), "AVRO")).version == 1


def test_avro_with_a_reference_to_another_subject(client: SchemaRegistryClient, topic: str) -> None:
    client.register_schema(f"{topic}-oven", Schema(json.dumps(FIRST), "AVRO"))
    shift = {"type": "record", "name": "Shift", "fields": [{"name": "oven", "type": "bakery.Oven"}]}
    schema = Schema(json.dumps(shift), "AVRO", [SchemaReference("bakery.Oven", f"{topic}-oven", 1)])
    payload = AvroSerializer(client, schema)({"oven": {"id": "a"}}, value_of(topic))
    assert AvroDeserializer(client)(payload, value_of(topic)) == {"oven": {"id": "a"}}
    with pytest.raises(SchemaRegistryError) as refused:
        client.delete_version(f"{topic}-oven", 1)
    assert refused.value.error_code == 42206


def test_json_with_a_reference_to_another_subject(client: SchemaRegistryClient, topic: str) -> None:
    heat = {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "heat.json", "type": "integer", "maximum": 300}
    client.register_schema(f"{topic}-heat", Schema(json.dumps(heat), "JSON"))
    oven = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Oven",
        "type": "object",
        "properties": {"heat": {"$ref": "heat.json"}},
    }
    schema = Schema(json.dumps(oven), "JSON", [SchemaReference("heat.json", f"{topic}-heat", 1)])
    payload = JSONSerializer(schema, client)({"heat": 250}, value_of(topic))
    assert JSONDeserializer(schema, schema_registry_client=client)(payload, value_of(topic)) == {"heat": 250}


def messages(topic: str) -> tuple[Any, Any]:
    """Two Protobuf files, the second of which imports the first; the class of the message of the second."""
    pool = descriptor_pool.DescriptorPool()
    package = topic.replace("-", "_")
    heat = descriptor_pb2.FileDescriptorProto(name=f"{topic}/heat.proto", package=package, syntax="proto3")
    message = heat.message_type.add(name="Heat")
    message.field.add(name="degrees", number=1, type=5, label=1)
    oven = descriptor_pb2.FileDescriptorProto(name=f"{topic}/oven.proto", package=package, syntax="proto3")
    oven.dependency.append(heat.name)
    message = oven.message_type.add(name="Oven")
    message.field.add(name="id", number=1, type=9, label=1)
    message.field.add(name="heat", number=2, type=11, label=1, type_name=f".{package}.Heat")
    for file in (heat, oven):
        pool.AddSerializedFile(file.SerializeToString())
    found = (pool.FindMessageTypeByName(f"{package}.{name}") for name in ("Oven", "Heat"))
    oven_class, heat_class = map(message_factory.GetMessageClass, found)
    return oven_class, heat_class


def test_protobuf_with_an_import_from_another_subject(client: SchemaRegistryClient, topic: str) -> None:
    oven_class, heat_class = messages(topic)
    options = {"use.deprecated.format": False}
    payload = ProtobufSerializer(oven_class, client, options)(
        oven_class(id="a", heat=heat_class(degrees=250)), value_of(topic)
    )
    read = ProtobufDeserializer(oven_class, options, client)(payload, value_of(topic))
    assert (read.id, read.heat.degrees) == ("a", 250)
    stored = client.get_latest_version(f"{topic}-value")
    assert stored.schema.schema_type == "PROTOBUF"
    assert "message Oven {" in stored.schema.schema_str
    assert [one.name for one in stored.schema.references] == [f"{topic}/heat.proto"]


def test_an_incompatible_version_is_refused_as_the_client_knows_it(client: SchemaRegistryClient, topic: str) -> None:
    client.register_schema(f"{topic}-value", Schema(json.dumps(FIRST), "AVRO"))
    broken = {**FIRST, "fields": [{"name": "heat", "type": "int"}]}
    assert not client.test_compatibility(f"{topic}-value", Schema(json.dumps(broken), "AVRO"))
    with pytest.raises(SchemaRegistryError) as refused:
        client.register_schema(f"{topic}-value", Schema(json.dumps(broken), "AVRO"))
    assert (refused.value.http_status_code, refused.value.error_code) == (409, 409)
    client.set_compatibility(f"{topic}-value", "NONE")
    assert client.get_compatibility(f"{topic}-value") == "NONE"
    client.register_schema(f"{topic}-value", Schema(json.dumps(broken), "AVRO"))
    assert client.delete_subject(f"{topic}-value") == [1, 2]
    assert client.delete_subject(f"{topic}-value", permanent=True) == [1, 2]

"""What judging a payload costs, against parsing the same bytes with the fastest parser there is."""

from __future__ import annotations

import io
import random
from collections.abc import Callable, Iterator
from typing import Any

import fastavro
import msgspec
import orjson
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from lxml import etree

from bench import stream
from bench.measure import Ratio, cpu_of, cpu_of_each, ratio
from postroom.formats.table import parse_schema

COUNT = 3000
ROUNDS = 5
SCHEMAS = 2000

PROTO = """syntax = "proto3";
message Reading {
  string sensor = 1; double value = 2; int64 count = 3; string unit = 4; bool ok = 5; string note = 6;
}
"""

XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
<xs:element name="reading"><xs:complexType><xs:sequence>
<xs:element name="sensor" type="xs:string"/><xs:element name="value" type="xs:double"/>
<xs:element name="count" type="xs:long"/><xs:element name="ok" type="xs:boolean"/>
<xs:element name="note" type="xs:string"/>
</xs:sequence></xs:complexType></xs:element></xs:schema>"""

STRUCTURE = {
    "$schema": "https://json-structure.org/meta/core/v0/#",
    "$id": "https://example.com/reading",
    "name": "Reading",
    "type": "object",
    "required": ["sensor", "value"],
    "properties": {
        "sensor": {"type": "string"},
        "value": {"type": "double"},
        "count": {"type": "int32"},
        "unit": {"type": "string"},
        "ok": {"type": "boolean"},
        "note": {"type": "string"},
    },
}


def measure() -> Iterator[Ratio]:
    """Each format against its parser; and compiling many schemas."""
    yield from _json()
    yield _avro()
    yield _protobuf()
    for version, goal in (("1.0", 3), ("1.1", None)):
        yield _xml(version, goal)

    def compile_all() -> None:
        for number in range(SCHEMAS):
            parse_schema("JsonSchema/draft-07", {**stream.READING, "title": f"Reading {number}"})

    yield Ratio(f"seconds to compile {SCHEMAS} JSON Schemas", cpu_of(compile_all), 10)


def _json() -> Iterator[Ratio]:
    for size, name in ((stream.SMALL, "300 B"), (2000, "2 KB")):
        payloads = [msgspec.json.encode(data) for data in _data(size)]
        schema: Any = parse_schema("JsonSchema/draft-07", stream.READING)
        yield _against(f"JSON Schema, {name} / orjson", schema.accepts, orjson.loads, payloads, 1.8)
    payloads = [msgspec.json.encode(data) for data in _data(stream.SMALL)]
    structure = parse_schema("JsonStructure/draft-02", STRUCTURE)
    yield _against("JSON Structure / orjson", structure.judge, orjson.loads, payloads, None)


def _avro() -> Ratio:
    schema, parsed = parse_schema("Avro/1.11", stream.AVRO_READING), fastavro.parse_schema(stream.AVRO_READING)
    payloads = [stream.avro_encoder()(data) for data in _data(stream.SMALL)]

    def parse(payload: bytes) -> Any:
        return fastavro.schemaless_reader(io.BytesIO(payload), parsed, None)

    return _against("Avro / fastavro.schemaless_reader", schema.judge, parse, payloads, 1.5)


def _protobuf() -> Ratio:
    schema: Any = parse_schema("Protobuf/3", PROTO)
    payloads = [schema.encode({**data, "note": data["note"] * 5}) for data in _data(stream.SMALL)]
    parse = _reading_class().FromString
    return _against("Protobuf, accepts / FromString", schema.accepts, parse, payloads, 1.5)


def _reading_class() -> Any:
    """The same message as a class of the plain runtime."""
    file = descriptor_pb2.FileDescriptorProto(name="bench_reading.proto", syntax="proto3")
    message = file.message_type.add(name="Reading")
    kinds = ("STRING", "DOUBLE", "INT64", "STRING", "BOOL", "STRING")
    for number, (name, kind) in enumerate(zip(("sensor", "value", "count", "unit", "ok", "note"), kinds, strict=True)):
        field = descriptor_pb2.FieldDescriptorProto
        message.field.add(
            name=name, number=number + 1, type=field.Type.Value(f"TYPE_{kind}"), label=field.LABEL_OPTIONAL
        )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("Reading"))


def _xml(version: str, goal: float | None) -> Ratio:
    schema: Any = parse_schema(f"XSD/{version}", XSD)
    payloads = [
        f"<reading><sensor>{d['sensor']}</sensor><value>{d['value']}</value><count>{d['count']}</count>"
        f"<ok>true</ok><note>{d['note']}</note></reading>".encode()
        for d in _data(stream.SMALL)
    ]
    return _against(f"XSD {version}, accepts / lxml.etree.fromstring", schema.accepts, etree.fromstring, payloads, goal)


def _data(size: int) -> list[dict[str, Any]]:
    """Payloads that fit, of about this size with their envelopes."""
    found = [data for _, data in stream.events(COUNT, 10, size) if isinstance(data["value"], float)]
    random.Random(3).shuffle(found)
    return found


def _against(
    name: str, judge: Callable[[bytes], Any], parse: Callable[[bytes], Any], payloads: list[bytes], goal: float | None
) -> Ratio:
    return ratio(name, lambda: cpu_of_each(judge, payloads), lambda: cpu_of_each(parse, payloads), goal, ROUNDS)

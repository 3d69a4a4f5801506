"""What judging a payload costs, against parsing the same bytes with the fastest parser there is."""

from __future__ import annotations

import functools
import io
import random
from collections.abc import Callable, Iterator
from typing import Any, cast

import fastavro
import msgspec
import orjson
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from lxml import etree

from bench import stream
from bench.measure import Ratio, cpu_of, cpu_of_each, ratio
from postroom.formats.fill_columns import filler
from postroom.formats.format_table import parse_schema
from postroom.formats.protobuf.protoc import compile_texts
from postroom.formats.schema import CheckingSchema, FastSchema
from postroom.formats.schema_versions import Version, Versions
from postroom.messages.matching.payload_decoders import ExactDecoder, QuickDecoder
from postroom.messages.matching.versioned_decoders import VersionDecoder

COUNT = 3000
TOGETHER = 500
ROUNDS = 21
SCHEMAS = 2000

PROTO = """syntax = "proto3";
message Reading {
  string sensor = 1; double value = 2; int64 count = 3; string unit = 4; bool ok = 5; string note = 6;
}
"""

RIDE = """syntax = "proto3";
message Ride {
  message Position { double lat = 1; double lon = 2; int32 accuracy = 3; }
  message Sample { int64 at = 1; double value = 2; Position position = 3; }
  string ride = 1; string bicycle = 2; int64 started = 3; Position from = 4; Position to = 5;
  repeated Sample samples = 6; map<string, string> labels = 7; repeated int32 codes = 8;
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
    yield from _avro()
    yield from _protobuf()
    for version, goal in (("1.0", 3), ("1.1", None)):
        yield _xml(version, goal)

    for format_name, document, name in (
        ("JsonSchema/draft-07", msgspec.json.encode(stream.READING).decode(), "sensor"),
        ("Protobuf/3", PROTO, "Reading"),
        ("XSD/1.0", XSD, "reading"),
    ):
        yield _compiling(format_name, document, name)


def _compiling(format_name: str, document: str, name: str) -> Ratio:
    """As many different schemas; the first one, which loads libraries, does not count."""

    def parse(number: int) -> Any:
        text = document.replace(name, f"{name}{number}")
        return parse_schema(format_name, msgspec.json.decode(text) if text.startswith("{") else text)

    parse(SCHEMAS)
    seconds = cpu_of(lambda: [parse(number) for number in range(SCHEMAS)])
    return Ratio(f"seconds to compile {SCHEMAS} schemas, {format_name}", seconds, 10)


def _json() -> Iterator[Ratio]:
    for size, name in ((stream.SMALL, "300 B"), (2000, "2 KB")):
        payloads = [msgspec.json.encode(data) for data in _data(size)]
        schema: Any = parse_schema("JsonSchema/draft-07", stream.READING)
        yield _against(f"JSON Schema, {name}, fill / orjson", schema.fill, orjson.loads, payloads, 1.8)
        yield _filling(f"JSON Schema, {name}, fill_all / orjson", schema, orjson.loads, payloads, 1.8)
    payloads = [msgspec.json.encode(data) for data in _data(stream.SMALL)]
    structure: Any = parse_schema("JsonStructure/draft-02", STRUCTURE)
    yield _filling("JSON Structure, fill_all / orjson", structure, orjson.loads, payloads, None)


def _avro() -> Iterator[Ratio]:
    schema: Any = parse_schema("Avro/1.11", stream.AVRO_READING)
    parsed = fastavro.parse_schema(stream.AVRO_READING)
    payloads = [stream.avro_encoder()(data) for data in _data(stream.SMALL)]

    def parse(payload: bytes) -> Any:
        return fastavro.schemaless_reader(io.BytesIO(payload), parsed, None)

    yield _against("Avro, judge / fastavro.schemaless_reader", schema.validate, parse, payloads, 1.5)
    yield _filling("Avro, fill_all / fastavro.schemaless_reader", schema, parse, payloads, 1.5)
    yield from _framed()


def _framed() -> Iterator[Ratio]:
    """Payloads behind the header of the reader's own version, and of two in turns, against the same without one."""
    former, schema = (cast("Any", parse_schema("Avro/1.12", document)) for document in stream.avro_versions())
    versions = Versions(schema, "2", [Version("1", (1,), lambda: former), Version("2", (2,), lambda: schema)])
    fill = filler(schema.columns())
    decoder = VersionDecoder(versions, schema, QuickDecoder(schema, ExactDecoder(schema.validate_unframed, fill)), fill)
    types = [""] * TOGETHER

    def decode(payloads: list[bytes]) -> None:
        bad: set[int] = set()
        decoder.all(payloads, types[: len(payloads)], bad, {}, {})
        assert not bad

    data = _data(stream.SMALL)
    own = [schema.encode(one) for one in data]
    headed = [b"\0\0\0\0\2" + payload for payload in own]
    former_of = [b"\0\0\0\0\1" + former.encode({k: v for k, v in one.items() if k != "note"}) for one in data]
    mixed = [pair[number % 2] for number, pair in enumerate(zip(former_of, headed, strict=True))]
    plain, framed, turns = (
        [some[start : start + TOGETHER] for start in range(0, len(some), TOGETHER)] for some in (own, headed, mixed)
    )
    for name, payloads, goal in (("a registry's header", framed, 1.25), ("headers of two versions", turns, 1.5)):
        yield ratio(
            f"Avro behind {name} / without one",
            functools.partial(cpu_of_each, decode, payloads),
            functools.partial(cpu_of_each, decode, plain),
            goal,
            ROUNDS,
        )


def _protobuf() -> Iterator[Ratio]:
    schema: Any = parse_schema("Protobuf/3", RIDE)
    for name, samples in (("240 B", 3), ("1.7 KB", 40)):
        payloads = [schema.encode(_ride(number, samples)) for number in range(COUNT // 2)]
        parse = _parser_of(RIDE, "Ride")
        yield _together(f"Protobuf, {name} nested", schema, parse, payloads)
        # FromString makes no values: these are reported.
        yield _filling(f"Protobuf, {name} nested, fill_all / FromString", schema, parse, payloads, None)
    flat: Any = parse_schema("Protobuf/3", PROTO)
    payloads = [flat.encode({**data, "note": data["note"] * 5}) for data in _data(stream.SMALL)]
    yield _together("Protobuf, 240 B flat", flat, _parser_of(PROTO, "Reading"), payloads)


def _filling(
    name: str, schema: FastSchema, parse: Callable[[bytes], Any], payloads: list[bytes], goal: float | None
) -> Ratio:
    """Payloads read into columns some hundreds at a time, as those of streams are; both sides keep so many values."""
    some = [payloads[start : start + TOGETHER] for start in range(0, len(payloads), TOGETHER)]
    doubtful: set[int] = set()

    def fill() -> float:
        return cpu_of_each(lambda payloads: schema.fill_all(payloads, doubtful), some)

    def parse_all() -> float:
        return cpu_of_each(lambda payloads: list(map(parse, payloads)), some)

    found = ratio(name, fill, parse_all, goal, ROUNDS)
    assert not doubtful
    return found


def _together(name: str, schema: CheckingSchema, parse: Callable[[bytes], Any], payloads: list[bytes]) -> Ratio:
    """Payloads checked without their values, as matching many lines checks them."""
    doubtful: set[int] = set()

    def check() -> None:
        schema.accepts_all(payloads, "", doubtful)

    name = f"{name}, accepts_all / FromString"
    found = ratio(name, lambda: cpu_of(check), lambda: cpu_of_each(parse, payloads), 1.5, ROUNDS)
    assert not doubtful
    return found


def _ride(number: int, samples: int) -> dict[str, Any]:
    rng = random.Random(number)

    def position() -> dict[str, Any]:
        return {"lat": rng.random() * 90, "lon": rng.random() * 180, "accuracy": rng.randint(1, 50)}

    at = 1_750_000_000_000 + number
    return {
        "ride": f"ride-{number:08}",
        "bicycle": f"B{number % 1000}",
        "started": at,
        "from": position(),
        "to": position(),
        "samples": [{"at": at + step, "value": rng.random(), "position": position()} for step in range(samples)],
        "labels": {"city": "harbour", "tariff": "day"},
        "codes": [rng.randint(1, 900) for _ in range(6)],
    }


def _parser_of(text: str, name: str) -> Any:
    """The parser of the plain runtime for the same message."""
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(compile_texts({"bench.proto": text}, "bench.proto")).file:
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name)).FromString


def _xml(version: str, goal: float | None) -> Ratio:
    schema: Any = parse_schema(f"XSD/{version}", XSD)
    payloads = [
        f"<reading><sensor>{d['sensor']}</sensor><value>{d['value']}</value><count>{d['count']}</count>"
        f"<ok>true</ok><note>{d['note']}</note></reading>".encode()
        for d in _data(stream.SMALL)
    ]
    return _against(f"XSD {version}, judge / lxml.etree.fromstring", schema.validate, etree.fromstring, payloads, goal)


def _data(size: int) -> list[dict[str, Any]]:
    """Payloads that fit, of about this size with their envelopes."""
    found = [data for _, data in stream.events(COUNT, 10, size) if isinstance(data["value"], float)]
    random.Random(3).shuffle(found)
    return found


def _against(
    name: str, judge: Callable[[bytes], Any], parse: Callable[[bytes], Any], payloads: list[bytes], goal: float | None
) -> Ratio:
    return ratio(name, lambda: cpu_of_each(judge, payloads), lambda: cpu_of_each(parse, payloads), goal, ROUNDS)

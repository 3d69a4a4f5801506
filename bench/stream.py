"""A made-up stream for the measurements: catalogs of many definitions, and events of theirs, a few of them wrong."""

from __future__ import annotations

import base64
import functools
import io
import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import fastavro
import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from postroom.catalog.catalog import Catalog

WRONG = 0.04
SMALL, LARGE = 300, 1700
SAMPLES = 20_000

READING = {
    "type": "object",
    "required": ["sensor", "value"],
    "properties": {
        "sensor": {"type": "string", "minLength": 4},
        "value": {"type": "number"},
        "count": {"type": "integer", "minimum": 0},
        "unit": {"enum": ["C", "bar", "km/h"]},
        "ok": {"type": "boolean"},
        "note": {"type": "string"},
        "history": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["at", "value"],
                "properties": {"at": {"type": "integer"}, "value": {"type": "number"}, "by": {"type": "string"}},
            },
        },
    },
}

AVRO_READING = {
    "type": "record",
    "name": "Reading",
    "fields": [
        {"name": "sensor", "type": "string"},
        {"name": "value", "type": "double"},
        {"name": "count", "type": "long"},
        {"name": "unit", "type": {"type": "enum", "name": "Unit", "symbols": ["C", "bar", "kmh"]}},
        {"name": "ok", "type": "boolean"},
        {"name": "note", "type": ["null", "string"]},
    ],
}

_SCHEMAS = {"JsonSchema/draft-07": READING, "Avro/1.11": AVRO_READING}


def catalog_of(definitions: int, schema_format: str = "JsonSchema/draft-07") -> Catalog:
    """A catalog of so many definitions, each with a type, a source template and a payload schema."""
    messages = {f"reading.{n}": _message(n, schema_format) for n in range(definitions)}
    return Catalog({"messagegroups": {"plant": {"messages": messages}}})


def avro_versions() -> list[dict[str, Any]]:
    """Two versions of an Avro schema: the last one has a member that the former one has not."""
    *fields, last = cast("list[dict[str, Any]]", AVRO_READING["fields"])
    return [{**AVRO_READING, "fields": some} for some in (fields, [*fields, {**last, "default": None}])]


def catalog_of_versions(definitions: int) -> Catalog:
    """The same definitions, whose schema has two versions that list their ids."""
    versions = {
        str(number): {"format": "Avro/1.12", "schema": document, "schemaids": [number]}
        for number, document in enumerate(avro_versions(), 1)
    }
    schemas = {"reading": {"versions": versions, "meta": {"defaultversionid": "2"}}}
    messages = {
        f"reading.{n}": {**_envelope(n), "dataschemauri": "/schemagroups/plant/schemas/reading"}
        for n in range(definitions)
    }
    return Catalog(
        {"messagegroups": {"plant": {"messages": messages}}, "schemagroups": {"plant": {"schemas": schemas}}}
    )


def _message(number: int, schema_format: str) -> dict[str, Any]:
    return {**_envelope(number), "dataschemaformat": schema_format, "dataschema": _SCHEMAS[schema_format]}


def _envelope(number: int) -> dict[str, Any]:
    return {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {
            "type": {"value": type_of(number)},
            "source": {"type": "uritemplate", "value": "/plants/{plant}/machines/{machine}"},
            "time": {"required": True},
        },
    }


def type_of(number: int) -> str:
    """The CloudEvents type of a definition."""
    return f"com.example.plant.reading.{number}"


def events(count: int, definitions: int, size: int = SMALL) -> Iterator[tuple[dict[str, Any], Any]]:
    """Envelopes and payloads, 4% of them wrong in turns: the payload, the source, the type, a missing attribute."""
    rng = random.Random(7)
    for number in range(count):
        envelope = {
            "specversion": "1.0",
            "id": f"{number:08d}-{rng.getrandbits(32):08x}",
            "type": type_of(rng.randrange(definitions)),
            "source": f"/plants/{rng.choice(('oslo', 'turin', 'lyon'))}/machines/m{rng.randrange(5000)}",
            "time": _time(rng),
        }
        data: dict[str, Any] = {
            "sensor": f"sensor-{rng.randrange(10_000)}",
            "value": round(rng.uniform(-40, 400), 2),
            "count": rng.randrange(1_000_000),
            "unit": rng.choice(("C", "bar")),
            "ok": True,
            "note": f"checked by operator {rng.randrange(99)} on the night shift",
        }
        if size > SMALL:
            data["history"] = [
                {
                    "at": rng.randrange(10**9),
                    "value": round(rng.uniform(-40, 400), 2),
                    "by": f"operator {rng.randrange(99)}",
                }
                for _ in range((size - SMALL) // 48)
            ]
        if number % 100 < WRONG * 100:
            _spoil(number % 4, envelope, data)
        yield envelope, data


def _time(rng: random.Random) -> str:
    day, hour, second, milli = rng.randrange(1, 29), rng.randrange(24), rng.randrange(60), rng.randrange(1000)
    return f"2026-11-{day:02d}T{hour:02d}:00:{second:02d}.{milli:03d}Z"


def _spoil(way: int, envelope: dict[str, Any], data: dict[str, Any]) -> None:
    if way == 0:
        data["value"] = "warm"
    elif way == 1:
        envelope["source"] = "/boats/9"
    elif way == 2:
        envelope["type"] = "com.example.plant.unknown"
    else:
        del envelope["time"]


def write_lines(folder: Path, count: int, definitions: int, size: int = SMALL, files: int = 4) -> Path:
    """Structured events with JSON in them, one a line."""
    return _write_lines(folder, count, files, ({**e, "data": data} for e, data in events(count, definitions, size)))


def write_avro_lines(folder: Path, count: int, definitions: int, files: int = 4) -> Path:
    """Structured events with payloads in Avro, one a line."""
    encode = avro_encoder()
    packed = (
        {**envelope, "datacontenttype": "application/avro", "data_base64": base64.b64encode(encode(data)).decode()}
        for envelope, data in events(count, definitions)
    )
    return _write_lines(folder, count, files, packed)


def _write_lines(folder: Path, count: int, files: int, made: Iterator[dict[str, Any]]) -> Path:
    lines = map(msgspec.json.encode, made)
    folder.mkdir(parents=True)
    for part in range(files):
        with (folder / f"part-{part}.jsonl").open("wb") as file:
            for line in itertools.islice(lines, count // files):
                file.write(line + b"\n")
    return folder


def write_records(
    folder: Path, count: int, definitions: int, encode: Callable[[Any], bytes], contenttype: str, files: int = 4
) -> Path:
    """Events in binary mode as they come out of Kafka: topic, partition, offset, key, headers and value."""
    made = events(count, definitions)
    folder.mkdir(parents=True)
    header = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
    for part in range(files):
        rows = [_row(envelope, encode(data), contenttype) for envelope, data in itertools.islice(made, count // files)]
        table = pa.table(
            {
                "topic": pa.array(["plant.readings"] * len(rows)),
                "partition": pa.array([part] * len(rows), pa.int32()),
                "offset": pa.array(range(len(rows)), pa.int64()),
                "key": pa.array([row[0] for row in rows], pa.binary()),
                "headers": pa.array([row[1] for row in rows], header),
                "value": pa.array([row[2] for row in rows], pa.binary()),
            }
        )
        pq.write_table(table, folder / f"part-{part}.parquet", row_group_size=50_000)
    return folder


def _row(envelope: dict[str, Any], payload: bytes, contenttype: str) -> tuple[bytes, list[dict[str, Any]], bytes]:
    headers = [{"key": f"ce_{name}", "value": value.encode()} for name, value in envelope.items()]
    headers.append({"key": "content-type", "value": contenttype.encode()})
    return envelope["source"].encode(), headers, payload


@functools.cache
def avro_encoder() -> Callable[[Any], bytes]:
    """Payloads in Avro; those that do not fit are cut off."""
    schema = fastavro.parse_schema(AVRO_READING)

    def encode(data: Any) -> bytes:
        out = io.BytesIO()
        wrong = not isinstance(data["value"], float)
        fastavro.schemaless_writer(out, schema, {**data, "value": 1.0} if wrong else data)
        return out.getvalue()[:-3] if wrong else out.getvalue()

    return encode


def framed_encoder() -> Callable[[Any], bytes]:
    """Payloads behind ids, of two versions in turns; those that do not fit are cut off."""
    versions = itertools.cycle(enumerate(map(fastavro.parse_schema, avro_versions()), 1))

    def encode(data: Any) -> bytes:
        (schema_id, schema), out = next(versions), io.BytesIO()
        wrong = not isinstance(data["value"], float)
        fastavro.schemaless_writer(out, schema, {**data, "value": 1.0} if wrong else data)
        payload = b"\0" + schema_id.to_bytes(4) + out.getvalue()
        return payload[:-3] if wrong else payload

    return encode

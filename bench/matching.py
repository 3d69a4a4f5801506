"""What matching and making cost, against decoding the same envelope with msgspec."""

from __future__ import annotations

import json
import random
from collections import deque
from collections.abc import Iterator
from typing import Any

import msgspec

from bench.measure import Ratio, cpu_of, cpu_of_each, ratio
from postroom.catalog.catalog import Catalog
from postroom.messages.making.make import AUTO
from postroom.protocols.records import parse_record, render_record

COUNT = 3000
ROUNDS = 21
WAYS = (
    *((protocol, mode) for protocol in ("KAFKA", "HTTP") for mode in ("binary", "structured")),
    *((protocol, "binary") for protocol in ("MQTT/5.0", "AMQP/1.0", "NATS")),
    ("", "structured"),
)
"""Protocols and modes; without a protocol an event stands alone."""


def catalog_of(size: int, schema_format: str | None = "JsonSchema/draft-07") -> Catalog:
    """A catalog of so many definitions, with payload schemas or without."""
    schema = {
        "type": "object",
        "required": ["sensor", "value"],
        "properties": {
            "sensor": {"type": "string", "minLength": 8},
            "value": {"type": "number"},
            "unit": {"enum": ["C", "bar", "km/h"]},
            "note": {"type": "string", "minLength": 40, "maxLength": 40},
        },
    }
    messages: dict[str, Any] = {
        f"reading.{n}": {
            "envelope": "CloudEvents/1.0",
            "envelopemetadata": {
                "type": {"value": f"com.example.reading.{n}"},
                "source": {"type": "uritemplate", "value": "/plants/{plant}/machines/{machine}"},
            },
            **({"dataschemaformat": schema_format, "dataschema": schema} if schema_format else {}),
        }
        for n in range(size)
    }
    return Catalog({"messagegroups": {"readings": {"messages": messages}}})


def lines_for(catalog: Catalog, mode: str) -> list[bytes]:
    """Records of the first hundred definitions."""
    rng = random.Random(1)
    makers = [catalog.message(definition.xid).maker for definition in catalog.definitions[:100]]
    made = (
        rng.choice(makers).make({"plant": "oslo", "machine": "m7"}, AUTO, protocol="KAFKA", mode=mode, rng=rng)
        for _ in range(COUNT)
    )
    return [json.dumps(render_record(record)).encode() for record in made]


def measure() -> Iterator[Ratio]:
    """Batches and single calls, structured and binary, few and many definitions; compiling; making."""
    catalog = catalog_of(200)
    structured, binary = lines_for(catalog, "structured"), lines_for(catalog, "binary")
    envelopes = [parse_record(line).payload for line in structured]
    decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])

    def decode() -> float:
        return cpu_of_each(decoder.decode, envelopes)

    def batch(chosen: Catalog, lines: list[bytes]) -> float:
        return cpu_of(lambda: _sorted_in_bulk(chosen, lines))

    for mode, lines in (("structured", structured), ("binary", binary)):
        for goal, chosen, name in ((10, catalog, "match and validate"), (6, catalog_of(200, None), "match")):
            yield ratio(
                f"{name} a batch of {mode} records / decode the envelopes",
                lambda lines=lines, chosen=chosen: batch(chosen, lines),  # type: ignore[misc]  # bound early on purpose
                decode,
                goal,
                ROUNDS,
            )
    yield ratio(
        "catalog.match() / decode an envelope",
        lambda: cpu_of_each(catalog.match, structured),
        decode,
        15,
        ROUNDS,
    )
    many, hundred = catalog_of(10_000), catalog_of(100)
    many_lines, hundred_lines = lines_for(many, "structured"), lines_for(hundred, "structured")
    yield ratio(
        "10,000 definitions / 100 definitions",
        lambda: batch(many, many_lines),
        lambda: batch(hundred, hundred_lines),
        1.3,
        ROUNDS,
    )
    yield Ratio("seconds to compile 10,000 definitions", cpu_of(lambda: catalog_of(10_000).engine), 5)
    yield from (_making(catalog, *way) for way in WAYS)


def _sorted_in_bulk(catalog: Catalog, lines: list[bytes]) -> None:
    deque(catalog.engine.judge(lines, lambda _: None), maxlen=0)


def _making(catalog: Catalog, protocol: str, mode: str) -> Ratio:
    maker = catalog.message(catalog.definitions[0].xid).maker
    data = {"sensor": "sensor-1", "value": 12.5, "unit": "C", "note": "n" * 40}
    made = render_record(maker.make({"plant": "oslo", "machine": "m7"}, data, protocol=protocol, mode=mode))

    def make() -> None:
        for _ in range(COUNT):
            maker.make({"plant": "oslo", "machine": "m7"}, data, protocol=protocol, mode=mode)

    def serialise() -> None:
        for _ in range(COUNT):
            msgspec.json.encode(made)

    name = f"a {mode} record for {protocol}" if protocol else "an event alone"
    return ratio(f"make {name} / serialise it", lambda: cpu_of(make), lambda: cpu_of(serialise), 10, ROUNDS)

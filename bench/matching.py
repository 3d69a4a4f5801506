"""What matching and making cost, against decoding the same envelope with msgspec."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

import msgspec

from bench.measure import Ratio, cpu_of, ratio
from postroom.catalog import Catalog
from postroom.messages.making import AUTO
from postroom.protocols.records import parse_record, render_record

COUNT = 3000


def catalog_of(size: int) -> Catalog:
    """A catalog of so many definitions with payload schemas."""
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
            "dataschemaformat": "JsonSchema/draft-07",
            "dataschema": schema,
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
    """Single calls, structured and binary, few and many definitions; and making."""
    catalog = catalog_of(200)
    structured = lines_for(catalog, "structured")
    envelopes = [parse_record(line).payload for line in structured]
    decoder = msgspec.json.Decoder(dict[str, msgspec.Raw])

    def decode() -> float:
        return cpu_of(lambda: [decoder.decode(envelope) for envelope in envelopes])

    def sort(chosen: Catalog, lines: list[bytes]) -> float:
        return cpu_of(lambda: [chosen.engine.sort_line(line) for line in lines])

    for mode, lines in (("structured", structured), ("binary", lines_for(catalog, "binary"))):
        yield ratio(
            f"match and validate a {mode} record, 200 definitions / decode an envelope",
            lambda lines=lines: sort(catalog, lines),  # type: ignore[misc]  # bound early on purpose
            decode,
            None,
            rounds=5,
        )
    many = catalog_of(10_000)
    same = lines_for(many, "structured")
    yield ratio(
        "10,000 definitions / 200 definitions", lambda: sort(many, same), lambda: sort(catalog, structured), 1.3, 5
    )

"""The columnar judge reads the bindings as the exact one does."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.protocols.records import Record, line_of, render_record
from tests.messages.matching.judges import comparable
from tests.messages.matching.test_columnar import bundled, keeping
from tests.protocols.test_bindings import ARRIVALS, BODY, named, pairs

NAMES = ("subject", "trace", "count", "urgent", "partitionkey", "sub")
CATALOG = Catalog(
    {
        "messagegroups": {
            "bakery": {
                "messages": {
                    "oven.ready": {
                        "envelope": "CloudEvents/1.0",
                        "envelopemetadata": {"type": {"value": "oven.ready"}, **{name: {} for name in NAMES}},
                        "dataschemaformat": "JsonSchema/draft-07",
                        "dataschema": {"type": "object", "properties": {"celsius": {"type": "number"}}},
                    }
                }
            }
        }
    }
)

ODD: list[tuple[str, dict[str, Any]]] = [
    *(
        ("KAFKA", {"headers": {**named("ce_"), "content-type": media}})
        for media in (
            "application/cloudevents",
            "application/cloudevents+avro",
            "application/cloudevents-x+json",
            "APPLICATION/CloudEvents+JSON",
            "application/json",
            "text/plain",
            "",
        )
    ),
    *(("HTTP", {"headers": pairs("ce-", subject=value)}) for value in ("%C0%A0", "%ff", '"a b"', '"', "")),
    *(("NATS", {"headers": pairs("ce-", datacontenttype=value)}) for value in ("text/plain", "application/json", "")),
    *(("MQTT/5.0", {"user_properties": pairs("", specversion=value)}) for value in ("0.3", "1.0", "")),
]


@pytest.mark.parametrize(
    ("protocol", "metadata"), [*((protocol, metadata) for protocol, metadata, _ in ARRIVALS.values()), *ODD]
)
def test_both_judges_read_the_same_event(protocol: str, metadata: dict[str, Any]) -> None:
    line = line_of(render_record(Record(protocol, metadata, BODY)))
    for result in bundled(CATALOG, [line, line]).values():
        assert [comparable(result)] == [comparable(exact) for exact in keeping(CATALOG).sort_exactly(line)]

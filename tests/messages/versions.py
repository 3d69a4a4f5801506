"""Catalogs whose payload schema has versions, and events of theirs."""

from __future__ import annotations

import base64
import json
from typing import Any

from postroom.catalog.catalog import Catalog
from postroom.messages.matching.columnar import LandedEvents
from postroom.messages.matching.group_events import RecordColumns
from postroom.messages.matching.outcome import Sorted
from tests.messages.matching.judges import KafkaColumns

XID = "/messagegroups/g/messages/m"
SCHEMA = "/schemagroups/g/schemas/s"
HEADERS = {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "/a", "ce_type": "m"}

Versions = dict[str, tuple[Any, list[int]]]
"""Documents and their ids, by the name of the version."""


def tree(versions: Versions, schema_format: str = "Avro", reference: str = SCHEMA, **message: Any) -> dict[str, Any]:
    """A catalog document of one message; the last version is the default one."""
    stored = {
        name: {"format": schema_format, "schema": document, **({"schemaids": ids} if ids else {})}
        for name, (document, ids) in versions.items()
    }
    definition = {
        "envelope": "CloudEvents/1.0",
        "envelopemetadata": {"type": {"value": "m"}},
        "dataschemauri": reference,
        **message,
    }
    schema = {"versions": stored, "meta": {"defaultversionid": list(versions)[-1]}}
    return {
        "schemagroups": {"g": {"schemas": {"s": schema}}},
        "messagegroups": {"g": {"messages": {"m": definition}}},
    }


def catalog(versions: Versions, schema_format: str = "Avro", reference: str = SCHEMA, **message: Any) -> Catalog:
    """The same, opened."""
    return Catalog(tree(versions, schema_format, reference, **message))


def line(payload: bytes, contenttype: str = "") -> bytes:
    """An event over Kafka as a line of JSON."""
    headers = {**HEADERS, **({"content-type": contenttype} if contenttype else {})}
    body = {"payload_base64": base64.b64encode(payload).decode()}
    return json.dumps({"protocol": "KAFKA", "metadata": {"headers": headers}, **body}).encode()


def sort(catalog: Catalog, payload: bytes, contenttype: str = "") -> Sorted:
    """What the exact judge makes of a payload."""
    (found,) = catalog.engine.sort_exactly(line(payload, contenttype))
    return found


def bundle(catalog: Catalog, payloads: list[bytes], contenttype: str = "") -> tuple[LandedEvents | None, list[int]]:
    """What lands by column of payloads, and the rows of the others."""
    count = len(payloads)
    attributes: dict[str, list[str | None]] = {
        name: [value] * count for name, value in {"specversion": "1.0", "id": "1", "source": "/a", "type": "m"}.items()
    }
    records = RecordColumns(list(range(count)), attributes, [contenttype] * count, payloads, lambda _: {})
    landed: list[LandedEvents] = []
    lines = [line(payload, contenttype) for payload in payloads]
    left = [judged.row for judged in catalog.engine.judge(KafkaColumns([records], lines), landed.append)]
    return landed[0] if landed else None, left

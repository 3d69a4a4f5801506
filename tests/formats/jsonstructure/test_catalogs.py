"""Real schema documents and real messages, where they lie beside the checkout."""

import base64
import functools
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postroom.formats.fill_columns import filler
from postroom.formats.format_table import check_schema, parse_schema
from postroom.formats.schema import FastSchema, PayloadSchema
from tests.formats.jsonstructure.schemas import without_nulls


def documents(value: Any) -> Iterator[tuple[str, Any]]:
    """Every JSON Structure document in a catalog."""
    if isinstance(value, dict):
        if "structure" in str(value.get("format", "")).lower() and "schema" in value:
            yield value["format"], value["schema"]
        for member in value.values():
            yield from documents(member)


@functools.lru_cache(maxsize=200)
def catalog(path: Path) -> Any:
    return json.loads(path.read_text())


@pytest.mark.feature("SCH-016")
def test_every_real_schema_is_read(shared: Path) -> None:
    count = 0
    for path in sorted((shared / "catalogs").rglob("*.json")):
        for name, schema in documents(catalog(path)):
            check_schema(name, schema)
            parse_schema(name, schema).columns()
            count += 1
    assert count > 200


def payload(event: dict[str, Any]) -> bytes:
    record = event["record"]
    body = record["payload"].encode() if "payload" in record else base64.b64decode(record["payload_base64"])
    if event["mode"] != "structured":
        return bytes(body)
    envelope = json.loads(body)
    return (
        base64.b64decode(envelope["data_base64"])
        if "data_base64" in envelope
        else json.dumps(envelope["data"]).encode()
    )


def schema_of(shared: Path, event: dict[str, Any]) -> PayloadSchema | None:
    found = catalog(shared / "catalogs" / event["catalog"])
    for step in event["expect"]["dataschemauri"].strip("#/").split("/"):
        found = found[step]
    version = found["versions"][found.get("defaultversionid") or max(found["versions"])]
    name = version.get("format") or found["format"]
    return parse_schema(name, version["schema"]) if "structure" in name.lower() else None


def test_every_real_message_is_validated_as_labelled(shared: Path) -> None:
    schemas: dict[tuple[str, str], PayloadSchema | None] = {}
    right, wrong = 0, Counter[str]()
    for path in sorted((shared / "events").rglob("*.jsonl")):
        for line in path.open():
            event = json.loads(line)
            reference = event["expect"].get("dataschemauri") or ""
            if not reference.startswith("#"):
                continue
            key = (event["catalog"], reference)
            if key not in schemas:
                schemas[key] = schema_of(shared, event)
            schema = schemas[key]
            if schema is None:
                continue
            value, violations = schema.validate(payload(event))
            if (violations == []) == event["expect"]["payload_valid"]:
                right += 1
            else:
                wrong[reference.rpartition("/")[2]] += 1
            if not violations:
                filled = filler(schema.columns())(value)
                assert isinstance(schema, FastSchema)
                assert without_nulls(schema.fill(payload(event))[0]) == without_nulls(filled)
    assert wrong == {}
    assert right > 4400

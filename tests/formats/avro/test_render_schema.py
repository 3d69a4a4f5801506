"""The parsing canonical form and its fingerprint."""

from typing import Any

import fastavro.schema
import pytest

from postroom.formats.avro.format import parse
from postroom.formats.avro.render_schema import canonical_form, fingerprint
from postroom.formats.schema import SchemaDocument

OVEN = {
    "name": "Oven",
    "doc": "Bakes.",
    "type": "record",
    "namespace": "kitchen",
    "aliases": ["Stove"],
    "fields": [
        {"type": {"type": "string"}, "name": "name", "default": "Eva"},
        {"name": "mode", "type": ["null", {"symbols": ["FAN"], "type": "enum", "name": "Mode"}]},
        {"name": "old", "type": {"type": "array", "items": "Mode"}},
        {"name": "key", "type": {"type": "fixed", "name": "other.Key", "size": 3, "logicalType": "decimal"}},
        {"name": "more", "type": {"type": "map", "values": {"type": "long", "logicalType": "timestamp-millis"}}},
        {"name": "next", "type": ["null", "Oven"]},
    ],
}


@pytest.mark.parametrize("document", ["int", {"type": "bytes"}, ["null", "string"], OVEN])
def test_the_form_is_that_of_fastavro(document: Any) -> None:
    kind = parse(SchemaDocument(document=document)).type
    expected = fastavro.schema.to_parsing_canonical_form(document)
    assert canonical_form(kind) == expected
    assert fingerprint(kind).hex() == fastavro.schema.fingerprint(expected, "CRC-64-AVRO")


@pytest.mark.parametrize(
    ("document", "number"),
    # The numbers are those of the test data of the reference implementation.
    [("null", 7195948357588979594), ("boolean", -6970731678124411036), ("int", 8247732601305521295)],
)
def test_fingerprints_are_those_of_the_reference_implementation(document: str, number: int) -> None:
    kind = parse(SchemaDocument(document=document)).type
    assert int.from_bytes(fingerprint(kind), "little", signed=True) == number

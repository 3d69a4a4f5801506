"""References to other documents that lead nowhere: another error than that of a broken document, in every format."""

from __future__ import annotations

from typing import Any

import pytest

from postroom.errors import ReferenceMissing, SchemaRefused
from postroom.formats.format_table import check_schema, parse_schema

XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">{}
<xs:element name="ride" type="xs:string"/></xs:schema>"""
STRUCTURE = {
    "$schema": "https://json-structure.org/meta/core/v0/#",
    "$id": "https://rides.example/ride",
    "name": "Ride",
    "type": "object",
    "properties": {"bicycle": {"type": "string"}},
}
PROTO = 'syntax = "proto3"; import "places.proto"; message Ride { Place start = 1; }'

DANGLING: list[tuple[str, Any]] = [
    ("JsonSchema/draft-07", {"properties": {"start": {"$ref": "places.json#/definitions/Place"}}}),
    ("JsonSchema/draft/2020-12", {"$ref": "/schemagroups/rides/schemas/places"}),
    ("JsonSchema/draft/2020-12", {"$dynamicRef": "https://places.example/place#here"}),
    ("Protobuf/3", PROTO),
    ("XSD/1.0", XSD.format('<xs:include schemaLocation="places.xsd"/>')),
    ("XSD/1.0", XSD.format('<xs:redefine schemaLocation="places.xsd"/>')),
    ("XSD/1.0", XSD.format('<xs:import namespace="urn:places" schemaLocation="places.xsd"/>')),
    ("XSD/1.1", XSD.format('<xs:override schemaLocation="places.xsd"/>')),
    ("JsonStructure/draft-02", {**STRUCTURE, "$import": "https://places.example/places"}),
    ("JsonStructure/draft-02", {**STRUCTURE, "definitions": {"$importdefs": "https://places.example/places"}}),
]

BROKEN: list[tuple[str, Any]] = [
    ("JsonSchema/draft-07", {"properties": {"start": {"$ref": "#/definitions/Place"}}}),
    ("Avro/1.11", {"type": "record", "name": "Ride", "fields": [{"name": "start", "type": "Place"}]}),
    ("Protobuf/3", 'syntax = "proto3"; message Ride { Place start = 1; }'),
    ("XSD/1.0", XSD.format('<xs:element name="start" type="Place"/>')),
    ("JsonStructure/draft-02", {**STRUCTURE, "properties": {"start": {"type": {"$ref": "#/definitions/Place"}}}}),
]


@pytest.mark.parametrize(("name", "document"), DANGLING)
def test_a_missing_document_is_named(name: str, document: Any) -> None:
    with pytest.raises(ReferenceMissing, match="places"):
        check_schema(name, document)
    with pytest.raises(ReferenceMissing, match="places"):
        parse_schema(name, document)


@pytest.mark.parametrize(("name", "document"), BROKEN)
def test_a_missing_definition_in_the_same_document_makes_it_invalid(name: str, document: Any) -> None:
    with pytest.raises(SchemaRefused) as refused:
        check_schema(name, document)
    assert not isinstance(refused.value, ReferenceMissing)

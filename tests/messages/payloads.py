"""Payload schemas of all five formats, small and telling: (format, content type, document)."""

from __future__ import annotations

from typing import Any

ORDER = {
    "type": "object",
    "required": ["order", "cents"],
    "properties": {
        "order": {"type": "string", "minLength": 2},
        "cents": {"type": "integer", "minimum": 0},
        "paid": {"type": "boolean"},
        "placed": {"type": "string", "format": "date-time"},
        "days": {"type": "array", "items": {"type": ["string", "null"], "format": "date"}},
        "waits": {"type": "object", "additionalProperties": {"type": "string", "format": "duration"}},
        "lines": {"type": "array", "items": {"type": "object", "properties": {"sku": {"type": "string"}}}},
    },
    "additionalProperties": False,
}
READING = {
    "type": "record",
    "name": "Reading",
    "fields": [
        {"name": "sensor", "type": "string"},
        {"name": "celsius", "type": "double"},
        {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["OK", "BAD"]}},
        {"name": "note", "type": ["null", "string"], "default": None},
        {"name": "taken", "type": ["null", {"type": "long", "logicalType": "timestamp-nanos"}], "default": None},
        {
            "name": "spans",
            "type": {
                "type": "array",
                "items": {"type": "fixed", "name": "Span", "size": 12, "logicalType": "duration"},
            },
            "default": [],
        },
    ],
}
TRIP = """syntax = "proto3";
import "google/protobuf/timestamp.proto";
import "google/protobuf/duration.proto";
message Trip {
  string vin = 1; int32 stops = 2; repeated string tags = 3; Place from = 4;
  google.protobuf.Timestamp began = 5; repeated google.protobuf.Timestamp halts = 6;
  map<string, google.protobuf.Duration> waits = 7;
}
message Place { double latitude = 1; double longitude = 2; }
"""
PARCEL = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
<xs:element name="parcel"><xs:complexType><xs:sequence>
<xs:element name="barcode" type="xs:string"/><xs:element name="grams" type="xs:positiveInteger"/>
<xs:element name="stop" type="xs:date" minOccurs="0" maxOccurs="3"/>
<xs:element name="sent" type="xs:dateTime" minOccurs="0"/><xs:element name="way" type="xs:duration" minOccurs="0"/>
</xs:sequence><xs:attribute name="fragile" type="xs:boolean" use="required"/></xs:complexType></xs:element>
</xs:schema>"""
OVEN = {
    "$schema": "https://json-structure.org/meta/core/v0/#",
    "$id": "https://bakery.example/oven",
    "name": "Oven",
    "type": "object",
    "properties": {
        "oven": {"type": "string"},
        "celsius": {"type": "int32"},
        "opened": {"type": "datetime"},
        "bakes": {"type": "array", "items": {"type": "object", "properties": {"took": {"type": "duration"}}}},
        "price": {"type": "decimal", "precision": 8, "scale": 2},
    },
    "required": ["oven", "celsius"],
}

SCHEMAS: list[tuple[str, str, Any]] = [
    ("JsonSchema/draft-07", "application/json", ORDER),
    ("JsonSchema/draft-2020-12", "", {"type": "array", "items": {"type": "number"}, "minItems": 1}),
    ("Avro/1.11", "application/avro", READING),
    ("Avro/1.11", "application/json", READING),
    ("Protobuf/3", "application/protobuf", TRIP),
    ("Protobuf/3", "application/json", TRIP),
    ("XSD/1.1", "application/xml", PARCEL),
    ("JsonStructure/draft-04", "application/json", OVEN),
]


def declared(schema: tuple[str, str, Any] | None) -> dict[str, Any]:
    """The members of a message that declare a schema."""
    if schema is None:
        return {}
    name, contenttype, document = schema
    stated = {"datacontenttype": contenttype} if contenttype else {}
    picked = {"dataschemauri": "/schemagroups/s/schemas/p#Trip"} if document is TRIP else {"dataschema": document}
    return {"dataschemaformat": name, **picked, **stated}


GROUPS = {"s": {"schemas": {"p": {"versions": {"1": {"format": "Protobuf/3", "schema": TRIP}}}}}}

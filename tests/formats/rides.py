"""One meaning in five formats: a ride on a bicycle, and how each format and its neighbours write it."""

from __future__ import annotations

from typing import Any, NamedTuple

XS = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"'


class Ride(NamedTuple):
    """What a format has for rides: names, documents, a valid payload, and payloads that are not."""

    name: str
    aliases: tuple[str, ...]
    document: Any
    # The same without the optional note, which then nobody asks for; and with a length of another type.
    wider: Any
    other: Any
    # A document of two types, the fragment that picks the second, and one that picks nothing.
    two: Any
    second: str
    nothing: str
    valid: bytes
    invalid: bytes
    contenttype: str


_JSON = b"""{"bicycle":"b-7","seconds":5000000000,"price":"12.50","stops":["Rue A","Rue B"],"tags":{"city":"Lyon"},
"mode":"TOUR","start":{"place":"Rue A"}}"""
_BROKEN_JSON = _JSON.replace(b'"b-7"', b"7")


def _json_schema(**changed: Any) -> dict[str, Any]:
    members: dict[str, Any] = {
        "bicycle": {"type": "string"},
        "seconds": {"type": "integer"},
        "price": {"type": "string"},
        "stops": {"type": "array", "items": {"type": "string"}},
        "tags": {"type": "object", "additionalProperties": {"type": "string"}},
        "note": {"type": "string"},
        "mode": {"type": "string", "enum": ["TOUR", "RACE"]},
        "start": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
    } | changed
    required = [name for name in members if name != "note"]
    return {"type": "object", "properties": members, "required": required}


JSON_SCHEMA = Ride(
    "JsonSchema/draft-07",
    ("JSONSchema/Draft-07", "json-schema/draft-07", "JsonSchema"),
    _json_schema(),
    _json_schema(note={}),
    _json_schema(seconds={"type": "string"}),
    {"definitions": {"Place": {"type": "string"}}, "type": "object"},
    "#/definitions/Place",
    "#/definitions/Nowhere",
    _JSON,
    _BROKEN_JSON,
    "application/json",
)


def _avro(**changed: Any) -> dict[str, Any]:
    members: dict[str, Any] = {
        "bicycle": "string",
        "seconds": "long",
        "price": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
        "stops": {"type": "array", "items": "string"},
        "tags": {"type": "map", "values": "string"},
        "note": ["null", "string"],
        "mode": {"type": "enum", "name": "Mode", "symbols": ["TOUR", "RACE"]},
        "start": {"type": "record", "name": "Place", "fields": [{"name": "place", "type": "string"}]},
    } | changed
    fields = [{"name": name, "type": kind} for name, kind in members.items()]
    return {"type": "record", "name": "Ride", "fields": fields}


AVRO = Ride(
    "Avro/1.11",
    ("AVRO/1.11.1", "Avro", "ApacheAvro/1.9"),
    _avro(),
    _avro(seconds="double"),
    _avro(seconds="string"),
    _avro(),
    ":Place",
    ":Nowhere",
    b"\x06b-7\x80\xc8\xaf\xa0%\x04\x04\xe2\x04\x0aRue A\x0aRue B\x00\x02\x08city\x08Lyon\x00\x00\x00\x0aRue A",
    b"\x06b-7\x80\xc8\xaf\xa0%\x04\x04\xe2\x00\x00\x00\x0a\x0aRue A",
    "application/avro",
)

_PROTO = """syntax = "proto3";
message Ride {
  enum Mode { TOUR = 0; RACE = 1; }
  message Place { string place = 1; }
  string bicycle = 1; %s seconds = 2; string price = 3; repeated string stops = 4;
  map<string, string> tags = 5; optional string note = 6; Mode mode = 7; Place start = 8; %s
}
"""

PROTOBUF = Ride(
    "Protobuf/3",
    ("Proto/3", "Protobuf/3.0", "protobuf"),
    _PROTO % ("int64", ""),
    _PROTO % ("int64", "string weather = 9;"),
    _PROTO % ("string", ""),
    _PROTO % ("int64", "") + "message Second { string place = 1; }",
    "#Second",
    "#Nowhere",
    b"\x0a\x03b-7\x10\x80\xe4\x97\xd0\x12\x1a\x0512.50\x22\x05Rue A\x22\x05Rue B"
    b"\x2a\x0c\x0a\x04city\x12\x04Lyon\x42\x07\x0a\x05Rue A",
    b"\x0a\x02\xff\xfe",
    "application/protobuf",
)

_XSD = f"""<xs:schema {XS}>
<xs:element name="ride"><xs:complexType><xs:sequence>
<xs:element name="bicycle" type="xs:string"/><xs:element name="seconds" type="%s"/>
<xs:element name="price" type="xs:decimal"/><xs:element name="stops" type="xs:string" maxOccurs="unbounded"/>
<xs:element name="tags"><xs:complexType><xs:attribute name="city" type="xs:string"/></xs:complexType></xs:element>
<xs:element name="note" type="xs:string" minOccurs="0" maxOccurs="%s"/>
<xs:element name="mode"><xs:simpleType><xs:restriction base="xs:string"><xs:enumeration value="TOUR"/>
<xs:enumeration value="RACE"/></xs:restriction></xs:simpleType></xs:element>
<xs:element name="start"><xs:complexType><xs:sequence><xs:element name="place" type="xs:string"/></xs:sequence>
</xs:complexType></xs:element></xs:sequence></xs:complexType></xs:element>%s</xs:schema>"""
_XML = b"""<ride><bicycle>b-7</bicycle><seconds>5000000000</seconds><price>12.50</price><stops>Rue A</stops>
<stops>Rue B</stops><tags city="Lyon"/><mode>TOUR</mode><start><place>Rue A</place></start></ride>"""

XSD = Ride(
    "XSD/1.0",
    ("XMLSchema/1.0", "xsd", "xml-schema/1.0"),
    _XSD % ("xs:long", "1", ""),
    _XSD % ("xs:long", "2", ""),
    _XSD % ("xs:date", "1", ""),
    _XSD % ("xs:long", "1", '<xs:element name="second" type="xs:string"/>'),
    "#/xs:schema/xs:element[@name='second']",
    "#/xs:schema/xs:element[@name='nowhere']",
    _XML,
    _XML.replace(b"5000000000", b"long"),
    "application/xml",
)


def _structure(**changed: Any) -> dict[str, Any]:
    members: dict[str, Any] = {
        "bicycle": {"type": "string"},
        "seconds": {"type": "int64"},
        "price": {"type": "decimal", "precision": 9, "scale": 2},
        "stops": {"type": "array", "items": {"type": "string"}},
        "tags": {"type": "map", "values": {"type": "string"}},
        "note": {"type": "string"},
        "mode": {"type": "string", "enum": ["TOUR", "RACE"]},
        "start": {"type": "object", "name": "Place", "properties": {"place": {"type": "string"}}},
    } | changed
    return {
        "$schema": "https://json-structure.org/meta/extended/v0/#",
        "$id": "https://rides.example/ride",
        "$uses": ["JSONStructureValidation"],
        "name": "Ride",
        "type": "object",
        "properties": members,
        "required": [name for name in members if name != "note"],
    }


_STRUCTURE_JSON = _JSON.replace(b"5000000000", b'"5000000000"')
STRUCTURE = Ride(
    "JsonStructure/draft-02",
    ("JSONStructure/draft-02", "json-structure/draft-02", "JsonStructure"),
    _structure(),
    _structure(note={"type": ["string", "null"]}),
    _structure(seconds={"type": "date"}),
    {**_structure(), "definitions": {"Place": {"name": "Place", "type": "string"}}},
    "#/definitions/Place",
    "#/definitions/Nowhere",
    _STRUCTURE_JSON,
    _STRUCTURE_JSON.replace(b'"b-7"', b"7"),
    "application/json",
)

RIDES = (JSON_SCHEMA, AVRO, PROTOBUF, XSD, STRUCTURE)

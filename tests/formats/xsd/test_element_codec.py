"""Columns and values of XML Schemas."""

from decimal import Decimal as Number
from typing import Any

import pytest

from postroom.formats.column_types import (
    BINARY,
    BOOLEAN,
    DATE_TEXT,
    DOUBLE,
    INT64,
    JSON_TEXT,
    STRING,
    TIMESTAMP_TEXT,
    ColumnType,
    Decimal,
    ListOf,
    MapOf,
    StructOf,
)
from postroom.formats.fill_columns import ColumnMismatch, filler
from postroom.formats.format_table import parse_schema
from tests.formats.xsd.schemas import attribute, item, order, schema, sequence, simple


@pytest.mark.parametrize(
    ("document", "column", "text", "value"),
    [
        (simple("byte"), INT64, "-7", -7),
        (simple("unsignedInt"), INT64, "7", 7),
        (simple("long"), INT64, " 9223372036854775807 ", 2**63 - 1),
        (simple("unsignedLong"), Decimal(20, 0), "18446744073709551615", Number(2**64 - 1)),
        (simple("integer"), Decimal(38, 0), "12", Number(12)),
        (simple("integer", "totalDigits=18"), INT64, "12", 12),
        (simple("positiveInteger", "maxInclusive=99"), INT64, "12", 12),
        (simple("decimal"), STRING, "1.50", "1.50"),
        (simple("decimal", "totalDigits=8 fractionDigits=2"), Decimal(10, 2), "12345678", Number(12345678)),
        (simple("decimal", "totalDigits=30 fractionDigits=10"), STRING, "1", "1"),
        (simple("decimal", "fractionDigits=2 minInclusive=0 maxInclusive=999"), Decimal(5, 2), "1.25", Number("1.25")),
        (simple("double"), DOUBLE, "-INF", float("-inf")),
        (simple("float"), DOUBLE, "1.5e3", 1500.0),
        (simple("boolean"), BOOLEAN, "1", True),
        (simple("hexBinary"), BINARY, "0aFF", b"\x0a\xff"),
        (simple("base64Binary"), BINARY, "YQ ==", b"a"),
        (simple("date"), DATE_TEXT, "2024-02-29Z", "2024-02-29Z"),
        (simple("dateTime"), TIMESTAMP_TEXT, "2024-02-29T00:00:00.123456789Z", "2024-02-29T00:00:00.123456789Z"),
        (simple("token"), STRING, "  two   words ", "two words"),
        (simple("normalizedString"), STRING, "a\tb", "a b"),
        (simple("string"), STRING, " as it is ", " as it is "),
        (simple("string", "enumeration=a"), STRING, "a", "a"),
        (simple("NMTOKENS"), ListOf(STRING), "a b  c", ["a", "b", "c"]),
    ],
)
def test_simple_types(document: str, column: ColumnType, text: str, value: Any) -> None:
    read = parse_schema("XSD/1.0", document)
    assert read.columns() == column
    assert read.validate(f"<reading>{text}</reading>".encode()) == (value, [])
    assert read.validate(read.encode(value)) == (value, [])
    filler(column)(value)


def columns(document: str) -> dict[str, ColumnType]:
    found = parse_schema("XSD/1.0", document).columns()
    assert isinstance(found, StructOf)
    return {field.name: field.type for field in found.fields}


def test_attributes_children_and_lists() -> None:
    document = order(sequence(item("id", "int"), item("line", "boolean", "0..*")) + attribute("id"))
    assert columns(document) == {"@id": STRING, "id": INT64, "line": ListOf(BOOLEAN)}
    read = parse_schema("XSD/1.0", document)
    value = {"@id": "x", "id": 1, "line": [True, False]}
    assert read.validate(b'<order id="x"><id>1</id><line>1</line><line>false</line></order>') == (value, [])
    assert read.encode(value) == b'<order id="x"><id>1</id><line>true</line><line>false</line></order>'


def test_what_only_the_payload_knows_is_kept_as_xml() -> None:
    document = order(
        sequence('<xs:any processContents="skip" minOccurs="0" maxOccurs="unbounded"/>')
        + '<xs:anyAttribute processContents="skip"/>'
    )
    assert columns(document) == {"$any": ListOf(STRING), "$anyattributes": MapOf(STRING)}
    read = parse_schema("XSD/1.0", document)
    value, wrong = read.validate(b'<order b="1"><x xmlns="urn:x" a="2">t</x><y/></order>')
    assert wrong == []
    assert value == {"$any": ['<x xmlns="urn:x" a="2">t</x>', "<y></y>"], "$anyattributes": {"b": "1"}}
    assert read.validate(read.encode(value)) == (value, [])


def test_relative_namespace_names_do_no_harm() -> None:
    read = parse_schema("XSD/1.0", order(sequence('<xs:any namespace="##any" processContents="skip"/>')))
    value, wrong = read.validate(b'<order><x xmlns="relative">t</x></order>')
    assert (value, wrong) == ({"$any": ['<x xmlns="relative">t</x>']}, [])


def test_mixed_content_keeps_its_markup() -> None:
    inside = sequence(item("b", occurs="0..*")) + attribute("lang")
    document = order(inside).replace("<xs:complexType>", '<xs:complexType mixed="true">')
    read = parse_schema("XSD/1.0", document)
    value, _ = read.validate(b'<order lang="de">so <b>viel</b> &amp; mehr</order>')
    assert value == {"@lang": "de", "value": "so <b>viel</b> &amp; mehr"}
    assert read.validate(read.encode(value)) == (value, [])


def test_nil_defaults_and_descriptions() -> None:
    note = "<xs:annotation><xs:documentation>What  the\n cook said</xs:documentation></xs:annotation>"
    document = order(
        sequence(
            item("a", "int", more='nillable="true"'),
            item("b", "int", more='default="5"'),
            f'<xs:element name="c" type="xs:int" minOccurs="0">{note}</xs:element>',
        )
        + attribute("unit", more='default="C"')
    )
    read = parse_schema("XSD/1.0", document)
    payload = b'<order xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><a i:nil="true"/><b/></order>'
    value, wrong = read.validate(payload)
    assert (value, wrong) == ({"@unit": "C", "a": None, "b": 5}, [])
    assert read.validate(read.encode(value)) == (value, [])
    found = read.columns()
    assert isinstance(found, StructOf)
    assert found.fields[-1].description == "What the cook said"


def test_types_that_hold_themselves_are_json_from_there_on() -> None:
    document = schema(
        '<xs:element name="node"><xs:complexType><xs:sequence><xs:element name="n" type="xs:int"/>'
        '<xs:element ref="node" minOccurs="0"/></xs:sequence></xs:complexType></xs:element>'
    )
    assert columns(document) == {"n": INT64, "node": JSON_TEXT}
    read = parse_schema("XSD/1.0", document)
    value, _ = read.validate(b"<node><n>1</n><node><n>2</n></node></node>")
    assert filler(read.columns())(value) == {"n": 1, "node": '{"n":2}'}


def test_substitutes_and_derived_types_are_kept_as_xml() -> None:
    document = schema(
        '<xs:element name="shape" type="xs:int"/><xs:element name="dot" substitutionGroup="shape" type="xs:int"/>'
        '<xs:complexType name="V"/><xs:complexType name="Car"><xs:complexContent><xs:extension base="V">'
        '<xs:attribute name="doors"/></xs:extension></xs:complexContent></xs:complexType>'
        '<xs:element name="page"><xs:complexType><xs:sequence><xs:element ref="shape" maxOccurs="2"/>'
        '<xs:element name="v" type="V"/></xs:sequence></xs:complexType></xs:element>'
    )
    assert columns(document) == {"shape": ListOf(STRING), "v": STRING}
    read = parse_schema("XSD/1.0", document)
    payload = (
        b'<page xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><dot>1</dot><shape>2</shape>'
        b'<v i:type="Car" doors="3"/></page>'
    )
    value, wrong = read.validate(payload)
    assert wrong == []
    assert value["shape"] == ["<dot>1</dot>", "<shape>2</shape>"]
    assert read.validate(read.encode(value))[1] == []


def test_numbers_too_long_for_their_column_are_not_lost() -> None:
    read = parse_schema("XSD/1.0", simple("integer"))
    value, _ = read.validate(b"<reading>" + b"9" * 39 + b"</reading>")
    with pytest.raises(ColumnMismatch):
        filler(read.columns())(value)


def test_an_added_optional_element_only_adds_a_column() -> None:
    before = columns(order(sequence(item("id", "int")) + attribute("at")))
    after = columns(order(sequence(item("id", "int"), item("note", occurs="0..1")) + attribute("at")))
    assert {name: after[name] for name in before} == before

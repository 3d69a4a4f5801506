"""XML Schemas as users meet them: names, references, payloads and what is wrong with them."""

import json
import random
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.errors import FormatUnknown, SchemaRefused
from postroom.formats.column_types import STRING
from postroom.formats.fill_columns import filler
from postroom.formats.format_table import check_schema, parse_schema, readable
from postroom.formats.schema import LibraryDocument, PayloadSchema
from tests.formats.xsd.random_schemas import random_schema
from tests.formats.xsd.schemas import attribute, choice, item, order, restriction, schema, sequence, simple

OVEN = schema(
    """<xs:element name="TurnedOn"><xs:complexType><xs:sequence>
<xs:element name="deviceid" type="xs:string"/>
<xs:element name="temperature" type="xs:int" maxOccurs="2"/>
<xs:element name="mode"><xs:simpleType><xs:restriction base="xs:string">
<xs:enumeration value="Grill"/><xs:enumeration value="Convection"/></xs:restriction></xs:simpleType></xs:element>
</xs:sequence><xs:attribute name="zone" type="xs:byte" use="required"/></xs:complexType></xs:element>"""
)
GOOD = b'<TurnedOn zone="1"><deviceid>o-7</deviceid><temperature>180</temperature><mode>Grill</mode></TurnedOn>'
ORDERS = 'targetNamespace="urn:orders" xmlns="urn:orders"'


class Shelf:
    """A library of a few documents."""

    def __init__(self, **documents: str) -> None:
        self.documents = {f"{name}.xsd": text for name, text in documents.items()}

    def find(self, reference: str, base: str = "") -> LibraryDocument | None:
        text = self.documents.get(reference)
        return None if text is None else LibraryDocument(reference, text)

    def neighbours(self) -> Iterator[LibraryDocument]:
        return iter([LibraryDocument(name, text) for name, text in self.documents.items()])


@pytest.fixture(params=["1.0", "1.1"])
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def parse(document: Any, version: str = "1.0", fragment: str = "", library: Any = None) -> PayloadSchema:
    return parse_schema(f"XSD/{version}", document, fragment, library)


@pytest.mark.feature("SCH-013", "SCH-017")
@pytest.mark.parametrize("name", ["XSD", "XSD/1.0", "xsd/1.1", "XMLSchema/1.1", "XmlSchema/1.0", "XML-Schema"])
def test_every_spelling_of_the_name_is_read(name: str) -> None:
    value, wrong = parse_schema(name, OVEN).validate(GOOD)
    assert wrong == []
    assert value == {"@zone": 1, "deviceid": "o-7", "temperature": [180], "mode": "Grill"}


@pytest.mark.feature("SCH-013", "SCH-024")
@pytest.mark.parametrize(
    ("document", "place", "sentence"),
    [
        ({"type": "string"}, "", "JSON value"),
        ("<xs:schema", "1:", "not XML"),
        ("", "1:1", "not XML"),
        ("<order/>", "1:1", "not a schema"),
        (schema('\n\n<xs:element name="a" type="xs:nonsense"/>'), "3:", "nonsense"),
        (schema('\n<xs:elephant name="a"/>'), "", "usable"),
        (schema('\n<xs:include schemaLocation="missing.xsd"/>'), "2:", "missing.xsd"),
        (schema('\n<xs:import namespace="urn:x" schemaLocation="http://127.0.0.1:9/x.xsd"/>'), "2:", "127.0.0.1"),
        (schema('<xs:include schemaLocation="/etc/passwd"/>'), "1:", "/etc/passwd"),
        ('<!DOCTYPE a [<!ENTITY x "y">]>' + OVEN, "1:1", "document type"),
        (b"\xff\xfe\xff", "", "not XML"),
        ("\ud800", "", "no XML has"),
    ],
)
def test_unusable_documents_are_refused_with_the_place(document: Any, place: str, sentence: str, version: str) -> None:
    with pytest.raises(SchemaRefused, match=sentence) as refused:
        check_schema(f"XSD/{version}", document)
    assert refused.value.place.startswith(place)


def test_other_versions_are_refused() -> None:
    with pytest.raises(FormatUnknown, match="1.0 and 1.1"):
        parse(OVEN, "2")


def test_newer_words_need_the_newer_version() -> None:
    document = order(attribute("n", "int") + '<xs:assert test="@n > 3"/>')
    with pytest.raises(SchemaRefused):
        parse(document, "1.0")
    newer = parse(document, "1.1")
    assert newer.validate(b'<order n="4"/>') == ({"@n": 4}, [])
    assert newer.validate(b'<order n="3"/>')[1][0].code == "payload_xsd_assert"


def test_a_bare_name_takes_the_version_that_the_document_asks_for() -> None:
    asks = 'xmlns:vc="http://www.w3.org/2007/XMLSchema-versioning" vc:minVersion="1.1"'
    document = order(attribute("n", "int") + '<xs:assert test="@n > 3"/>').replace("<xs:schema", f"<xs:schema {asks}")
    assert parse_schema("XSD", document).validate(b'<order n="4"/>')[1] == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_documents_and_payloads_in_other_encodings(encoding: str, version: str) -> None:
    document = f'<?xml version="1.0" encoding="{encoding}"?>{simple("string", "enumeration=é")}'
    payload = f'<?xml version="1.0" encoding="{encoding}"?><reading>é</reading>'
    assert parse(document.encode(encoding), version).validate(payload.encode(encoding)) == ("é", [])
    assert parse(document, version).validate(payload.encode(encoding)) == ("é", [])


TWO = schema(
    '<xs:element name="order" type="Order"/><xs:element name="cancel" type="xs:int"/>'
    f'<xs:complexType name="Order">{sequence(item("id", "int"))}</xs:complexType>'
)


@pytest.mark.feature("SCH-020")
@pytest.mark.parametrize(
    ("fragment", "root"),
    [
        ("", "order"),
        ("cancel", "cancel"),
        ("/cancel", "cancel"),
        ("/xs:schema/xs:element[@name='cancel']", "cancel"),
        ('//xs:element[@name="cancel"]', "cancel"),
        ("#/cancel", "cancel"),
        ("/xs:schema/xs:complexType[@name='Order']", "Order"),
    ],
)
def test_a_fragment_picks_the_root(fragment: str, root: str, version: str) -> None:
    picked = parse(TWO, version, fragment)
    inside = "7" if root == "cancel" else "<id>7</id>"
    assert picked.validate(f"<{root}>{inside}</{root}>".encode())[1] == []
    assert picked.validate(b"<other/>")[1][0].code == "payload_xsd_root"


@pytest.mark.feature("SCH-020")
def test_fragments_and_documents_without_a_root_name_the_choices() -> None:
    with pytest.raises(SchemaRefused, match="order, cancel, Order"):
        parse(TWO, fragment="bill")
    circle = "".join(
        f'<xs:element name="{a}"><xs:complexType><xs:sequence><xs:element ref="{b}" minOccurs="0"/></xs:sequence>'
        "</xs:complexType></xs:element>"
        for a, b in (("chicken", "egg"), ("egg", "chicken"))
    )
    with pytest.raises(SchemaRefused, match="chicken, egg"):
        parse(schema(circle))
    check_schema("XSD/1.0", schema('<xs:simpleType name="Id"><xs:restriction base="xs:int"/></xs:simpleType>'))


def test_the_root_is_the_first_element_that_no_other_uses() -> None:
    document = schema(
        '<xs:element name="line" type="xs:int"/><xs:element name="order"><xs:complexType><xs:sequence>'
        '<xs:element ref="line"/></xs:sequence></xs:complexType></xs:element>'
    )
    assert parse(document).validate(b"<order><line>1</line></order>") == ({"line": 1}, [])


def derived(name: str, base: str) -> str:
    return f'<xs:simpleType name="{name}"><xs:restriction base="{base}"/></xs:simpleType>'


def test_includes_imports_and_redefinitions_come_from_the_library(version: str) -> None:
    shelf = Shelf(
        types=schema(f'<xs:include schemaLocation="base.xsd"/>{derived("Id", "Base")}'),
        base=schema(f'<xs:include schemaLocation="types.xsd"/>{derived("Base", "xs:int")}'),
        money=schema(derived("Amount", "xs:decimal"), 'targetNamespace="urn:money"'),
    )
    included = schema('<xs:include schemaLocation="types.xsd"/><xs:element name="a" type="Id"/>', ORDERS)
    assert parse(included, version, library=shelf).validate(b'<a xmlns="urn:orders">5</a>') == (5, [])
    for location in ("", 'schemaLocation="money.xsd"'):
        body = f'<xs:import namespace="urn:money" {location}/><xs:element name="a" type="m:Amount"/>'
        imported = parse(schema(body, 'xmlns:m="urn:money"'), version, library=shelf)
        assert imported.validate(b"<a>5.25</a>") == ("5.25", [])
    redefined = schema(
        '<xs:redefine schemaLocation="types.xsd"><xs:simpleType name="Id"><xs:restriction base="Id">'
        '<xs:maxInclusive value="9"/></xs:restriction></xs:simpleType></xs:redefine><xs:element name="a" type="Id"/>'
    )
    assert parse(redefined, version, library=shelf).validate(b"<a>10</a>")[1][0].code == "payload_xsd_max_inclusive"


def test_the_attributes_of_xml_need_no_document(version: str) -> None:
    body = (
        '<xs:import namespace="http://www.w3.org/XML/1998/namespace" schemaLocation="http://www.w3.org/2001/xml.xsd"/>'
        '<xs:element name="a"><xs:complexType><xs:attribute ref="xml:lang"/></xs:complexType></xs:element>'
    )
    assert parse(schema(body), version).validate(b'<a xml:lang="de"/>') == ({"@lang": "de"}, [])


WRONG = [
    (b"", "", "payload_not_xml"),
    (b"<TurnedOn", "", "payload_not_xml"),
    (b"\xff\xfe", "", "payload_not_xml"),
    (GOOD.replace(b"o-7", b"\xff"), "", "payload_not_xml"),
    (b"<a>" * 10_000, "", "payload_not_xml"),
    (b'<!DOCTYPE TurnedOn [<!ENTITY x "y">]>' + GOOD.replace(b"o-7", b"&x;"), "", "payload_not_xml"),
    (b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]>' + GOOD.replace(b"o-7", b"&x;"), "", "payload_not_xml"),
    (b"\n <!-- none --><!DOCTYPE TurnedOn>" + GOOD, "", "payload_not_xml"),
    (b"<?note none?><!DOCTYPE TurnedOn>" + GOOD, "", "payload_not_xml"),
    (b"\xef\xbb\xbf<!DOCTYPE TurnedOn>" + GOOD, "", "payload_not_xml"),
    (("<!DOCTYPE TurnedOn>" + GOOD.decode()).encode("utf-16"), "", "payload_not_xml"),
    (b"<?xml version='1.0' encoding='utf-7'?>+ADwAIQ-DOCTYPE TurnedOn+AD4-" + GOOD, "", "payload_not_xml"),
    (b"<TurnedOff/>", "/TurnedOff", "payload_xsd_root"),
    (GOOD.replace(b"180", b"hot"), "/TurnedOn/temperature", "payload_xsd_type"),
    (GOOD.replace(b"Grill", b"Fire"), "/TurnedOn/mode", "payload_xsd_enumeration"),
    (GOOD.replace(b' zone="1"', b""), "/TurnedOn", "payload_xsd_required_attribute"),
    (GOOD.replace(b"zone", b"area"), "/TurnedOn", "payload_xsd_attribute"),
    (GOOD.replace(b'"1"', b'"1000"'), "/TurnedOn/@zone", "payload_xsd_type"),
    (GOOD.replace(b"<mode>Grill</mode>", b""), "/TurnedOn", "payload_xsd_missing"),
    (GOOD.replace(b"<mode>", b"text<mode>"), "/TurnedOn", "payload_xsd_text"),
    (
        GOOD.replace(b"<mode>", b"<temperature>5</temperature>" * 2 + b"<mode>"),
        "/TurnedOn/temperature[3]",
        "payload_xsd_content",
    ),
]


@pytest.mark.parametrize(("payload", "at", "code"), WRONG)
def test_what_is_wrong_with_a_payload_and_where(payload: bytes, at: str, code: str, version: str) -> None:
    value, wrong = parse(OVEN, version).validate(payload)
    assert value is None
    assert (at, code) in [(violation.at, violation.code) for violation in wrong]
    assert all(violation.expected and violation.found and len(violation.found) <= 200 for violation in wrong)


def test_expected_and_found_read_as_a_sentence() -> None:
    (wrong,) = parse(OVEN).validate(GOOD.replace(b"Grill", b"Fire"))[1]
    assert (wrong.expected, wrong.found) == ("one of 'Grill', 'Convection'", "Fire")
    (wrong,) = parse(OVEN).validate(GOOD.replace(b"180", b"hot"))[1]
    assert (wrong.expected, wrong.found) == ("xs:int", "hot")


def test_values_may_have_white_space_around(version: str) -> None:
    members = [item("on", "boolean"), item("n", "long"), item("x", "double"), item("d", "decimal")]
    payload = b"<order><on> true\n</on><n>\t5 </n><x> 1.5 </x><d> 2.50 </d></order>"
    assert parse(order(sequence(*members)), version).validate(payload) == (
        {"on": True, "n": 5, "x": 1.5, "d": "2.50"},
        [],
    )


def test_a_payload_has_at_most_twenty_violations(version: str) -> None:
    document = order(sequence(item("n", "int", "0..*")))
    for count in (100, 20_000):
        _, wrong = parse(document, version).validate(b"<order>" + b"<n>x</n>" * count + b"</order>")
        assert 0 < len(wrong) <= 20


def test_large_payloads_are_read_as_small_ones_are(version: str) -> None:
    read = parse(order(sequence(item("n", "int", "0..*"))), version)
    assert read.validate(b"<order>" + b"<n>1</n>" * 20_000 + b"</order>") == ({"n": [1] * 20_000}, [])
    assert read.validate(b"<bill>" + b"<n>1</n>" * 20_000 + b"</bill>")[1] != []
    many = b"<order " + b" ".join(b'a%d="1"' % number for number in range(9_000)) + b"/>"
    free = parse(order('<xs:anyAttribute processContents="skip"/>'), version)
    assert free.validate(many)[1][0].code == "payload_xsd_too_many_attributes"


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200))
def test_no_bytes_raise(payload: bytes) -> None:
    _, wrong = parse(OVEN).validate(payload)
    assert wrong


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_damaged_payloads_never_raise(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(GOOD) - 1))
    damaged = GOOD[:at] + data.draw(st.binary(max_size=5)) + GOOD[at + data.draw(st.integers(0, 5)) :]
    for version in ("1.0", "1.1"):
        value, wrong = parse(OVEN, version).validate(damaged)
        assert (value is None) == bool(wrong)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["1.0", "1.1"]))
def test_samples_fit_and_come_back_as_they_were(seed: int, version: str) -> None:
    rng = random.Random(seed)
    try:
        read = parse(random_schema(rng), version)
        value = read.sample(rng)
    except SchemaRefused:
        return
    fill = filler(read.columns())
    payload = read.encode(value)
    assert read.validate(payload) == (value, [])
    fill(value)


@pytest.mark.parametrize(
    "document",
    [
        order(sequence(item("a", "double", "1..2"), item("b", "unsignedLong"), occurs="1..*")),
        order(choice(item("a"), sequence(item("b"), item("c", occurs="1..2")), occurs="0..*")),
        schema(f'<xs:element name="a">{restriction("string", "pattern=[A-Z]{3}-[0-9]+")}</xs:element>'),
        schema(
            '<xs:complexType name="V" abstract="true"/><xs:complexType name="Car"><xs:complexContent>'
            '<xs:extension base="V"><xs:attribute name="id" type="xs:ID"/></xs:extension></xs:complexContent>'
            '</xs:complexType><xs:element name="garage"><xs:complexType><xs:sequence><xs:element name="v" type="V"/>'
            "</xs:sequence></xs:complexType></xs:element>"
        ),
        schema(
            '<xs:element name="shape" abstract="true"/><xs:element name="dot" substitutionGroup="shape" type="xs:int"/>'
            '<xs:element name="page"><xs:complexType><xs:sequence><xs:element ref="shape" maxOccurs="3"/></xs:sequence>'
            "</xs:complexType></xs:element>"
        ),
        schema('<xs:element name="a" nillable="true" type="t:T"/><xs:complexType name="T"><xs:sequence>'
               '<xs:element name="q" type="xs:int" default="5"/></xs:sequence></xs:complexType>',
               'targetNamespace="urn:t" xmlns:t="urn:t"'),
    ],
)  # fmt: skip
def test_samples_of_less_usual_schemas(document: str, version: str) -> None:
    read = parse(document, version)
    for seed in range(10):
        value = read.sample(random.Random(seed))
        assert read.validate(read.encode(value)) == (value, [])


def test_a_schema_without_values_has_no_sample() -> None:
    inside = '<xs:complexType><xs:sequence><xs:element ref="a"/></xs:sequence></xs:complexType>'
    endless = f'<xs:element name="a">{inside}</xs:element>'
    with pytest.raises(SchemaRefused, match="invented"):
        parse(schema(endless)).sample(random.Random(0))


def test_values_keep_every_digit() -> None:
    assert parse(simple("decimal")).validate(b"<reading>1.10</reading>") == ("1.10", [])
    assert parse(simple("integer")).validate(b"<reading>" + b"9" * 5000 + b"</reading>") == (Decimal("9" * 5000), [])


def test_the_schemas_of_the_shared_catalogs(shared: Path) -> None:
    found = 0
    for file in (shared / "catalogs").rglob("*xsd*.json"):
        groups = json.loads(file.read_text()).get("schemagroups", {})
        for entry in (one for group in groups.values() for one in group["schemas"].values()):
            for held in entry["versions"].values():
                if "schema" not in held:
                    continue
                read = parse_schema(held["format"], held["schema"])
                value = read.sample(random.Random(found))
                assert read.validate(read.encode(value)) == (value, [])
                assert filler(read.columns())(value)
                found += 1
    assert found >= 5


LISTS = """<xs:simpleType name="tags"><xs:union memberTypes="xs:NMTOKENS"/></xs:simpleType>
<xs:simpleType name="few"><xs:restriction base="tags"><xs:enumeration value="hot dry"/></xs:restriction></xs:simpleType>
<xs:simpleType name="links"><xs:union memberTypes="xs:NMTOKENS xs:ENTITIES"/></xs:simpleType>"""


@pytest.mark.parametrize("name", ["tags", "few", "links"])
def test_a_union_of_lists_is_a_union_and_its_payloads_are_texts(name: str, version: str) -> None:
    document = schema(f'<xs:element name="reading" type="{name}"/>{LISTS}')
    check_schema(f"XSD/{version}", document)
    parsed = parse(document, version)
    assert parsed.columns() == STRING
    assert parsed.validate(b"<reading>hot dry</reading>") == ("hot dry", [])
    assert parsed.validate(b"<reading>hot, dry</reading>")[1]
    assert parsed.validate(parsed.encode(parsed.sample(random.Random(3))))[1] == []
    assert readable(f"XSD/{version}", document, document).answer != "incompatible"


@pytest.mark.parametrize(
    ("base", "facet"), [("decimal", "totalDigits"), ("integer", "totalDigits"), ("decimal", "fractionDigits")]
)
@pytest.mark.parametrize("digits", [1_000, 99_999_999_999, 10**40])
def test_a_type_of_very_many_digits_has_values_columns_and_comparisons(
    base: str, facet: str, digits: int, version: str
) -> None:
    document = simple(base, f"{facet}={digits}")
    parsed = parse(document, version)
    assert parsed.columns() is not None
    assert parsed.validate(b"<reading>12</reading>")[1] == []
    assert parsed.validate(parsed.encode(parsed.sample(random.Random(3))))[1] == []
    assert readable(f"XSD/{version}", document, simple(base, "totalDigits=3")).answer == "incompatible"


@pytest.mark.parametrize("version", ["XSD/1.0", "XSD/1.1"])
@pytest.mark.parametrize("kind", ["decimal", "integer", "int", "long"])
@pytest.mark.parametrize("text", ["1 2", "1_0", "\u0661", "\uff11", "0x1", "NaN", ""])
def test_what_only_python_takes_for_a_number_is_none(version: str, kind: str, text: str) -> None:
    number = parse_schema(version, schema(f'<xs:element name="number" type="xs:{kind}"/>'))
    assert number.validate(f"<number>{text}</number>".encode())[1] != []
    assert number.validate(b"<number> 12 </number>")[1] == []

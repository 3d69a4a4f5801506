"""Schemas that would explode are refused before a validator sees them."""

import pytest

from postroom.errors import SchemaRefused
from postroom.formats.column_types import JSON_TEXT, StructOf
from postroom.formats.format_table import parse_schema, readable
from tests.formats.xsd.schemas import choice, every, item, order, schema, sequence, simple


def doubling(kind: str, count: int) -> str:
    """Definitions that each mention the next one twice."""
    if kind == "group":
        body = '<xs:group name="g{}"><xs:sequence><xs:group ref="g{}"/><xs:group ref="g{}"/></xs:sequence></xs:group>'
        last = f'<xs:group name="g{count}"><xs:sequence><xs:element name="a"/></xs:sequence></xs:group>'
    else:
        body = '<xs:simpleType name="g{}"><xs:union memberTypes="g{} g{}"/></xs:simpleType>'
        last = f'<xs:simpleType name="g{count}"><xs:restriction base="xs:int"/></xs:simpleType>'
    return "".join(body.format(number, number + 1, number + 1) for number in range(count)) + last


CIRCLE = '<xs:group name="g"><xs:sequence><xs:group ref="g"/></xs:sequence></xs:group>'


def chain(count: int) -> str:
    """Types that are derived from one another."""
    steps = (f'<xs:simpleType name="t{n}"><xs:restriction base="t{n + 1}"/></xs:simpleType>' for n in range(count))
    return "".join(steps) + f'<xs:simpleType name="t{count}"><xs:restriction base="xs:int"/></xs:simpleType>'


def nested(kind: str, count: int) -> str:
    """Groups that each hold the next one."""
    inner = {
        "group": '<xs:sequence><xs:group ref="g{}"/></xs:sequence>',
        "attributeGroup": '<xs:attributeGroup ref="g{}"/>',
    }
    steps = (f'<xs:{kind} name="g{n}">{inner[kind].format(n + 1)}</xs:{kind}>' for n in range(count))
    return "".join(steps)


@pytest.mark.parametrize("version", ["1.0", "1.1"])
@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (order('<xs:group ref="g0"/>', nested("group", 5_000)), "groups are nested too deeply"),
        (order('<xs:attributeGroup ref="g0"/>', nested("attributeGroup", 5_000)), "groups are nested too deeply"),
        (order('<xs:group ref="g0"/>', doubling("group", 30)), "with its groups put in"),
        (order('<xs:group ref="g"/>', CIRCLE), "endlessly many"),
        (schema('<xs:element name="order" type="g0"/>' + doubling("union", 30)), "unions put in"),
        (schema('<xs:element name="order" type="t0"/>' + chain(3_000)), "derived in more than"),
        (order(sequence(*(item(f"a{number}") for number in range(500)))), "at most 400"),
        (simple("string", " ".join(f"enumeration=v{number}" for number in range(10_001))), "more than 10000 values"),
        (simple("string", "enumeration=" + "v" * 5_000_000), "more than 4194304 bytes"),
        (order("<xs:sequence>" * 300 + "</xs:sequence>" * 300), "not XML"),
        (simple("string", "pattern=(a{1,1000}){1,1000}"), "repeats more than"),
    ],
)
def test_bombs_are_refused_with_a_reason(document: str, sentence: str, version: str) -> None:
    with pytest.raises(SchemaRefused, match=sentence):
        parse_schema(f"XSD/{version}", document)


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_patterns_with_exponentially_many_ways_take_linear_time(version: str) -> None:
    read = parse_schema(f"XSD/{version}", simple("string", "pattern=(a+)+b"))
    assert read.validate(b"<reading>" + b"a" * 3_000 + b"b</reading>")[1] == []
    (wrong,) = read.validate(b"<reading>" + b"a" * 3_000 + b"c</reading>")[1]
    assert (wrong.code, wrong.expected) == ("payload_xsd_pattern", "text like (a+)+b")


def test_large_occurrences_are_counted_and_not_written_out() -> None:
    read = parse_schema("XSD/1.0", order(sequence(item("a", occurs="2..100000"), occurs="0..100000")))
    assert read.validate(b"<order><a/><a/></order>")[1] == []


def test_payloads_nested_in_themselves_end_at_the_limit() -> None:
    inside = '<xs:complexType><xs:sequence><xs:element ref="a" minOccurs="0"/></xs:sequence></xs:complexType>'
    read = parse_schema("XSD/1.0", schema(f'<xs:element name="a">{inside}</xs:element>'))
    assert read.validate(b"<a>" * 250 + b"</a>" * 250)[1] == []
    assert read.validate(b"<a>" * 300 + b"</a>" * 300)[1][0].code == "payload_not_xml"


def test_types_that_double_have_no_exponential_columns() -> None:
    body = '<xs:complexType name="t{}"><xs:sequence>{}</xs:sequence></xs:complexType>'
    pair = '<xs:element name="a" type="t{0}"/><xs:element name="b" type="t{0}"/>'
    types = "".join(body.format(number, pair.format(number + 1)) for number in range(30))
    document = schema(f'<xs:element name="order" type="t0"/>{types}' + body.format(30, ""))
    found = parse_schema("XSD/1.0", document).columns()
    assert isinstance(found, StructOf)
    assert [field.type for field in found.fields] == [JSON_TEXT, JSON_TEXT]


def test_comparing_large_models_ends() -> None:
    names = [f"a{number}" for number in range(40)]
    free = order(every(*(item(name, occurs="0..1") for name in names)))
    turned = order(every(*(item(name, occurs="0..1") for name in reversed(names))))
    assert readable("XSD/1.0", free, turned).answer in ("compatible", "undecided")
    wide = order(choice(*(item(f"a{number}") for number in range(200)), occurs="0..*"))
    assert readable("XSD/1.0", wide, wide).answer == "compatible"

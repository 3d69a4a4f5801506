"""Whether payloads of one XML Schema can be read with another: a table, and a property."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.format_table import parse_schema, readable
from tests.formats.xsd.random_schemas import changed, random_schema
from tests.formats.xsd.schemas import attribute, choice, every, item, order, schema, sequence, simple

YES, NO, MAYBE = "compatible", "incompatible", "undecided"

TREE = schema(
    '<xs:element name="node"><xs:complexType><xs:sequence><xs:element name="n" type="xs:{}"/>'
    '<xs:element ref="node" minOccurs="0" maxOccurs="2"/></xs:sequence></xs:complexType></xs:element>'
)
KEY = '<xs:unique name="once"><xs:selector xpath="line"/><xs:field xpath="@n"/></xs:unique>'
LINES = schema(
    '<xs:element name="order"><xs:complexType><xs:sequence><xs:element name="line" maxOccurs="3"><xs:complexType>'
    '<xs:attribute name="n" type="xs:boolean"/></xs:complexType></xs:element></xs:sequence></xs:complexType>'
    "{}</xs:element>"
)

PAIRS: list[tuple[str, str, str, str]] = [
    # simple types
    ("an integer becomes wider", simple("int"), simple("long"), YES),
    ("an integer becomes narrower", simple("long"), simple("int"), NO),
    ("an integer becomes text", simple("int"), simple("string"), YES),
    ("a text becomes an integer", simple("string"), simple("int"), NO),
    ("a decimal becomes an integer", simple("decimal"), simple("integer"), NO),
    ("an integer becomes a double", simple("int"), simple("double"), YES),
    ("a double becomes a decimal", simple("double"), simple("decimal"), NO),
    ("an upper bound rises", simple("int", "maxInclusive=5"), simple("int", "maxInclusive=6"), YES),
    ("an upper bound falls", simple("int", "maxInclusive=6"), simple("int", "maxInclusive=5"), NO),
    ("an exclusive bound becomes inclusive", simple("int", "maxExclusive=6"), simple("int", "maxInclusive=6"), YES),
    ("an inclusive bound becomes exclusive", simple("int", "minInclusive=6"), simple("int", "minExclusive=6"), NO),
    ("a text gets longer", simple("string", "maxLength=5"), simple("string", "maxLength=9"), YES),
    ("a text gets shorter", simple("string", "maxLength=9"), simple("string", "maxLength=5"), NO),
    ("a length is demanded", simple("string"), simple("string", "minLength=1"), NO),
    (
        "an enumeration grows",
        simple("string", "enumeration=a enumeration=b"),
        simple("string", "enumeration=a enumeration=b enumeration=c"),
        YES,
    ),
    ("an enumeration shrinks", simple("string", "enumeration=a enumeration=b"), simple("string", "enumeration=a"), NO),
    ("an enumeration opens", simple("string", "enumeration=a"), simple("string"), YES),
    (
        "an enumeration fits a pattern",
        simple("string", "enumeration=a1 enumeration=b2"),
        simple("string", r"pattern=[a-z]\d"),
        YES,
    ),
    ("a pattern stays", simple("string", "pattern=[a-z]+"), simple("string", "pattern=[a-z]+"), YES),
    ("a pattern gets an alternative", simple("string", "pattern=a"), simple("string", "pattern=a pattern=b"), YES),
    ("a pattern loses an alternative", simple("string", "pattern=a pattern=b"), simple("string", "pattern=a"), NO),
    (
        "a pattern is wider in a way no rule sees",
        simple("string", "pattern=[a-c]+"),
        simple("string", "pattern=[a-z]+"),
        MAYBE,
    ),
    (
        "digits behind the point are cut",
        simple("decimal", "fractionDigits=3"),
        simple("decimal", "fractionDigits=2"),
        NO,
    ),
    (
        "digits grow",
        simple("decimal", "totalDigits=5 fractionDigits=2"),
        simple("decimal", "totalDigits=9 fractionDigits=3"),
        YES,
    ),
    (
        "a bound keeps numbers within the digits",
        simple("int", "minInclusive=0 maxInclusive=99"),
        simple("integer", "totalDigits=2"),
        YES,
    ),
    ("a date becomes a point in time", simple("date"), simple("dateTime"), NO),
    ("a name becomes a token", simple("NCName"), simple("token"), YES),
    ("a token becomes a name", simple("token"), simple("NCName"), NO),
    ("white space counts for a length", simple("token", "maxLength=3"), simple("string", "maxLength=3"), NO),
    # elements
    (
        "an optional element is added",
        order(sequence(item("id"))),
        order(sequence(item("id"), item("note", occurs="0..1"))),
        YES,
    ),
    ("a required element is added", order(sequence(item("id"))), order(sequence(item("id"), item("note"))), NO),
    (
        "an optional element is removed",
        order(sequence(item("id"), item("note", occurs="0..1"))),
        order(sequence(item("id"))),
        NO,
    ),
    (
        "an element becomes optional",
        order(sequence(item("id"), item("note"))),
        order(sequence(item("id"), item("note", occurs="0..1"))),
        YES,
    ),
    (
        "an element becomes required",
        order(sequence(item("id"), item("note", occurs="0..1"))),
        order(sequence(item("id"), item("note"))),
        NO,
    ),
    (
        "an element may come more often",
        order(sequence(item("line", occurs="1..2"))),
        order(sequence(item("line", occurs="0..*"))),
        YES,
    ),
    (
        "an element may come less often",
        order(sequence(item("line", occurs="0..*"))),
        order(sequence(item("line", occurs="0..3"))),
        NO,
    ),
    (
        "very large numbers of elements",
        order(sequence(item("line", occurs="0..90000"))),
        order(sequence(item("line", occurs="0..100000"))),
        YES,
    ),
    ("the order changes", order(sequence(item("a"), item("b"))), order(sequence(item("b"), item("a"))), NO),
    (
        "a sequence becomes free of order",
        order(sequence(item("a"), item("b"))),
        order(every(item("a"), item("b"))),
        YES,
    ),
    ("the order becomes fixed", order(every(item("a"), item("b"))), order(sequence(item("a"), item("b"))), NO),
    ("a choice grows", order(choice(item("a"), item("b"))), order(choice(item("a"), item("b"), item("c"))), YES),
    ("a choice shrinks", order(choice(item("a"), item("b"))), order(choice(item("a"))), NO),
    (
        "one of a choice becomes the only way",
        order(choice(item("a"), item("b"))),
        order(sequence(item("a"), item("b", occurs="0..1"))),
        NO,
    ),
    ("an element becomes a choice", order(sequence(item("a"))), order(choice(item("a"), item("b"))), YES),
    (
        "a sequence becomes a repeated choice",
        order(sequence(item("a"), item("b"), occurs="0..5")),
        order(choice(item("a"), item("b"), occurs="0..*")),
        YES,
    ),
    (
        "a repeated choice becomes a sequence",
        order(choice(item("a"), item("b"), occurs="0..*")),
        order(sequence(item("a"), item("b"), occurs="0..*")),
        NO,
    ),
    ("a child's type is widened", order(sequence(item("id", "short"))), order(sequence(item("id", "int"))), YES),
    (
        "a child's type is narrowed",
        order(sequence(item("id", "int", "0..1"))),
        order(sequence(item("id", "short", "0..1"))),
        NO,
    ),
    (
        "a child may be nil",
        order(sequence(item("id", "int"))),
        order(sequence(item("id", "int", more='nillable="true"'))),
        YES,
    ),
    (
        "a child may no longer be nil",
        order(sequence(item("id", "int", more='nillable="true"'))),
        order(sequence(item("id", "int"))),
        NO,
    ),
    (
        "a child gets a fixed value",
        order(sequence(item("id", "int"))),
        order(sequence(item("id", "int", more='fixed="7"'))),
        NO,
    ),
    (
        "the root is renamed",
        schema('<xs:element name="order" type="xs:int"/>'),
        schema('<xs:element name="bill" type="xs:int"/>'),
        NO,
    ),
    (
        "the namespace changes",
        schema('<xs:element name="a" type="xs:int"/>', 'targetNamespace="urn:v1"'),
        schema('<xs:element name="a" type="xs:int"/>', 'targetNamespace="urn:v2"'),
        NO,
    ),
    (
        "a global element is added",
        order(sequence(item("id"))),
        order(sequence(item("id")), '<xs:element name="bill"/>'),
        YES,
    ),
    # attributes
    ("an optional attribute is added", order(), order(attribute("at")), YES),
    ("a required attribute is added", order(), order(attribute("at", use="required")), NO),
    ("an attribute is removed", order(attribute("at")), order(), NO),
    ("an attribute becomes required", order(attribute("at")), order(attribute("at", use="required")), NO),
    ("an attribute becomes optional", order(attribute("at", use="required")), order(attribute("at")), YES),
    ("an attribute's type is widened", order(attribute("n", "int")), order(attribute("n", "integer")), YES),
    ("an attribute's type is narrowed", order(attribute("n", "integer")), order(attribute("n", "int")), NO),
    (
        "an attribute gets a fixed value",
        order(attribute("n", "int")),
        order(attribute("n", "int", more='fixed="1"')),
        NO,
    ),
    (
        "an attribute gets a default",
        order(attribute("n", "int")),
        order(attribute("n", "int", more='default="1"')),
        YES,
    ),
    ("any attribute may come", order(attribute("n", "int")), order('<xs:anyAttribute processContents="skip"/>'), YES),
    ("no more any attribute", order('<xs:anyAttribute processContents="skip"/>'), order(), NO),
    # content
    (
        "text is allowed between elements",
        order(sequence(item("a"))),
        order(sequence(item("a"))).replace("<xs:complexType>", '<xs:complexType mixed="true">'),
        YES,
    ),
    (
        "text is no longer allowed",
        order(sequence(item("a"))).replace("<xs:complexType>", '<xs:complexType mixed="true">'),
        order(sequence(item("a"))),
        NO,
    ),
    (
        "a text gets an optional attribute",
        simple("int"),
        schema(
            '<xs:element name="reading"><xs:complexType><xs:simpleContent><xs:extension base="xs:int">'
            f"{attribute('unit')}</xs:extension></xs:simpleContent></xs:complexType></xs:element>"
        ),
        YES,
    ),
    (
        "a text becomes a structure",
        simple("int"),
        schema(f'<xs:element name="reading"><xs:complexType>{sequence(item("a"))}</xs:complexType></xs:element>'),
        NO,
    ),
    (
        "a structure becomes a text",
        schema(f'<xs:element name="reading"><xs:complexType>{sequence(item("a"))}</xs:complexType></xs:element>'),
        simple("int"),
        NO,
    ),
    (
        "a wildcard takes what was named",
        order(sequence(item("a"))),
        order(sequence('<xs:any processContents="skip"/>')),
        YES,
    ),
    (
        "a wildcard is closed",
        order(sequence('<xs:any processContents="skip" minOccurs="0"/>')),
        order(sequence(item("a", occurs="0..1"))),
        NO,
    ),
    (
        "a wildcard stays",
        order(sequence('<xs:any processContents="skip"/>')),
        order(sequence('<xs:any processContents="skip" maxOccurs="2"/>')),
        YES,
    ),
    (
        "a lax wildcard stays, and nothing else changes",
        order(sequence('<xs:any processContents="lax"/>')),
        order(sequence('<xs:any processContents="lax"/>')),
        YES,
    ),
    ("a type that holds itself", TREE.format("int"), TREE.format("long"), YES),
    ("a type that holds itself, narrowed", TREE.format("long"), TREE.format("int"), NO),
    ("a key is demanded", LINES.format(""), LINES.format(KEY), NO),
    ("a key is dropped", LINES.format(KEY), LINES.format(""), YES),
]


@pytest.mark.feature("SCH-025", "SCH-028")
@pytest.mark.parametrize(
    ("writer", "reader", "expected"), [pair[1:] for pair in PAIRS], ids=[pair[0] for pair in PAIRS]
)
def test_changes_and_their_verdicts(writer: str, reader: str, expected: str) -> None:
    verdict = readable("XSD/1.0", writer, reader)
    assert verdict.answer == expected, verdict
    if expected == NO:
        assert verdict.counterexample is not None
        assert verdict.shown
        assert verdict.writer_at
        for version in ("1.0", "1.1"):
            assert parse_schema(f"XSD/{version}", writer).validate(verdict.counterexample)[1] == []
            assert parse_schema(f"XSD/{version}", reader).validate(verdict.counterexample)[1] != []
    if expected == MAYBE:
        assert verdict.reason


def test_the_counterexample_has_the_difference_at_its_place() -> None:
    old = order(sequence(item("id", "int"), item("note", occurs="0..1")))
    new = order(sequence(item("id", "int")))
    verdict = readable("XSD/1.1", old, new)
    assert (verdict.writer_at, verdict.answer) == ("/order", NO)
    assert b"<note>" in (verdict.counterexample or b"")
    assert "/order/note must be absent but is <note>" in verdict.reason


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ('<xs:assert test="@n gt 1"/>', "asserts more"),
        ('<xs:openContent><xs:any processContents="skip"/></xs:openContent>', "open content"),
    ],
)
def test_what_no_rule_covers_is_left_open(words: str, reason: str) -> None:
    plain = attribute("n", "int")
    changed_type = words + plain if "open" in words else plain + words
    verdict = readable("XSD/1.1", order(attribute("n", "int")), order(changed_type))
    assert verdict.answer in (MAYBE, NO)
    if verdict.answer == MAYBE:
        assert reason in verdict.reason


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32))
def test_no_definite_verdict_is_wrong(seed: int) -> None:
    rng = random.Random(seed)
    pair = [random_schema(rng)]
    pair.append(changed(changed(pair[0], rng), rng) if rng.random() < 0.9 else random_schema(rng))
    rng.shuffle(pair)
    try:
        writer, reader = (parse_schema("XSD/1.0", document) for document in pair)
    except SchemaRefused:
        return
    verdict = readable("XSD/1.0", *pair)
    if verdict.counterexample is not None:
        assert writer.validate(verdict.counterexample)[1] == []
        assert reader.validate(verdict.counterexample)[1] != []
    if verdict.answer == YES:
        for number in range(10):
            try:
                payload = writer.encode(writer.sample(random.Random(number)))
            except SchemaRefused:
                # Two changes may leave a type that no text fits (a pattern of three letters, two at most).
                return
            assert reader.validate(payload)[1] == [], payload

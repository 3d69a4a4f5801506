"""XPath expressions of XML Schema 1.1: they run within a budget, whatever they do."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import pytest

from postroom.errors import SchemaRefused
from postroom.formats.schema import SchemaDocument
from postroom.formats.xsd import xpath
from postroom.formats.xsd.format import XmlSchema, parse, readable
from tests.formats.xsd.schemas import attribute, order, sequence

LINE = (
    '<xs:element name="line" minOccurs="0" maxOccurs="unbounded"><xs:complexType><xs:simpleContent>'
    '<xs:extension base="xs:string"><xs:attribute name="n" type="xs:integer"/></xs:extension>'
    "</xs:simpleContent></xs:complexType></xs:element>"
)


def document(test: str) -> SchemaDocument:
    asserted = f'<xs:assert test="{test}"/>'
    return SchemaDocument(document=order(sequence(LINE) + attribute("n", "integer") + asserted), version="1.1")


def asserting(test: str) -> XmlSchema:
    return parse(document(test))


def lines(count: int, text: str = "bread", n: int = 1) -> bytes:
    return f'<order n="{n}">{f"""<line n="1">{text}</line>""" * count}</order>'.encode()


@pytest.mark.parametrize(
    ("test", "payload"),
    [
        ("count(line) le 1000", lines(500)),
        ("every $one in line satisfies $one/@n = 1", lines(500)),
        ("every $i in 1 to count(line) satisfies line[$i]/@n = 1", lines(20)),
        ("matches(line[1], '^[a-z]+@[a-z]+$')", lines(1, "baker@home")),
        ("matches(line[1], '.*@.*')", lines(1, "baker@home")),
        ("count(distinct-values(line/@n)) = 1", lines(300)),
    ],
)
def test_what_people_write_is_within_the_budget(test: str, payload: bytes) -> None:
    assert asserting(test).validate(payload)[1] == []


@pytest.mark.parametrize(
    ("test", "payload"),
    [
        (".//line/following::line/preceding::line/following::line = 'cake'", lines(300)),
        ("every $a in line satisfies (every $b in line satisfies $a/@n + $b/@n != 1)", lines(400)),
        ("line != line", lines(3000)),
        ("every $i in 1 to @n satisfies $i gt 0", lines(1, n=10**12)),
        ("sum(for $one in line return string-length(string(/order))) gt 1", lines(3000)),
        ("matches(line[1], '.*@.*')", lines(1, "a" * 300)),
    ],
)
def test_loops_inside_of_loops_end_at_the_budget(test: str, payload: bytes) -> None:
    value, wrong = asserting(test).validate(payload)
    assert (value, wrong[0].code) == (None, "payload_xsd_too_complex")


def test_a_budget_that_ends_while_a_loop_is_left_early_still_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def numbers() -> Iterator[int]:
        yield from range(3)

    def firsts() -> None:
        for _ in range(20):
            next(numbers())

    # Each step in turn is the last of the budget; some are the end of a generator that nobody holds any more.
    for steps in range(40):
        monkeypatch.setattr(xpath, "MOST_STEPS", steps)
        with pytest.raises(xpath.TooComplex), xpath.StepBudget(0):
            firsts()


@pytest.mark.parametrize(
    "test",
    [
        "every $i in 1 to 100000000000 satisfies $i gt 0",
        "matches('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!', '(a+)+$')",
        "every $a in 1 to 9999 satisfies (every $b in 1 to 9999 satisfies $a + $b gt 0)",
    ],
)
def test_expressions_that_need_no_payload_to_take_long_are_refused(test: str) -> None:
    with pytest.raises(SchemaRefused, match="expressions of the schema"):
        asserting(test)


def test_the_budget_leaves_no_trace() -> None:
    asserting("line != line").validate(lines(3000))
    assert sys.getprofile() is None


def test_samples_and_comparisons_end_at_the_budget() -> None:
    slow = "every $i in 1 to (1000000 + count(line)) satisfies $i gt 0"
    with pytest.raises(SchemaRefused):
        asserting(slow).sample(random.Random(1))
    assert readable(document("true()"), document("every $i in 1 to @n satisfies $i gt 0")).answer != "compatible"


def test_nothing_is_read_from_elsewhere() -> None:
    assert asserting("doc-available('file:///etc/hostname')").validate(lines(1))[1][0].code == "payload_xsd_assert"

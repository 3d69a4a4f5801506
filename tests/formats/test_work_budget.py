"""Questions about schemas end: small documents that describe very much are given up, not followed to the end."""

import contextlib
import json
import random
from typing import Any

import pytest

from postroom.errors import SchemaRefused
from postroom.formats.compatibility import compatible
from postroom.formats.format_table import parse_schema, readable, sample_value
from postroom.formats.schema import Verdict
from postroom.formats.work_budget import BudgetExhausted, spend, work_limit

XS = 'xmlns:xs="http://www.w3.org/2001/XMLSchema"'
STRUCTURE = {"$schema": "https://json-structure.org/meta/core/v0/#", "$id": "https://example.com/s", "name": "Oven"}
# Enough for any schema that people write, and soon spent.
FEW = 50_000


def spend_all() -> None:
    while True:
        spend()


def test_without_a_limit_work_is_not_counted() -> None:
    spend(10**12)


def test_steps_are_counted_within_a_limit() -> None:
    with pytest.raises(BudgetExhausted, match="given up after 5,000 steps"), work_limit(5_000):
        spend_all()


def test_the_clock_stops_what_steps_do_not_measure() -> None:
    with pytest.raises(BudgetExhausted, match="given up after 0 seconds of computing"), work_limit(10**12, 0):
        spend_all()


def test_a_nested_limit_shares_the_outer_budget() -> None:
    with work_limit(1_000), pytest.raises(BudgetExhausted), work_limit(10**9):
        spend_all()


def xsd(*parts: str) -> str:
    content = f"<xs:complexType><xs:sequence>{''.join(parts)}</xs:sequence></xs:complexType>"
    return f'<xs:schema {XS}><xs:element name="order">{content}</xs:element></xs:schema>'


def item(name: str, least: int, most: int) -> str:
    return f'<xs:element name="{name}" type="xs:string" minOccurs="{least}" maxOccurs="{most}"/>'


def nested(times: int) -> str:
    inside = item("a", 1, 1) + item("b", 1, 1)
    for _ in range(30):
        inside = f'<xs:sequence minOccurs="{times}" maxOccurs="{times}">{inside}</xs:sequence>'
    return xsd(inside)


def long_lists(length: int) -> str:
    kind = f'<xs:restriction base="xs:NMTOKENS"><xs:minLength value="{length}"/></xs:restriction>'
    return xsd(*(f'<xs:element name="l{n}"><xs:simpleType>{kind}</xs:simpleType></xs:element>' for n in range(30)))


def substitutes(occurs: str) -> str:
    members = "".join(f'<xs:element name="s{n}" substitutionGroup="head"/>' for n in range(1_500))
    ref = f'<xs:element ref="head" maxOccurs="{occurs}"/>'
    return xsd(ref).replace("</xs:schema>", f'<xs:element name="head" type="xs:string"/>{members}</xs:schema>')


def avro_union(letter: str, kind: str) -> str:
    records = [
        {"type": "record", "name": f"{letter}{n}", "fields": [{"name": "f", "type": kind}]} for n in range(2_000)
    ]
    return json.dumps(records)


def patterns(share: int) -> str:
    parts = {f"^p{n}_": {"type": "string", "minLength": n // share} for n in range(1_500)}
    return json.dumps({"type": "object", "patternProperties": parts})


def choices(first: int) -> str:
    names = [f"p{n}" for n in range(120)]
    values = [f"v{n}" for n in range(first, first + 10)]
    return json.dumps({"type": "object", "properties": {name: {"enum": values} for name in names}, "required": names})


def graph(of: int) -> str:
    kinds = {
        f"n{n}": {
            "type": "object",
            "properties": {f"p{m}": {"$ref": f"#/$defs/n{(n * m + 1) % 40}"} for m in range(of)},
        }
        for n in range(40)
    }
    return json.dumps({"$ref": "#/$defs/n0", "$defs": kinds})


def structure_graph(members: int) -> str:
    kinds = {
        f"n{n}": {
            "type": "object",
            "properties": {f"p{m}": {"type": {"$ref": f"#/definitions/n{(n * m + 1) % 40}"}} for m in range(members)},
            "additionalProperties": False,
        }
        for n in range(40)
    }
    return json.dumps({**STRUCTURE, "$root": "#/definitions/n0", "definitions": kinds})


def structure_tuple(kind: str) -> str:
    names = [f"p{n}" for n in range(2_000)]
    return json.dumps(
        {**STRUCTURE, "type": "tuple", "tuple": names, "properties": {name: {"type": kind} for name in names}}
    )


HARD: dict[str, tuple[str, Any, Any]] = {
    "a child a thousand million times": ("XSD", xsd(item("a", 10**9, 10**9 + 5)), xsd(item("a", 10**9, 10**9))),
    "two children thousands of times": (
        "XSD",
        xsd(item("a", 3000, 3000), item("b", 3000, 3000)),
        xsd(item("a", 2999, 3001), item("b", 3001, 3002)),
    ),
    "repeats in repeats": ("XSD", nested(100), nested(99)),
    "lists of very many words": ("XSD", long_lists(9_000), long_lists(9_001)),
    "very many substitutes": ("XSD", substitutes("unbounded"), substitutes("3")),
    "unions of very many records": ("Avro", avro_union("R", "int"), avro_union("Q", "int")),
    "very many patterns for names": ("JsonSchema", patterns(1), patterns(2)),
    "types that lead to each other": ("JsonSchema", graph(40), graph(39)),
    "structures that lead to each other": ("JsonStructure", structure_graph(40), structure_graph(39)),
    "very long tuples": ("JsonStructure", structure_tuple("int32"), structure_tuple("string")),
}


@pytest.mark.parametrize("case", HARD)
def test_comparing_ends_and_says_that_it_was_given_up(case: str) -> None:
    form, writer, reader = HARD[case]
    with work_limit(FEW):
        verdict = readable(form, writer, reader)
    assert verdict.answer == "undecided"
    assert verdict.reason


@pytest.mark.parametrize("case", HARD)
def test_generating_a_sample_ends(case: str) -> None:
    form, writer, _ = HARD[case]
    schema = parse_schema(form, writer)
    with contextlib.suppress(SchemaRefused), work_limit(FEW):
        value = sample_value(schema, random.Random(7))
        assert schema.validate(schema.encode(value))[1] == []


def test_unions_of_many_records_are_compared_by_name() -> None:
    with work_limit(FEW):
        assert readable("Avro", avro_union("R", "int"), avro_union("R", "long")).answer == "compatible"


def test_a_payload_is_looked_for_before_the_library_that_cannot_be_stopped() -> None:
    # With so many members that differ, jsonschema-rs takes half a minute and more to say that it does not know.
    assert readable("JsonSchema", choices(0), choices(1)).answer == "incompatible"


def test_all_ancestors_together_have_one_budget() -> None:
    asked = []

    def costly(writer: Any, reader: Any) -> Verdict:
        asked.append(writer)
        return readable("JsonSchema", patterns(1), patterns(2))

    with work_limit(FEW):
        verdict = compatible(list(range(100)), "newer", "full_transitive", costly)
    assert verdict.answer == "undecided"
    assert "given up" in verdict.reason
    assert len(asked) == 200

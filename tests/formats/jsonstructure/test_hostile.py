"""Documents and payloads that mean harm: bounded work, a reason, and nothing escapes."""

import random
from typing import Any

import pytest

from postroom.errors import SchemaRefused
from postroom.formats.jsonstructure.format import check, readable
from postroom.formats.schema import SchemaDocument
from tests.formats.jsonstructure.schemas import DEFINITIONS, document, structure


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"type": "array", "items": schema}
    return schema


def test_deep_nesting_has_an_end() -> None:
    structure(nested(100))
    for depth in (200, 5000):
        with pytest.raises(SchemaRefused, match="nested too deeply"):
            structure(nested(depth))


def test_deep_text_is_refused() -> None:
    text = '{"type":"array","items":' * 20_000
    with pytest.raises(SchemaRefused):
        check(SchemaDocument(document=text.encode()))


def test_a_long_chain_of_references_is_no_deep_nesting() -> None:
    definitions: dict[str, Any] = {
        f"T{n}": {"type": "object", "properties": {"next": {"type": {"$ref": f"#/definitions/T{n + 1}"}}}}
        for n in range(3000)
    }
    definitions["T3000"] = {"type": "string"}
    parsed = structure({"type": {"$ref": "#/definitions/T0"}}, definitions)
    assert parsed.judge(b'{"next": {"next": {}}}')[1] == []
    assert parsed.judge(b'{"next": {"next": 5}}')[1] != []


@pytest.mark.parametrize("depth", [500, 100_000])
def test_deep_payloads_are_judged_or_refused(depth: int) -> None:
    node = structure({"type": {"$ref": "#/definitions/Node"}}, DEFINITIONS)
    payload = b'{"value":"1","next":' * depth + b"null" + b"}" * depth
    _, violations = node.judge(payload)
    assert [one.code for one in violations] in ([], ["payload_too_deep"], ["payload_not_json"])


def test_unions_that_multiply_stop_after_a_while() -> None:
    definitions = {
        f"{side}{n}": {
            "type": "object",
            "properties": {"x": {"type": [{"$ref": f"#/definitions/A{n + 1}"}, {"$ref": f"#/definitions/B{n + 1}"}]}},
        }
        for n in range(40)
        for side in "AB"
    }
    definitions |= {"A40": {"type": "object", "properties": {"x": {"type": "int8"}}}}
    definitions |= {"B40": {"type": "object", "properties": {"x": {"type": "int8"}}}}
    parsed = structure({"type": {"$ref": "#/definitions/A0"}}, definitions)
    _, violations = parsed.judge(b'{"x":' * 41 + b'"no"' + b"}" * 41)
    assert [one.code for one in violations] == ["payload_too_complex"]


def test_conditions_that_multiply_stop_after_a_while() -> None:
    definitions: dict[str, Any] = {
        f"T{n}": {"type": "int32", "allOf": [{"type": {"$ref": f"#/definitions/T{n + 1}"}}] * 2} for n in range(40)
    }
    definitions["T40"] = {"type": "int32"}
    parsed = structure({"type": {"$ref": "#/definitions/T0"}}, definitions)
    assert [one.code for one in parsed.judge(b"5")[1]] == ["payload_too_complex"]


def test_required_members_without_end_have_no_value() -> None:
    endless = {"E": {"type": "object", "properties": {"e": {"type": {"$ref": "#/definitions/E"}}}, "required": ["e"]}}
    parsed = structure({"type": {"$ref": "#/definitions/E"}}, endless)
    assert parsed.judge(b"{}")[1] != []
    with pytest.raises(SchemaRefused, match="no value fits"):
        parsed.sample(random.Random(1))


def test_samples_that_would_be_enormous_are_refused() -> None:
    definitions: dict[str, Any] = {}
    for n in range(40):
        members = {name: {"type": {"$ref": f"#/definitions/T{n + 1}"}} for name in "ab"}
        definitions[f"T{n}"] = {"type": "tuple", "properties": members, "tuple": ["a", "b"]}
    definitions["T40"] = {"type": "string"}
    with pytest.raises(SchemaRefused, match="too large"):
        structure({"type": {"$ref": "#/definitions/T0"}}, definitions).sample(random.Random(1))


def test_a_huge_enum_is_read() -> None:
    values = [f"value-{number}" for number in range(200_000)]
    parsed = structure({"type": "string", "enum": values})
    assert parsed.judge(b'"value-77"')[1] == []
    [violation] = parsed.judge(b'"value-x"')[1]
    assert len(violation.expected) < 500


def test_a_pattern_that_backtracks_elsewhere_is_quick() -> None:
    parsed = structure({"type": "string", "pattern": "(a+)+$"})
    assert [one.code for one in parsed.judge(b'"' + b"a" * 50_000 + b'b"')[1]] == ["payload_pattern"]


def test_at_most_twenty_violations() -> None:
    parsed = structure({"type": "array", "items": {"type": "int8"}})
    assert len(parsed.judge(b"[" + b'"x",' * 5000 + b"1]")[1]) == 20


BROKEN = [b"", b"{", b'{"a": "1"', b"\xff\xfe{\x00}\x00", b"NaN", b"[Infinity]", b'"\xc3"', b"{}{}", b"\xef\xbb\xbf{}"]


@pytest.mark.parametrize("payload", BROKEN)
def test_payloads_that_are_not_json(payload: bytes) -> None:
    value, [violation] = structure({"type": "any"}).judge(payload)
    assert (value, violation.code) == (None, "payload_not_json")


def test_the_last_of_equal_keys_counts() -> None:
    assert structure({"type": "map", "values": {"type": "int8"}}).judge(b'{"a": 1, "a": 2}') == ({"a": 2}, [])


def test_numbers_of_thousands_of_digits() -> None:
    for kind in ("any", "number", "int32", "double"):
        assert [one.code for one in structure({"type": kind}).judge(b"1" * 10_000)[1]][:1] in (
            ["payload_not_json"],
            ["payload_type"],
        )


def test_comparing_graphs_that_multiply_ends() -> None:
    def graph(leaf: str) -> dict[str, Any]:
        made: dict[str, Any] = {
            f"T{n}": {"type": "object", "properties": {k: {"type": {"$ref": f"#/definitions/T{n + 1}"}} for k in "ab"}}
            for n in range(30)
        }
        return {**made, "T30": {"type": leaf}}

    root = {"type": {"$ref": "#/definitions/T0"}}
    writer, reader = document(root, graph("int8")), document(root, graph("int32"))
    found = readable(SchemaDocument(document=writer), SchemaDocument(document=reader))
    assert found.answer in ("undecided", "compatible")

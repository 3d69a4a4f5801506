"""Documents and payloads that mean harm: bounded work, a reason, and nothing escapes."""

import contextlib
import copy
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.jsonstructure.format import check, parse, readable
from postroom.formats.schema import LibraryDocument, SchemaDocument
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
    assert parsed.validate(b'{"next": {"next": {}}}')[1] == []
    assert parsed.validate(b'{"next": {"next": 5}}')[1] != []


@pytest.mark.parametrize("depth", [500, 100_000])
def test_deep_payloads_are_validated_or_refused(depth: int) -> None:
    node = structure({"type": {"$ref": "#/definitions/Node"}}, DEFINITIONS)
    payload = b'{"value":"1","next":' * depth + b"null" + b"}" * depth
    _, violations = node.validate(payload)
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
    _, violations = parsed.validate(b'{"x":' * 41 + b'"no"' + b"}" * 41)
    assert [one.code for one in violations] == ["payload_too_complex"]


def test_conditions_that_multiply_stop_after_a_while() -> None:
    definitions: dict[str, Any] = {
        f"T{n}": {"type": "int32", "allOf": [{"type": {"$ref": f"#/definitions/T{n + 1}"}}] * 2} for n in range(40)
    }
    definitions["T40"] = {"type": "int32"}
    parsed = structure({"type": {"$ref": "#/definitions/T0"}}, definitions)
    assert [one.code for one in parsed.validate(b"5")[1]] == ["payload_too_complex"]


def test_required_members_without_end_have_no_value() -> None:
    endless = {"E": {"type": "object", "properties": {"e": {"type": {"$ref": "#/definitions/E"}}}, "required": ["e"]}}
    parsed = structure({"type": {"$ref": "#/definitions/E"}}, endless)
    assert parsed.validate(b"{}")[1] != []
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
    assert parsed.validate(b'"value-77"')[1] == []
    [violation] = parsed.validate(b'"value-x"')[1]
    assert len(violation.expected) < 500


def test_a_pattern_that_backtracks_elsewhere_is_quick() -> None:
    parsed = structure({"type": "string", "pattern": "(a+)+$"})
    assert [one.code for one in parsed.validate(b'"' + b"a" * 50_000 + b'b"')[1]] == ["payload_pattern"]


def test_at_most_twenty_violations() -> None:
    parsed = structure({"type": "array", "items": {"type": "int8"}})
    assert len(parsed.validate(b"[" + b'"x",' * 5000 + b"1]")[1]) == 20


BROKEN = [b"", b"{", b'{"a": "1"', b"\xff\xfe{\x00}\x00", b"NaN", b"[Infinity]", b'"\xc3"', b"{}{}", b"\xef\xbb\xbf{}"]


@pytest.mark.parametrize("payload", BROKEN)
def test_payloads_that_are_not_json_have_a_violation(payload: bytes) -> None:
    value, [violation] = structure({"type": "any"}).validate(payload)
    assert (value, violation.code) == (None, "payload_not_json")


def test_the_last_of_equal_keys_counts() -> None:
    assert structure({"type": "map", "values": {"type": "int8"}}).validate(b'{"a": 1, "a": 2}') == ({"a": 2}, [])


def test_numbers_of_thousands_of_digits() -> None:
    for kind in ("any", "number", "int32", "double"):
        assert [one.code for one in structure({"type": kind}).validate(b"1" * 10_000)[1]][:1] in (
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
    assert found.answer == "compatible"


EVERYTHING = document(
    {
        "type": "object",
        "properties": {
            "a": {"type": "string", "maxLength": 5, "pattern": "x*", "format": "email", "enum": ["x"], "unit": "m"},
            "b": {
                "type": "array",
                "items": {"type": "int64", "minimum": "1"},
                "contains": {"const": "5"},
                "minItems": 1,
            },
            "c": {"type": "map", "values": {"type": "decimal", "precision": 5}, "keyNames": {"type": "string"}},
            "d": {"type": "tuple", "properties": {"x": {"type": "uuid"}}, "tuple": ["x"]},
            "e": {"type": ["string", {"$ref": "#/definitions/Node"}, "null"], "enum": ["x"]},
            "f": {"type": {"$ref": "#/definitions/AnyVehicle"}},
            "g": {"type": "int32", "not": {"properties": {"a": {"const": 1}}, "required": ["a"]}},
            "h": {"type": "int32", "if": {"type": "int8"}, "then": {"enum": [1]}, "else": {"type": "int16"}},
        },
        "required": [["a"], ["b", "c"]],
        "additionalProperties": {"type": "binary", "contentEncoding": "base16"},
        "dependentRequired": {"a": ["b"]},
        "patternProperties": {"^x": {"type": "date"}},
        "propertyNames": {"type": "string", "minLength": 1},
        "has": {"type": "any"},
        "allOf": [{"required": ["a"]}],
        "$offers": {"Extra": ["#/definitions/Extra"]},
        "$uses": ["JSONStructureValidation"],
    },
    {
        **DEFINITIONS,
        "Extra": {
            "type": "object",
            "abstract": True,
            "$extends": ["#/definitions/Truck"],
            "properties": {"z": {"type": "any"}},
        },
        "Imported": {"$import": "https://example.com/other"},
    },
)


class Echo:
    """A library that answers every question with one document."""

    def __init__(self, document: Any) -> None:
        self.document = document

    def find(self, reference: str, base: str = "") -> LibraryDocument | None:
        return LibraryDocument(reference, self.document)

    def neighbours(self) -> Iterator[LibraryDocument]:
        return iter([LibraryDocument("x", self.document)])


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container of a document with each of its keys."""
    for key in value if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


JUNK: list[Any] = [None, True, 0, -1, 1.5, "", "x", "#", "#/definitions", "#/definitions/Node", "https://e.com", [], {}]
JUNK += [[[]], ["x", 1], {"x": 1}, {"type": "object"}, {"type": ["x"]}, {"$ref": "#"}, {"type": {"$ref": "#"}}, 10**400]


def test_the_document_of_everything_is_sound() -> None:
    other = {**document({"type": "string"}), "definitions": {"Thing": {"type": "string"}}}
    check(SchemaDocument(document=EVERYTHING, library=Echo(other)))


@given(number=st.integers(0, 10_000), junk=st.sampled_from(JUNK), elsewhere=st.booleans())
@settings(max_examples=100, deadline=None)
def test_mutilated_documents_are_read_or_refused(number: int, junk: Any, elsewhere: bool) -> None:
    broken = copy.deepcopy(EVERYTHING)
    if elsewhere:
        del broken["definitions"]["Imported"]
    found = list(places(broken))
    container, key = found[number % len(found)]
    container[key] = junk
    sound = {**document({"type": "string"}), "definitions": {"Thing": {"type": "string"}}}
    source = SchemaDocument(document=broken, library=Echo(sound))
    if elsewhere:
        imports = {**document({"type": "string"}), "$import": "https://example.com/other"}
        source = SchemaDocument(document=imports, library=Echo(broken))
    for action in (check, lambda one: parse(one).validate(b'{"a": "x"}'), lambda one: parse(one).columns()):
        with contextlib.suppress(SchemaRefused):
            action(source)
    with contextlib.suppress(SchemaRefused):
        readable(source, SchemaDocument(document=EVERYTHING, library=Echo(sound)))

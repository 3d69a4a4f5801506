"""Payloads against types: what is accepted, what it means, and what is said when it is not."""

import decimal
from typing import Any

import msgspec
import pytest

from postroom.formats.jsonstructure.format import check, parse
from postroom.formats.schema import SchemaDocument
from tests.formats.jsonstructure.schemas import DEFINITIONS, structure

D = decimal.Decimal

ACCEPTED: list[tuple[str, Any, Any]] = [
    ("string", "Ada", "Ada"),
    ("boolean", True, True),
    ("null", None, None),
    ("int8", -128, -128),
    ("uint8", 255, 255),
    ("int16", 32767, 32767),
    ("uint16", 65535, 65535),
    ("int32", -(2**31), -(2**31)),
    ("integer", 2**31 - 1, 2**31 - 1),
    ("uint32", 2**32 - 1, 2**32 - 1),
    ("int64", "-9223372036854775808", -(2**63)),
    ("int64", "-0", 0),
    ("uint64", "18446744073709551615", 2**64 - 1),
    ("int128", "-170141183460469231731687303715884105728", "-170141183460469231731687303715884105728"),
    ("uint128", "340282366920938463463374607431768211455", "340282366920938463463374607431768211455"),
    ("double", 5, 5.0),
    ("double", 1e308, 1e308),
    ("float", -3.4e38, -3.4e38),
    ("float8", 0.5, 0.5),
    ("number", 5, 5),
    ("number", 0.1, 0.1),
    ("decimal", "-12.50", D("-12.50")),
    ("decimal", "0", D(0)),
    ("date", "2024-02-29", "2024-02-29"),
    ("datetime", "2026-01-31T23:59:60Z", "2026-01-31T23:59:60Z"),
    ("datetime", "2026-01-31t12:00:00.123456789+05:30", "2026-01-31t12:00:00.123456789+05:30"),
    ("time", "23:59:59Z", "23:59:59Z"),
    ("time", "08:30:00", "08:30:00"),
    ("duration", "P3Y6M4DT12H30M5S", "P3Y6M4DT12H30M5S"),
    ("duration", "PT0.5S", "PT0.5S"),
    ("duration", "P2W", "P2W"),
    ("uuid", "123E4567-e89b-12d3-a456-426614174000", "123E4567-e89b-12d3-a456-426614174000"),
    ("uri", "https://example.com/a%20b?x=1#y", "https://example.com/a%20b?x=1#y"),
    ("uri", "../relative", "../relative"),
    ("binary", "AAEC/w==", b"\0\1\2\xff"),
    ("binary", "", b""),
    ("jsonpointer", "/a~1b/0", "/a~1b/0"),
    ("jsonpointer", "#/definitions/A", "#/definitions/A"),
    ("any", {"a": [1, None]}, {"a": [1, None]}),
]


@pytest.mark.feature("SCH-016")
@pytest.mark.parametrize(("kind", "value", "meaning"), ACCEPTED)
def test_values_of_primitive_types_are_decoded(kind: str, value: Any, meaning: Any) -> None:
    parsed = structure({"type": kind})
    found, violations = parsed.validate(msgspec.json.encode(value))
    assert violations == []
    assert found == meaning
    assert type(found) is type(meaning)


REFUSED: list[tuple[str, list[Any]]] = [
    ("string", [1, True, [], {}]),
    ("boolean", [0, "true"]),
    ("null", [0, "", False]),
    ("int8", [128, -129, 1.0, "1", True]),
    ("uint8", [-1, 256]),
    ("int32", [2**31, 1.5, "1"]),
    ("integer", [2**31, 1.0]),
    ("uint32", [-1, 2**32]),
    ("int64", [1, "1.0", "01", "+1", " 1", "1_0", "٣", "9223372036854775808", "", "1e3"]),
    ("uint64", [1, "-1", "-0", "18446744073709551616"]),
    ("int128", ["170141183460469231731687303715884105728"]),
    ("uint128", ["340282366920938463463374607431768211456", "9" * 5000]),
    ("double", ["1", True, 10**400]),
    ("float", [3.5e38, "1"]),
    ("number", ["1", 10**400, False]),
    ("decimal", [1, 1.5, "1.", ".5", "1e3", "NaN", "1.12345678", "9" * 28]),
    ("date", ["2026-02-29", "2026-2-1", "20260201", "2026-02-01T00:00:00Z", 5]),
    ("datetime", ["2026-01-31T12:00:00", "2026-01-31 12:00:00Z", "2026-02-30T12:00:00Z", "2026-W01-1T00:00:00Z"]),
    ("time", ["24:00:00Z", "8:30", "08:30"]),
    ("duration", ["P", "PT", "1D", "P1S", "P1W2D"]),
    ("uuid", ["{123e4567-e89b-12d3-a456-426614174000}", "123e4567e89b12d3a456426614174000"]),
    ("uri", ["not a uri", "http://example.com/%zz", "ümlaut", "a:b c"]),
    ("binary", ["AAE", "AA EC", "!!!!", "AAEC/w==x"]),
    ("jsonpointer", ["a", "/~2"]),
]


@pytest.mark.parametrize(("kind", "value"), [(kind, value) for kind, values in REFUSED for value in values])
def test_values_that_primitive_types_refuse(kind: str, value: Any) -> None:
    meaning, [violation] = structure({"type": kind}).validate(msgspec.json.encode(value))
    assert meaning is None
    assert (violation.at, violation.code) == ("", "payload_type")


CAR = {
    "type": "object",
    "properties": {
        "vin": {"type": "string", "maxLength": 5},
        "doors": {"type": "uint8", "enum": [3, 5]},
        "owners": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "tags": {"type": "set", "items": {"type": "any"}},
        "prices": {"type": "map", "values": {"type": "decimal", "scale": 2}},
        "at": {"type": "tuple", "properties": {"x": {"type": "double"}, "y": {"type": "double"}}, "tuple": ["y", "x"]},
        "note": {"type": ["string", "null"], "enum": ["new", "old"]},
        "engine": {"type": "choice", "choices": {"volts": {"type": "int32"}, "fuel": {"type": "string"}}},
    },
    "required": ["vin"],
    "additionalProperties": False,
}

WRONG: list[tuple[Any, str, str]] = [
    ([], "", "payload_type"),
    (None, "", "null_not_allowed"),
    ({}, "", "payload_required"),
    ({"vin": None}, "/vin", "null_not_allowed"),
    ({"vin": "abcdef"}, "/vin", "payload_max_length"),
    ({"vin": "a", "doors": 4}, "/doors", "payload_enum"),
    ({"vin": "a", "doors": "x"}, "/doors", "payload_type"),
    ({"vin": "a", "wheels/rims": 4}, "/wheels~1rims", "payload_additional_properties"),
    ({"vin": "a", "owners": ["x", 1]}, "/owners/1", "payload_type"),
    ({"vin": "a", "owners": ["x", "y", "z"]}, "/owners", "payload_max_items"),
    ({"vin": "a", "tags": [1, True, 1.0]}, "/tags/2", "payload_unique_items"),
    ({"vin": "a", "tags": [{"a": 1, "b": 2}, {"b": 2, "a": 1}]}, "/tags/1", "payload_unique_items"),
    ({"vin": "a", "prices": {"EUR": "1.234"}}, "/prices/EUR", "payload_type"),
    ({"vin": "a", "at": [1]}, "/at", "payload_tuple"),
    ({"vin": "a", "at": [1, "x"]}, "/at/1", "payload_type"),
    ({"vin": "a", "note": "worn"}, "/note", "payload_enum"),
    ({"vin": "a", "note": 4}, "/note", "payload_type"),
    ({"vin": "a", "engine": {"volts": 1, "fuel": "gas"}}, "/engine", "payload_choice"),
    ({"vin": "a", "engine": {"steam": 1}}, "/engine", "payload_choice"),
    ({"vin": "a", "engine": {"volts": "x"}}, "/engine/volts", "payload_type"),
]


@pytest.mark.parametrize(("value", "at", "code"), WRONG)
def test_violations_have_a_json_pointer(value: Any, at: str, code: str) -> None:
    _, [violation] = structure(CAR).validate(msgspec.json.encode(value))
    assert (violation.at, violation.code) == (at, code)


def test_an_object_of_many_types_is_decoded() -> None:
    value = {
        "$schema": "https://example.com/car",
        "vin": "a",
        "doors": 5,
        "tags": [1, True, "1"],
        "prices": {"EUR": "1.20"},
        "at": [1, 2.5],
        "note": None,
        "engine": {"volts": 12},
    }
    meaning, violations = structure(CAR).validate(msgspec.json.encode(value))
    assert violations == []
    assert meaning == {**value, "prices": {"EUR": D("1.20")}}


def test_undeclared_members_are_accepted_but_not_decoded() -> None:
    open_ = structure({"type": "object", "properties": {"vin": {"type": "string"}}})
    assert open_.validate(b'{"vin": "a", "colour": "red"}') == ({"vin": "a"}, [])
    stated = structure({"type": "object", "properties": {"vin": {"type": "string"}}, "additionalProperties": True})
    assert stated.validate(b'{"vin": "a", "colour": "red"}') == ({"vin": "a", "colour": "red"}, [])


def test_exactly_one_alternative_set_of_required_members() -> None:
    animal = structure(
        {
            "type": "object",
            "properties": {name: {"type": "int32"} for name in ("name", "fins", "legs")},
            "required": [["name", "fins"], ["name", "legs"]],
        }
    )
    assert animal.validate(b'{"name": 1, "fins": 2}')[1] == []
    assert [one.code for one in animal.validate(b'{"name": 1}')[1]] == ["payload_required_alternatives"]
    assert [one.code for one in animal.validate(b'{"name": 1, "fins": 2, "legs": 4}')[1]] == [
        "payload_required_alternatives"
    ]


def test_inherited_members_and_inline_choices() -> None:
    vehicle = structure({"type": {"$ref": "#/definitions/AnyVehicle"}}, DEFINITIONS)
    value, violations = vehicle.validate(b'{"kind": "truck", "vin": "x", "built": "2026-01-31", "load": "7.5"}')
    assert violations == []
    assert value == {"kind": "truck", "vin": "x", "built": "2026-01-31", "load": D("7.5")}
    assert [(one.at, one.code) for one in vehicle.validate(b'{"kind": "truck", "vin": 5}')[1]] == [
        ("/vin", "payload_type"),
        ("", "payload_required"),
    ]
    assert [(one.at, one.code) for one in vehicle.validate(b'{"kind": "boat"}')[1]] == [("/kind", "payload_choice")]


def test_several_bases_merge_and_the_first_wins() -> None:
    definitions = {
        "A": {"type": "object", "abstract": True, "properties": {"x": {"type": "string"}}, "required": ["x"]},
        "B": {"type": "object", "abstract": True, "properties": {"x": {"type": "int32"}, "y": {"type": "int32"}}},
        "AB": {"type": "object", "$extends": ["#/definitions/A", "#/definitions/B"]},
    }
    both = structure({"type": {"$ref": "#/definitions/AB"}}, definitions)
    assert both.validate(b'{"x": "text", "y": 1}')[1] == []
    assert [one.at for one in both.validate(b'{"x": 1, "y": 1}')[1]] == ["/x"]


OBJECT = {"type": "object", "properties": {"a": {"type": "any"}}}
MAP = {"type": "map", "values": {"type": "any"}}
SMALL, GREAT = {"type": "int32", "maximum": 5}, {"type": "int32", "minimum": 3}
RULES: list[tuple[dict[str, Any], Any, Any, str]] = [
    ({"type": "int32", "minimum": 3}, 3, 2, "payload_minimum"),
    ({"type": "double", "maximum": 0.1}, 0.1, 0.2, "payload_maximum"),
    ({"type": "int64", "exclusiveMinimum": "10"}, "11", "10", "payload_exclusive_minimum"),
    ({"type": "uint128", "maximum": "5"}, "5", "6", "payload_maximum"),
    ({"type": "decimal", "exclusiveMaximum": "2.5"}, "2.49", "2.50", "payload_exclusive_maximum"),
    ({"type": "decimal", "multipleOf": "0.1"}, "0.3", "0.25", "payload_multiple_of"),
    ({"type": "double", "multipleOf": 0.1}, 0.3, 0.25, "payload_multiple_of"),
    ({"type": "string", "minLength": 2}, "😀a", "😀", "payload_min_length"),
    ({"type": "string", "pattern": "[a-z]+"}, "abc", "abc1", "payload_pattern"),
    ({"type": "string", "format": "ipv4"}, "192.0.2.1", "192.0.2.256", "payload_format"),
    ({"type": "string", "format": "email"}, "ada@example.com", "ada", "payload_format"),
    ({"type": "string", "const": "x"}, "x", "y", "payload_enum"),
    ({"type": "array", "items": {"type": "any"}, "minItems": 1}, [1], [], "payload_min_items"),
    ({"type": "array", "items": {"type": "any"}, "uniqueItems": True}, [1, 2], [1, 1], "payload_unique_items"),
    (
        {"type": "array", "items": {"type": "any"}, "contains": {"type": "string"}, "maxContains": 1},
        ["a", 1],
        ["a", "b"],
        "payload_contains",
    ),
    ({**OBJECT, "minProperties": 1}, {"a": 1}, {}, "payload_min_properties"),
    ({**OBJECT, "maxProperties": 1}, {}, {"a": 1, "b": 2}, "payload_max_properties"),
    (
        {**OBJECT, "dependentRequired": {"a": ["b"]}},
        {"a": 1, "b": 1},
        {"a": 1},
        "payload_dependent_required",
    ),
    (
        {**OBJECT, "patternProperties": {"^x": {"type": "int32"}}},
        {"x1": 1},
        {"x1": "1"},
        "payload_type",
    ),
    (
        {**OBJECT, "propertyNames": {"type": "string", "maxLength": 1}},
        {"b": 1},
        {"bb": 1},
        "payload_property_names",
    ),
    ({**OBJECT, "has": {"type": "int32"}}, {"a": 1}, {"a": "1"}, "payload_has"),
    ({**MAP, "minEntries": 1}, {"a": 1}, {}, "payload_min_entries"),
    ({**MAP, "maxEntries": 0}, {}, {"a": 1}, "payload_max_entries"),
    ({**MAP, "patternKeys": {"^x": {"type": "int32"}}}, {"x": 1}, {"x": ""}, "payload_type"),
    ({**MAP, "keyNames": {"type": "string", "minLength": 2}}, {"ab": 1}, {"a": 1}, "payload_key_names"),
    ({"type": "int32", "not": {"type": "int32", "const": 3}}, 2, 3, "payload_not"),
    ({"type": "int32", "anyOf": [{"const": 1}, {"const": 2}]}, 1, 3, "payload_any_of"),
    ({"type": "int32", "oneOf": [GREAT, SMALL]}, 9, 4, "payload_one_of"),
    ({"type": "int32", "allOf": [{"type": "int32", "minimum": 3}]}, 3, 2, "payload_minimum"),
    (
        {
            **OBJECT,
            "if": {"properties": {"a": {"type": "string"}}, "required": ["a"]},
            "then": {"required": ["b"]},
            "else": {"required": ["c"]},
        },
        {"a": "x", "b": 1},
        {"a": 1, "b": 1},
        "payload_required",
    ),
]


@pytest.mark.parametrize(("schema", "right", "wrong", "code"), RULES)
def test_rules_of_the_companions(schema: dict[str, Any], right: Any, wrong: Any, code: str) -> None:
    parsed = structure(schema)
    assert parsed.validate(msgspec.json.encode(right))[1] == []
    assert [one.code for one in parsed.validate(msgspec.json.encode(wrong))[1]] == [code]


def test_rules_beside_a_union_do_not_constrain_it() -> None:
    # Real payloads rely on it, and the companion speaks of schemas of one type.
    nullable = structure({"type": ["int32", "null"], "minimum": 3})
    assert nullable.validate(b"1") == (1, [])


def test_rules_beside_a_reference_narrow_it() -> None:
    parsed = structure({"type": {"$ref": "#/definitions/Text"}, "maxLength": 2}, {"Text": {"type": "string"}})
    assert [one.code for one in parsed.validate(b'"abc"')[1]] == ["payload_max_length"]


def test_the_first_fitting_type_of_a_union_counts() -> None:
    assert structure({"type": ["int64", "string"]}).validate(b'"12"') == (12, [])
    assert structure({"type": ["string", "int64"]}).validate(b'"12"') == ("12", [])
    assert structure({"type": ["int64", "string"]}).encode(12) == b'"12"'


ENCODINGS = [("base64url", "_-8="), ("base16", "ffef"), ("base32", "77XQ===="), ("base32hex", "VVNG====")]


@pytest.mark.parametrize(("name", "text"), ENCODINGS)
def test_bytes_in_other_encodings(name: str, text: str) -> None:
    parsed = structure({"type": "binary", "contentEncoding": name})
    assert parsed.validate(msgspec.json.encode(text)) == (b"\xff\xef", [])
    assert parsed.validate(parsed.encode(b"\xff\xef")) == (b"\xff\xef", [])


ADDRESS: dict[str, Any] = {
    "$schema": "https://json-structure.org/meta/core/v0/#",
    "$id": "https://example.com/addresses",
    "$root": "#/definitions/Address",
    "$offers": {"Delivery": "#/definitions/Delivery"},
    "definitions": {
        "Address": {"type": "object", "properties": {"street": {"type": "string"}}, "additionalProperties": False},
        "Delivery": {
            "type": "object",
            "abstract": True,
            "$extends": "#/definitions/Address",
            "properties": {"instructions": {"type": "string"}},
        },
    },
}


def test_a_payload_picks_the_add_ins_it_uses() -> None:
    source = SchemaDocument(document=ADDRESS)
    check(source)
    address = parse(source)
    used = b'{"$uses": ["Delivery"], "street": "Elm", "instructions": "ring"}'
    assert address.validate(used)[1] == []
    assert [one.at for one in address.validate(used.replace(b'"ring"', b"7"))[1]] == ["/instructions"]
    assert [one.code for one in address.validate(b'{"street": "Elm", "instructions": "ring"}')[1]] == [
        "payload_additional_properties"
    ]
    assert [one.code for one in address.validate(b'{"$uses": ["Gift"]}')[1]] == ["payload_add_in"]
    assert [one.code for one in address.validate(b'{"$uses": 5}')[1]] == ["payload_add_in"]

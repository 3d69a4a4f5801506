"""Schemas and payloads that mean harm: a reason, and never an exception or endless work."""

import contextlib
import json
import random
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.fill_columns import filler
from postroom.formats.jsonschema.format import JsonSchema, parse
from postroom.formats.schema import EmptyLibrary, Library, LibraryDocument, SchemaDocument


def schema(document: Any, version: str = "draft/2020-12", library: Library | None = None) -> JsonSchema:
    return parse(SchemaDocument(document=document, version=version, library=library or EmptyLibrary()))


def nested(levels: int, name: str = "x", leaf: Any = 1) -> Any:
    found = leaf
    for _ in range(levels):
        found = {name: found}
    return found


@pytest.mark.parametrize("levels", [900, 10_000, 100_000])
def test_deep_payloads_have_a_reason(levels: int) -> None:
    for opening, closing in ((b"[", b"]"), (b'{"x":', b"}")):
        payload = opening * levels + b"1" + closing * levels
        for document in ({}, {"properties": {"x": {"$ref": "#"}}, "items": {"$ref": "#"}}):
            _, violations = schema(document).validate(payload)
            assert [violation.code for violation in violations] == ["payload_too_deep"]
            assert schema(document).fill(payload) == (None, False)


def test_values_as_deep_as_allowed_can_be_filled() -> None:
    parsed = schema({"type": "object", "properties": {"x": {}}})
    value, violations = parsed.validate(json.dumps(nested(390)).encode())
    assert violations == []
    filler(parsed.columns())(value)


@pytest.mark.parametrize("levels", [300, 10_000])
def test_deep_schemas_are_refused(levels: int) -> None:
    document: Any = {"type": "integer"}
    for _ in range(levels):
        document = {"properties": {"x": document}}
    with pytest.raises(SchemaRefused, match="nested too deeply"):
        schema(document)
    text = b'{"not":' * levels + b"true" + b"}" * levels
    with pytest.raises(SchemaRefused, match="nested too deeply"):
        schema(text)


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_exponential_graphs_are_refused(keyword: str) -> None:
    steps: dict[str, Any] = {
        f"s{i}": {keyword: [{"$ref": f"#/$defs/s{i + 1}"}, {"$ref": f"#/$defs/s{i + 1}"}]} for i in range(60)
    }
    with pytest.raises(SchemaRefused, match="judgements"):
        schema({"$ref": "#/$defs/s0", "$defs": {**steps, "s60": {"type": "integer"}}})


def test_exponential_graphs_through_members_are_refused() -> None:
    steps: dict[str, Any] = {
        f"s{i}": {"allOf": [{"properties": {"x": {"$ref": f"#/$defs/s{i + 1}"}}}] * 2} for i in range(60)
    }
    with pytest.raises(SchemaRefused, match="judgements"):
        schema(json.dumps({"$ref": "#/$defs/s0", "$defs": {**steps, "s60": {"type": "integer"}}}))


def test_members_that_match_several_patterns_count_for_each() -> None:
    steps: dict[str, Any] = {
        f"s{i}": {"patternProperties": {name: {"$ref": f"#/$defs/s{i + 1}"} for name in ("x", "^x")}} for i in range(60)
    }
    with pytest.raises(SchemaRefused, match="judgements"):
        schema({"$ref": "#/$defs/s0", "$defs": {**steps, "s60": {"type": "integer"}}})


def level(inner: Any, number: int) -> Any:
    return {
        "allOf": [{"anyOf": [inner, {"properties": {f"q{number}": True}}]}],
        "unevaluatedProperties": False,
    }


@pytest.mark.parametrize(
    "wrap",
    [
        level,
        lambda inner, _: {"allOf": [inner], "unevaluatedProperties": False},
        lambda inner, _: {"oneOf": [inner], "unevaluatedItems": False},
        lambda inner, _: {"if": inner, "unevaluatedProperties": {"type": "string"}},
    ],
)
def test_what_is_unevaluated_counts_for_each_level(wrap: Any) -> None:
    few: Any = {}
    many: Any = {}
    for number in range(4):
        few = wrap(few, number)
    for number in range(25):
        many = wrap(many, number)
    schema(few).validate(b'{"a": 1}')
    with pytest.raises(SchemaRefused, match="judgements"):
        schema(many)


def test_what_unevaluated_members_make_the_validator_compile_is_bounded() -> None:
    steps: dict[str, Any] = {f"s{i}": {"anyOf": [{"$ref": f"#/$defs/s{i + 1}"}] * 2} for i in range(14)}
    with pytest.raises(SchemaRefused, match="look at more than"):
        schema({"$ref": "#/$defs/s0", "unevaluatedProperties": False, "$defs": {**steps, "s14": {}}})


@pytest.mark.parametrize("count", [4, 6, 12])
def test_values_are_not_led_around_in_circles(count: int) -> None:
    everyone = [{"$ref": f"#/$defs/n{number}"} for number in range(count)]
    circle = {f"n{number}": {"allOf": everyone} for number in range(count)}
    with pytest.raises(SchemaRefused, match="circles"):
        schema({"$ref": "#/$defs/n0", "$defs": circle})


@pytest.mark.parametrize("keyword", ["$dynamicRef", "$recursiveRef"])
def test_dynamic_references_count_as_all_they_may_mean(keyword: str) -> None:
    version = "draft/2020-12" if keyword == "$dynamicRef" else "draft/2019-09"
    anchor = {"$dynamicAnchor": "n"} if keyword == "$dynamicRef" else {"$recursiveAnchor": True}
    reference = {keyword: "#n" if keyword == "$dynamicRef" else "#"}
    either = {"anyOf": [{"properties": {"x": reference}}, {"properties": {"x": reference}, "required": ["x"]}]}
    parsed = schema({**anchor, "type": ["object", "integer"], **either}, version)
    assert parsed.validate(json.dumps(nested(300)).encode())[1] == []
    (first, *_) = parsed.validate(json.dumps(nested(300, leaf="oh")).encode())[1]
    assert first.code == "payload_any_of"


COSTLY = [
    ({"uniqueItems": True}, b"[" + b",".join(b"%d" % (2**70 + number) for number in range(10_000)) + b"]"),
    ({"pattern": "^([a-z]{0,500}){0,100}$"}, b'"' + b"ab" * 5_000 + b'"'),
    ({"pattern": "a[ab]{1000}c"}, b'"' + b"ab" * 500_000 + b'"'),
    ({"patternProperties": {"([a-z]{0,500}){0,100}$": {}}}, b'{"' + b"ab" * 5_000 + b'": 1}'),
    ({"items": {"not": {"pattern": r"^(a|a)*(a|a)*b\1$|(?=x)"}}}, json.dumps(["a" * 11] * 20_000).encode()),
    ({"items": {"multipleOf": 1e-300}}, b"[" + b"1e300," * 20_000 + b"1]"),
    ({"items": {"minimum": -(10**400)}}, b"[" + b"9" * 4_000 + (b"," + b"9" * 4_000) * 4_000 + b"]"),
]


@pytest.mark.parametrize(("document", "payload"), COSTLY)
def test_payloads_that_would_hold_the_validator_up_are_refused(document: Any, payload: bytes) -> None:
    (violation,) = schema(document).validate(payload)[1]
    assert violation.code == "payload_too_costly"


@pytest.mark.parametrize(
    ("document", "payload"),
    [
        ({"uniqueItems": True}, json.dumps(list(range(100_000))).encode()),
        ({"items": {"pattern": "^[a-z]{1,500}$"}}, json.dumps(["abc"] * 50_000).encode()),
        ({"items": {"pattern": r"^(?!.*--)[a-z-]+$"}}, json.dumps(["a-b"] * 5_000).encode()),
        ({"items": {"multipleOf": 0.01}}, b"[" + b"1.25," * 20_000 + b"1]"),
        ({"additionalProperties": {"type": "integer"}}, json.dumps({f"m{n}": n for n in range(50_000)}).encode()),
        ({"items": {"oneOf": [{"const": n} for n in range(50)]}}, json.dumps([7] * 2_000).encode()),
    ],
)
def test_large_payloads_of_ordinary_schemas_are_validated(document: Any, payload: bytes) -> None:
    assert schema(document).validate(payload)[1] == []


def test_recursion_that_doubles_is_evaluated_once_per_value() -> None:
    twice = {"properties": {"x": {"$ref": "#"}}}
    parsed = schema(json.dumps({"type": ["object", "integer"], "allOf": [twice, twice]}))
    assert parsed.validate(json.dumps(nested(100)).encode())[1] == []
    (violation,) = parsed.validate(json.dumps(nested(100, leaf="oh")).encode())[1]
    assert violation.code == "payload_type"


@pytest.mark.parametrize(
    "document",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"properties": {"x": {"$ref": "#"}}, "required": ["x"]},
    ],
)
def test_schemas_that_go_in_circles_come_to_an_end(document: Any) -> None:
    parsed = schema(document)
    parsed.validate(b"1")
    parsed.columns()
    with contextlib.suppress(SchemaRefused):
        parsed.sample(random.Random(1))


def test_huge_enums_are_looked_up_not_listed() -> None:
    values = [f"value-{number:020}" for number in range(100_000)]
    parsed = schema({"enum": values})
    assert parsed.validate(b'"value-00000000000000000007"')[1] == []
    (violation,) = parsed.validate(b'"value"')[1]
    assert violation.expected.endswith("and 99980 more")
    parsed.columns()
    parsed.fill(b'"value"')


@pytest.mark.parametrize(
    "pattern", ["^(a+)+$", "^(a|a)*$", "^(?=(a+)+$)", r"^(a|a)*\1b$", r"^(([a-z])+.)+[A-Z]([a-z])+$"]
)
def test_catastrophic_patterns_stay_bounded(pattern: str) -> None:
    parsed = schema({"type": "string", "pattern": pattern})
    parsed.validate(b'"' + b"a" * 50_000 + b'!"')
    with contextlib.suppress(SchemaRefused):
        parsed.sample(random.Random(1))


def test_a_pattern_that_gives_up_refuses_even_under_not() -> None:
    payload = b'"' + b"a" * 5_000 + b'!"'
    hard = {"type": "string", "pattern": r"^(a|a)*(a|a)*\1b$|(?=x)"}
    assert schema(hard).validate(payload)[1] != []
    assert schema({"not": hard}).validate(payload)[1] != []


@pytest.mark.parametrize("pattern", ["a{1,1000}{1,1000}{1,1000}", "(" * 5_000 + ")" * 5_000, "[" * 300, "\\"])
def test_patterns_too_large_or_broken_are_refused(pattern: str) -> None:
    with pytest.raises(SchemaRefused):
        schema({"pattern": pattern})


@pytest.mark.parametrize(
    ("payload", "code", "found"),
    [
        (b"NaN", "payload_not_json", ""),
        (b'{"x": Infinity}', "payload_not_json", ""),
        (b'{"x": -Infinity}', "payload_not_json", ""),
        (b'{"x": 1e400}', "payload_out_of_range", ""),
        (b'{"x": 1' + b"0" * 5_000 + b"}", "payload_out_of_range", ""),
        (b'"\xff"', "payload_not_json", ""),
        (b'"\\ud800"', "payload_not_json", ""),
        (b"\xef\xbb\xbf{}", "payload_not_json", "byte order mark"),
        ("{}".encode("utf-16"), "payload_not_json", "UTF-16"),
        ("{}".encode("utf-16-le"), "payload_not_json", "UTF-16"),
        ("{}".encode("utf-16-be"), "payload_not_json", "UTF-16"),
        (b"{} {}", "payload_not_json", ""),
        (b"", "payload_not_json", "nothing"),
        (b"  ", "payload_not_json", "nothing"),
    ],
)
def test_payloads_that_are_not_json_have_a_reason(payload: bytes, code: str, found: str) -> None:
    for document in ({}, {"type": "object", "properties": {"x": {"type": "number"}}}):
        parsed = schema(document)
        (violation,) = parsed.validate(payload)[1]
        assert violation.code == code
        assert found in violation.found
        assert parsed.fill(payload) == (None, False)


def test_large_integers_are_validated_exactly() -> None:
    parsed = schema({"type": "integer", "maximum": 10**40})
    assert parsed.validate(str(10**40).encode())[1] == []
    assert parsed.validate(str(10**40 + 1).encode())[1] != []


def test_violations_are_few_and_short() -> None:
    _, violations = schema({"items": {"type": "string"}}).validate(b"[" + b"1," * 5_000 + b"1]")
    assert len(violations) == 20
    (violation,) = schema({"maxLength": 3}).validate(b'"' + b"x" * 100_000 + b'"')[1]
    assert len(violation.found) <= 200


@pytest.mark.parametrize("pattern", ["^([a-z]{0,500}){0,100}$", "a[ab]{1000}c"])
def test_texts_for_patterns_that_take_long_are_not_tried(pattern: str) -> None:
    with contextlib.suppress(SchemaRefused):
        schema({"type": "string", "minLength": 10_000, "pattern": pattern}).sample(random.Random(1))


def test_generating_samples_gives_up_in_time() -> None:
    wide = {"allOf": [{"minItems": 5_000, "description": str(number)} for number in range(100)]}
    with pytest.raises(SchemaRefused, match="no fitting data"):
        schema({"type": "array", **wide, "items": {"type": "array", **wide}}).sample(random.Random(1))


def test_a_thousand_dangling_references_are_not_all_looked_for() -> None:
    with pytest.raises(SchemaRefused, match="leads to nothing in the catalog|leads nowhere"):
        schema({"properties": {str(number): {"$ref": f"nobody-{number}"} for number in range(3_000)}})


class Chain:
    """Documents that each refer to the next, without end."""

    def find(self, reference: str, base: str = "") -> LibraryDocument | None:
        number = int(reference.rpartition("-")[2])
        return LibraryDocument(reference, {"items": {"$ref": f"doc-{number + 1}"}})

    def neighbours(self) -> Iterator[LibraryDocument]:
        return iter(())


def test_endless_chains_of_documents_are_refused() -> None:
    with pytest.raises(SchemaRefused, match="more than 200"):
        schema({"$ref": "doc-0"}, library=Chain())


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
_KEYWORDS = st.sampled_from(
    [
        *("type", "properties", "items", "$ref", "$id", "$schema", "$defs", "enum", "const", "allOf", "anyOf", "not"),
        *("if", "pattern", "patternProperties", "required", "minimum", "multipleOf", "$dynamicRef", "$anchor"),
        *("dependentSchemas", "additionalProperties", "prefixItems", "contains"),
    ]
)


@settings(max_examples=150, deadline=None)
@given(document=st.dictionaries(_KEYWORDS, _JSON, max_size=4), payload=st.binary(max_size=30))
def test_nonsense_is_refused_or_usable(document: dict[str, Any], payload: bytes) -> None:
    try:
        parsed = schema(document)
    except SchemaRefused:
        return
    parsed.validate(payload)
    parsed.fill(payload)
    parsed.columns()


def test_large_payloads_name_their_first_violation_only() -> None:
    names = [f"m{index}" for index in range(1_000)]
    parsed = schema({"required": names, "properties": {name: {"type": "string"} for name in names}})
    assert len(parsed.validate(b'{"x": 1}')[1]) == 20
    payload = json.dumps({f"x{index}": index for index in range(5_000)}).encode()
    assert [(found.code, found.expected) for found in parsed.validate(payload)[1]] == [("payload_required", "m0")]


def test_alternatives_over_large_payloads_are_compared_by_their_first_failures() -> None:
    parsed = schema({"anyOf": [{"items": {"type": "string"}}, {"items": {"type": "null"}}]})
    assert parsed.validate(b"[1]")[1][0].code == "payload_any_of"
    assert parsed.validate(json.dumps(list(range(100_000))).encode())[1][0].code == "payload_any_of"

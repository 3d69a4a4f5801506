"""Judging level by level: the same verdicts as the validator's, reasons of the closest alternative, bounded steps."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.jsonschema.compile_validator import ValidatorCompiler
from postroom.formats.jsonschema.drafts import draft_of_document
from postroom.formats.jsonschema.evaluate import Evaluator, OutOfSteps, can_evaluate
from postroom.formats.jsonschema.format import parse
from postroom.formats.jsonschema.referenced_documents import DocumentSet
from postroom.formats.jsonschema.work_bounds import work_of
from postroom.formats.schema import EmptyLibrary, Library, SchemaDocument, Violation
from tests.formats.jsonschema.test_suite import DRAFTS, SuiteLibrary, as_payload, files


def evaluated(document: Any, value: Any, version: str = "", library: Library | None = None) -> list[Violation] | None:
    """What the evaluator finds; None where it leaves the schema to the validator."""
    documents = DocumentSet(document, draft_of_document(document, version), library or EmptyLibrary())
    work_of(documents, documents.start())
    compiler = ValidatorCompiler(documents, assert_formats=False)
    compiler.compile_document()
    if not can_evaluate(documents):
        return None
    try:
        return Evaluator(documents, compiler).violations(documents.start(), value)
    except OutOfSteps:
        return None


@pytest.mark.parametrize("draft", DRAFTS)
def test_the_evaluator_agrees_with_the_public_test_suite(shared: Path, draft: str) -> None:
    suite = shared / "suites" / "json-schema-test-suite"
    judged, left, wrong = 0, 0, []
    for path in files(suite, draft):
        if path.parent.name == "format":
            continue
        for group in json.loads(path.read_bytes()):
            for test in group["tests"]:
                value = msgspec.json.decode(as_payload(test["data"]))
                found = evaluated(group["schema"], value, DRAFTS[draft], SuiteLibrary(suite))
                judged, left = judged + (found is not None), left + (found is None)
                if found is not None and (found == []) != test["valid"]:
                    wrong.append((path.name, group["description"], test["description"], found))
    assert wrong == []
    assert judged > 1_000
    assert left < 0.1 * judged


def judged(document: Any, value: Any, version: str = "") -> list[Violation]:
    parsed = parse(SchemaDocument(document=document, version=version))
    return parsed.validate(parsed.encode(value))[1]


_MEMBER = st.sampled_from("abc")
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "bb", "abc"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_MEMBER, inner, max_size=3),
    max_leaves=8,
)
_PLAIN = st.sampled_from(
    [
        *({}, True, False, {"type": "object"}, {"type": ["integer", "array"]}, {"required": ["a"]}, {"minimum": 1}),
        *(
            {"$ref": "#"},
            {"$ref": "#/$defs/d"},
            {"const": 1},
            {"enum": ["a", None]},
            {"maxLength": 2},
            {"pattern": "b"},
        ),
        *(
            {"pattern": "b"},
            {"maxItems": 1},
            {"uniqueItems": True},
            {"minProperties": 2},
            {"dependentRequired": {"a": ["b"]}},
        ),
    ]
)


def _combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    named = st.dictionaries(_MEMBER, inner, max_size=2)
    keywords = {
        **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), several),
        **dict.fromkeys(("properties", "patternProperties", "dependentSchemas", "dependencies"), named),
        **dict.fromkeys(("not", "if", "then", "else", "items", "contains", "propertyNames"), inner),
        **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "unevaluatedItems"), inner),
        **dict.fromkeys(("minContains", "maxContains"), st.integers(0, 2)),
    }
    return st.lists(st.sampled_from(sorted(keywords)), min_size=1, max_size=4, unique=True).flatmap(
        lambda names: st.fixed_dictionaries({name: keywords[name] for name in names})
    )


_SCHEMAS = st.recursive(_PLAIN, _combined, max_leaves=8)


@settings(max_examples=400, deadline=None)
@given(
    schema=_SCHEMAS,
    definition=_SCHEMAS,
    values=st.lists(_VALUES, min_size=1, max_size=4),
    version=st.sampled_from(["draft-06", "draft-07", "draft/2019-09", "draft/2020-12"]),
)
def test_the_verdicts_are_those_of_the_validator(schema: Any, definition: Any, values: list[Any], version: str) -> None:
    document = {**(schema if isinstance(schema, dict) else {"allOf": [schema]}), "$defs": {"d": definition}}
    try:
        parsed = parse(SchemaDocument(document=document, version=version))
    except SchemaRefused:
        return
    for value in values:
        assert (evaluated(document, value, version) == []) == parsed._validator.is_valid(value)


def places(violations: list[Violation]) -> list[tuple[str, str]]:
    return [(violation.code, violation.at) for violation in violations]


ADD = {"type": "object", "required": ["op", "args"], "properties": {"op": {"const": "add"}}}
EXPRESSION = {
    "oneOf": [
        {"type": "number"},
        *(
            {
                "type": "object",
                "required": ["op", "args"],
                "properties": {"op": {"const": op}, "args": {"type": "array", "items": {"$ref": "#"}}},
            }
            for op in ("add", "mul")
        ),
    ]
}


def expression(levels: int, leaf: Any) -> Any:
    for _ in range(levels):
        leaf = {"op": "mul", "args": [1, leaf]}
    return leaf


def operation(name: str) -> dict[str, Any]:
    operands = {"type": "array", "items": {"$ref": "#/$defs/sum"}}
    return {"type": "object", "properties": {name: operands}, "required": [name], "additionalProperties": False}


SUMS = {"$ref": "#/$defs/sum", "$defs": {"sum": {"oneOf": [{"type": "number"}, operation("add"), operation("mul")]}}}


def sums(levels: int, leaf: Any) -> Any:
    for _ in range(levels):
        leaf = {"add": [leaf]}
    return leaf


@pytest.mark.parametrize(
    ("document", "value", "found"),
    [
        # The alternative whose mark fits is the one that was meant.
        (EXPRESSION, {"op": "mul"}, [("payload_one_of", ""), ("payload_required", "")]),
        (EXPRESSION, {"op": "add", "args": 3}, [("payload_one_of", ""), ("payload_type", "/args")]),
        # Of alternatives in alternatives: the outermost, and where it goes wrong in the end.
        (EXPRESSION, expression(2, {"op": "add"}), [("payload_one_of", ""), ("payload_required", "/args/1/args/1")]),
        (EXPRESSION, expression(9, "oh"), [("payload_one_of", ""), ("payload_one_of", "/args/1" * 9)]),
        # Without a mark: the alternative whose members are there, however deep the mistake is.
        (SUMS, sums(1, "oh"), [("payload_one_of", ""), ("payload_one_of", "/add/0")]),
        (SUMS, sums(30, "oh"), [("payload_one_of", ""), ("payload_one_of", "/add/0" * 30)]),
        # Another type than all alternatives: nothing more to say.
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 5, [("payload_any_of", "")]),
        ({"anyOf": [{"type": "string"}, {"maximum": 1}]}, 5, [("payload_any_of", ""), ("payload_maximum", "")]),
        # Two that are as close: what both find.
        ({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, {}, [("payload_any_of", "")]),
        (
            {"anyOf": [{"$ref": "#/$defs/d"}, {"$ref": "#/$defs/d"}], "$defs": {"d": {"required": ["a"]}}},
            {},
            [("payload_any_of", ""), ("payload_required", "")],
        ),
        ({"oneOf": [{"minimum": 1}, {"minimum": 2}, {"minimum": 3}]}, 5, [("payload_one_of", "")]),
    ],
)
def test_the_closest_alternative_is_explained(document: Any, value: Any, found: list[tuple[str, str]]) -> None:
    assert places(judged(document, value)) == found


@pytest.mark.parametrize(
    ("document", "value", "expected"),
    [
        ({"oneOf": [{}, False, {}]}, 1, "valid under only one of oneOf, not under /oneOf/0 and /oneOf/2"),
        ({"anyOf": [{}], "propertyNames": {"maxLength": 2}}, {"abc": 1}, 'an object whose names fit ("abc": text of'),
        ({"anyOf": [{}], "properties": {}, "additionalProperties": False}, {"a": 1, "b": 2}, "a, b"),
        ({"properties": {"a": {}}, "unevaluatedProperties": False}, {"a": 1, "b": 2}, "without b"),
        ({"contains": {"type": "string"}}, [1], "a list that contains what the schema asks for"),
        ({"anyOf": [{}], "not": {}}, 1, "valid under not"),
    ],
)
def test_combined_schemas_say_what_was_expected(document: Any, value: Any, expected: str) -> None:
    assert judged(document, value)[0].expected.startswith(expected)


def test_steps_are_the_same_however_often_a_value_is_reached() -> None:
    doubled = {"type": ["object", "integer"], "allOf": [{"properties": {"x": {"$ref": "#"}}}] * 8}
    value: Any = "oh"
    for _ in range(300):
        value = {"x": value}
    assert places(judged(doubled, value)) == [("payload_type", "/x" * 300)]


def test_a_value_that_is_reached_by_many_paths_is_reported_once() -> None:
    steps = {f"s{i}": {"properties": {"x": {"allOf": [{"$ref": f"#/$defs/s{i + 1}"}] * 2}}} for i in range(16)}
    value: Any = "oh"
    for _ in range(16):
        value = {"x": value}
    document = {"$ref": "#/$defs/s0", "$defs": {**steps, "s16": {"type": "integer"}}}
    assert places(judged(document, value)) == [("payload_type", "/x" * 16)]


def test_a_payload_that_takes_too_many_steps_has_a_reason() -> None:
    steps: dict[str, Any] = {f"s{i}": {"allOf": [{"$ref": f"#/$defs/s{i + 1}"}] * 2} for i in range(15)}
    doubled = {"items": {"$ref": "#/$defs/s0"}, "$defs": {**steps, "s15": {"type": "integer"}}}
    assert places(judged(doubled, [1] * 100)) == []
    assert places(judged(doubled, [1] * 10_000)) == [("payload_too_costly", "")]

"""Whether payloads of one JSON Schema fit another: a table of pairs, the places named, and the limits."""

from collections.abc import Iterator
from typing import Any

import pytest

from postroom.errors import SchemaRefused
from postroom.formats.format_table import parse_schema
from postroom.formats.jsonschema.compat.compare import readable
from postroom.formats.jsonschema.compat.containment_rules import matches_everything
from postroom.formats.schema import LibraryDocument, SchemaDocument, Verdict

YES, NO, OPEN = "compatible", "incompatible", "undecided"


def source(document: Any, version: str = "draft-07", **more: Any) -> SchemaDocument:
    return SchemaDocument(document=document, version=version, **more)


def compare(writer: Any, reader: Any, version: str = "draft-07", reader_version: str = "") -> Verdict:
    verdict = readable(source(writer, version), source(reader, reader_version or version))
    if verdict.answer == NO:
        assert verdict.counterexample is not None
        assert parse_schema(f"JsonSchema/{version}", writer).validate(verdict.counterexample)[1] == []
        refused = parse_schema(f"JsonSchema/{reader_version or version}", reader).validate(verdict.counterexample)[1]
        assert refused != []
        assert verdict.counterexample.decode().startswith(verdict.shown.removesuffix("…"))
    return verdict


ORDER = {"type": "object", "properties": {"id": {"type": "string"}, "total": {"type": "number"}}, "required": ["id"]}
CLOSED = {**ORDER, "additionalProperties": False}
TREE = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "parts": {"type": "array", "items": {"$ref": "#"}}},
}


def with_member(schema: dict[str, Any], name: str, member: Any) -> dict[str, Any]:
    return {**schema, "properties": {**schema["properties"], name: member}}


@pytest.mark.feature("SCH-025")
@pytest.mark.parametrize(
    ("writer", "reader", "there", "back"),
    [
        # Types
        ({"type": "integer"}, {"type": "number"}, YES, NO),
        ({"type": "string"}, {"type": ["string", "null"]}, YES, NO),
        ({"type": "string"}, {}, YES, NO),
        ({"type": "string"}, {"type": "boolean"}, NO, NO),
        ({"type": "boolean"}, {"enum": [True, False]}, YES, YES),
        ({"type": "null"}, {"const": None}, YES, YES),
        ({"type": "number", "multipleOf": 1}, {"type": "integer"}, YES, YES),
        (False, {"type": "string"}, YES, NO),
        # Annotations say nothing about payloads
        ({"title": "A", "default": 1}, {"description": "B", "examples": [2], "$comment": "c"}, YES, YES),
        # Numbers
        ({"type": "integer", "minimum": 1}, {"type": "integer", "exclusiveMinimum": 0}, YES, YES),
        ({"type": "number", "minimum": 1}, {"type": "number", "exclusiveMinimum": 0}, YES, NO),
        ({"minimum": 3, "maximum": 5}, {"minimum": 2, "maximum": 6}, YES, NO),
        ({"minimum": 3}, {"maximum": 6}, NO, NO),
        ({"multipleOf": 0.3}, {"multipleOf": 0.1}, YES, NO),
        ({"type": "integer"}, {"multipleOf": 0.5}, YES, NO),
        ({"type": "integer", "minimum": 5, "maximum": 4}, {"type": "string"}, YES, NO),
        ({"type": "integer", "minimum": 10**400}, {"type": "integer", "minimum": 10**400 - 1}, YES, NO),
        # Texts
        ({"type": "string", "minLength": 2, "maxLength": 4}, {"type": "string", "minLength": 1}, YES, NO),
        ({"pattern": "^a"}, {"pattern": "^a"}, YES, YES),
        ({"pattern": "^[ab]+$"}, {"type": "string"}, NO, NO),
        ({"type": "string"}, {"pattern": "[0-9]*"}, YES, NO),
        ({"type": "string", "pattern": "^v[0-9]$"}, {"enum": ["v1", "v2"]}, NO, YES),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "uuid"}, YES, YES),
        # Values
        ({"enum": ["a", 1]}, {"enum": [1, "a", None]}, YES, NO),
        ({"enum": [1, 2.0]}, {"type": "integer"}, YES, NO),
        ({"const": {"a": 1}}, {"required": ["a"]}, YES, NO),
        ({"enum": [1]}, {"enum": [True]}, NO, NO),
        ({"enum": [1], "const": True}, {"enum": ["never"]}, YES, NO),
        # Objects
        (ORDER, {**ORDER, "required": []}, YES, NO),
        (ORDER, with_member(ORDER, "note", {"type": "string"}), YES, YES),
        (CLOSED, with_member(CLOSED, "note", {"type": "string"}), YES, NO),
        (CLOSED, ORDER, YES, NO),
        (CLOSED, {**ORDER, "additionalProperties": {"type": "null"}}, YES, NO),
        (CLOSED, {**CLOSED, "required": ["id", "total"]}, NO, YES),
        (ORDER, with_member(ORDER, "id", {"type": ["string", "integer"]}), YES, NO),
        (CLOSED, {"maxProperties": 2}, YES, NO),
        (CLOSED, {"minProperties": 1}, YES, NO),
        (CLOSED, {"propertyNames": {"maxLength": 5}}, YES, NO),
        ({"additionalProperties": {"type": "integer"}}, {"properties": {"n": {"type": "number"}}}, YES, NO),
        ({"patternProperties": {"^x": {"type": "integer"}}}, {"properties": {"x1": {"type": "number"}}}, YES, NO),
        (
            {"patternProperties": {"^x": {"minimum": 1}}, "additionalProperties": False},
            {"patternProperties": {"^x": {"minimum": 0}}, "additionalProperties": False},
            YES,
            NO,
        ),
        ({"required": ["a", "b"]}, {"dependencies": {"a": ["b"]}}, YES, NO),
        ({"dependencies": {"a": ["b", "c"]}}, {"dependencies": {"a": ["b"]}}, YES, NO),
        ({"dependencies": {"a": {"required": ["b"]}}}, {"dependencies": {"a": ["b"]}}, YES, YES),
        ({"type": "object", "maxProperties": 0}, {"properties": {"a": False}}, YES, NO),
        ({"required": ["a"], "properties": {"a": False}, "type": "object"}, {"type": "string"}, YES, NO),
        # Lists
        ({"items": {"minimum": 2}}, {"items": {"minimum": 1}}, YES, NO),
        ({"items": [{"type": "string"}]}, {"items": [{"type": "string"}, {"type": "null"}]}, NO, YES),
        ({"items": [{"type": "string"}], "additionalItems": False}, {"maxItems": 1}, YES, NO),
        ({"type": "array", "maxItems": 0}, {"items": False, "type": "array"}, YES, YES),
        ({"maxItems": 1}, {"uniqueItems": True}, YES, NO),
        ({"contains": {"const": 1}}, {"contains": {"type": "integer"}}, YES, NO),
        ({"type": "array", "items": {"type": "integer"}, "minItems": 1}, {"contains": {"type": "number"}}, YES, NO),
        # Combinations
        ({"type": "string"}, {"anyOf": [{"type": "string"}, {"type": "null"}]}, YES, NO),
        ({"type": ["string", "null"]}, {"oneOf": [{"type": "string"}, {"type": "null"}]}, YES, YES),
        ({"type": "integer"}, {"oneOf": [{"type": "number"}, {"type": "integer"}]}, NO, NO),
        ({"anyOf": [{"const": 1}, {"const": 2}]}, {"enum": [1, 2, 3]}, YES, NO),
        ({"allOf": [{"minimum": 1}, {"maximum": 9}]}, {"minimum": 1, "maximum": 9}, YES, YES),
        ({"type": "integer"}, {"not": {"type": "string"}}, YES, NO),
        ({"not": {"type": ["string", "null"]}}, {"not": {"type": "string"}}, YES, NO),
        ({"if": {"type": "string"}, "then": {"minLength": 1}}, {"minLength": 1}, YES, YES),
        (
            {"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind"]},
            {
                "oneOf": [
                    {"properties": {"kind": {"const": "a"}, "n": {"type": "number"}}},
                    {"properties": {"kind": {"const": "b"}}},
                ]
            },
            YES,
            NO,
        ),
        # References
        ({"$ref": "#/definitions/n", "definitions": {"n": {"type": "integer"}}}, {"type": "integer"}, YES, YES),
        (TREE, {**TREE, "title": "a tree"}, YES, YES),
        (TREE, with_member(TREE, "name", {"type": ["string", "null"]}), YES, NO),
        (
            TREE,
            {
                "$ref": "#/definitions/t",
                "definitions": {"t": with_member(TREE, "parts", {"items": {"$ref": "#/definitions/t"}})},
            },
            YES,
            NO,
        ),
        (
            {"type": "array", "items": {"$ref": "#"}, "maxItems": 2},
            {"type": "array", "items": {"$ref": "#"}, "maxItems": 3},
            YES,
            NO,
        ),
    ],
)
def test_pairs_of_schemas_have_these_verdicts(writer: Any, reader: Any, there: str, back: str) -> None:
    assert (compare(writer, reader).answer, compare(reader, writer).answer) == (there, back)


NOTE = {"type": "string"}
NESTED = {"type": "object", "properties": {"lines": {"type": "array", "items": ORDER}}}
SPLIT = {"allOf": [{"properties": {"buyer": ORDER}}, {"properties": {"buyer": {"properties": {"name": NOTE}}}}]}


@pytest.mark.feature("SCH-025")
@pytest.mark.audit("registry-20")
@pytest.mark.parametrize(
    ("writer", "reader", "by_default", "strictly"),
    [
        (ORDER, with_member(ORDER, "note", NOTE), YES, NO),
        (with_member(ORDER, "note", NOTE), ORDER, YES, YES),
        ({"type": "object"}, {"type": "object", "properties": {"note": NOTE}}, YES, NO),
        (NESTED, {**NESTED, "properties": {"lines": {"items": with_member(ORDER, "note", NOTE)}}}, YES, NO),
        (TREE, with_member(TREE, "note", NOTE), YES, NO),
        # A member that the reader requires is one that older payloads lack.
        (ORDER, {**with_member(ORDER, "note", NOTE), "required": ["id", "note"]}, NO, NO),
        # Whoever closes an object refuses members on purpose.
        (ORDER, CLOSED, NO, NO),
        (ORDER, {"maxProperties": 1}, NO, NO),
        # What the writer declares in any other place is no news.
        ({"patternProperties": {"^n": {}}}, {"properties": {"note": NOTE}}, NO, NO),
        ({"additionalProperties": {"type": "integer"}}, {"properties": {"note": NOTE}}, NO, NO),
        ({"propertyNames": {"maxLength": 4}}, {"properties": {"note": NOTE}}, NO, NO),
        ({"required": ["note"]}, {"properties": {"note": NOTE}}, NO, NO),
        ({"dependencies": {"id": ["note"]}}, {"properties": {"note": NOTE}}, NO, NO),
        ({"anyOf": [{"properties": {"note": {}}}, {"required": ["id"]}]}, {"properties": {"note": NOTE}}, NO, NO),
        (SPLIT, {"properties": {"buyer": {"properties": {"name": {"type": "integer"}}}}}, NO, NO),
        (SPLIT, {"properties": {"buyer": {"properties": {"note": NOTE}}}}, YES, NO),
        ({"enum": [{"note": 1}]}, {"properties": {"note": NOTE}}, NO, NO),
        # A writer that says nothing about a value means any value.
        ({"properties": {"buyer": {}}}, {"properties": {"buyer": {"properties": {"name": NOTE}}}}, NO, NO),
    ],
)
def test_members_that_only_the_reader_declares_count_as_absent_by_default(
    writer: Any, reader: Any, by_default: str, strictly: str
) -> None:
    strict = readable(source(writer, undeclared_members=True), source(reader))
    assert (compare(writer, reader).answer, strict.answer) == (by_default, strictly)


@pytest.mark.feature("SCH-025")
@pytest.mark.parametrize(
    ("writer", "version", "reader", "reader_version", "answer"),
    [
        (
            {"minimum": 1, "exclusiveMinimum": True},
            "draft-04",
            {"exclusiveMinimum": 1},
            "draft/2020-12",
            YES,
        ),
        ({"items": [{"type": "null"}]}, "draft-07", {"prefixItems": [{"type": "null"}]}, "draft/2020-12", YES),
        ({"prefixItems": [{"type": "null"}]}, "draft-07", {"prefixItems": [{"type": "null"}]}, "draft/2020-12", NO),
        # 1.0 is an integer from draft 6 on.
        ({"type": "integer"}, "draft-04", {"type": "integer"}, "draft-06", YES),
        ({"type": "integer"}, "draft-06", {"type": "integer"}, "draft-04", NO),
        ({"enum": [1]}, "draft-04", {"type": "integer"}, "draft-04", NO),
        # Older drafts do not know newer keywords, and hide what stands beside a reference.
        ({"const": 1}, "draft-04", {"const": 1}, "draft-06", NO),
        ({"$ref": "#/definitions/a", "definitions": {"a": {}}, "type": "null"}, "draft-07", {"type": "null"}, "", NO),
        (
            {"$ref": "#/definitions/a", "definitions": {"a": {}}, "type": "null"},
            "draft/2020-12",
            {"type": "null"},
            "draft-07",
            YES,
        ),
        ({"dependencies": {"a": ["b"]}}, "draft-07", {"dependentRequired": {"a": ["b"]}}, "draft/2019-09", YES),
        (
            {"unevaluatedProperties": False, "properties": {"a": {}}},
            "draft/2020-12",
            {"additionalProperties": False, "properties": {"a": {}}},
            "draft-07",
            YES,
        ),
        (
            {"type": "array", "contains": {"const": 1}, "minContains": 2},
            "draft/2020-12",
            {"contains": {"const": 1}},
            "draft-07",
            YES,
        ),
        ({"contentEncoding": "base64"}, "draft/2020-12", {"contentEncoding": "base64"}, "draft-07", NO),
    ],
)
def test_each_side_is_read_by_its_own_draft(
    writer: Any, version: str, reader: Any, reader_version: str, answer: str
) -> None:
    assert compare(writer, reader, version, reader_version or version).answer == answer


@pytest.mark.parametrize(
    ("writer", "reader", "shown", "writer_at", "reader_at"),
    [
        ({"type": "integer"}, {"type": "integer", "maximum": 9}, "100", "", "/maximum"),
        (
            {"properties": {"a/b": {"type": "integer"}}},
            {"properties": {"a/b": {"type": "string"}}},
            '{"a/b":0}',
            "/properties/a~1b/type",
            "/properties/a~1b/type",
        ),
        (CLOSED, {**CLOSED, "required": ["id", "total"]}, '{"id":"a"}', "/required", "/required"),
        (with_member(CLOSED, "note", {"type": "null"}), CLOSED, None, "/properties/note", "/additionalProperties"),
        (
            {"items": {"$ref": "#/definitions/n"}, "definitions": {"n": {"minimum": 1}}},
            {"items": {"$ref": "#/definitions/m"}, "definitions": {"m": {"minimum": 2}}},
            "[1]",
            "/definitions/n/minimum",
            "/definitions/m/minimum",
        ),
        (
            {"items": {"$ref": "#n"}, "definitions": {"x": {"$id": "#n", "minimum": 1}}},
            {"items": {"minimum": 2}},
            "[1]",
            "/definitions/x/minimum",
            "/items/minimum",
        ),
        ({"type": "string"}, {"contentEncoding": "base64"}, None, "", "/contentEncoding"),
    ],
)
def test_an_incompatible_verdict_names_both_pointers(
    writer: Any, reader: Any, shown: str | None, writer_at: str, reader_at: str
) -> None:
    verdict = compare(writer, reader)
    assert (verdict.writer_at, verdict.reader_at) == (writer_at, reader_at)
    assert shown in (None, verdict.shown)


@pytest.mark.parametrize(
    ("writer", "reader", "sentence"),
    [
        ({}, {"required": ["vin"]}, "The reader requires vin, which may be missing."),
        (ORDER, CLOSED, "The reader allows no extra."),
        ({}, {"additionalProperties": False}, "The reader allows nothing there, but it may be {}."),
        ({"type": "null"}, {"type": "string"}, "The reader expects string, but it may be null."),
        (
            {"properties": {"n": {"type": "integer"}}},
            {"properties": {"n": {"minimum": 3}}},
            "The reader expects at least 3 at /n, but it may be 0.",
        ),
    ],
)
def test_an_incompatible_verdict_has_a_reason(writer: Any, reader: Any, sentence: str) -> None:
    assert compare(writer, reader).reason == sentence


def test_a_change_deep_down_is_found() -> None:
    def order(quantity: Any) -> Any:
        line = {"type": "object", "properties": {f"m{index}": {"type": "string"} for index in range(30)}}
        line["properties"]["quantity"] = quantity
        lines = {"type": "array", "items": {"$ref": "#/definitions/line"}}
        return {
            "definitions": {"line": line, "shipment": {"type": "object", "properties": {"id": {}, "lines": lines}}},
            "properties": {"shipments": {"type": "array", "items": {"$ref": "#/definitions/shipment"}}},
        }

    verdict = compare(order({"type": "integer"}), order({"type": "integer", "maximum": 500}))
    assert verdict.reader_at == "/definitions/line/properties/quantity/maximum"
    assert verdict.shown == '{"shipments":[{"lines":[{"quantity":1000003}]}]}'


def test_many_alternatives_are_compared() -> None:
    def kinds(count: int) -> Any:
        return {
            "oneOf": [
                {"type": "object", "required": ["kind"], "properties": {"kind": {"const": index}}}
                for index in range(count)
            ]
        }

    assert compare(kinds(101), kinds(100)).shown == '{"kind":100}'
    assert compare(kinds(12), kinds(13)).answer == YES


def test_counterexamples_are_small() -> None:
    wide = {"type": "object", "properties": {f"m{index}": {"type": "integer"} for index in range(20)}}
    assert compare(wide, with_member(wide, "m7", {"type": "string"})).shown == '{"m7":0}'


def test_an_undecided_verdict_names_both_pointers() -> None:
    writer = {"properties": {"a": {"type": "string", "pattern": "^[ab]{2}$"}}}
    reader = {"properties": {"a": {"type": "string", "pattern": "^[a-c]{2}$"}}}
    verdict = compare(writer, reader)
    assert (verdict.answer, verdict.writer_at, verdict.reader_at) == (
        OPEN,
        "/properties/a/pattern",
        "/properties/a/pattern",
    )
    assert "No rule proves" in verdict.reason


class Shelf:
    """A library of documents by name."""

    def __init__(self, **documents: Any) -> None:
        self.documents = documents

    def find(self, reference: str, base: str = "") -> LibraryDocument | None:
        name = reference.rpartition("/")[2].removesuffix(".json")
        return (
            LibraryDocument(f"/schemagroups/shelf/schemas/{name}", self.documents[name])
            if name in self.documents
            else None
        )

    def neighbours(self) -> Iterator[LibraryDocument]:
        return iter(())


def test_references_lead_into_the_library() -> None:
    writer = source({"items": {"$ref": "address.json"}}, library=Shelf(address={"required": ["street", "city"]}))
    reader = source({"items": {"$ref": "address.json"}}, library=Shelf(address={"required": ["street"]}))
    assert readable(writer, reader).answer == YES
    verdict = readable(reader, writer)
    assert verdict.answer == NO
    assert verdict.reader_at.endswith("address.json/required")


def test_fragments_pick_what_is_compared() -> None:
    document = {"definitions": {"small": {"maximum": 5}, "large": {"maximum": 9}}}
    small, large = (source(document, fragment=f"/definitions/{name}") for name in ("small", "large"))
    assert (readable(small, large).answer, readable(large, small).answer) == (YES, NO)


def test_text_and_values_are_the_same_document() -> None:
    assert compare('{"type": "string"}', b'{ "type" : "string" }').answer == YES


@pytest.mark.parametrize("broken", ["{", {"type": "nonsense"}, {"$ref": "#/definitions/none"}, 5])
def test_broken_documents_are_refused(broken: Any) -> None:
    with pytest.raises(SchemaRefused):
        readable(source(broken), source({}))
    with pytest.raises(SchemaRefused):
        readable(source({}), source(broken))


def doubling(levels: int, last: Any) -> dict[str, Any]:
    steps = {f"d{i}": {"allOf": [{"$ref": f"#/definitions/d{i + 1}"}] * 2} for i in range(levels)}
    return {"$ref": "#/definitions/d0", "definitions": {**steps, f"d{levels}": last}}


def branching(levels: int) -> dict[str, Any]:
    member = {"type": "string"}
    for level in range(levels):
        member = {"oneOf": [{"properties": {f"a{level}": member}}, {"properties": {f"b{level}": member}}]}
    return member


@pytest.mark.parametrize(
    "document",
    [
        doubling(12, {"type": "string"}),
        {"enum": list(range(30_000))},
        {"properties": {f"p{i}": {"type": "string"} for i in range(5000)}},
        {"$ref": "#/definitions/a", "definitions": {"a": {"anyOf": [{"$ref": "#/definitions/a"}, {"type": "null"}]}}},
    ],
)
def test_schemas_that_are_too_large_are_undecided(document: Any) -> None:
    assert compare(document, {"type": "string"}).answer == OPEN
    assert compare({"type": "string"}, document).answer == OPEN


@pytest.mark.parametrize(
    "document",
    [
        branching(7),
        {"allOf": [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(40)]},
        {"oneOf": [{"properties": {"p": {"minimum": i}}} for i in range(60)]},
        {"type": "object", "properties": {f"p{i}": {"$ref": "#"} for i in range(30)}},
        {"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}},
        {"required": [f"p{i}" for i in range(2000)]},
    ],
)
def test_entangled_schemas_get_an_answer_within_the_work_allowed(document: Any) -> None:
    assert compare(document, {"maxProperties": 1}).answer in (YES, NO, OPEN)
    assert compare({"maxProperties": 1}, document).answer in (YES, NO, OPEN)


def nested(levels: int) -> Any:
    document: Any = {"type": "string"}
    for _ in range(levels):
        document = {"items": document}
    return document


@pytest.mark.parametrize("levels", [30, 60, 120])
def test_deep_schemas_do_not_crash_comparing(levels: int) -> None:
    assert compare(nested(levels), nested(levels - 1)).answer in (YES, NO, OPEN)
    assert compare(nested(levels), nested(levels)).answer == YES


def test_verdicts_are_deterministic() -> None:
    writer, reader = {"properties": {"a": {"minimum": 1}}}, {"properties": {"a": {"minimum": 2}}}
    assert len({compare(writer, reader).shown for _ in range(3)}) == 1


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("", True),
        ("[a-z]*", True),
        ("(a|b?)", True),
        ("(ab*)?c{0,3}", True),
        ("a", False),
        ("^", False),
        ("a*$", False),
        ("a{,3}", False),
        ("(?=a)", False),
        ("(", False),
    ],
)
def test_patterns_that_match_every_text(pattern: str, expected: bool) -> None:
    assert matches_everything(pattern) is expected

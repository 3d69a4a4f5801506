from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from postroom.errors import FormatUnknown, SchemaRefused
from postroom.formats.column_types import BOOLEAN, INT64, Field, StructOf
from postroom.formats.format_table import parse_schema
from postroom.formats.jsonschema.drafts import draft_by_name
from postroom.formats.jsonschema.format import parse
from postroom.formats.schema import PayloadSchema, SchemaDocument


def schema(document: Any, version: str = "draft-07", fragment: str = "") -> PayloadSchema:
    return parse_schema(f"JsonSchema/{version}", document, fragment)


@pytest.mark.parametrize(
    "name", ["JsonSchema/draft-07", "JSONSchema/Draft-07", "jsonschema/draft/2020-12", "JsonSchema"]
)
def test_format_names_ignore_case(name: str) -> None:
    assert parse_schema(name, {"type": "integer"}).validate(b"1") == (1, [])


@pytest.mark.parametrize("name", ["", "Thrift/1", "Cobol"])
def test_an_unknown_format_is_named(name: str) -> None:
    with pytest.raises(FormatUnknown, match="not one we read"):
        parse_schema(name, {})


@pytest.mark.parametrize(
    "document", ["{", "[]", [1], 5, {"type": "nonsense"}, {"pattern": "("}, {"$ref": "#/definitions/none"}]
)
def test_unusable_schemas_are_refused_with_a_sentence(document: Any) -> None:
    with pytest.raises(SchemaRefused):
        schema(document)


def test_integers_keep_every_digit() -> None:
    assert schema({}).validate(b"1180591620717411303424") == (2**70, [])


def test_nothing_is_fetched() -> None:
    with pytest.raises(SchemaRefused):
        schema({"$ref": "http://127.0.0.1:9/schema.json"})


def test_the_draft_decides_what_keywords_mean() -> None:
    tuple_schema = {"prefixItems": [{"type": "string"}]}
    assert schema(tuple_schema, "draft-07").validate(b"[1]")[1] == []
    assert schema(tuple_schema, "draft/2020-12").validate(b"[1]")[1] != []


def test_a_fragment_picks_a_definition() -> None:
    document = {"type": "string", "definitions": {"Speed": {"type": "number"}}}
    assert schema(document, fragment="/definitions/Speed").validate(b"1.5") == (1.5, [])


@pytest.mark.parametrize(
    ("payload", "code", "at"),
    [
        (b"{", "payload_not_json", ""),
        (b"", "payload_not_json", ""),
        (b"\xff", "payload_not_json", ""),
        (b'{"a": NaN}', "payload_not_json", ""),
        (b'{"a/b": {"c~d": [1, "x"]}}', "payload_type", "/a~1b/c~0d/1"),
        (b'{"a/b": null}', "null_not_allowed", "/a~1b"),
        (b'{"kind": "z"}', "payload_enum", "/kind"),
        (b'{"n": 5}', "payload_maximum", "/n"),
        (b'{"u": 5}', "payload_any_of", "/u"),
    ],
)
def test_violations_have_a_code_and_a_pointer(payload: bytes, code: str, at: str) -> None:
    document = {
        "properties": {
            "a/b": {"type": "object", "properties": {"c~d": {"type": "array", "items": {"type": "integer"}}}},
            "kind": {"enum": ["x", "y"]},
            "n": {"maximum": 3},
            "u": {"anyOf": [{"type": "string"}, {"maximum": 1}]},
        }
    }
    violation, *_ = schema(document).validate(payload)[1]
    assert (violation.code, violation.at) == (code, at)


@pytest.mark.parametrize(
    ("document", "value", "expected"),
    [
        ({"type": ["null", "string"]}, 5, "null or string"),
        ({"enum": ["a", 1, None]}, 5, 'one of "a", 1, null'),
        ({"const": "a"}, 5, '"a"'),
        ({"required": ["vin"]}, {}, "vin"),
        ({"properties": {"p": {}}, "additionalProperties": False}, {"q": 1, "r": 2}, "q, r"),
        ({"properties": {"p": False}}, {"p": 1}, "absent"),
        ({"pattern": "^a"}, "b", "text like ^a"),
        ({"minimum": 3}, 1, "at least 3"),
        ({"exclusiveMaximum": 3}, 3, "less than 3"),
        ({"multipleOf": 2}, 3, "a multiple of 2"),
        ({"minLength": 3}, "x", "text of at least 3 characters"),
        ({"maxItems": 1}, [1, 2], "a list of at most 1 items"),
        ({"not": {}}, 1, "valid under not"),
    ],
)
def test_violations_say_what_was_expected(document: Any, value: Any, expected: str) -> None:
    parsed = schema(document)
    (violation,) = parsed.validate(parsed.encode(value))[1]
    assert violation.expected == expected


@pytest.mark.parametrize(
    ("version", "draft"),
    [
        ("draft-04", "draft-04"),
        ("Draft-04", "draft-04"),
        ("draft4", "draft-04"),
        ("draft-06", "draft-06"),
        ("draft-07", "draft-07"),
        ("DRAFT7", "draft-07"),
        ("07", "draft-07"),
        ("7", "draft-07"),
        ("draft/2019-09", "draft/2019-09"),
        ("draft-2019-09", "draft/2019-09"),
        ("2019-09", "draft/2019-09"),
        ("draft/2020-12", "draft/2020-12"),
        ("draft2020-12", "draft/2020-12"),
        ("", "draft/2020-12"),
    ],
)
@pytest.mark.feature("SCH-012", "SCH-017")
def test_versions_have_many_spellings(version: str, draft: str) -> None:
    found = draft_by_name(version)
    assert found is not None
    assert found.name == draft


@pytest.mark.parametrize("version", ["draft-08", "draft/2099-01", "latest", "draft-"])
def test_a_version_we_do_not_know_yet_is_read_as_the_newest(version: str) -> None:
    assert draft_by_name(version) == draft_by_name("draft/2020-12")


@pytest.mark.parametrize("version", ["draft-03", "draft-05"])
def test_a_version_that_is_too_old_is_named(version: str) -> None:
    with pytest.raises(FormatUnknown, match="We read draft-04"):
        schema({"type": "integer"}, version)


def test_what_the_document_says_about_its_draft_wins() -> None:
    document = {"$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [{"type": "string"}]}
    assert schema(document, "draft/2020-12").validate(b"[1]")[1] == []
    assert schema({**document, "$schema": "https://json-schema.org/draft/2020-12/schema"}).validate(b"[1]")[1] != []
    assert schema(document, "draft-99").validate(b"[1]")[1] == []


def test_an_unknown_meta_schema_leaves_the_draft_to_the_format() -> None:
    document = {"$schema": "https://example.com/meta", "prefixItems": [{"type": "string"}], "$defs": {"n": {}}}
    assert schema(document, "draft-07").validate(b"[1]")[1] == []
    assert schema(document, "draft/2020-12").validate(b"[1]")[1] != []
    assert schema(document, "draft/2020-12", "/$defs/n").validate(b"[1]")[1] == []


def test_drafts_too_old_are_refused() -> None:
    with pytest.raises(SchemaRefused, match="draft we do not read"):
        schema({"$schema": "http://json-schema.org/draft-03/schema#"})


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ('{\n  "type": strin', "2:11"),
        ({"properties": {"a/b": {"type": "nonsense"}}}, "/properties/a~1b/type"),
        ({"properties": {"n": {"minimum": "3"}}}, "/properties/n/minimum"),
        ({"properties": {"n": {"$ref": "#/definitions/none"}}}, "/properties/n/$ref"),
        ({"properties": {"n": {"pattern": "("}}}, "/properties/n/pattern"),
    ],
)
@pytest.mark.feature("SCH-024")
def test_refusals_have_a_json_pointer(document: Any, place: str) -> None:
    with pytest.raises(SchemaRefused) as caught:
        schema(document)
    assert caught.value.place == place


@pytest.mark.parametrize("fragment", ["/definitions/Speed", "#/definitions/Speed", "definitions/Speed", "quick"])
@pytest.mark.feature("SCH-019")
def test_fragments_have_several_forms(fragment: str) -> None:
    document = {"type": "string", "definitions": {"Speed": {"$id": "#quick", "type": "number"}}}
    assert schema(document, fragment=fragment).validate(b"1.5") == (1.5, [])


def test_a_fragment_keeps_the_addresses_around_it() -> None:
    document = {
        "$id": "https://example.com/root.json",
        "$defs": {
            "order": {
                "$id": "orders/order.json",
                "properties": {"price": {"$ref": "#/$defs/money"}, "buyer": {"$ref": "../root.json#/$defs/person"}},
                "$defs": {"money": {"type": "integer"}},
            },
            "money": {"type": "string"},
            "person": {"type": "boolean"},
        },
    }
    part = schema(document, "draft/2020-12", "/$defs/order")
    assert part.validate(b'{"price": 1, "buyer": true}')[1] == []
    assert [v.at for v in part.validate(b'{"price": "1", "buyer": 1}')[1]] == ["/price", "/buyer"]
    assert part.columns() == StructOf((Field("price", "price", INT64), Field("buyer", "buyer", BOOLEAN)))


@pytest.mark.parametrize("fragment", ["/definitions/None", "/definitions/Speed/type/0", "nothing"])
def test_a_fragment_that_leads_nowhere_is_named(fragment: str) -> None:
    with pytest.raises(SchemaRefused, match=f"'{fragment}' leads"):
        schema({"definitions": {"Speed": {"type": "number"}}}, fragment=fragment)


def test_formats_are_asserted_only_when_asked_for() -> None:
    for version in ("draft-07", "draft/2020-12"):
        source = SchemaDocument(document={"format": "date-time"}, version=version)
        assert parse(source).validate(b'"yesterday"')[1] == []
        (violation,) = parse(msgspec.structs.replace(source, assert_formats=True)).validate(b'"yesterday"')[1]
        assert (violation.code, violation.expected) == ("payload_format", "text in the format date-time")


def test_the_last_of_equal_keys_wins() -> None:
    assert schema({"properties": {"a": {"type": "integer"}}}).validate(b'{"a": "x", "a": 1}') == ({"a": 1}, [])


@pytest.mark.parametrize(
    ("pattern", "fits", "fails"),
    [
        (r"^\d+$", "12", "\u0661"),
        (r"^\p{Lu}", "\u00c4b", "\u00e4b"),
        ("^a$", "a", "a\n"),
        (r"^(?!.*--)[a-z-]+$", "a-b", "a--b"),
        (r"^(.)\1$", "aa", "ab"),
        (r"^a\/b$", "a/b", "ab"),
    ],
)
def test_patterns_mean_what_they_mean_in_javascript(pattern: str, fits: str, fails: str) -> None:
    parsed = schema({"pattern": pattern})
    assert parsed.validate(parsed.encode(fits))[1] == []
    assert parsed.validate(parsed.encode(fails))[1] != []


@settings(max_examples=100, deadline=None)
@given(payload=st.binary(max_size=60))
def test_no_payload_makes_validating_raise(payload: bytes) -> None:
    schema({"type": "object"}).validate(payload)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)


@given(value=_JSON)
def test_validating_returns_what_was_encoded(value: Any) -> None:
    parsed = schema({})
    assert parsed.validate(parsed.encode(value)) == (value, [])

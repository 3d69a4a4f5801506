import random
from collections.abc import Iterable
from typing import Any

import pytest

from postroom.errors import SchemaRefused
from postroom.formats.column_types import INT64, JSON_TEXT, STRING, Field, StructOf
from postroom.formats.jsonschema.format import JsonSchema, parse
from postroom.formats.schema import LibraryDocument, SchemaDocument
from postroom.formats.schema_library import CatalogLibrary

MONEY = {
    "$id": "https://shop.example.com/types/money",
    "type": "object",
    "properties": {"cents": {"$ref": "#/definitions/cents"}},
    "required": ["cents"],
    "definitions": {"cents": {"type": "integer", "minimum": 0}},
}
CATALOG: dict[str, Any] = {
    "/schemagroups/shop/schemas/money": MONEY,
    "/schemagroups/shop/schemas/plain-money": {name: value for name, value in MONEY.items() if name != "$id"},
    "/schemagroups/shop/schemas/money-text": '{"properties": {"cents": {"type": "integer", "minimum": 0}}}',
    "/schemagroups/shop/schemas/broken": "{",
    "/schemagroups/shop/schemas/list": "[1]",
    "/schemagroups/shop/schemas/parcel": {"properties": {"to": {"$ref": "person"}}},
    "/schemagroups/shop/schemas/person": {"properties": {"owes": {"$ref": "plain-money"}, "sent": {"$ref": "parcel"}}},
    "/schemagroups/bank/schemas/account": {"properties": {"holder": {"$ref": "owner"}}},
    "/schemagroups/bank/schemas/owner": {"type": "string"},
}


def read(path: str) -> LibraryDocument | None:
    return LibraryDocument(path, CATALOG[path]) if path in CATALOG else None


def schemas(home: str) -> Iterable[str]:
    return [path for path in CATALOG if path.split("/")[:3] == home.split("/")[:3]]


def schema(document: Any, version: str = "draft-07") -> JsonSchema:
    library = CatalogLibrary("/schemagroups/shop/schemas/order", read, schemas)
    return parse(SchemaDocument(document=document, version=version, library=library))


@pytest.mark.parametrize(
    "reference",
    [
        "plain-money",
        "./plain-money",
        "plain-money.json",
        "../schemas/plain-money",
        "/schemagroups/shop/schemas/plain-money",
        "https://registry.example.com/schemagroups/shop/schemas/plain-money",
        "money",
        "money-text",
        "https://shop.example.com/types/money",
    ],
)
@pytest.mark.parametrize("identifier", [None, "https://shop.example.com/types/order", "order.json"])
def test_references_lead_through_the_catalog(reference: str, identifier: str | None) -> None:
    document = {"properties": {"price": {"$ref": reference}}, **({"$id": identifier} if identifier else {})}
    parsed = schema(document)
    assert parsed.validate(b'{"price": {"cents": 5}}')[1] == []
    assert [violation.at for violation in parsed.validate(b'{"price": {"cents": -5}}')[1]] == ["/price/cents"]
    (price,) = _fields(parsed)
    assert price.type == StructOf((Field("cents", "cents", INT64),))
    assert parsed.validate(parsed.encode(parsed.sample(random.Random(1))))[1] == []


def test_a_urn_takes_no_relative_references() -> None:
    document = {"$id": "urn:example:order", "properties": {"price": {"$ref": "https://shop.example.com/types/money"}}}
    assert schema(document).validate(b'{"price": {"cents": 5}}')[1] == []
    with pytest.raises(SchemaRefused, match="'money' against 'urn:example:order'"):
        schema({"$id": "urn:example:order", "properties": {"price": {"$ref": "money"}}})


@pytest.mark.parametrize("reference", ["http://[", "http://[#x", "//[::1", "http://\u0000", "%zz", "a b", "\ud800"])
def test_references_that_are_no_addresses_are_refused(reference: str) -> None:
    with pytest.raises(SchemaRefused):
        schema({"properties": {"price": {"$ref": reference}}})


def test_a_reference_to_a_fragment_of_another_document_is_followed() -> None:
    parsed = schema({"properties": {"cents": {"$ref": "money#/definitions/cents"}}})
    assert [violation.code for violation in parsed.validate(b'{"cents": -1}')[1]] == ["payload_minimum"]


def test_references_of_a_document_are_relative_to_its_location() -> None:
    parsed = schema({"$ref": "/schemagroups/bank/schemas/account"})
    assert _fields(parsed)[0].type == STRING
    assert parsed.validate(b'{"holder": 5}')[1] != []


def test_documents_may_refer_to_each_other_in_circles() -> None:
    parsed = schema({"$ref": "parcel"})
    assert parsed.validate(b'{"to": {"owes": {"cents": 1}, "sent": {"to": {"owes": {"cents": -1}}}}}')[1] != []
    (to,) = _fields(parsed)
    assert isinstance(to.type, StructOf)
    assert {field.name: field.type for field in to.type.fields}["sent"] == JSON_TEXT


def test_a_document_without_a_draft_follows_the_one_that_refers_to_it() -> None:
    CATALOG["/schemagroups/shop/schemas/pair"] = {"prefixItems": [{"type": "string"}]}
    assert schema({"$ref": "pair"}, "draft-07").validate(b"[1]")[1] == []
    assert schema({"$ref": "pair"}, "draft/2020-12").validate(b"[1]")[1] != []


def test_dynamic_references_reach_other_documents() -> None:
    CATALOG["/schemagroups/shop/schemas/tree"] = {
        "$dynamicAnchor": "node",
        "type": "object",
        "properties": {"children": {"type": "array", "items": {"$dynamicRef": "#node"}}},
    }
    strict = {"$id": "strict", "$dynamicAnchor": "node", "$ref": "tree", "unevaluatedProperties": False}
    parsed = schema(strict, "draft/2020-12")
    assert parsed.validate(b'{"children": [{"children": []}]}')[1] == []
    assert parsed.validate(b'{"children": [{"daten": []}]}')[1] != []
    parsed.columns()


@pytest.mark.parametrize(
    ("reference", "sentence"),
    [
        ("nobody", "'nobody' leads to nothing in the catalog"),
        ("https://example.com/nobody.json", "'https://example.com/nobody.json' leads to nothing in the catalog"),
        ("money#/definitions/none", "'money#/definitions/none' leads nowhere"),
        ("broken", "'broken' refers to is broken"),
        ("list", "'list' refers to is not a JSON Schema"),
        ("#/definitions/none", "'#/definitions/none' leads nowhere"),
        ("#none", "'#none' leads nowhere"),
    ],
)
def test_a_dangling_reference_is_named(reference: str, sentence: str) -> None:
    with pytest.raises(SchemaRefused) as caught:
        schema({"properties": {"fine": {"$ref": "money"}, "price": {"$ref": reference}}})
    assert sentence in caught.value.sentence
    assert caught.value.place in ("/properties/price/$ref", "")


def test_references_in_data_are_not_followed() -> None:
    assert schema({"enum": [{"$ref": "nobody"}]}).validate(b'{"$ref": "nobody"}')[1] == []


def _fields(parsed: JsonSchema) -> tuple[Field, ...]:
    column = parsed.columns()
    assert isinstance(column, StructOf)
    return column.fields

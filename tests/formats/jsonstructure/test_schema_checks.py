"""Schema documents: which are allowed, and where the others go wrong."""

from collections.abc import Iterator
from typing import Any

import pytest

from postroom.errors import FormatUnknown, ReferenceMissing, SchemaRefused
from postroom.formats.format_table import check_schema, parse_schema
from postroom.formats.jsonstructure.format import check, parse
from postroom.formats.schema import LibraryDocument, SchemaDocument
from tests.formats.jsonstructure.schemas import CORE, DEFINITIONS, EXTENDED

HEAD = {"$schema": CORE, "$id": "https://example.com/car", "name": "Car"}
CAR = {**HEAD, "type": "object", "properties": {"vin": {"type": "string"}}}


@pytest.mark.feature("SCH-016", "SCH-017")
@pytest.mark.parametrize(
    "name",
    ["JsonStructure/draft-02", "JSONStructure/Draft-03", "jsonstructure/draft-04", "JsonStructure", "json-structure"],
)
def test_the_format_has_several_names(name: str) -> None:
    check_schema(name, CAR)
    assert parse_schema(name, CAR).validate(b'{"vin": "x"}') == ({"vin": "x"}, [])


def test_an_unknown_draft_is_refused() -> None:
    with pytest.raises(FormatUnknown, match="draft-99 is not a draft we read"):
        check_schema("JsonStructure/draft-99", CAR)


@pytest.mark.parametrize("text", [b'{"$schema": ', "[", b"\xff\xfe"])
def test_text_that_is_not_json_is_refused(text: str | bytes) -> None:
    with pytest.raises(SchemaRefused, match="not JSON"):
        check_schema("JsonStructure/draft-04", text)


def of(**schema: Any) -> dict[str, Any]:
    """A document with one member of the given schema."""
    return {**HEAD, "$schema": EXTENDED, "type": "object", "properties": {"a": schema}}


def defined(**definitions: Any) -> dict[str, Any]:
    return {**HEAD, "definitions": definitions}


BOX = {"type": "object", "properties": {"x": {"type": "string"}}}
VEHICLE = DEFINITIONS["Vehicle"]
HEIR = {"type": "object", "$extends": "#/definitions/Vehicle"}
REFUSED: list[tuple[Any, str]] = [
    # the root
    ([], ""),
    ({key: CAR[key] for key in CAR if key != "$schema"}, "/$schema"),
    ({key: CAR[key] for key in CAR if key != "$id"}, "/$id"),
    ({key: CAR[key] for key in CAR if key != "name"}, "/name"),
    ({**CAR, "$id": "car"}, "/$id"),
    ({**CAR, "$schema": "http://json-schema.org/draft-07/schema#"}, "/$schema"),
    ({**CAR, "$root": "#/definitions/A"}, "/$root"),
    ({**HEAD, "type": ["string", "null"]}, "/type"),
    ({**HEAD, "type": {"$ref": "#/definitions/A"}}, "/type"),
    ({**HEAD, "description": "nothing"}, ""),
    ({**HEAD, "definitions": []}, "/definitions"),
    ({**HEAD, "$root": "#/definitions/A", "definitions": {}}, "/$root"),
    ({**HEAD, "$root": "definitions/A", "definitions": {"A": {"type": "string"}}}, "/$root"),
    ({**CAR, "$uses": "JSONStructureUnits"}, "/$uses"),
    ({**CAR, "$offers": []}, "/$offers"),
    # namespaces and names
    (defined(**{"a-b": {"type": "string"}}), "/definitions/a-b"),
    (defined(A=5), "/definitions/A"),
    (defined(A={"properties": {"x": {"type": "string"}}}), "/definitions/A"),
    ({**CAR, "properties": {"a b": {"type": "string"}}}, "/properties/a b"),
    # types and references
    (of(), "/properties/a"),
    (of(type="text"), "/properties/a/type"),
    (of(type=5), "/properties/a/type"),
    (of(type=[]), "/properties/a/type"),
    (of(type={"$ref": "#/definitions/Nowhere"}), "/properties/a/type/$ref"),
    (of(type={"$ref": "https://example.com/x"}), "/properties/a/type/$ref"),
    (of(type={"$ref": 7}), "/properties/a/type/$ref"),
    (of(type={"$ref": "#/definitions/A", "type": "string"}), "/properties/a/type"),
    (of(**{"$ref": "#/definitions/A"}), "/properties/a/$ref"),
    (of(type=["string", {"type": "object", "properties": {"x": {"type": "string"}}}]), "/properties/a/type/1"),
    (of(type=["object", "null"]), "/properties/a/type/0"),
    (defined(A={"type": {"$ref": "#/definitions/A"}}), "/definitions/A"),
    (defined(A={"type": [{"$ref": "#/definitions/A"}, "null"]}), "/definitions/A"),
    (defined(A={"type": {"$ref": "#/definitions/B/properties/x"}}, B=BOX), "/definitions/A/type/$ref"),
    (of(type="string", **{"$id": "https://example.com/x"}), "/properties/a/$id"),
    (of(type="string", definitions={}), "/properties/a/definitions"),
    # objects and tuples
    ({**CAR, "properties": {}}, "/properties"),
    ({**CAR, "properties": []}, "/properties"),
    ({**CAR, "properties": {"vin": "string"}}, "/properties/vin"),
    ({**CAR, "required": "vin"}, "/required"),
    ({**CAR, "required": ["wheels"]}, "/required"),
    ({**CAR, "required": [["vin"], ["wheels"]]}, "/required"),
    ({**CAR, "additionalProperties": 5}, "/additionalProperties"),
    (of(type="string", required=["x"]), "/properties/a/required"),
    (of(type="tuple", properties={"x": {"type": "string"}}), "/properties/a/tuple"),
    (of(type="tuple", properties={"x": {"type": "string"}}, tuple=["x", "y"]), "/properties/a/tuple"),
    (of(type="tuple", properties={"x": {"type": "string"}}, tuple=["x", "x"]), "/properties/a/tuple"),
    (of(type="object", properties={"x": {"type": "string"}}, tuple=["x"]), "/properties/a/tuple"),
    # lists and maps
    (of(type="array"), "/properties/a"),
    (of(type="set", items="string"), "/properties/a/items"),
    (of(type="map"), "/properties/a"),
    # inheritance
    (of(type="string", abstract=True), "/properties/a/abstract"),
    (of(type="object", abstract="yes"), "/properties/a/abstract"),
    (of(type="map", values={"type": "string"}, **{"$extends": "#/definitions/A"}), "/properties/a/$extends"),
    (defined(A={"type": "object", "$extends": "#/definitions/A"}), "/definitions/A/$extends"),
    (defined(A={"type": "object", "$extends": "#/definitions/B"}), "/definitions/A/$extends"),
    (defined(A={"type": "object", "$extends": []}), "/definitions/A/$extends"),
    (defined(Vehicle=VEHICLE, A={"type": {"$ref": "#/definitions/Vehicle"}}), "/definitions/A/type/$ref"),
    (defined(Vehicle=VEHICLE, A={**HEIR, "properties": {"vin": {"type": "int32"}}}), "/definitions/A/properties/vin"),
    (defined(Vehicle={**VEHICLE, "additionalProperties": False}), "/definitions/Vehicle/additionalProperties"),
    ({**HEAD, "$root": "#/definitions/Vehicle", "definitions": {"Vehicle": VEHICLE}}, "/$root"),
    # choices
    (of(type="choice"), "/properties/a/choices"),
    (of(type="choice", choices={}), "/properties/a/choices"),
    (of(type="choice", choices={"x": {"type": "string"}}, selector="kind"), "/properties/a/selector"),
    (defined(**{**DEFINITIONS, "Car": BOX}), "/definitions/AnyVehicle/choices/car"),
    (of(type="string", choices={}), "/properties/a/choices"),
    # values
    (of(type="string", enum="x"), "/properties/a/enum"),
    (of(type="string", enum=[]), "/properties/a/enum"),
    (of(type="string", enum=["x", "x"]), "/properties/a/enum"),
    (of(type="number", enum=[1, 1.0]), "/properties/a/enum"),
    (of(type="string", enum=["x", 1]), "/properties/a/enum/1"),
    (of(type="int64", enum=[1]), "/properties/a/enum/0"),
    (of(type="int8", const=300), "/properties/a/const"),
    (of(type="array", items={"type": "string"}, enum=[[]]), "/properties/a/enum"),
    # rules
    (of(type="string", maxLength=-1), "/properties/a/maxLength"),
    (of(type="int32", maxLength=5), "/properties/a/maxLength"),
    (of(type="string", minimum=5), "/properties/a/minimum"),
    (of(type="int32", minimum="x"), "/properties/a/minimum"),
    (of(type="int64", minimum="1e999999999"), "/properties/a/minimum"),
    (of(type="int32", minimum=5, maximum=4), "/properties/a/minimum"),
    (of(type="int32", multipleOf=0), "/properties/a/multipleOf"),
    (of(type="decimal", precision=2, scale=3), "/properties/a/scale"),
    (of(type="decimal", precision=0), "/properties/a/precision"),
    (of(type="string", pattern="["), "/properties/a/pattern"),
    (of(type="string", pattern="(?=a)b"), "/properties/a/pattern"),
    (of(type="string", minLength=3, maxLength=2), "/properties/a/minLength"),
    (of(type="array", items={"type": "string"}, minItems=1.5), "/properties/a/minItems"),
    (of(type="map", values={"type": "string"}, minProperties=1), "/properties/a/minProperties"),
    (of(type="map", values={"type": "string"}, keyNames={"type": "int32"}), "/properties/a/keyNames"),
    (of(type="binary", contentEncoding="rot13"), "/properties/a/contentEncoding"),
    (of(type="string", allOf="x"), "/properties/a/allOf"),
    (of(type="string", oneOf=[]), "/properties/a/oneOf"),
    ({**CAR, "anyOf": [{"type": "string"}]}, ""),
    (of(type="string", description=5), "/properties/a/description"),
    (of(type="double", unit=5), "/properties/a/unit"),
]


@pytest.mark.feature("SCH-024")
@pytest.mark.parametrize(("schema", "place"), REFUSED)
def test_documents_that_are_refused_and_where(schema: Any, place: str) -> None:
    with pytest.raises(SchemaRefused) as refused:
        check(SchemaDocument(document=schema, version="draft-04"))
    assert refused.value.place == place
    assert refused.value.sentence.endswith(".")


ALLOWED: list[dict[str, Any]] = [
    defined(**DEFINITIONS),
    defined(Deep={"Namespace": {"type": {"type": "string"}}}),
    of(type="string", minimum_age=5, **{"$custom": True}),
    of(type=["string", "null"], enum=["new", "old"]),
    of(type=["double", "null"], minimum=0),
    of(type=["string", {"type": "map", "values": {"type": "string"}}]),
    of(type="int64", minimum=1),
    of(type="string", altnames=["other"], altenums={"json": "x"}, descriptions={"lang:en": "Text"}, symbols=1),
    of(type="string", format="made-up", default=5, examples=[1]),
    of(type="object", minProperties=1),
    of(type="array", items={"type": {"$ref": "#"}}),
    {**CAR, "$schema": "https://example.com/my-own-meta", "oneOf": [{"required": ["vin"]}]},
    {**HEAD, "$uses": ["JSONStructureConditionalComposition"], "oneOf": [{"type": "string"}, {"type": "int32"}]},
]


@pytest.mark.parametrize("schema", ALLOWED)
def test_documents_that_are_allowed(schema: dict[str, Any]) -> None:
    check(SchemaDocument(document=schema, version="draft-02"))


@pytest.mark.feature("SCH-023")
@pytest.mark.parametrize("fragment", ["#/definitions/Colour", "/definitions/Colour", "definitions/Colour"])
def test_a_pointer_picks_a_type(fragment: str) -> None:
    source = SchemaDocument(document=defined(**DEFINITIONS), fragment=fragment)
    assert parse(source).validate(b'"red"') == ("red", [])


@pytest.mark.parametrize("fragment", ["/definitions/Vehicle", "/definitions/Nowhere", "/definitions", "/name"])
def test_a_pointer_to_no_usable_type_is_refused(fragment: str) -> None:
    with pytest.raises(SchemaRefused):
        parse(SchemaDocument(document=defined(**DEFINITIONS), fragment=fragment))


def test_a_document_of_definitions_only_needs_a_pointer() -> None:
    with pytest.raises(SchemaRefused, match="no root type"):
        parse(SchemaDocument(document=defined(**DEFINITIONS)))


PEOPLE = {
    "$schema": EXTENDED,
    "$id": "https://example.com/people",
    "name": "Person",
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "address": {"type": {"$ref": "#/definitions/Address"}},
        "friend": {"type": {"$ref": "#"}},
    },
    "required": ["name"],
    "definitions": {"Address": {"type": "object", "properties": {"street": {"type": "string"}}}},
}


class Shelf:
    """A library of a few documents by their names."""

    def __init__(self, **documents: Any) -> None:
        self.documents = documents

    def find(self, reference: str, base: str = "") -> LibraryDocument | None:
        name = reference.removeprefix("https://example.com/")
        return LibraryDocument(name, self.documents[name]) if name in self.documents else None

    def neighbours(self) -> Iterator[LibraryDocument]:
        return (LibraryDocument(name, one) for name, one in self.documents.items())


def imported(keyword: str, people: str = "https://example.com/people", **more: Any) -> dict[str, Any]:
    return {
        **HEAD,
        "type": "object",
        "properties": {"owner": {"type": {"$ref": "#/definitions/People/Person"}}},
        "definitions": {"People": {keyword: people, **more}},
    }


def test_imported_types_refer_to_each_other() -> None:
    source = SchemaDocument(document=imported("$import"), library=Shelf(people=PEOPLE))
    check(source)
    car = parse(source)
    assert car.validate(b'{"owner": {"name": "Ada", "friend": {"name": "Eva"}, "address": {"street": "Elm"}}}')[1] == []
    assert [one.at for one in car.validate(b'{"owner": {"name": "Ada", "address": {"street": 5}}}')[1]] == [
        "/owner/address/street"
    ]


def test_definitions_here_stand_in_for_imported_ones() -> None:
    address = {"type": "object", "properties": {"street": {"type": "int32"}}}
    source = SchemaDocument(document=imported("$import", Address=address), library=Shelf(people=PEOPLE))
    assert parse(source).validate(b'{"owner": {"name": "Ada", "address": {"street": 5}}}')[1] == []


def test_imports_at_the_root_land_in_the_root_namespace() -> None:
    schema = {**HEAD, "$import": "https://example.com/people", "$root": "#/definitions/Person"}
    assert parse(SchemaDocument(document=schema, library=Shelf(people=PEOPLE))).validate(b'{"name": "Ada"}')[1] == []


def test_a_document_is_found_by_its_id() -> None:
    source = SchemaDocument(document=imported("$import"), library=Shelf(elsewhere=PEOPLE))
    assert parse(source).validate(b'{"owner": {"name": "Ada"}}')[1] == []


def test_only_definitions_are_imported_when_asked_so() -> None:
    with pytest.raises(SchemaRefused, match="nothing stands at"):
        check(SchemaDocument(document=imported("$importdefs"), library=Shelf(people=PEOPLE)))


def test_a_dangling_import_is_named() -> None:
    with pytest.raises(ReferenceMissing, match="'https://example.com/people' is not in the catalog") as refused:
        check(SchemaDocument(document=imported("$import")))
    assert refused.value.place == "/definitions/People/$import"


def test_a_dangling_import_at_the_root_is_named_there() -> None:
    with pytest.raises(ReferenceMissing) as refused:
        check(SchemaDocument(document={**HEAD, "$import": "https://example.com/people", "type": "string"}))
    assert refused.value.place == "/$import"


def test_imports_in_a_circle_are_refused() -> None:
    egg = {**HEAD, "definitions": {"$import": "https://example.com/hen"}}
    hen = {**HEAD, "definitions": {"$import": "https://example.com/egg"}}
    with pytest.raises(SchemaRefused, match="leads back to itself"):
        check(SchemaDocument(document=egg, library=Shelf(hen=hen, egg=egg)))

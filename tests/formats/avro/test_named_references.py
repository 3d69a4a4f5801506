"""Types that other documents define, and types picked from a document."""

from collections.abc import Iterator
from typing import Any

import pytest

from postroom.errors import SchemaRefused
from postroom.formats.format_table import check_schema, parse_schema
from postroom.formats.schema import LibraryDocument

WHEEL = {"type": "record", "name": "Wheel", "namespace": "cars", "fields": [{"name": "size", "type": "int"}]}
COLOUR = {"type": "enum", "name": "Colour", "symbols": ["RED", "BLUE"]}


class Shelf:
    """A library of a few documents, which counts how often it is asked for all of them."""

    def __init__(self, *documents: Any, named: dict[str, Any] | None = None) -> None:
        self.documents = documents
        self.named = named or {}
        self.asked = 0

    def find(self, reference: str, base: str = "") -> LibraryDocument | None:
        return LibraryDocument(reference, self.named[reference]) if reference in self.named else None

    def neighbours(self) -> Iterator[LibraryDocument]:
        self.asked += 1
        return iter([LibraryDocument(f"/schemas/{index}", document) for index, document in enumerate(self.documents)])


def car(kind: str) -> dict[str, Any]:
    return {"type": "record", "name": "Car", "namespace": "cars", "fields": [{"name": "part", "type": kind}]}


@pytest.mark.parametrize("name", ["Wheel", "cars.Wheel"])
def test_a_type_of_a_neighbour_is_found_by_its_name(name: str) -> None:
    shelf = Shelf({"type": "record"}, "not even JSON", b"\xff", WHEEL)
    assert parse_schema("Avro", car(name), library=shelf).validate(b"\x08") == ({"part": {"size": 4}}, [])


def test_a_type_inside_a_neighbour_is_found() -> None:
    shelf = Shelf({"type": "record", "name": "Van", "namespace": "cars", "fields": [{"name": "c", "type": COLOUR}]})
    assert parse_schema("Avro", car("Colour"), library=shelf).validate(b"\x02") == ({"part": "BLUE"}, [])


def test_a_document_is_found_by_the_name_of_its_type() -> None:
    shelf = Shelf(named={"cars.Wheel": WHEEL})
    assert parse_schema("Avro", car("Wheel"), library=shelf).validate(b"\x02")[1] == []


def test_neighbours_may_mention_each_other() -> None:
    axle = {"type": "record", "name": "Axle", "namespace": "cars", "fields": [{"name": "left", "type": "Wheel"}]}
    assert parse_schema("Avro", car("Axle"), library=Shelf(axle, WHEEL)).validate(b"\x02")[1] == []


def test_neighbours_may_mention_the_document_itself() -> None:
    owner = {"type": "record", "name": "Owner", "namespace": "cars", "fields": [{"name": "c", "type": ["null", "Car"]}]}
    assert parse_schema("Avro", car("Owner"), library=Shelf(owner)).validate(b"\x02\x00")[1] == []


def test_neighbours_may_repeat_a_type_of_the_document() -> None:
    document = {**car("Axle"), "fields": [{"name": "w", "type": WHEEL}, {"name": "a", "type": "Axle"}]}
    axle = {"type": "record", "name": "Axle", "namespace": "cars", "fields": [{"name": "left", "type": WHEEL}]}
    assert parse_schema("Avro", document, library=Shelf(axle)).validate(b"\x02\x04")[1] == []


def test_a_dangling_name_is_named() -> None:
    with pytest.raises(SchemaRefused, match="'cars.Wing' is not defined") as caught:
        check_schema("Avro", car("Wing"), Shelf(WHEEL))
    assert caught.value.place == "/fields/0/type"


def test_a_fault_in_a_neighbour_has_its_place() -> None:
    with pytest.raises(SchemaRefused, match="'nowhere.Thing' is not defined") as caught:
        check_schema("Avro", car("Bad"), Shelf(WHEEL, {**car("nowhere.Thing"), "name": "Bad"}))
    assert caught.value.place == "/schemas/1#/fields/0/type"


def test_a_document_without_foreign_names_reads_no_other() -> None:
    shelf = Shelf(WHEEL)
    check_schema("Avro", WHEEL, shelf)
    assert shelf.asked == 0


DOCUMENT = [WHEEL, {**car("Wheel"), "namespace": "vans"}, {**WHEEL, "namespace": "bikes"}, COLOUR]
DOCUMENT[1]["fields"][0]["type"] = "cars.Wheel"


@pytest.mark.feature("SCH-021")
@pytest.mark.parametrize("fragment", ["Car", "/Car", "vans.Car", "#Car", ":Car"])
def test_a_fragment_picks_a_type(fragment: str) -> None:
    schema = parse_schema("Avro", DOCUMENT, fragment)
    assert schema.validate(b"\x02") == ({"part": {"size": 1}}, [])


@pytest.mark.feature("SCH-021")
def test_a_fragment_picks_a_type_inside_another() -> None:
    document = {**car("int"), "fields": [{"name": "c", "type": COLOUR}]}
    assert parse_schema("Avro", document, "Colour").validate(b"\x00") == ("RED", [])


@pytest.mark.feature("SCH-021")
@pytest.mark.parametrize(("fragment", "sentence"), [("Wheel", "means 2 types"), ("Boat", "no type 'Boat'")])
def test_a_fragment_that_picks_no_single_type_is_refused(fragment: str, sentence: str) -> None:
    with pytest.raises(SchemaRefused, match=sentence):
        parse_schema("Avro", DOCUMENT, fragment)


def test_only_so_many_neighbours_are_read() -> None:
    many = [{**WHEEL, "name": f"Wheel{index}"} for index in range(500)]
    check_schema("Avro", car("Wheel199"), Shelf(*many))
    with pytest.raises(SchemaRefused):
        check_schema("Avro", car("Wheel450"), Shelf(*many))

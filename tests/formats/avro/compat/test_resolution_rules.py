"""Whether one schema's payloads can be read with another: the rules, pair by pair."""

import io
import json
from pathlib import Path
from typing import Any

import fastavro
import pytest
from fastavro.read import SchemaResolutionError

from postroom.formats.avro.format import parse
from postroom.formats.avro.render_schema import render_schema
from postroom.formats.format_table import parse_schema, readable
from postroom.formats.schema import SchemaDocument


def full(document: Any) -> Any:
    """The document with full names everywhere: fastavro does not qualify aliases."""
    return render_schema(parse(SchemaDocument(document=document)).type)


YES, NO, FALLBACK_ERRORS = "compatible", "incompatible", "undecided"


def record(*fields: Any, name: str = "Oven", **more: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": list(fields), **more}


def field(kind: Any, name: str = "heat", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": kind, **more}


def enum(*symbols: str, name: str = "Mode", **more: Any) -> dict[str, Any]:
    return {"type": "enum", "name": name, "symbols": list(symbols), **more}


def fixed(size: int, name: str = "Key", **more: Any) -> dict[str, Any]:
    return {"type": "fixed", "name": name, "size": size, **more}


def array(items: Any) -> dict[str, Any]:
    return {"type": "array", "items": items}


def decimal(precision: int, scale: int) -> dict[str, Any]:
    return {"type": "bytes", "logicalType": "decimal", "precision": precision, "scale": scale}


NODE = record(field(["null", "Node"], "next"), field("int"), name="Node")
OTHER_NODE = record(field(["null", "Node"], "next"), field("string"), name="Node")

# Writer, reader, answer, place in the writer's document, place in the reader's.
PAIRS: list[tuple[Any, Any, str, str, str]] = [
    ("int", "int", YES, "", ""),
    ("int", "long", YES, "", ""),
    ("int", "float", YES, "", ""),
    ("int", "double", YES, "", ""),
    ("long", "float", YES, "", ""),
    ("float", "double", YES, "", ""),
    ("string", "bytes", YES, "", ""),
    ("bytes", "string", YES, "", ""),
    ("long", "int", NO, "", ""),
    ("double", "float", NO, "", ""),
    ("float", "long", NO, "", ""),
    ("boolean", "int", NO, "", ""),
    ("string", "int", NO, "", ""),
    ("null", "string", NO, "", ""),
    (array("int"), array("long"), YES, "", ""),
    (array("long"), array("int"), NO, "/items", "/items"),
    (array("int"), {"type": "map", "values": "int"}, NO, "", ""),
    ({"type": "map", "values": "int"}, {"type": "map", "values": "string"}, NO, "/values", "/values"),
    (record(field("int")), record(field("int")), YES, "", ""),
    (record(field("int")), record(field("string")), NO, "/fields/0/type", "/fields/0/type"),
    (record(field("int"), field("int", "door")), record(field("int")), YES, "", ""),
    (record(field("int")), record(field("int"), field("int", "door")), NO, "", "/fields/1"),
    (record(field("int")), record(field("int"), field("int", "door", default=0)), YES, "", ""),
    (record(field("int"), field("int", "door")), record(field("int", "door"), field("int")), YES, "", ""),
    (record(field("int")), record(field("int", "warmth", aliases=["heat"])), YES, "", ""),
    (record(field("int", "warmth", aliases=["heat"])), record(field("int")), NO, "", "/fields/0"),
    (record(), record(name="Stove"), NO, "", ""),
    (record(), record(name="Stove", aliases=["Oven"]), YES, "", ""),
    (record(), record(namespace="kitchen"), YES, "", ""),
    (record(namespace="a"), record(name="Stove", namespace="b", aliases=["Oven"]), NO, "", ""),
    (record(namespace="a"), record(name="Stove", namespace="b", aliases=["a.Oven"]), YES, "", ""),
    (enum("A"), enum("A", "B"), YES, "", ""),
    (enum("A", "B"), enum("A"), NO, "/symbols/1", ""),
    (enum("A", "B"), enum("A", default="A"), YES, "", ""),
    (enum("A", "B", default="A"), enum("A"), NO, "/symbols/1", ""),
    (enum("A"), enum("A", name="Style"), NO, "", ""),
    (fixed(3), fixed(3), YES, "", ""),
    (fixed(3), fixed(4), NO, "", ""),
    (fixed(3), fixed(3, "Lock"), NO, "", ""),
    (fixed(3), "bytes", NO, "", ""),
    ("int", ["null", "int"], YES, "", ""),
    ("int", ["null", "string"], NO, "", ""),
    ("int", ["string", "double"], YES, "", ""),
    (["null", "int"], "int", NO, "/0", ""),
    (["int"], "long", YES, "", ""),
    (["null", "int"], ["int", "null"], YES, "", ""),
    (["null", "int", "string"], ["null", "int"], NO, "/2", ""),
    (["int", "string"], ["bytes", "double"], YES, "", ""),
    (["null", record(field("int"))], ["null", record(field("string"))], NO, "/1/fields/0/type", "/1/fields/0/type"),
    (record(field(enum("A", "B"))), record(field(enum("A"))), NO, "/fields/0/type/symbols/1", "/fields/0/type"),
    (NODE, NODE, YES, "", ""),
    (NODE, OTHER_NODE, NO, "/fields/1/type", "/fields/1/type"),
    (array(array(fixed(2))), array(array(fixed(3))), NO, "/items/items", "/items/items"),
    ([], "int", YES, "", ""),
    (decimal(9, 2), decimal(9, 2), YES, "", ""),
    (decimal(9, 2), decimal(9, 3), FALLBACK_ERRORS, "", ""),
    (decimal(9, 2), "bytes", YES, "", ""),
    ({"type": "long", "logicalType": "timestamp-millis"}, "long", YES, "", ""),
    (
        record(field(decimal(9, 2)), field("int", "n")),
        record(field(decimal(9, 3)), field("string", "n")),
        *(NO, "/fields/1/type", "/fields/1/type"),
    ),
    # No payload has a value there, so nothing can show it.
    (
        array(record(field("Oven"), field("int", "n"))),
        array(record(field("Oven"), field("string", "n"))),
        *(FALLBACK_ERRORS, "/items/fields/1/type", "/items/fields/1/type"),
    ),
]


@pytest.mark.feature("SCH-025", "SCH-028")
@pytest.mark.parametrize(("writer", "reader", "answer", "writer_at", "reader_at"), PAIRS)
def test_resolution_decides(writer: Any, reader: Any, answer: str, writer_at: str, reader_at: str) -> None:
    verdict = readable("Avro", writer, reader)
    assert (verdict.answer, verdict.writer_at, verdict.reader_at) == (answer, writer_at, reader_at)
    assert (verdict.reason == "") == (answer == YES)
    if answer == NO:
        assert verdict.counterexample is not None
        assert parse_schema("Avro", writer).validate(verdict.counterexample)[1] == []
        with pytest.raises(SchemaResolutionError):
            fastavro.schemaless_reader(io.BytesIO(verdict.counterexample), full(writer), full(reader))


def test_a_counterexample_is_shown_to_people() -> None:
    verdict = readable("Avro", record(field(enum("FAN", "GRILL"))), record(field(enum("FAN"))))
    assert verdict.shown == '{"heat":"GRILL"}'
    assert verdict.reason == "the reader's enum has no symbol 'GRILL' and no default."


def test_an_assumption_that_failed_is_forgotten() -> None:
    # B fits inside A only as long as A is assumed to fit.
    writer = record(field(["null", record(field(["null", "A"], "a"), name="B")], "b"), field("int"), name="A")
    reader = record(field(["null", record(field(["null", "A"], "a"), name="B")], "b"), field("string"), name="A")
    pair = (array([writer, "B"]), array(["null", reader, "B"]))
    assert readable("Avro", *pair).answer == NO


@pytest.mark.feature("SCH-025")
def test_the_pairs_of_apache_avro(shared: Path) -> None:
    file = shared / "suites" / "avro-compatibility" / "apache-avro-reader-writer-pairs.json"
    pairs = json.loads(file.read_text())
    wrong = [
        pair
        for pair in pairs
        if readable("Avro", pair["writer"], pair["reader"]).answer != (YES if pair["compatible"] else NO)
    ]
    assert wrong == []
    assert len(pairs) == 131


@pytest.mark.feature("SCH-025")
def test_the_pairs_of_apicurio(shared: Path) -> None:
    file = shared / "suites" / "avro-compatibility" / "apicurio-compatibility-test-data.json"
    expected = {"backward": (YES, NO), "both": (YES, YES), "none": (NO, NO)}
    tests = json.loads(file.read_text())["tests"]
    for test in tests:
        old, new = test["original"], test["updated"]
        answers = (readable("Avro", old, new).answer, readable("Avro", new, old).answer)
        assert answers == expected[test["compatibility"]], test["id"]
    assert len(tests) == 4

"""Which documents are Avro schemas, and where the others are wrong."""

from typing import Any

import pytest

from postroom.errors import FormatUnknown, SchemaRefused
from postroom.formats.format_table import check_schema, parse_schema

OVEN: dict[str, Any] = {"type": "record", "name": "Oven", "namespace": "kitchen", "fields": []}

DECIMAL = {"logicalType": "decimal", "precision": 9}


def oven(*fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {**OVEN, "fields": list(fields), **more}


def field(kind: Any, **more: Any) -> dict[str, Any]:
    return {"name": "heat", "type": kind, **more}


LEGAL = {
    "a primitive as text": "string",
    "a primitive as JSON text": '"string"',
    "a primitive as bytes": b'"long"',
    "a primitive as an object": {"type": "int"},
    "a byte order mark": b'\xef\xbb\xbf{"type":"int"}',
    "an empty union": [],
    "an empty record": OVEN,
    "an error": {**OVEN, "type": "error"},
    "a full name that ignores the namespace": {**OVEN, "name": "house.Oven"},
    "no namespace inside one": oven(
        field({"type": "record", "name": "Knob", "namespace": "", "fields": []}),
        {"name": "other", "type": "Knob"},
    ),
    "a name of the namespace around": oven(
        field({"type": "enum", "name": "Mode", "symbols": ["GRILL"]}),
        {"name": "second", "type": "Mode"},
        {"name": "third", "type": "kitchen.Mode"},
    ),
    "a reference in an object": oven(
        field({"type": "enum", "name": "Mode", "symbols": []}),
        {"name": "second", "type": {"type": "Mode"}},
    ),
    "a record inside itself": oven(field(["null", "Oven"])),
    "a fixed of no bytes": {"type": "fixed", "name": "Nothing", "size": 0},
    "the default of an enum": {"type": "enum", "name": "Mode", "symbols": ["GRILL", "FAN"], "default": "FAN"},
    "an unknown logical type": oven(field({"type": "string", "logicalType": "timestamp-millis"})),
    "a decimal without precision": oven(field({"type": "bytes", "logicalType": "decimal"})),
    "a decimal wider than its bytes": {"type": "fixed", "name": "F", "size": 2, **DECIMAL},
    "attributes of one's own": oven(field("int", unit="°C"), javaAnnotation=["x"]),
    "a whole number for a double": oven(field({"type": "double"}, default=0)),
    "the largest long": oven(field("long", default=2**63 - 1)),
    "bytes with a character each": oven(field("bytes", default="\u00ff")),
    "the first of a union": oven(field(["null", "int"], default=None)),
    "a record with its own defaults": oven(
        field({"type": "record", "name": "Knob", "fields": [{"name": "a", "type": "int", "default": 1}]}, default={})
    ),
}


@pytest.mark.feature("SCH-014")
@pytest.mark.parametrize("name", LEGAL)
def test_what_avro_allows_is_parsed(name: str) -> None:
    parse_schema("Avro/1.11.3", LEGAL[name])


ILLEGAL: list[tuple[Any, str, str]] = [
    ("{", "1:2", "not JSON"),
    ("Oven", "", "'Oven' is not defined"),
    (5, "", "a type is a name"),
    ({"name": "Oven"}, "", "no type"),
    ({"type": {"type": "string"}}, "", "type of an object is a name"),
    ({"type": "record", "fields": []}, "", "has no name"),
    ({"type": "record", "name": "Oven"}, "", "no list of fields"),
    ({**OVEN, "name": "1st"}, "", "is not a name"),
    ({**OVEN, "namespace": "a-b"}, "", "is not a name"),
    ({**OVEN, "namespace": "a..b"}, "", "is not a name"),
    ({**OVEN, "namespace": 5}, "/namespace", "a namespace is a text"),
    ({**OVEN, "name": "string"}, "", "redefines a primitive"),
    ({**OVEN, "aliases": "Stove"}, "/aliases", "a list of names"),
    ({**OVEN, "aliases": ["a stove"]}, "/aliases/0", "'a stove' is not a name"),
    (oven("heat"), "/fields/0", "a field is an object"),  # type: ignore[arg-type]
    (oven({"type": "int"}), "/fields/0", "not the name of a field"),
    (oven({"name": "a b", "type": "int"}), "/fields/0/name", "not the name of a field"),
    (oven({"name": "heat"}), "/fields/0", "has no type"),
    (oven(field("int"), field("int")), "/fields/1", "'heat' twice"),
    (oven(field("int", order="upwards")), "/fields/0/order", "order"),
    (oven(field("Knob")), "/fields/0/type", "'kitchen.Knob' is not defined"),
    (oven(field("heat.Knob")), "/fields/0/type", "'heat.Knob' is not defined"),
    ([OVEN, OVEN], "/1", "defined twice"),
    (["int", ["null"]], "/1", "directly contain another union"),
    (["int", "string", "int"], "/2", "int twice"),
    ([{"type": "array", "items": "int"}, {"type": "array", "items": "long"}], "/1", "array twice"),
    ({"type": "array"}, "", "no items"),
    ({"type": "map"}, "", "no values"),
    ({"type": "array", "items": ["int", 5]}, "/items/1", "a type is a name"),
    ({"type": "enum", "name": "Mode"}, "", "no list of symbols"),
    ({"type": "enum", "name": "Mode", "symbols": ["A", "B-C"]}, "/symbols/1", "'B-C' is not a symbol"),
    ({"type": "enum", "name": "Mode", "symbols": ["A", 5]}, "/symbols/1", "5 is not a symbol"),
    ({"type": "enum", "name": "Mode", "symbols": ["A", "A"]}, "/symbols/1", "'A' is there twice"),
    ({"type": "enum", "name": "Mode", "symbols": ["A"], "default": "B"}, "/default", "not one of the symbols"),
    ({"type": "fixed", "name": "Key"}, "/size", "number of bytes"),
    ({"type": "fixed", "name": "Key", "size": -1}, "/size", "number of bytes"),
    ({"type": "fixed", "name": "Key", "size": True}, "/size", "number of bytes"),
    ({"type": "fixed", "name": "Key", "size": 2**40}, "/size", "number of bytes"),
    (oven(field("int", default="5")), "/fields/0/default", "does not fit int"),
    (oven(field("int", default=2**31)), "/fields/0/default", "does not fit int"),
    (oven(field("boolean", default=0)), "/fields/0/default", "does not fit boolean"),
    (oven(field("int", default=True)), "/fields/0/default", "does not fit int"),
    (oven(field("double", default="warm")), "/fields/0/default", "does not fit double"),
    (oven(field("bytes", default="€")), "/fields/0/default", "does not fit bytes"),
    (oven(field("null", default=0)), "/fields/0/default", "does not fit null"),
    (oven(field({"type": "fixed", "name": "K", "size": 2}, default="a")), "/fields/0/default", "does not fit"),
    (oven(field({"type": "enum", "name": "M", "symbols": ["A"]}, default="B")), "/fields/0/default", "does not fit"),
    (oven(field({"type": "array", "items": "int"}, default=[1, "2"])), "/fields/0/default", "does not fit array"),
    (oven(field({"type": "map", "values": "int"}, default={"a": None})), "/fields/0/default", "does not fit map"),
    (oven(field(OVEN | {"name": "K", "fields": [field("int")]}, default={})), "/fields/0/default", "does not fit"),
    (oven(field(["null", "int"], default=5)), "/fields/0/default", "null, the first type of its union"),
]


@pytest.mark.feature("SCH-014", "SCH-024")
@pytest.mark.parametrize(("document", "place", "sentence"), ILLEGAL)
def test_what_avro_refuses_is_refused_with_its_place(document: Any, place: str, sentence: str) -> None:
    with pytest.raises(SchemaRefused, match=sentence) as caught:
        check_schema("Avro/1.11.3", document)
    assert caught.value.place == place


@pytest.mark.parametrize(("version", "is_legal"), [("1.8.2", False), ("1.11", False), ("1.12.0", True), ("", True)])
def test_since_version_1_12_a_default_may_fit_any_type_of_a_union(version: str, is_legal: bool) -> None:
    document = oven(field(["null", "int"], default=5))
    if is_legal:
        check_schema(f"Avro/{version}".rstrip("/"), document)
    else:
        with pytest.raises(SchemaRefused, match="first type of its union"):
            check_schema(f"Avro/{version}", document)


@pytest.mark.feature("SCH-014", "SCH-017")
@pytest.mark.parametrize(
    "name", ["Avro", "AVRO/1.11.1", "avro/1.8.2", "Avro/1", "Avro/1.0", "ApacheAvro/1.12", "Avro/1.99.3"]
)
def test_every_spelling_of_version_1_is_known(name: str) -> None:
    assert parse_schema(name, "int").validate(b"\x02") == (1, [])


@pytest.mark.parametrize("name", ["Avro/2", "Avro/1.x", "Avro/draft", "Avro/0.9"])
def test_other_versions_are_unknown(name: str) -> None:
    with pytest.raises(FormatUnknown, match="not one we read"):
        check_schema(name, "int")


def nested(depth: int) -> Any:
    document: Any = "int"
    for _ in range(depth):
        document = {"type": "array", "items": document}
    return document


def doubled(leaf: list[dict[str, Any]]) -> Any:
    """Forty records, each twice in the next: a value would have as many leaves as two to the fortieth."""
    documents = [{"type": "record", "name": "R0", "fields": leaf}]
    for index in range(1, 40):
        members = [{"name": name, "type": f"R{index - 1}"} for name in "ab"]
        documents.append({"type": "record", "name": f"R{index}", "fields": members})
    return documents


def chained(length: int) -> Any:
    documents = [{"type": "record", "name": "R0", "fields": []}]
    for index in range(1, length):
        members = [{"name": "a", "type": f"R{index - 1}"}]
        documents.append({"type": "record", "name": f"R{index}", "fields": members})
    return documents


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (nested(5000), "nested more than 100 deep"),
        ('{"type":"array","items":' * 50_000, "nested too deeply"),
        (chained(300), "nested more than 100 deep"),
        (doubled([]), "511 members or more"),
        (doubled([{"name": "a", "type": "null"}]), "members or more"),
    ],
)
def test_bombs_are_refused(document: Any, sentence: str) -> None:
    with pytest.raises(SchemaRefused, match=sentence):
        check_schema("Avro", document)


def test_a_default_that_could_fit_in_exponentially_many_ways_is_judged_quickly() -> None:
    union = ["null", "A", "B"]
    second = {"type": "record", "name": "B", "fields": [{"name": "n", "type": union}]}
    first = {"type": "record", "name": "A", "fields": [{"name": "n", "type": ["null", "A", second]}]}
    default: Any = "neither"
    for _ in range(80):
        default = {"n": default}
    first["fields"].append({"name": "d", "type": union, "default": default})  # type: ignore[attr-defined]
    with pytest.raises(SchemaRefused, match="default of 'd'"):
        check_schema("Avro", first)

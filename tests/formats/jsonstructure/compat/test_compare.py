"""Whether one schema reads what another writes: the table of the documentation, and never a wrong answer."""

import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from postroom.errors import SchemaRefused
from postroom.formats.jsonstructure.format import parse, readable
from postroom.formats.schema import SchemaDocument, Verdict
from tests.formats.jsonstructure.schemas import DEFINITIONS, SCHEMAS, document

YES, NO, OPEN = "compatible", "incompatible", "undecided"


def verdict(
    writer: dict[str, Any],
    reader: dict[str, Any],
    definitions: dict[str, Any] | None = None,
    others: dict[str, Any] | None = None,
) -> Verdict:
    written = SchemaDocument(document=document(writer, definitions))
    found = readable(written, SchemaDocument(document=document(reader, others or definitions)))
    if found.answer == NO:
        assert found.counterexample is not None
        assert parse(written).validate(found.counterexample)[1] == []
        read = parse(SchemaDocument(document=document(reader, others or definitions)))
        assert read.validate(found.counterexample)[1] != []
        assert found.shown
    return found


def obj(required: str = "", extra: Any = None, /, **members: Any) -> dict[str, Any]:
    """An object type: which members are required, what others may be, the members."""
    made: dict[str, Any] = {
        "type": "object",
        "properties": {
            name: {"type": kind} if isinstance(kind, str | list) else kind for name, kind in members.items()
        },
    }
    if required:
        made["required"] = required.split()
    if extra is not None:
        made["additionalProperties"] = extra
    return made


def arr(items: str, **rules: Any) -> dict[str, Any]:
    return {"type": "array", "items": {"type": items}, **rules}


def tup(*kinds: str) -> dict[str, Any]:
    names = [f"p{number}" for number in range(len(kinds))]
    members = {name: {"type": kind} for name, kind in zip(names, kinds, strict=True)}
    return {"type": "tuple", "properties": members, "tuple": names}


def cho(**kinds: str) -> dict[str, Any]:
    return {"type": "choice", "choices": {name: {"type": kind} for name, kind in kinds.items()}}


def text(*values: str, **rules: Any) -> dict[str, Any]:
    return {"type": "string", **({"enum": list(values)} if values else {}), **rules}


def typed(name: Any, **rules: Any) -> dict[str, Any]:
    return {"type": name, **rules}


PAIRS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    # numbers
    (typed("int8"), typed("int32"), YES),
    (typed("int32"), typed("int8"), NO),
    (typed("int32"), typed("integer"), YES),
    (typed("uint8"), typed("int16"), YES),
    (typed("uint16"), typed("int16"), NO),
    (typed("int8"), typed("uint32"), NO),
    (typed("int32"), typed("double"), YES),
    (typed("uint32"), typed("float"), YES),
    (typed("int32"), typed("int64"), NO),
    (typed("int64"), typed("int32"), NO),
    (typed("int64"), typed("int128"), YES),
    (typed("uint64"), typed("int64"), NO),
    (typed("uint64"), typed("int128"), YES),
    (typed("int64"), typed("string"), YES),
    (typed("string"), typed("int64"), NO),
    (typed("int64"), typed("decimal"), YES),
    (typed("int64", minimum="0"), typed("uint64"), NO),
    (typed("int64", minimum="1"), typed("uint64"), YES),
    (typed("float"), typed("double"), YES),
    (typed("double"), typed("float"), NO),
    (typed("double"), typed("number"), YES),
    (typed("number"), typed("double"), YES),
    (typed("double"), typed("int32"), NO),
    (typed("decimal"), typed("double"), NO),
    (typed("decimal", precision=8, scale=2), typed("decimal", precision=10, scale=2), YES),
    (typed("decimal", precision=10, scale=2), typed("decimal", precision=8, scale=2), NO),
    (typed("decimal", precision=10, scale=2), typed("decimal", precision=10, scale=4), NO),
    (typed("int32", minimum=0), typed("uint32"), YES),
    (typed("int32", minimum=0, maximum=9), typed("int8"), YES),
    (typed("int32", minimum=0), typed("int32", minimum=1), NO),
    (typed("double", exclusiveMinimum=0), typed("double", minimum=0), YES),
    (typed("double", minimum=0), typed("double", exclusiveMinimum=0), NO),
    (typed("int32", multipleOf=6), typed("int32", multipleOf=3), YES),
    (typed("int32", multipleOf=3), typed("int32", multipleOf=6), NO),
    # texts
    (typed("date"), typed("string"), YES),
    (typed("string"), typed("date"), NO),
    (typed("date"), typed("datetime"), NO),
    (typed("uuid"), typed("string"), YES),
    (typed("binary"), typed("string"), YES),
    (typed("binary"), typed("binary", contentEncoding="base16"), NO),
    (text(maxLength=5), text(maxLength=9), YES),
    (text(maxLength=9), text(maxLength=5), NO),
    (text(), text(maxLength=5), NO),
    (text(minLength=2), text(minLength=1), YES),
    (text(), text(minLength=1), NO),
    (text(pattern="[a-z]+"), text(pattern="[a-z]+"), YES),
    (text(pattern="[a-z]+"), text(pattern="[a-z]*"), OPEN),
    (text(), text(pattern="[a-z]*"), NO),
    (text("red"), text("red", "blue"), YES),
    (text("red", "blue"), text("red"), NO),
    (text("red", "blue"), text(), YES),
    (text(), text("red"), NO),
    (text("red", "blue"), text(maxLength=4), YES),
    (typed("boolean"), typed("boolean", enum=[True, False]), YES),
    (typed("boolean"), typed("boolean", const=True), NO),
    # unions
    (typed("string"), typed(["string", "null"]), YES),
    (typed(["string", "null"]), typed("string"), NO),
    (typed(["int8", "null"]), typed(["null", "int32"]), YES),
    (typed(["int32", "string"]), typed(["string", "double"]), YES),
    (typed(["int32", "string"]), typed(["string", "boolean"]), NO),
    (typed("any"), typed("any"), YES),
    (typed("string"), typed("any"), YES),
    (typed("any"), typed("string"), NO),
    # objects
    (obj(a="string"), obj(a="string", b="int32"), YES),
    (obj(a="string", b="int32"), obj(a="string"), YES),
    (obj(a="string"), obj("a", a="string"), NO),
    (obj("a", a="string"), obj(a="string"), YES),
    (obj(a="string"), obj("b", a="string", b="int32"), NO),
    (obj("", True, a="string"), obj(a="string", b="int32"), NO),
    (obj("", False, a="string"), obj("", False, a="string", b="int32"), YES),
    (obj(a="string", b="int32"), obj("", False, a="string"), NO),
    (obj("", True, a="string"), obj("", False, a="string"), NO),
    (obj("", {"type": "int8"}, a="string"), obj("", {"type": "int32"}, a="string"), YES),
    (obj("", {"type": "int32"}, a="string"), obj("", {"type": "int8"}, a="string"), NO),
    (obj(a="int8"), obj(a="int32"), YES),
    (obj(a=arr("int32")), obj(a=arr("int8")), NO),
    (obj(a="string"), {**obj(a="string"), "minProperties": 1}, NO),
    (
        {**obj(a="string"), "dependentRequired": {"a": ["b"]}},
        {**obj(a="string"), "dependentRequired": {"a": ["b"]}},
        YES,
    ),
    (obj(a="string", b="string"), {**obj(a="string", b="string"), "required": [["a"], ["b"]]}, NO),
    # lists and maps
    (arr("int8"), arr("int32"), YES),
    (arr("int32"), {"type": "set", "items": {"type": "int32"}}, NO),
    ({"type": "set", "items": {"type": "int32"}}, arr("int32"), YES),
    (arr("string", minItems=2), arr("string", minItems=1), YES),
    (arr("string", minItems=1), arr("string", minItems=2), NO),
    (arr("string"), arr("string", maxItems=3), NO),
    (arr("int32", contains={"type": "int32", "const": 1}), arr("int32", contains={"type": "int32", "const": 1}), YES),
    (arr("int32"), arr("int32", contains={"type": "int32", "const": 1}), NO),
    (typed("map", values={"type": "int8"}), typed("map", values={"type": "int32"}), YES),
    (typed("map", values={"type": "int32"}), typed("map", values={"type": "string"}), NO),
    (obj("a", a="int32", b="int8"), typed("map", values={"type": "int32"}), YES),
    (typed("map", values={"type": "int32"}), obj("a", a="int32"), NO),
    (tup("int8", "string"), tup("int32", "string"), YES),
    (tup("int32"), tup("int32", "string"), NO),
    (tup("int8", "int16"), arr("int32"), YES),
    (tup("int8", "string"), arr("int32"), NO),
    # choices
    (cho(volts="int32"), cho(volts="int32", fuel="string"), YES),
    (cho(volts="int32", fuel="string"), cho(volts="int32"), NO),
    (cho(volts="int32"), cho(volts="int8"), NO),
    # conditions
    (typed("int32", minimum=3), typed("int32", allOf=[{"type": "int32", "minimum": 3}]), OPEN),
    (typed("int32"), typed("int32", allOf=[{"type": "int32", "minimum": 3}]), NO),
    (typed("int8", allOf=[{"type": "int32", "minimum": 3}]), typed("int32"), YES),
    (obj(a="string"), typed("string"), NO),
]


@pytest.mark.feature("SCH-025", "SCH-028")
@pytest.mark.parametrize(("writer", "reader", "answer"), PAIRS)
def test_pairs_of_types_have_these_verdicts(writer: dict[str, Any], reader: dict[str, Any], answer: str) -> None:
    found = verdict(writer, reader)
    assert found.answer == answer, found
    # Inside a member the same rules hold.
    inside = verdict(obj("m", m=writer), obj("m", m=reader))
    assert inside.answer == answer, inside


def test_an_incompatible_verdict_names_both_pointers_and_the_payload() -> None:
    found = verdict(obj("age", age="int32"), obj("age", age="int8"))
    assert (found.writer_at, found.reader_at) == ("/properties/age", "/properties/age")
    assert found.counterexample == b'{"age":-2147483648}'
    assert found.shown == '{"age":-2147483648}'
    assert "at /age" in found.reason


def changed(**changes: Any) -> dict[str, Any]:
    return {**DEFINITIONS, **changes}


NODE = {"type": {"$ref": "#/definitions/Node"}}
VEHICLE = {"type": {"$ref": "#/definitions/AnyVehicle"}}


def test_recursive_types_are_compared_to_the_end() -> None:
    node = DEFINITIONS["Node"]
    wider = {**node, "properties": {**node["properties"], "value": {"type": "int128"}}}
    assert verdict(NODE, NODE, DEFINITIONS, changed(Node=wider)).answer == YES
    assert verdict(NODE, NODE, changed(Node=wider), DEFINITIONS).answer == NO


def test_inherited_members_are_compared_as_if_they_were_its_own() -> None:
    flat = {
        "type": "object",
        "properties": {
            "vin": {"type": "string"},
            "built": {"type": "date"},
            "load": {"type": "decimal", "precision": 8, "scale": 2},
        },
        "required": ["vin", "load"],
    }
    truck = {"type": {"$ref": "#/definitions/Truck"}}
    assert verdict(truck, flat, DEFINITIONS).answer == YES
    assert verdict(flat, truck, DEFINITIONS).answer == YES


def test_inline_choices_are_compared_variant_by_variant() -> None:
    choice = DEFINITIONS["AnyVehicle"]
    fewer = {**choice, "choices": {"truck": choice["choices"]["truck"]}}
    assert verdict(VEHICLE, VEHICLE, changed(AnyVehicle=fewer), DEFINITIONS).answer == YES
    assert verdict(VEHICLE, VEHICLE, DEFINITIONS, changed(AnyVehicle=fewer)).answer == NO
    other = {**choice, "selector": "sort"}
    assert verdict(VEHICLE, VEHICLE, DEFINITIONS, changed(AnyVehicle=other)).answer == NO


@given(writer=SCHEMAS, reader=SCHEMAS, seed=st.integers(0, 1000))
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_no_payload_contradicts_a_verdict(writer: dict[str, Any], reader: dict[str, Any], seed: int) -> None:
    found = verdict(writer, reader, DEFINITIONS)
    if found.answer == YES:
        written = parse(SchemaDocument(document=document(writer, DEFINITIONS)))
        read = parse(SchemaDocument(document=document(reader, DEFINITIONS)))
        rng = random.Random(seed)
        try:
            payloads = [written.encode(written.sample(rng)) for _ in range(10)]
        except SchemaRefused:
            return  # no payload at all
        assert [read.validate(payload)[1] for payload in payloads] == [[]] * 10


@given(schema=SCHEMAS)
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_schema_reads_itself(schema: dict[str, Any]) -> None:
    assert verdict(schema, {**schema, "description": "the same again"}, DEFINITIONS).answer == YES

"""What payloads have and their columns do not, in every format."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from postroom.formats.backfill_members import Lifter
from postroom.formats.column_types import DOUBLE, INT64, JSON_TEXT, STRING, Field, ListOf, MapOf, StructOf
from postroom.formats.format_table import parse_schema
from postroom.formats.schema import FastOpenSchema, OpenSchema
from postroom.formats.undeclared_members import Undeclared

PLACE = StructOf((Field("floor", "floor", INT64),))
COLUMN = StructOf(
    (
        Field("sensor", "sensor", STRING),
        Field("Value", "value", DOUBLE),
        Field("place", "place", PLACE),
        Field("places", "places", ListOf(PLACE)),
        Field("by_name", "by_name", MapOf(PLACE)),
        Field("free", "free", JSON_TEXT),
        Field("tags", "tags", ListOf(STRING)),
    )
)


@pytest.mark.parametrize(
    ("payload", "left"),
    [
        ('{"sensor": "a", "value": 1, "tags": ["x"], "free": {"any": [1]}}', None),
        ('{"more": 1.10}', '{"more":1.10}'),
        ('{"Value": 1}', '{"Value":1}'),
        ('{"big": 12345678901234567890.123456789}', '{"big":12345678901234567890.123456789}'),
        ('{"more": {"a": [1, 2]}, "sensor": "a", "nothing": null}', '{"more":{"a": [1, 2]},"nothing":null}'),
        ('{"place": {"floor": 1, "room": "x"}}', '{"place":{"room":"x"}}'),
        ('{"places": [{}, {"room": 1}, {"floor": 2}]}', '{"places":[null,{"room":1}]}'),
        ('{"by_name": {"a": {"floor": 1}, "b": {"room": 1}}}', '{"by_name":{"b":{"room":1}}}'),
        ('{"place": null, "places": null, "by_name": null}', None),
        ('{"é\\n": "\\u00e9"}', '{"é\\n":"\\u00e9"}'),
        ("null", None),
    ],
)
def test_members_without_a_column_are_found(payload: str, left: str | None) -> None:
    assert Undeclared(COLUMN).find(payload.encode()) == left
    kept: dict[int, str] = {}
    Undeclared(COLUMN).find_all([b"{}", payload.encode(), b"{"], {2}, kept)
    assert kept == ({} if left is None else {1: left})


def test_values_without_members_have_nothing_undeclared() -> None:
    for column in (STRING, JSON_TEXT, ListOf(STRING), MapOf(DOUBLE)):
        assert Undeclared(column).find(b"[1]") is None


SCALAR = st.sampled_from(["1", "1.10", '"x"', "null", "[]", '{"a": 1}'])
NAMES = st.sampled_from(["sensor", "place", "a", "b", "floor"])


def written(members: dict[str, str]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {value}" for name, value in members.items()) + "}"


@settings(max_examples=200, deadline=None)
@given(st.recursive(SCALAR, lambda inner: st.dictionaries(NAMES, inner, max_size=3).map(written), max_leaves=8))
def test_undeclared_members_of_undeclared_members_are_the_same(payload: str) -> None:
    column = StructOf((Field("place", "place", PLACE),))
    value = json.loads(payload)
    assume(isinstance(value, dict) and isinstance(value.get("place"), dict | None))
    left = Undeclared(column).find(payload.encode())
    if left is not None:
        assert Undeclared(column).find(left.encode()) == left
        assert not Lifter(column).concerns(left)


READING = {"type": "object", "required": ["sensor"], "properties": {"sensor": {"type": "string"}}}
PATTERNS = {**READING, "patternProperties": {"^x": {}}}
STRUCTURE = {
    "$schema": "https://json-structure.org/meta/core/v0/#",
    "$id": "https://a.example/r",
    "name": "R",
    **READING,
}
PROTO = (
    'syntax = "proto3"; message R { string sensor = 1; R inner = 2; repeated R items = 3; map<string, R> named = 4; }'
)
XSD = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="r"><xs:complexType><xs:sequence>
<xs:element name="sensor" nillable="true"><xs:complexType><xs:simpleContent><xs:extension base="xs:string">
<xs:attribute name="unit"/></xs:extension></xs:simpleContent></xs:complexType></xs:element>
<xs:any minOccurs="0" processContents="lax"/></xs:sequence></xs:complexType></xs:element></xs:schema>"""


def protobuf(number: int, text: bytes) -> bytes:
    return bytes([number << 3 | 2, len(text)]) + text


UNKNOWN = protobuf(9, b"later")
INSIDE = {"$unknown": base64.b64encode(UNKNOWN).decode()}
JSON = "application/json"
LISTED = protobuf(3, b"") + protobuf(3, UNKNOWN) + protobuf(3, b"")


@pytest.mark.parametrize(
    ("schema_format", "document", "payload", "contenttype", "left"),
    [
        ("JsonSchema/draft-07", READING, b'{"sensor": "a", "more": 1.10}', JSON, {"more": 1.10}),
        ("JsonSchema/draft-07", PATTERNS, b'{"sensor": "a", "x1": 2}', JSON, {"x1": 2}),
        ("JSONStructure/draft-02", STRUCTURE, b'{"sensor": "a", "more": 1.10}', JSON, {"more": 1.10}),
        ("Protobuf/3", PROTO, protobuf(1, b"a") + UNKNOWN, "", INSIDE),
        ("Protobuf/3", PROTO, protobuf(2, protobuf(1, b"a") + UNKNOWN), "", {"inner": INSIDE}),
        ("Protobuf/3", PROTO, LISTED, "", {"items": [None, INSIDE]}),
        ("Protobuf/3", PROTO, protobuf(4, protobuf(1, b"k") + protobuf(2, UNKNOWN)), "", {"named": {"k": INSIDE}}),
        ("Protobuf/3", PROTO, protobuf(1, b"a"), "", None),
        (
            "XSD/1.0",
            XSD,
            b'<r xmlns:i="http://www.w3.org/2001/XMLSchema-instance"><sensor unit="C" i:nil="true"/></r>',
            "application/xml",
            {"sensor": {"@xsi:nil": True}},
        ),
        ("XSD/1.0", XSD, b"<r><sensor>nil</sensor><more>1</more></r>", "application/xml", None),
    ],
)  # fmt: skip
def test_every_format_finds_undeclared_members(
    schema_format: str, document: Any, payload: bytes, contenttype: str, left: Any
) -> None:
    schema: Any = parse_schema(schema_format, document)
    assert isinstance(schema, OpenSchema)
    assert schema.validate(payload, contenttype)[1] == []
    found = schema.undeclared(payload, contenttype)
    assert (None if found is None else json.loads(found)) == left
    if isinstance(schema, FastOpenSchema):
        kept: dict[int, str] = {}
        fallback: set[int] = set()
        values = schema.fill_all_and_undeclared([payload, payload], fallback, kept)
        assert kept == ({} if found is None else dict.fromkeys({0, 1} - fallback, found))
        assert all(values[place] == schema.fill(payload)[0] for place in {0, 1} - fallback)


def test_avro_in_json_has_no_undeclared_members() -> None:
    schema = parse_schema("Avro/1.11", {"type": "record", "name": "R", "fields": [{"name": "a", "type": "int"}]})
    assert not isinstance(schema, OpenSchema)
    assert [v.code for v in schema.validate(b'{"a": 1, "b": 2}', JSON)[1]] == ["payload_additional_properties"]

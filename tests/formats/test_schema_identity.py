"""Which schema documents are the same schema."""

from __future__ import annotations

import pytest

from postroom.formats.schema_identity import normal_schema, numbered_type, schema_identity

RECORD = '{"type": "record", "name": "Door", "namespace": "house", "fields": [%s]}'


@pytest.mark.parametrize(
    ("form", "one", "other"),
    [
        ("Avro/1.12", '"string"', ' {"type": "string"} '),
        ("Avro", RECORD % "", '{"fields":[],"name":"house.Door","type":"record"}'),
        (
            "Avro",
            RECORD % '{"name": "lock", "type": {"type": "enum", "name": "Lock", "symbols": ["A"]}}',
            RECORD % '{"name": "lock", "type": {"type": "enum", "name": "house.Lock", "symbols": ["A"]}}',
        ),
        (
            "Avro",
            RECORD % '{"name": "next", "type": ["null", "Door"]}',
            RECORD % '{"name": "next", "type": ["null", "house.Door"]}',
        ),
        ("JsonSchema/draft-07", '{"type": "object", "title": "Door"}', '{"title":"Door","type":"object"}'),
        (
            "Protobuf/3",
            'syntax = "proto3"; message Door { int32 width = 1; }',
            'syntax="proto3";\n// wide\nmessage Door{int32 width=1;}',
        ),
    ],
)
def test_spelling_says_nothing(form: str, one: str, other: str) -> None:
    assert schema_identity(form, one.encode()) == schema_identity(form, other.encode())


@pytest.mark.parametrize(
    ("form", "one", "other"),
    [
        ("Avro", '"string"', '"bytes"'),
        ("Avro", RECORD % "", '{"type": "record", "name": "Door", "fields": []}'),
        (
            "Avro",
            RECORD % '{"name": "a", "type": "int", "default": {"type": "x"}}',
            RECORD % '{"name": "a", "type": "int", "default": "x"}',
        ),
        ("JsonSchema", '{"enum": [1, 2]}', '{"enum": [2, 1]}'),
        ("Protobuf", "message Door { int32 width = 1; }", "message Door { int32 width = 2; }"),
    ],
)
def test_everything_else_does(form: str, one: str, other: str) -> None:
    assert schema_identity(form, one.encode()) != schema_identity(form, other.encode())


def test_equal_texts_of_different_formats_are_different_schemas() -> None:
    assert schema_identity("Avro", b'"string"') != schema_identity("JsonSchema", b'"string"')


def test_a_broken_document_is_itself() -> None:
    assert schema_identity("Avro", b"{") != schema_identity("Avro", b"{ ")
    assert schema_identity("Protobuf", b"\xff") is not None


def test_formats_that_registries_do_not_know_have_no_identity() -> None:
    assert schema_identity("XSD/1.0", b"<schema/>") is None
    assert numbered_type("JsonStructure") == ""
    assert numbered_type("json-schema") == "JSON"


def test_a_normal_schema_is_its_own_normal_form() -> None:
    for kind, text in (("AVRO", RECORD % ""), ("JSON", '{"b":1,"a":2}'), ("PROTOBUF", "message A { }")):
        assert normal_schema(kind, normal_schema(kind, text)) == normal_schema(kind, text)

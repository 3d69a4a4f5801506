"""Topics with messages of many kinds and no envelope: the schema that a payload names tells its definition."""

from __future__ import annotations

import base64
import json
import uuid
from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.formats.format_table import parse_schema
from postroom.formats.schema import FramedSchema
from postroom.messages.matching.outcome import Match, Sorted

OVEN = {"type": "record", "name": "Oven", "fields": [{"name": "id", "type": "string"}]}
TRAY = {"type": "record", "name": "Tray", "fields": [{"name": "slot", "type": "string"}]}
HOT_OVEN = {**OVEN, "fields": [{"name": "id", "type": "string"}, {"name": "heat", "type": "int", "default": 1}]}
BELL = {"type": "record", "name": "Bell", "fields": [{"name": "tone", "type": "string"}]}
PROTO = 'syntax = "proto3"; package shop; message Loaf { string name = 1; } message Roll { string name = 1; }'


def schema(*versions: tuple[Any, int], form: str = "Avro") -> dict[str, Any]:
    found = {
        str(number): {"format": form, "schema": document, "schemaids": [schema_id]}
        for number, (document, schema_id) in enumerate(versions, 1)
    }
    return {"versions": found, "meta": {"defaultversionid": str(len(versions))}}


def catalog(**more: dict[str, Any]) -> Catalog:
    """Three kinds on one topic, one of them with two versions; and two that are messages of one Protobuf file."""
    schemas = {
        "oven": schema(
            (OVEN, 1), ({**OVEN, "fields": [*OVEN["fields"], {"name": "heat", "type": "int", "default": 1}]}, 2)
        ),
        "tray": schema((TRAY, 3)),
        "bell": schema((BELL, 4)),
        "bread": schema((PROTO, 5), form="Protobuf/3"),
    }
    where = {"protocol": "KAFKA", "protocoloptions": {"topic": "bakery"}}
    messages = {
        name: {**where, "dataschemauri": f"/schemagroups/g/schemas/{name}"} for name in ("oven", "tray", "bell")
    }
    for name in ("Loaf", "Roll"):
        messages[name] = {**where, "dataschemauri": f"/schemagroups/g/schemas/bread:shop.{name}"}
    messages = {name: {**message, **more.get(name, {})} for name, message in messages.items()}
    return Catalog({"schemagroups": {"g": {"schemas": schemas}}, "messagegroups": {"g": {"messages": messages}}})


def sort(known: Catalog, payload: bytes, header: bytes = b"", **metadata: Any) -> Sorted:
    pairs = [{"name": "__value_schema_id", "value": "", "value_base64": base64.b64encode(header).decode()}]
    metadata = {"topic": "bakery", "headers": pairs if header else [], **metadata}
    body = base64.b64encode(payload).decode()
    record = json.dumps({"protocol": "KAFKA", "metadata": metadata, "payload_base64": body}).encode()
    (found,) = known.engine.sort_exactly(record)
    assert known.engine.match_line(record) == [found.match]
    return found


def framed(schema_id: int, body: bytes) -> bytes:
    return b"\0" + schema_id.to_bytes(4) + body


TEXT = b"\2x"  # the same bytes are an oven, a tray and a bell


@pytest.mark.parametrize(
    ("payload", "name", "data"),
    [
        (framed(1, TEXT), "oven", {"id": "x", "heat": 1}),
        (framed(2, TEXT + b"\6"), "oven", {"id": "x", "heat": 3}),
        (framed(3, TEXT), "tray", {"slot": "x"}),
        (framed(4, TEXT), "bell", {"tone": "x"}),
        (framed(5, b"\0\n\1x"), "Loaf", {"name": "x"}),
        (framed(5, b"\2\2\n\1x"), "Roll", {"name": "x"}),
    ],
)
def test_the_schema_in_front_of_a_payload_tells_its_definition(payload: bytes, name: str, data: Any) -> None:
    found = sort(catalog(), payload)
    assert (found.match.message, found.data) == (f"/messagegroups/g/messages/{name}", data)


def test_a_guid_in_a_header_and_a_fingerprint_tell_it_as_well() -> None:
    known = catalog()
    definition = next(one for one in known.definitions if one.id == "tray")
    assert definition.schema is not None
    guid = uuid.UUID(known.engine._documents.guid(definition.schema.place))
    assert sort(known, TEXT, b"\1" + guid.bytes).data == {"slot": "x"}
    assert sort(known, TEXT, framed(4, b"")).data == {"tone": "x"}
    parsed = parse_schema("Avro", BELL)
    assert isinstance(parsed, FramedSchema)
    assert sort(known, b"\xc3\x01" + parsed.fingerprint() + TEXT).data == {"tone": "x"}


def test_an_unknown_schema_is_the_reason_and_no_definition_is_blamed() -> None:
    match = sort(catalog(), framed(99, TEXT)).match
    assert (match.outcome, match.message, len(match.candidates)) == ("ambiguous", None, 5)
    (reason,) = match.reasons
    assert (reason.message, reason.code, reason.found) == ("", "schema_id_unknown", "the schema id 99")
    assert "none of the 5 definitions that fit" in catalog().explain(match)


def test_a_definition_that_asks_for_more_takes_nothing_of_another_schema() -> None:
    known = catalog(bell={"protocoloptions": {"topic": "bakery", "key": {"value": "{bell}", "type": "uritemplate"}}})
    assert sort(known, framed(3, TEXT), key="b1").match.message == "/messagegroups/g/messages/tray"
    match = sort(known, framed(4, TEXT), key="b1").match
    assert (match.message, match.variables) == ("/messagegroups/g/messages/bell", {"bell": "b1"})
    assert sort(known, framed(99, TEXT), key="b1").match.outcome == "invalid"


def test_without_a_topic_the_schema_alone_addresses_a_definition() -> None:
    anywhere = {"protocol": "KAFKA", "protocoloptions": {}}
    known = catalog(oven=anywhere, tray=anywhere, bell=anywhere)

    def match(payload: bytes) -> Match:
        return sort(known, payload, topic="elsewhere").match

    assert match(framed(3, TEXT)).message == "/messagegroups/g/messages/tray"
    assert match(framed(99, TEXT)).reasons[0].code == "schema_id_unknown"


def test_a_union_of_records_is_read_by_the_definition_of_its_branch() -> None:
    """One subject for the whole topic: its schema is a union, whose index stands in front of the record."""
    versions = {
        "1": {"format": "Avro/1.12", "schema": [OVEN, TRAY], "schemaids": [20]},
        "2": {"format": "Avro/1.12", "schema": [BELL, HOT_OVEN, TRAY], "schemaids": [21]},
    }
    schemas = {"everything": {"versions": versions, "meta": {"defaultversionid": "2"}}}
    where: dict[str, Any] = {"protocol": "KAFKA", "protocoloptions": {"topic": "bakery"}}
    messages = {
        name: {**where, "dataschemauri": f"/schemagroups/g/schemas/everything:{name}"}
        for name in ("Oven", "Tray", "Bell")
    }
    known = Catalog({"schemagroups": {"g": {"schemas": schemas}}, "messagegroups": {"g": {"messages": messages}}})
    for payload, name, data in (
        (framed(20, b"\0" + TEXT), "Oven", {"id": "x", "heat": 1}),
        (framed(20, b"\2" + TEXT), "Tray", {"slot": "x"}),
        (framed(21, b"\0" + TEXT), "Bell", {"tone": "x"}),
        (framed(21, b"\2" + TEXT + b"\6"), "Oven", {"id": "x", "heat": 3}),
        (framed(21, b"\4" + TEXT), "Tray", {"slot": "x"}),
    ):
        found = sort(known, payload)
        assert (found.match.message, found.data) == (f"/messagegroups/g/messages/{name}", data)

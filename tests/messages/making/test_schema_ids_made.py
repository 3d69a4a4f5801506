"""Payloads that are made with the id of their schema in front."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.errors import MakeRefused
from postroom.messages.making.make_invalid import make_invalid
from postroom.messages.making.uuids import UnseededRandom
from postroom.messages.matching.record_input import as_record
from postroom.settings import Settings

AVRO = {"type": "record", "name": "Oven", "fields": [{"name": "id", "type": "string"}]}
JSON = {"type": "object", "properties": {"id": {"type": "string"}}}
PROTO = """syntax = "proto3"; package shop;
message Other { string x = 1; }
message Box { message Oven { string id = 1; } Oven oven = 1; }
message Alone { string id = 1; }"""


def catalog(form: str, document: Any, picked: str = "", ids: tuple[int, ...] = (7, 9), **says: Any) -> Catalog:
    message = {"protocol": "KAFKA", "dataschemauri": f"/schemagroups/g/schemas/s{picked}", **says}
    schema = {"versions": {"1": {"format": form, "schema": document, "schemaids": list(ids)}}}
    tree = {
        "messagegroups": {"g": {"messages": {"m": message}}},
        "schemagroups": {"g": {"schemas": {"s": schema}}},
    }
    return Catalog(tree, settings=Settings(write_schema_ids=True))


def payload(record: dict[str, Any]) -> bytes:
    return base64.b64decode(record["payload_base64"]) if "payload_base64" in record else record["payload"].encode()


@pytest.mark.parametrize(
    ("form", "document", "picked", "start"),
    [
        ("Avro/1.12", AVRO, "", b"\0\0\0\0\7\2x"),
        ("JsonSchema/draft-07", JSON, "", b"\0\0\0\0\7{"),
        ("Protobuf/3", PROTO, ":shop.Other", b"\0\0\0\0\7\0"),
        ("Protobuf/3", PROTO, ":shop.Box.Oven", b"\0\0\0\0\7\4\2\0\n\1x"),
        ("Protobuf/3", PROTO, ":shop.Alone", b"\0\0\0\0\7\2\4\n\1x"),
    ],
)
def test_the_first_id_stands_in_front_and_the_message_lands(
    form: str, document: Any, picked: str, start: bytes
) -> None:
    known = catalog(form, document, picked)
    data = {"x" if picked.endswith("Other") else "id": "x"}
    for _ in range(2):  # by the exact maker, then by the compiled template
        record = known.message("m").make(data=data)
        assert payload(record).startswith(start)
        (found,) = known.engine.sort(as_record(record))
        assert (found.match.outcome, found.data) == ("landed", data)
        assert found.writer is not None
        assert (found.writer.version, found.writer.id) == ("1", "7")


def test_broken_messages_have_the_id_as_well() -> None:
    known = catalog("JsonSchema/draft-07", {**JSON, "required": ["id"]})
    record, reason = make_invalid(known.message("m").maker, {}, {"id": "x"}, rng=UnseededRandom())
    assert record.payload.startswith(b"\0\0\0\0\7")
    assert reason.at.startswith("/data")


@pytest.mark.parametrize(
    ("known", "says"),
    [
        (catalog("Avro/1.12", AVRO, ids=()), "has no id"),
        (
            catalog(
                "Avro/1.12",
                AVRO,
                envelope="CloudEvents/1.0",
                envelopemetadata={"type": {"value": "m"}},
                envelopeoptions={"mode": "structured"},
            ),
            "no place for a schema id",
        ),
        (catalog("Avro/1.12", AVRO, protocoloptions={"headers": {"content-encoding": "gzip"}}), "content encoding"),
    ],
)
def test_what_has_no_id_or_no_place_for_it_is_refused(known: Catalog, says: str) -> None:
    with pytest.raises(MakeRefused, match=says):
        known.message("m").make(data={"id": "x"})

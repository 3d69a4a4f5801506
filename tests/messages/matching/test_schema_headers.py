"""Schemas that headers of a message name, and ids of another length."""

from __future__ import annotations

import base64
import json
import uuid

import pytest

from postroom.catalog.catalog import Catalog
from postroom.formats.schema_identity import schema_identity
from postroom.formats.schema_versions import WriterVersion
from postroom.messages.definitions.definition import CompiledCatalog
from postroom.messages.matching.columnar import LandedEvents
from postroom.messages.matching.outcome import Sorted
from postroom.model.schema_content import content_digest, content_guid
from postroom.settings import Settings
from tests.messages.matching.test_schema_versions import PAIRS, avro
from tests.messages.versions import HEADERS, SCHEMA, bundle, catalog, sort, tree

HEADER = "__value_schema_id"


def sort_with(known: Catalog, header: bytes, payload: bytes) -> Sorted:
    """What the exact judge makes of a record one of whose headers names the schema; no other judge may accept it."""
    pair = {"name": HEADER, "value": header.decode("latin-1"), "value_base64": base64.b64encode(header).decode()}
    headers = [*({"name": name, "value": text} for name, text in HEADERS.items()), pair]
    line = {
        "protocol": "KAFKA",
        "metadata": {"headers": headers},
        "payload_base64": base64.b64encode(payload).decode(),
    }
    encoded = json.dumps(line).encode()
    groups: list[LandedEvents] = []
    (judged,) = known.engine.judge([encoded], groups.append)
    assert groups == []
    assert [one.match for one in judged.messages] == known.engine.match_line(encoded)
    return judged.messages[0]


@pytest.mark.parametrize("number", range(2))
def test_a_header_of_the_message_names_the_schema_by_id_or_guid(number: int) -> None:
    first, second, written, landed = PAIRS[1]
    guid = uuid.UUID(int=7)
    document = tree({"1": (first, [101]), "2": (second, [102])})
    document["schemagroups"]["g"]["schemas"]["s"]["versions"]["2"]["schemaguid"] = str(guid).upper()
    known = Catalog(document)
    identity = schema_identity("Avro", json.dumps(first).encode()) or b""
    derived = uuid.UUID(content_guid(content_digest(identity)))
    header = b"\0" + (101).to_bytes(4) if number else b"\1" + derived.bytes
    found = sort_with(known, header, avro(first, written))
    assert (found.match.outcome, found.data) == ("landed", landed)
    assert found.writer == WriterVersion("1", "101" if number else str(derived))
    assert sort_with(known, b"\1" + guid.bytes, avro(second, landed)).writer == WriterVersion("2", str(guid))


@pytest.mark.parametrize(
    "header",
    [b"\0\0\0\0\x63", b"\1" + bytes(16), b"\1" + bytes(15), b"\0\0\0\0", b"\2" + bytes(16), b"\0" + b"\xff" * 4],
)
def test_a_header_that_names_no_known_schema_is_told(header: bytes) -> None:
    first, second, written, _ = PAIRS[1]
    known = catalog({"1": (first, [101]), "2": (second, [102])})
    found = sort_with(known, header, avro(first, written))
    assert [reason.code for reason in found.match.reasons] == ["schema_id_unknown"]


def test_a_header_may_name_the_message_of_a_protobuf_document() -> None:
    document = 'syntax="proto3"; message A { int32 low = 1; } message B { int32 high = 1; }'
    known = catalog({"1": (document, [101])}, "Protobuf/3", reference=f"{SCHEMA}:B")
    header = b"\0" + (101).to_bytes(4)
    assert sort_with(known, header + b"\2\2", b"\x08\x09").data == {"high": 9}
    assert sort_with(known, header + b"\0", b"\x08\x09").match.outcome == "invalid"


def test_ids_have_eight_bytes_where_a_setting_says_so() -> None:
    first, second, written, landed = PAIRS[1]
    ids = [101, 2**40]
    known = Catalog(tree({"1": (first, ids[:1]), "2": (second, ids[1:])}), settings=Settings(schema_id_bytes=8))
    payloads = [b"\0" + ids[0].to_bytes(8) + avro(first, written), b"\0" + ids[1].to_bytes(8) + avro(second, landed)]
    assert [sort(known, payload).data for payload in payloads] == [landed, landed]
    for payload, version in zip(payloads, ("1", "2"), strict=True):
        by_column, others = bundle(known, [payload] * 3)
        assert by_column is not None
        assert ([by_column.data[0], by_column.writers[0].version], others) == ([landed, version], [])
    four = CompiledCatalog.decode(known.compiled.encode())
    assert four.schema_id_bytes == 8  # as workers get it
    assert sort(known, b"\0" + bytes(8) + avro(first, written)).match.reasons[0].code == "schema_id_unknown"

"""Keys that name their schema: compared as the text that they stand for, kept as the bytes that they had."""

from __future__ import annotations

import base64
import json
import uuid
from typing import Any

import pytest

from postroom.catalog.catalog import Catalog
from postroom.formats.format_table import parse_schema
from postroom.messages.definitions.compiled_catalog import compilation
from postroom.messages.engine import Engine
from postroom.messages.matching.columnar import LandedEvents
from postroom.messages.matching.outcome import Sorted

RECORD = {"type": "record", "name": "Key", "fields": [{"name": "depot", "type": "string"}]}
GUID = str(uuid.UUID(int=9))
VALUE = base64.b64encode(b"\0\0\0\0\x08\2v").decode()


def tree(key_schema: Any = "string", **message: Any) -> dict[str, Any]:
    versions = {"1": {"format": "Avro/1.12", "schema": key_schema, "schemaids": [7], "schemaguid": GUID}}
    definition = {
        "protocol": "KAFKA",
        "protocoloptions": {"topic": "ovens", "key": {"type": "uritemplate", "value": "{oven}"}},
        "dataschemauri": "/schemagroups/g/schemas/ovens-value",
        **message,
    }
    value = {"versions": {"1": {"format": "Avro/1.12", "schema": "string", "schemaids": [8]}}}
    return {
        "messagegroups": {"g": {"messages": {"m": definition}}},
        "schemagroups": {"g": {"schemas": {"ovens-key": {"versions": versions}, "ovens-value": value}}},
    }


def sort(known: Catalog, key: bytes, header: bytes = b"", events: bool = False) -> Sorted:
    """What becomes of a message with a key; no other judge may accept it."""
    headers = [{"name": "__key_schema_id", "value": "", "value_base64": base64.b64encode(header).decode()}]
    event = {"ce_specversion": "1.0", "ce_id": "1", "ce_source": "/a", "ce_type": "m"} if events else {}
    pairs = [*(headers if header else []), *({"name": name, "value": value} for name, value in event.items())]
    metadata: dict[str, Any] = {"topic": "ovens", "headers": pairs}
    try:
        metadata["key"] = key.decode()
    except UnicodeDecodeError:
        metadata["key_base64"] = base64.b64encode(key).decode()
    line = json.dumps({"protocol": "KAFKA", "metadata": metadata, "payload_base64": VALUE}).encode()
    groups: list[LandedEvents] = []
    (judged,) = known.engine.judge([line], groups.append)
    assert groups == []
    assert known.engine.match_line(line) == [judged.messages[0].match]
    return judged.messages[0]


def framed(body: bytes, schema_id: int = 7) -> bytes:
    return b"\0" + schema_id.to_bytes(4) + body


@pytest.mark.parametrize("events", [False, True])
def test_a_key_behind_an_id_is_compared_as_what_it_stands_for(events: bool) -> None:
    envelope = {"envelope": "CloudEvents/1.0", "envelopemetadata": {"type": {"value": "m"}}} if events else {}
    known = Catalog(tree(**envelope))
    found = sort(known, framed(b"\4o1"), events=events)
    assert (found.match.outcome, found.match.variables) == ("landed", {"oven": "o1"})


def test_its_bytes_are_kept() -> None:
    engine = Engine(Catalog(tree()).compiled, keep_transport=True, keep_undeclared=True)
    key = framed(b"\6\xc3\xa41")
    metadata = {"topic": "ovens", "key": key.decode()}
    (found,) = engine.sort_exactly(
        json.dumps({"protocol": "KAFKA", "metadata": metadata, "payload_base64": VALUE}).encode()
    )
    assert found.match.variables == {"oven": "ä1"}
    assert found.transport == ("ovens", key, None, None)


def test_a_header_may_name_the_schema_of_a_key() -> None:
    known = Catalog(tree())
    assert sort(known, b"\4o1", b"\1" + uuid.UUID(GUID).bytes).match.variables == {"oven": "o1"}
    assert sort(known, b"\4o1", framed(b"")).match.variables == {"oven": "o1"}


def test_a_key_that_is_a_record_is_compared_as_json() -> None:
    known = Catalog(tree(RECORD))
    key = framed(parse_schema("Avro", RECORD).encode({"depot": "oslo"}))
    assert sort(known, key).match.variables == {"oven": '{"depot":"oslo"}'}


def test_a_key_without_an_id_stays_as_it_is() -> None:
    assert sort(Catalog(tree()), b"o1").match.variables == {"oven": "o1"}


def test_an_unknown_id_of_a_key_is_told() -> None:
    match = sort(Catalog(tree()), framed(b"\4o1", 99)).match
    (reason,) = match.reasons
    assert (match.outcome, reason.code, reason.found) == ("invalid", "schema_id_unknown", "the schema id 99 in its key")


def test_a_schema_of_keys_that_cannot_be_used_leaves_them_alone(caplog: pytest.LogCaptureFixture) -> None:
    known = Catalog(tree({"type": "nonsense"}))
    assert sort(known, b"o1").match.variables == {"oven": "o1"}
    assert "keys of ovens are not read" in caplog.text


def test_a_schema_of_keys_that_comes_later_is_known_then() -> None:
    before, after = tree(), tree()
    schemas = before["schemagroups"]["g"]["schemas"]
    before["schemagroups"]["g"]["schemas"] = {"ovens-value": schemas["ovens-value"]}
    compiled = compilation(before)
    assert compiled.catalog().definitions[0].key_schema is None
    now = compiled.updated(after, {"/schemagroups/g/schemas/ovens-key"})
    assert now.catalog().definitions[0].key_schema is not None
    assert now.catalog().digest == Catalog(after).digest

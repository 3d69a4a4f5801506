"""Kafka keys are bytes: `key` and `key_base64` are two ways to write them, in definitions and in records."""

import base64
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pytest

from postroom.catalog.catalog import Catalog
from postroom.documents.dialects.convert import translate_older
from postroom.pipeline.sources.dataframe import record_lines
from postroom.protocols.clients import from_kafka
from postroom.protocols.records import parse_record

ABC, ABC_BASE64 = "abc", "YWJj"
pytestmark = pytest.mark.audit("messages-D8")


def encoded(key: bytes) -> str:
    return base64.b64encode(key).decode()


def catalog(**options: Any) -> Catalog:
    message = {"protocol": "KAFKA", "protocoloptions": {"topic": "t", **options}}
    return Catalog({"messagegroups": {"g": {"messages": {"m": message}}}})


def client_record(key: bytes) -> Any:
    sent = {"topic": "t", "partition": 0, "key": key, "headers": None, "value": b"{}"}
    return from_kafka(SimpleNamespace(**{name: lambda value=value: value for name, value in sent.items()}))


def column_record(key: bytes) -> Any:
    row = {"topic": "t", "partition": 0, "offset": 1, "key": key, "value": b"{}"}
    return parse_record(record_lines(pa.RecordBatch.from_pylist([row]))[0])


def struct_record(key: bytes) -> Any:
    row = {"protocol": "KAFKA", "metadata": {"topic": "t", "key": key}, "payload": "{}"}
    return parse_record(record_lines(pa.RecordBatch.from_pylist([row]))[0])


def record(**metadata: Any) -> Any:
    return {"protocol": "KAFKA", "metadata": {"topic": "t", **metadata}, "payload": "{}"}


WAYS_IN = {
    "a record": lambda key: record(key=key.decode()),
    "a record in base64": lambda key: record(key_base64=encoded(key)),
    "Python bytes": lambda key: record(key=key),
    "a client library": client_record,
    "columns of Kafka": column_record,
    "columns of records": struct_record,
}


@pytest.mark.parametrize("way", WAYS_IN)
@pytest.mark.parametrize("options", [{"key": ABC}, {"key_base64": ABC_BASE64}])
def test_a_key_meets_its_definition_however_either_is_written(way: str, options: dict[str, str]) -> None:
    assert catalog(**options).match(WAYS_IN[way](b"abc")).outcome == "landed"
    (reason,) = catalog(**options).match(WAYS_IN[way](b"abd")).reasons
    assert (reason.at, reason.code) == (f"/protocoloptions/{next(iter(options))}", "constant_mismatch")


@pytest.mark.parametrize("way", [way for way in WAYS_IN if way != "a record"])
@pytest.mark.parametrize("key", [b"\xff\x00", b"\x00\x01"])
def test_a_key_that_is_no_text_meets_its_bytes(way: str, key: bytes) -> None:
    assert catalog(key_base64=encoded(key)).match(WAYS_IN[way](key)).outcome == "landed"
    assert catalog(key_base64="AAI=").match(WAYS_IN[way](key)).outcome == "invalid"


def test_a_key_in_base64_binds_a_template_of_text() -> None:
    match = catalog(key="device-{id}").match(record(key_base64=encoded(b"device-7")))
    assert (match.outcome, match.variables) == ("landed", {"id": "7"})


def test_any_key_is_a_key_in_base64_and_only_text_is_a_key_of_text() -> None:
    needs_bytes, needs_text = catalog(key_base64={"required": True}), catalog(key={"required": True})
    assert needs_bytes.match(record(key="abc")).outcome == "landed"
    assert needs_bytes.match(record()).reasons[0].code == "required_missing"
    assert needs_text.match(record(key_base64=encoded(b"abc"))).outcome == "landed"
    assert needs_text.match(record(key_base64=encoded(b"\xff"))).outcome == "invalid"


@pytest.mark.parametrize("key", ["abc", "\0\1"])
def test_binary_keys_of_the_0_5_text_compare_bytes(key: str) -> None:
    message = {
        "binding": "Kafka/0.11",
        "message": {"topic": {"value": "t"}, "key": {"type": "binary", "value": encoded(key.encode())}},
    }
    document = {"specversion": "0.5-wip", "messagegroups": {"g": {"binding": "Kafka/0.11", "messages": {"m": message}}}}
    made = Catalog(translate_older(document))
    assert made.match(record(key=key)).outcome == "landed"
    assert made.match(record(key=f"{key}d")).outcome == "invalid"
